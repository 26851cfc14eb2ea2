"""Backup and restore: one file, consistent while the library serves, refused unless it is whole."""

from __future__ import annotations

import resource
import shutil
import sqlite3
import threading
import urllib.request
import zipfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.http import QueryDict

from incidents.backup.archive import read_manifest
from incidents.errors import UserError
from incidents.exporting import export_library
from incidents.lifecycle import commit_version
from incidents.listing import build_listing
from incidents.models import Incident, LibraryState, is_followed_by
from tests.conftest import Server, manage
from tests.factories import make_draft, make_incident

Files = dict[str, bytes]


def exported(folder: Path) -> Files:
    export_library(folder, with_drafts=True)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def command(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out)
    return out.getvalue()


def change(number: int, **fields: str) -> None:
    """Change a published record as an editor does."""
    with transaction.atomic():
        incident = Incident.objects.get(number=number)
        for name, value in fields.items():
            setattr(incident, name, value)
        incident.save()
        commit_version(incident, author=None)


def found(query: str) -> list[str]:
    return [row.incident.public_id for row in build_listing(QueryDict(f"q={quote(query)}")).rows]


@pytest.fixture
def library(own_database: Path) -> Path:
    """Three published records, a draft, an account; the path of the database."""
    with transaction.atomic():
        for number in range(3):
            make_incident(symptom=f"{number + 1}번 랙의 전원이 꺼졌다.")
        make_draft(title="아직 쓰는 중인 초안이며 게시하지 않았다")
        User.objects.create_superuser("admin", "admin@example.org", "correct-horse-battery")
    return own_database


@pytest.fixture
def backup(library: Path, tmp_path: Path) -> Path:
    command("backup", str(tmp_path / "backup.zip"))
    return tmp_path / "backup.zip"


def test_restore_brings_the_library_back(library: Path, backup: Path, tmp_path: Path) -> None:
    before = exported(tmp_path / "before")
    change(1, symptom="봉황새가 서버실에 둥지를 틀었다.")
    make_incident(symptom="봉황새가 또 왔다.")
    assert len(found("봉황새")) == 2

    said = command("restore", str(backup))

    assert exported(tmp_path / "after") == before
    assert found("봉황새") == []
    assert sorted(found("전원이")) == ["IL-0001", "IL-0002", "IL-0003"]
    assert "faults 0" in command("check_library")
    assert User.objects.get().check_password("correct-horse-battery")
    with sqlite3.connect(library) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    # What was there before the restore is a backup itself.
    kept = next(settings.DATA_DIR.glob("before-restore-*.zip"))
    assert str(kept) in said
    command("restore", str(kept))
    assert len(found("봉황새")) == 2


def test_caches_and_index_never_take_a_restored_library_for_the_old_one(library: Path, backup: Path) -> None:
    change(1, symptom="봉황새가 서버실에 둥지를 틀었다.")
    before = LibraryState.objects.current_revision()
    command("restore", str(backup))
    after = LibraryState.objects.current_revision()
    assert after > before
    assert not is_followed_by(before, after)
    assert set(Incident.objects.filter(status="published").values_list("revision", flat=True)) == {after}
    change(2, symptom="기린이 케이블을 씹었다.")
    assert found("기린이") == ["IL-0002"]
    assert "faults 0" in command("check_library")


def test_open_connections_see_the_restored_library(library: Path, backup: Path) -> None:
    """A worker's connection, opened before: nothing of it goes on in a file that has no name any more."""
    worker = sqlite3.connect(library, isolation_level=None)
    query = "SELECT title FROM incidents_incident WHERE number = 1"
    (title,) = worker.execute(query).fetchone()
    change(1, title="백업보다 나중에 고친 제목이 여기에 있다")
    assert worker.execute(query).fetchone() != (title,)
    command("restore", str(backup))
    assert worker.execute(query).fetchone() == (title,)
    worker.execute("UPDATE incidents_incident SET title = '일꾼이 복원 뒤에 쓴 제목이다' WHERE number = 1")
    worker.close()
    assert Incident.objects.get(number=1).title == "일꾼이 복원 뒤에 쓴 제목이다"


