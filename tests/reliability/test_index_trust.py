"""The index can always be trusted: whatever happens to its files, readers get the right answer or are told."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client

from incidents import indexing
from incidents.indexing import fresh_backend, rebuild_index, sync_index
from incidents.lifecycle import commit_version, move
from incidents.models import Incident, LibraryState, Status
from incidents.search import get_search_backend, parse_query, whoosh_backend
from tests.conftest import ROOT, use_index
from tests.factories import make_incident

WORD = "봉황새"
Damage = Callable[[Path], None]


def change(number: int, **fields: str) -> None:
    """Change a published record as an editor does."""
    with transaction.atomic():
        incident = Incident.objects.get(number=number)
        for name, value in fields.items():
            setattr(incident, name, value)
        incident.save()
        commit_version(incident, author=None)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test could not write is no reason for the next one to wait."""
    monkeypatch.setattr(indexing, "_not_before", WeakKeyDictionary())


@pytest.fixture
def library(own_database: Path) -> Path:
    """Five published records, two with the word, indexed; the index's folder."""
    with transaction.atomic():
        for number in range(5):
            make_incident(symptom=f"{WORD} 한 마리가 {number}번 랙에 앉았다." if number < 2 else "전원이 꺼졌다.")
    sync_index()
    return Path(settings.DATA_DIR) / "index"


def count(word: str = WORD) -> int | str:
    """Return what a reader sees: the number of hits, or that search can't answer."""
    response = Client().get("/api/v1/incidents/", {"q": word})
    if response.status_code == 503:
        assert response.json()["title"]
        assert int(response["Retry-After"]) > 0
        return "unavailable"
    assert response.status_code == 200
    return int(response.json()["count"])


def browse() -> int:
    response = Client().get("/api/v1/incidents/")
    assert response.status_code == 200
    return int(response.json()["count"])


def as_new_process(folder: Path) -> None:
    """Forget everything that this process has opened, as a start does."""
    use_index(folder.parent / "elsewhere")
    get_search_backend()
    use_index(folder.parent)


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file of this process grow. The database is opened anew: its log may not be written either."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        indexing._not_before.clear()


def live_files(folder: Path) -> list[Path]:
    state = json.loads((folder / "state.json").read_text())
    return [folder / state["folder"] / name for name in state["files"]]


def truncate(folder: Path) -> None:
    for path in live_files(folder):
        os.truncate(path, path.stat().st_size // 2)


def delete_segment(folder: Path) -> None:
    live_files(folder)[0].unlink()


def empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


def flip_a_byte(folder: Path) -> None:
    path = max(live_files(folder), key=lambda path: path.stat().st_size)
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)


def garble_state(folder: Path) -> None:
    (folder / "state.json").write_text("{")


def empty_state(folder: Path) -> None:
    (folder / "state.json").write_text("")


def remove_table_of_contents(folder: Path) -> None:
    for path in folder.glob("build-*/*.toc"):
        path.unlink()


def another_version(folder: Path) -> None:
    path = folder / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": "0.0.0"}))


