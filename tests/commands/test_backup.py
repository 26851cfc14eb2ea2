"""Backup and restore: one file, consistent while the library serves, refused unless it is whole."""

from __future__ import annotations

import resource
import shutil
import sqlite3
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Server, manage

Files = dict[str, bytes]


def exported(data_dir: Path, folder: Path) -> Files:
    manage(data_dir, "export_library", str(folder), "--with-drafts")
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def change_title(data_dir: Path, number: int, title: str) -> None:
    """Change a published record as the admin does: a saved row and its version, in one transaction."""
    code = (
        "from django.db import transaction\n"
        "from incidents.models import Incident\nfrom incidents.lifecycle import commit_version\n"
        "with transaction.atomic():\n"
        f"    incident = Incident.objects.get(number={number}); incident.title = {title!r}; incident.save()\n"
        "    commit_version(incident, author=None)\n"
    )
    manage(data_dir, "shell", "-c", code)


def get(server: Server, address: str) -> str:
    with urllib.request.urlopen(server.url + address, timeout=30) as response:  # noqa: S310, our own server
        return str(response.read().decode())


@pytest.fixture
def data_dir(library_dir: Path, tmp_path: Path) -> Path:
    target = tmp_path / "data"
    shutil.copytree(library_dir, target)
    return target


def test_restore_into_an_empty_folder_gives_the_same_library(data_dir: Path, tmp_path: Path) -> None:
    before = exported(data_dir, tmp_path / "before")
    manage(data_dir, "backup", str(tmp_path / "backup.zip"))
    empty = tmp_path / "empty"
    manage(empty, "restore", str(tmp_path / "backup.zip"))
    assert exported(empty, tmp_path / "after") == before
    assert manage(empty, "check_library").returncode == 0


def test_restore_while_serving_shows_the_backup_at_once(make_server: Callable[..., Server], tmp_path: Path) -> None:
    server = make_server()
    before = exported(server.data_dir, tmp_path / "before")
    server.manage("backup", str(tmp_path / "backup.zip"))
    change_title(server.data_dir, 1, "스위치가 사라지는 수수께끼 사건이 벌어졌다")
    code = "from tests.factories import make_incident; make_incident(symptom='봉황새가 서버실에 둥지를 틀었다.')"
    server.manage("shell", "-c", code)
    assert "수수께끼" in get(server, "/incidents/IL-0001/")
    assert "1건 중" in get(server, "/incidents/?q=%EB%B4%89%ED%99%A9%EC%83%88")

    done = server.manage("restore", str(tmp_path / "backup.zip"))

    assert "before-restore-" in done.stdout
    assert "수수께끼" not in get(server, "/incidents/IL-0001/")
    assert "봉황새가" not in get(server, "/incidents/?q=%EB%B4%89%ED%99%A9%EC%83%88")
    assert exported(server.data_dir, tmp_path / "after") == before
    assert server.manage("check_library").returncode == 0
    with sqlite3.connect(server.data_dir / "library.sqlite3") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    # What was there before the restore is kept, and is a backup itself.
    kept = next(server.data_dir.glob("before-restore-*.zip"))
    server.manage("restore", str(kept))
    assert "수수께끼" in get(server, "/incidents/IL-0001/")
    assert "1건 중" in get(server, "/incidents/?q=%EB%B4%89%ED%99%A9%EC%83%88")


def test_edits_after_a_restore_are_found(make_server: Callable[..., Server], tmp_path: Path) -> None:
    server = make_server()
    server.manage("backup", str(tmp_path / "backup.zip"))
    server.manage("restore", str(tmp_path / "backup.zip"))
    change_title(server.data_dir, 2, "복원한 뒤에 고친 제목에는 봉황새가 있다")
    assert "IL-0002" in get(server, "/incidents/?q=%EB%B4%89%ED%99%A9%EC%83%88")
    assert server.manage("check_library").returncode == 0


def damaged_variants(whole: Path, folder: Path) -> dict[str, Path]:
    data = whole.read_bytes()
    middle = len(data) // 2
    variants = {
        "truncated": data[:-1024],
        "half": data[:middle],
        "empty": b"",
        "text": "백업이 아닌 글\n".encode() * 100,
        "flipped in the data": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "flipped at the start": bytes([data[0] ^ 1]) + data[1:],
        "flipped in a time stamp": data[:10] + bytes([data[10] ^ 1]) + data[11:],
        "flipped in the seal": data[:-1] + bytes([data[-1] ^ 1]),
        "with a tail": data + b"\n",
    }
    paths = {}
    for number, (name, content) in enumerate(variants.items()):
        paths[name] = folder / f"bad-{number}.zip"
        paths[name].write_bytes(content)
    foreign = folder / "foreign.zip"
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("manifest.json", "{}")
    return {**paths, "another zip": foreign, "missing": folder / "none.zip", "folder": folder}


