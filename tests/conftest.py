"""What every test starts from: its own index and catalogue; the bundled library; a real server with a real browser."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction

from incidents.catalogue import forget_catalogue
from incidents.importing import import_library
from incidents.indexing import sync_index
from incidents.part_cache import forget_parts

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PASSWORD = "correct-horse-battery"

# Examples are not timed: how long one takes says more of the machine than of the code. They are the same every time.
hypothesis.settings.register_profile("library", deadline=None, derandomize=True)
hypothesis.settings.load_profile("library")


def use_index(folder: Path) -> None:
    """Let this process keep its index in `folder`, with nothing left over in memory."""
    settings.DATA_DIR = folder
    forget_catalogue()
    forget_parts()


@pytest.fixture(autouse=True)
def own_search(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """An index of the test's own: rolled back rows and kept index entries would be told apart by no revision."""
    if "bundled" not in request.fixturenames:
        use_index(tmp_path)


@pytest.fixture(scope="session", autouse=True)
def own_cache() -> None:
    """No answer of one test for another's question."""
    settings.CACHES = {
        **settings.CACHES,
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "tests"},
    }


@pytest.fixture(scope="session", autouse=True)
def plain_static_files() -> None:
    """Addresses of static files as they are named in the tree: no collectstatic before the tests."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say what each test needs and where it runs.

    Tests of the bundled library use the database: only what is marked gets one set up. A module stays together, in one
    process; all that share a PostgreSQL cluster do too. Modules with a browser come last: from the first of them on,
    Playwright's event loop runs in the thread of the tests, and what a server's thread may do would be refused there.
    """
    with_browser = {item.path for item in items if "browser" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path in with_browser)
    for item in items:
        if "bundled" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.django_db)
        together = item.path.parent if item.path.parent.name == "postgres" else item.path
        item.add_marker(pytest.mark.xdist_group(str(together.relative_to(ROOT))))


@pytest.fixture(scope="module")
def bundled(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """The bundled library in the database and the index, for the tests of one module; they only read it."""
    folder = tmp_path_factory.mktemp("bundled")
    with django_db_blocker.unblock():
        if connection.vendor == "sqlite":  # a copy of files takes no time; a database server takes no files
            library: Path = request.getfixturevalue("imported_library")
            shutil.copytree(library, folder, dirs_exist_ok=True)
            with database_at(folder / "library.sqlite3"):
                use_index(folder)
                yield FIXTURES
            return
        try:
            with transaction.atomic():
                use_index(folder)
                import_library(FIXTURES)
                sync_index()  # here, so that no test's rollback takes it away where it lies in the database
                yield FIXTURES
                transaction.set_rollback(True)
        finally:
            forget_catalogue()


@contextmanager
def database_at(path: Path) -> Iterator[None]:
    """Let this process use the SQLite file at `path`; it is made by a migration when it isn't there."""
    connection.close()
    before = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = path
    forget_catalogue()
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before
        forget_catalogue()


@pytest.fixture(scope="session")
def empty_database(django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with today's tables and no record; to be copied, not used."""
    path = tmp_path_factory.mktemp("empty") / "library.sqlite3"
    with django_db_blocker.unblock(), database_at(path):
        call_command("migrate", verbosity=0)
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def own_database(empty_database: Path, django_db_blocker: Any, tmp_path: Path) -> Iterator[Path]:
    """A database file of the test's own: for what commits, copies or breaks it."""
    own = tmp_path / "library.sqlite3"
    shutil.copy(empty_database, own)
    with django_db_blocker.unblock(), database_at(own):
        yield own


@pytest.fixture
def superuser(db: None) -> User:
    return User.objects.create_superuser("admin", "admin@example.org", PASSWORD)


# A real server


def manage(data_dir: Path, *args: str, check: bool = True, **env: Any) -> subprocess.CompletedProcess[str]:
    """Run a management command on a data folder of its own. With `check`, AssertionError where it fails."""
    done = subprocess.run(
        [sys.executable, "manage.py", *args],
        cwd=ROOT,
        env={**os.environ, "KB_DATA_DIR": str(data_dir), **env},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done


@dataclass(frozen=True)
class Server:
    """A served library: its address, its data folder, its process."""

    url: str
    data_dir: Path
    process: subprocess.Popen[bytes]

    def manage(self, *args: str, **env: Any) -> subprocess.CompletedProcess[str]:
        return manage(self.data_dir, *args, **env)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_server(data_dir: Path, *, workers: int = 2, **env: Any) -> Server:
    """Serve a data folder as `make run` does, and return when it answers."""
    port = free_port()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "gunicorn",
            "--config",
            "kb/gunicorn.py",
            "--bind",
            f"127.0.0.1:{port}",
            "--workers",
            str(workers),
            "kb.wsgi",
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "KB_DATA_DIR": str(data_dir),
            "KB_BASE_URL": f"http://127.0.0.1:{port}",
            "KB_API_RATE": "100000",
            **env,
        },
        stdin=subprocess.DEVNULL,
        stdout=(data_dir / "server.log").open("ab"),
        stderr=subprocess.STDOUT,
    )
    url = f"http://127.0.0.1:{port}"
    end = monotonic() + 60
    while monotonic() < end:
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=5):
                return Server(url, data_dir, process)
        except OSError:
            if process.poll() is not None:
                break
            sleep(0.1)
    process.kill()
    raise RuntimeError((data_dir / "server.log").read_text()[-3000:])


