"""Real PostgreSQL servers for tests and benchmarks: a primary and a streaming replica, run by a user that is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

USER = "postgres"  # whom Debian's package makes; PostgreSQL refuses to run as root


def binaries() -> Path:
    """Return the folder of the newest installed PostgreSQL's programs; FileNotFoundError with what to install."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    if found:
        return found[-1].parent
    on_path = shutil.which("postgres")
    if on_path is None:
        raise FileNotFoundError("PostgreSQL is not installed: apt-get install postgresql")
    return Path(on_path).resolve().parent


@dataclass(frozen=True)
class Cluster:
    """A running server: its folder and its port; everybody on this machine may do anything."""

    folder: Path
    port: int

    def url(self, database: str) -> str:
        return f"postgres://{USER}@127.0.0.1:{self.port}/{database}"

    def sql(self, statement: str, database: str = "postgres") -> str:
        """Run a statement and return what it prints, bare."""
        command = [
            str(binaries() / "psql"),
            "-XAtq",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            USER,
            "-d",
            database,
        ]
        done = subprocess.run([*command, "-c", statement], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()


def _run(program: str, *args: str) -> None:
    as_user = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        [str(binaries() / program), *args],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        **as_user,  # type: ignore[call-overload]
    )
    if done.returncode:
        raise RuntimeError(f"{program}: {done.stderr or done.stdout}")


def _start(folder: Path, port: int, *, is_durable: bool = False) -> Cluster:
    # What a test writes needn't outlive the machine. The socket lies in the folder: no other cluster's is near.
    fsync = "on" if is_durable else "off"
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync={fsync} -c wal_level=replica -c hot_standby=on -c max_connections=60"
    _run("pg_ctl", "-D", str(folder / "data"), "-l", str(folder / "log"), "-w", "-o", options, "start")
    return Cluster(folder, port)


def _stop(cluster: Cluster) -> None:
    _run("pg_ctl", "-D", str(cluster.folder / "data"), "-m", "immediate", "-w", "stop")
    shutil.rmtree(cluster.folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _folder() -> Path:
    folder = Path(mkdtemp(prefix="library-pg-"))
    if os.geteuid() == 0:
        entry = pwd.getpwnam(USER)
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    return folder


@contextmanager
def primary(*, is_durable: bool = False) -> Iterator[Cluster]:
    """A new, empty server. is_durable: it waits for the disk at each commit, as one in use does."""
    folder = _folder()
    _run("initdb", "-D", str(folder / "data"), "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
    cluster = _start(folder, _free_port(), is_durable=is_durable)
    try:
        yield cluster
    finally:
        _stop(cluster)


@contextmanager
def replica_of(cluster: Cluster) -> Iterator[Cluster]:
    """A second server that streams from the first."""
    folder = _folder()
    source = f"host=127.0.0.1 port={cluster.port} user={USER}"
    _run("pg_basebackup", "-d", source, "-D", str(folder / "data"), "-R", "-X", "stream", "--checkpoint=fast")
    replica = _start(folder, _free_port())
    try:
        yield replica
    finally:
        _stop(replica)