def test_restore_into_an_empty_folder(library: Path, backup: Path, tmp_path: Path) -> None:
    before = exported(tmp_path / "before")
    empty = tmp_path / "empty"
    done = manage(empty, "restore", str(backup))
    assert "before-restore" not in done.stdout
    manage(empty, "export_library", str(tmp_path / "after"), "--with-drafts")
    after = {str(p.relative_to(tmp_path / "after")): p.read_bytes() for p in (tmp_path / "after").rglob("*.*")}
    assert after == before


def variants(data: bytes) -> dict[str, bytes]:
    def flipped(place: int) -> bytes:
        return data[:place] + bytes([data[place] ^ 1]) + data[place:][1:]

    middle = len(data) // 2
    return {
        "truncated": data[:-1024],
        "half": data[:middle],
        "empty": b"",
        "text": "백업이 아닌 글\n".encode() * 100,
        "flipped in the data": flipped(middle),
        "flipped at the start": flipped(0),
        "flipped in a time stamp": flipped(10),
        "flipped in the seal": flipped(len(data) - 1),
        "with a tail": data + b"\n",
        "without a head": data[100:],
    }


def test_damaged_and_foreign_files_change_nothing(library: Path, backup: Path, tmp_path: Path) -> None:
    change(1, title="백업보다 나중에 고친 제목이 그대로 남아 있다")
    before = exported(tmp_path / "before")
    revision = LibraryState.objects.current_revision()
    folder = tmp_path / "bad"
    folder.mkdir()
    for number, content in enumerate(variants(backup.read_bytes()).values()):
        (folder / f"{number}.zip").write_bytes(content)
    with zipfile.ZipFile(folder / "foreign.zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
    messages = []
    for path in [*sorted(folder.iterdir()), folder / "missing.zip", folder]:
        with pytest.raises(CommandError) as caught:
            command("restore", str(path))
        messages.append(str(caught.value))
    assert len(messages) == 13
    assert all(message.endswith("오.") for message in messages)
    assert exported(tmp_path / "after") == before
    assert LibraryState.objects.current_revision() == revision
    assert list(settings.DATA_DIR.glob("before-restore-*")) == []


def test_every_byte_of_a_backup_is_sealed(library: Path, backup: Path, tmp_path: Path) -> None:
    data = bytearray(backup.read_bytes())
    bad = tmp_path / "bad.zip"
    for place in range(0, len(data), max(1, len(data) // 150)):
        data[place] ^= 0x20
        bad.write_bytes(data)
        with pytest.raises(UserError):
            read_manifest(bad)
        data[place] ^= 0x20
    bad.write_bytes(data)
    assert read_manifest(bad).counts["published"] == 3


def test_backup_of_a_later_version_is_refused(library: Path, tmp_path: Path) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('incidents', '9999_later', '2030-01-01')"
        )
    command("backup", str(tmp_path / "later.zip"))
    with pytest.raises(CommandError, match="9999_later"):
        command("restore", str(tmp_path / "later.zip"))


def test_backup_of_an_earlier_version_is_migrated_before_it_is_put_in(library: Path, tmp_path: Path) -> None:
    before = exported(tmp_path / "before")
    older = tmp_path / "older"
    older.mkdir()
    connection.close()
    shutil.copy(library, older / "library.sqlite3")
    manage(older, "migrate", "incidents", "0005")
    manage(older, "backup", str(tmp_path / "older.zip"))
    assert "지금 판으로 올렸습니다" in command("restore", str(tmp_path / "older.zip"))
    assert exported(tmp_path / "after") == before
    assert "[ ]" not in command("showmigrations", "--list")


def test_damaged_database_is_set_aside(library: Path, backup: Path, tmp_path: Path) -> None:
    before = exported(tmp_path / "before")
    connection.close()
    for suffix in ("-wal", "-shm"):
        library.with_name(library.name + suffix).unlink(missing_ok=True)
    library.write_bytes(b"nothing of a database" * 1000)
    command("restore", str(backup))
    assert exported(tmp_path / "after") == before
    assert next(library.parent.glob("library.sqlite3.damaged-*")).read_bytes().startswith(b"nothing")


def test_backup_holds_no_session_and_only_its_owner_reads_it(library: Path, tmp_path: Path) -> None:
    SessionStore().save()
    command("backup", str(tmp_path / "backup.zip"))
    assert (tmp_path / "backup.zip").stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        archive.extract("library.sqlite3", tmp_path / "unpacked")
    with sqlite3.connect(tmp_path / "unpacked" / "library.sqlite3") as database:
        assert database.execute("SELECT COUNT(*) FROM django_session").fetchone() == (0,)
        assert database.execute("SELECT COUNT(*) FROM auth_user").fetchone() == (1,)


def test_backup_holds_what_was_acknowledged_while_others_write(library: Path, tmp_path: Path) -> None:
    """What was committed before the start is inside, though it lies in the write-ahead log; a torn write is not."""
    writer = sqlite3.connect(library, isolation_level=None, check_same_thread=False)
    writer.execute("PRAGMA wal_autocheckpoint=0")
    writer.execute("UPDATE incidents_incident SET title = '시작하기 전에 확정된 제목이 있다' WHERE number = 1")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE incidents_incident SET title = '아직 확정되지 않은 제목이 있다' WHERE number = 2")
    command("backup", str(tmp_path / "backup.zip"))
    writer.execute("ROLLBACK")
    writer.close()
    command("restore", str(tmp_path / "backup.zip"))
    titles = dict(Incident.objects.values_list("number", "title"))
    assert titles[1] == "시작하기 전에 확정된 제목이 있다"
    assert titles[2] != "아직 확정되지 않은 제목이 있다"


def test_restore_keeps_every_change_that_was_acknowledged_before_it(library: Path, backup: Path) -> None:
    """Writers go on until the exchange: each change is in the kept state or in the library, none between."""
    done: list[int] = []
    stop = threading.Event()

    def write() -> None:
        writer = sqlite3.connect(library, isolation_level=None, timeout=60)
        for number in range(10_000):
            if stop.is_set():
                break
            writer.execute("UPDATE incidents_incident SET lesson = ? WHERE number = 1", (f"교훈 {number}",))
            done.append(number)
            stop.wait(0.01)  # SQLite gives its lock to whoever asks first: without a gap nobody else gets it
        writer.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        command("restore", str(backup))
    finally:
        stop.set()
        thread.join()
    after = Incident.objects.get(number=1).lesson
    kept = next(settings.DATA_DIR.glob("before-restore-*.zip"))
    command("restore", str(kept))
    before = Incident.objects.get(number=1).lesson
    last = int(before.removeprefix("교훈 ")) if before.startswith("교훈 ") else -1
    assert done
    # The last change is in the kept state, or it came after the exchange and is in the library.
    assert last == done[-1] or after == f"교훈 {done[-1]}"


def test_failed_backup_leaves_no_file(library: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    connection.close()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, limits[1]))
    try:
        with pytest.raises(CommandError, match="백업을 쓰지 못했습니다"):
            command("backup", str(folder / "backup.zip"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(folder.iterdir()) == []


def test_existing_file_is_kept_unless_told(library: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.zip"
    target.write_text("mine")
    with pytest.raises(CommandError, match="이미 있는 파일입니다"):
        command("backup", str(target))
    assert target.read_text() == "mine"
    command("backup", str(target), "--overwrite")
    assert zipfile.is_zipfile(target)


def test_folder_gets_names_by_time_and_keeps_the_latest(library: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for name in ("library-20200101T000000Z.zip", "library-20200102T000000Z.zip", "notes.txt"):
        (folder / name).write_text("")
    command("backup", str(folder), "--keep", "2")
    names = sorted(path.name for path in folder.iterdir())
    assert [names[0], names[2]] == ["library-20200102T000000Z.zip", "notes.txt"]
    assert zipfile.is_zipfile(folder / names[1])


def test_restore_under_a_running_server_shows_at_once(make_server: Callable[..., Server], tmp_path: Path) -> None:
    server = make_server()

    def get(address: str) -> str:
        with urllib.request.urlopen(server.url + address, timeout=60) as response:
            return str(response.read().decode())

    before = get("/incidents/IL-0001/")
    searched = get(f"/incidents/?q={quote('봉황새')}")
    server.manage("backup", str(tmp_path / "backup.zip"))
    server.manage(
        "shell",
        "-c",
        "from tests.commands.test_backup import change; change(1, symptom='봉황새가 서버실에 둥지를 틀었다.')",
    )
    assert "봉황새" in get("/incidents/IL-0001/")
    assert get(f"/incidents/?q={quote('봉황새')}") != searched
    server.manage("restore", str(tmp_path / "backup.zip"))
    assert get("/incidents/IL-0001/") == before
    assert get(f"/incidents/?q={quote('봉황새')}") == searched