def stop_server(server: Server) -> None:
    server.process.terminate()
    try:
        server.process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        server.process.kill()


def made_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that `make` fills, for all processes of a test run: the first that asks makes it, others wait."""
    is_parallel = "PYTEST_XDIST_WORKER" in os.environ
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if is_parallel else base) / name
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / ".done"
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # half made by a process that was stopped
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


@pytest.fixture(scope="session")
def imported_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the bundled library and its index; to be copied, not used."""

    def make(folder: Path) -> None:
        manage(folder, "migrate", "--no-input")
        manage(folder, "import_library", str(FIXTURES))

    return made_once(tmp_path_factory, "imported", make)


@pytest.fixture(scope="session")
def library_dir(imported_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder to serve: the bundled library, its static files and a superuser `admin`; to be copied, not used."""

    def make(folder: Path) -> None:
        shutil.copytree(imported_library, folder, dirs_exist_ok=True)
        (folder / ".done").unlink()
        manage(folder, "collectstatic", "--no-input")
        manage(
            folder, "createsuperuser", "--no-input", "--username", "admin", "--email", "admin@example.org",
            DJANGO_SUPERUSER_PASSWORD=PASSWORD,
        )  # fmt: skip

    return made_once(tmp_path_factory, "library", make)


@pytest.fixture
def make_server(library_dir: Path, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """A function that serves a fresh copy of the bundled library; all are stopped after the test."""
    servers: list[Server] = []

    def make(**env: Any) -> Server:
        data_dir = tmp_path / f"data-{len(servers)}"
        shutil.copytree(library_dir, data_dir)
        servers.append(start_server(data_dir, **env))
        return servers[-1]

    yield make
    for server in servers:
        stop_server(server)


@pytest.fixture(scope="session")
def shared_server(library_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The bundled library, served once for all tests that only read."""
    data_dir = tmp_path_factory.mktemp("shared") / "data"
    shutil.copytree(library_dir, data_dir)
    server = start_server(data_dir)
    yield server
    stop_server(server)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, without sandbox where the tests run as root."""
    from playwright.sync_api import sync_playwright  # most tests need no browser

    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's loop runs in this thread; nothing here is async
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        )
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a new desktop window, Korean, light."""
    context = browser.new_context(locale="ko-KR", viewport={"width": 1280, "height": 900}, color_scheme="light")
    page = context.new_page()
    page.set_default_timeout(15_000)
    yield page
    context.close()
