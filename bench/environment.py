"""What the benchmarks run in: a virtual environment of their own with the peers, Debian's wrk, folders for data."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(__file__).resolve().parent / ".env"  # ignored by git; removing it starts from nothing
PEERS = Path(__file__).resolve().parent / "peers"
PEER_PYTHON = FOLDER / "venv" / "bin" / "python"


def set_up() -> None:
    """Make the peers' environment and find wrk; both are kept for the next run."""
    FOLDER.mkdir(exist_ok=True)
    wanted = sha256((PEERS / "requirements.txt").read_bytes()).hexdigest()
    stamp = FOLDER / "installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        run([sys.executable, "-m", "venv", "--clear", str(FOLDER / "venv")])
        run(
            [
                str(PEER_PYTHON),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "-r",
                str(PEERS / "requirements.txt"),
            ]
        )
        stamp.write_text(wanted)
    if shutil.which("wrk") is None:
        sudo = [] if os.geteuid() == 0 else ["sudo"]
        run([*sudo, "apt-get", "update", "-qq"])
        run([*sudo, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "wrk"])


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path = ROOT) -> str:
    """Run a program to its end and return what it printed. Raises RuntimeError with its errors."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr[-3000:]}")
    return done.stdout


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(
    command: Sequence[str], port: int, path: str, *, env: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> Iterator[int]:
    """Run a server, wait until `path` answers, and yield the process's ID; it is stopped at the end."""
    log = (FOLDER / "server.log").open("wb")
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdout=log,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 180
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60):
                    break
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError((FOLDER / "server.log").read_text()[-3000:]) from None
                time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        log.close()


def memory_mb(pid: int) -> float:
    """Return what a server and its workers take, pages that they share counted once: MB (Pss)."""
    total = 0
    for one in [pid, *children(pid)]:
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1000


def worker_mb(pid: int) -> float:
    """Return the memory of the largest worker: MB (Rss)."""
    sizes = []
    for one in children(pid) or [pid]:
        for line in Path(f"/proc/{one}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                sizes.append(int(line.split()[1]) / 1000)
    return max(sizes)


def children(pid: int) -> list[int]:
    """Return the IDs of all processes below one."""
    own = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [*own, *(below for one in own for below in children(one))]