def garble_everything(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(b"nothing of an index" * 100)


DAMAGES: list[Damage] = [
    truncate,
    delete_segment,
    empty,
    remove,
    flip_a_byte,
    garble_state,
    empty_state,
    remove_table_of_contents,
    another_version,
    garble_everything,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_before_a_start_heals_by_itself(library: Path, damage: Damage) -> None:
    damage(library)
    as_new_process(library)
    assert count() == 2
    assert browse() == 5
    call_command("check_library")


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_while_serving_never_says_nothing_found(library: Path, damage: Damage) -> None:
    assert count() == 2
    damage(library)
    answers = [count("전원"), count(), count("랙"), count("랙")]
    assert set(answers) <= {2, 3, "unavailable"}
    assert answers.count("unavailable") <= 1  # a damage that was met is mended for the next reader
    assert answers[-1] == 2
    assert browse() == 5


@pytest.mark.parametrize("damage", DAMAGES)
def test_check_names_the_index_and_rebuilding_heals(library: Path, damage: Damage) -> None:
    damage(library)
    as_new_process(library)
    with pytest.raises(CommandError, match="index"):
        call_command("check_library")
    call_command("rebuild_index")
    call_command("check_library")
    assert count() == 2


def test_full_disk_leaves_the_last_good_index(library: Path) -> None:
    change(3, symptom=f"{WORD} 이야기를 새로 적었다.")
    with full_disk():
        assert count() == 2
        assert browse() == 5
    assert count() == 3
    call_command("check_library")


def test_full_disk_without_an_index_says_so(library: Path) -> None:
    remove(library)
    as_new_process(library)
    with full_disk():
        assert count() == "unavailable"
        assert browse() == 5
        page = Client().get("/incidents/", {"q": WORD})
        assert page.status_code == 503
        assert "검색" in page.content.decode()
        assert Client().get("/incidents/").status_code == 200
    assert count() == 2


READ_ONLY = """
import sys, django
django.setup()
from django.test import Client
answers = [Client().get("/api/v1/incidents/", {"q": sys.argv[1]}), Client().get("/api/v1/incidents/")]
print(*[(a.status_code, a.json().get("count")) for a in answers])
"""
# Permissions don't bind the superuser unless this capability is given up.
BOUND = ["setpriv", "--bounding-set", "-dac_override"] if os.getuid() == 0 else []


@pytest.mark.skipif(bool(BOUND) and shutil.which("setpriv") is None, reason="permissions don't bind the superuser")
@pytest.mark.parametrize(("damage", "expected"), [(None, "(200, 2) (200, 5)"), (empty, "(503, None) (200, 5)")])
def test_read_only_folder(library: Path, damage: Damage | None, expected: str) -> None:
    change(3, symptom=f"{WORD} 이야기를 새로 적었다.")  # which the index can't follow now
    if damage is not None:
        damage(library)
    subprocess.run(["chmod", "-R", "a-w", str(library)], check=True)
    done = run(READ_ONLY, library, WORD, bound=True)
    subprocess.run(["chmod", "-R", "u+w", str(library)], check=True)
    assert done.stdout.strip() == expected, done.stderr[-2000:]
    assert count() == 3


def run(code: str, library: Path, *args: str, bound: bool = False) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own on the test's library."""
    return subprocess.run(
        [*(BOUND if bound else []), sys.executable, "-c", code, *args],
        cwd=ROOT,
        env={
            **os.environ,
            "KB_DATA_DIR": str(library.parent),
            "KB_ALLOWED_HOSTS": "testserver",
            "DATABASE_URL": f"sqlite:///{library.parent}/library.sqlite3",
            "DJANGO_SETTINGS_MODULE": "kb.settings",
        },
        capture_output=True,
        text=True,
        check=False,
    )


KILLED = """
import os, sys, django
django.setup()
from incidents.search import whoosh_backend
from incidents.indexing import rebuild_index, sync_index
place, work = sys.argv[1:]

def die(*args, **kwargs):
    os.kill(os.getpid(), 9)

if place == "analysis":
    whoosh_backend.TokenCache.analyse = die
elif place == "commit":
    whoosh_backend._fingerprints = die
elif place == "state":
    os.replace = die
{"rebuild": rebuild_index, "update": sync_index}[work]()
"""


@pytest.mark.parametrize(
    ("place", "work"), [("analysis", "update"), ("commit", "update"), ("state", "update"), ("state", "rebuild")]
)
def test_killed_writer_leaves_nothing_behind(library: Path, place: str, work: str) -> None:
    """A process killed before, between and after the index's own commits: the next one brings in what is missing."""
    change(3, symptom=f"{WORD} 이야기를 새로 적었다.")
    done = run(KILLED, library, place, work)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert count() == 3
    call_command("check_library")
    call_command("rebuild_index")
    assert len(list(library.glob("build-*"))) == 1
    assert count() == 3


def test_of_several_that_find_no_index_one_builds_it(library: Path) -> None:
    remove(library)
    as_new_process(library)
    built: list[int] = []
    errors: list[BaseException] = []

    def build() -> None:
        try:
            sync_index(step=lambda: built.append(1))
        except BaseException as error:  # shown by the assertion below
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(built) == 5
    assert count() == 2


def test_readers_go_on_while_a_writer_does_not_end(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whoosh_backend, "LOCK_SECONDS", 0.05)
    change(3, symptom=f"{WORD} 이야기를 새로 적었다.")
    with (library / "writer.lock").open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert count() == 2
    indexing._not_before.clear()
    assert count() == 3


def test_withdrawn_record_is_gone_even_where_the_index_is_behind(library: Path) -> None:
    move(Incident.objects.get(number=1), Status.WITHDRAWN, author=None, reason="시험")
    with full_disk():
        assert count() == 1


def test_database_older_than_the_index_is_followed(library: Path) -> None:
    """A database file put back by hand: the index is of a future that never was, and is made anew."""
    change(3, symptom=f"{WORD} 이야기를 새로 적었다.")
    assert count() == 3
    with transaction.atomic():
        change(3, symptom="전원이 꺼졌다.")
        Incident.objects.update(revision=1)
        LibraryState.objects.update(revision=1)
    assert count() == 2
    call_command("check_library")


def test_rebuilding_shows_no_gap(library: Path) -> None:
    """While a rebuild reads its documents, searches are answered by the index before it."""
    seen: list[int | str] = []
    rebuild_index(step=lambda: seen.append(len(fresh_backend().search(parse_query(WORD)).full)))
    assert seen == [2] * 5
    assert count() == 2