def test_damaged_and_foreign_files_change_nothing(data_dir: Path, tmp_path: Path) -> None:
    manage(data_dir, "backup", str(tmp_path / "backup.zip"))
    change_title(data_dir, 1, "백업보다 나중에 고친 제목이 그대로 남아 있다")
    before = exported(data_dir, tmp_path / "before")
    files = sorted(path.name for path in data_dir.iterdir())
    for name, path in damaged_variants(tmp_path / "backup.zip", tmp_path).items():
        done = manage(data_dir, "restore", str(path), check=False)
        assert done.returncode == 1, name
        assert done.stderr.startswith("CommandError: "), name
        assert "Traceback" not in done.stderr, name
    assert exported(data_dir, tmp_path / "after") == before
    assert sorted(path.name for path in data_dir.iterdir()) == sorted({*files, "restore.lock"})


def test_backup_of_a_later_version_is_refused(data_dir: Path, tmp_path: Path) -> None:
    with sqlite3.connect(data_dir / "library.sqlite3") as database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('incidents', '9999_later', '2030-01-01')"
        )
    manage(data_dir, "backup", str(tmp_path / "later.zip"))
    done = manage(data_dir, "restore", str(tmp_path / "later.zip"), check=False)
    assert done.returncode == 1
    assert "9999_later" in done.stderr


def test_backup_of_an_earlier_version_is_migrated_first(data_dir: Path, tmp_path: Path) -> None:
    before = exported(data_dir, tmp_path / "before")
    older = tmp_path / "older"
    shutil.copytree(data_dir, older)
    manage(older, "migrate", "incidents", "0005")
    manage(older, "backup", str(tmp_path / "older.zip"))
    done = manage(data_dir, "restore", str(tmp_path / "older.zip"))
    assert "지금 판으로 올렸습니다" in done.stdout
    assert "[ ]" not in manage(data_dir, "showmigrations", "--list").stdout
    assert exported(data_dir, tmp_path / "after") == before


def test_damaged_database_is_set_aside(data_dir: Path, tmp_path: Path) -> None:
    before = exported(data_dir, tmp_path / "before")
    manage(data_dir, "backup", str(tmp_path / "backup.zip"))
    (data_dir / "library.sqlite3").write_bytes(b"nothing of a database" * 1000)
    manage(data_dir, "restore", str(tmp_path / "backup.zip"))
    assert exported(data_dir, tmp_path / "after") == before
    assert next(data_dir.glob("library.sqlite3.damaged-*")).read_bytes().startswith(b"nothing")


def test_backup_holds_no_session_and_only_its_owner_reads_it(data_dir: Path, tmp_path: Path) -> None:
    manage(
        data_dir, "shell", "-c",
        "from django.contrib.sessions.backends.db import SessionStore; SessionStore().save()",
    )  # fmt: skip
    manage(data_dir, "backup", str(tmp_path / "backup.zip"))
    assert (tmp_path / "backup.zip").stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        archive.extract("library.sqlite3", tmp_path)
    with sqlite3.connect(tmp_path / "library.sqlite3") as database:
        assert database.execute("SELECT COUNT(*) FROM django_session").fetchone() == (0,)
        assert database.execute("SELECT COUNT(*) FROM auth_user").fetchone() == (1,)


def test_failed_backup_leaves_no_file(data_dir: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "backup.zip"
    target.parent.mkdir()
    done = subprocess.run(
        [sys.executable, "manage.py", "backup", str(target)],
        cwd=ROOT,
        env={"KB_DATA_DIR": str(data_dir), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
        check=False,
    )
    assert done.returncode == 1
    assert "백업을 쓰지 못했습니다" in done.stderr
    assert list(target.parent.iterdir()) == []


def test_existing_file_is_kept_unless_told(data_dir: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.zip"
    target.write_text("mine")
    done = manage(data_dir, "backup", str(target), check=False)
    assert (done.returncode, target.read_text()) == (1, "mine")
    assert "이미 있는 파일입니다" in done.stderr
    manage(data_dir, "backup", str(target), "--overwrite")
    assert zipfile.is_zipfile(target)


def test_folder_gets_names_by_time_and_keeps_the_latest(data_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for name in ("library-20200101T000000Z.zip", "library-20200102T000000Z.zip", "notes.txt"):
        (folder / name).write_text("")
    manage(data_dir, "backup", str(folder), "--keep", "2")
    names = sorted(path.name for path in folder.iterdir())
    assert names[:1] == ["library-20200102T000000Z.zip"]
    assert names[2:] == ["notes.txt"]
    assert zipfile.is_zipfile(folder / names[1])
