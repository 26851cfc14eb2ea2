"""The library as one ZIP archive: into an empty library, by the command and in the admin, and out again the same."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from incidents.models import Incident, Status, StatusChange
from tests.admin.forms import form_values
from tests.browser.page_kinds import let_records_change
from tests.conftest import FIXTURES, manage

RECORDS = "/admin/incidents/incident/import-records/"


@pytest.fixture(scope="module")
def lived_in(library_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library that has lived: `files` as exported, `library.zip` with everything public."""
    folder = tmp_path_factory.mktemp("lived-in")
    shutil.copytree(library_dir, folder / "data")
    let_records_change(folder / "data")
    manage(folder / "data", "export_library", str(folder / "files"))
    manage(folder / "data", "snapshot", str(folder / "snapshots"))
    shutil.move(next(folder.glob("snapshots/*/library.zip")), folder / "library.zip")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_the_archive_in_an_empty_data_folder_is_the_same_library(lived_in: Path, tmp_path: Path) -> None:
    data_dir = tmp_path / "empty"
    data_dir.mkdir()
    manage(data_dir, "migrate", "--no-input")
    done = manage(data_dir, "import_library", str(lived_in / "library.zip"))
    assert done.stdout.strip() == "created 402, changed 0, unchanged 0, failed 0"
    assert manage(data_dir, "check_library", check=False).returncode == 0
    manage(data_dir, "export_library", str(tmp_path / "again"))
    assert contents(tmp_path / "again") == contents(lived_in / "files")
    manage(data_dir, "snapshot", str(tmp_path / "snapshots"))
    with (
        zipfile.ZipFile(lived_in / "library.zip") as before,
        zipfile.ZipFile(next(tmp_path.glob("snapshots/*/library.zip"))) as after,
    ):
        assert after.namelist() == before.namelist()
        files = [name for name in before.namelist() if not name.endswith("README.md")]  # which says when it was made
        assert {name: after.read(name) for name in files} == {name: before.read(name) for name in files}
    again = manage(data_dir, "import_library", str(lived_in / "library.zip"))
    assert again.stdout.strip() == "created 0, changed 0, unchanged 402, failed 0"


def test_the_archive_is_taken_in_the_admin_alike(lived_in: Path, own_database: Path, tmp_path: Path) -> None:
    desk = Client()
    desk.force_login(User.objects.create_superuser("admin"))
    archive = SimpleUploadedFile("library.zip", (lived_in / "library.zip").read_bytes())
    shown = desk.post(RECORDS, {"uploads": [archive]})
    assert "새로 402건, 바뀜 0건, 그대로 0건" in shown.content.decode()
    assert desk.post(RECORDS, form_values(shown, "confirm-form")).status_code == 302
    call_command("export_library", str(tmp_path / "again"))
    assert contents(tmp_path / "again") == contents(lived_in / "files")
    ended = Incident.objects.exclude(status=Status.PUBLISHED).order_by("number")
    assert [(one.public_id, one.status, one.version) for one in ended] == [
        ("IL-9001", "withdrawn", 1),
        ("IL-9002", "merged", 1),
    ]
    moves = StatusChange.objects.order_by("incident__number").values_list("move", "reason")
    assert list(moves) == [("bring_withdrawn", "보고서가 내려져 확인할 수 없다."), ("bring_merged", "")]


def archive_of(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, (FIXTURES / "incidents/IL-0001.md").read_bytes())
    return path


def broken(path: Path) -> Path:
    path.write_bytes(b"PK\x03\x04 nonsense")
    return path


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (broken, "열 수 없는 ZIP 파일입니다: it.zip"),
        (lambda path: archive_of(path, "../../run.sh"), "기록이 아닌 파일입니다: run.sh"),
        (lambda path: archive_of(path, "a/IL-0001.md", "b/IL-0001.md"), "같은 이름의 파일이 둘입니다"),
        (archive_of, "읽을 것이 없습니다"),
    ],
)
def test_an_archive_that_is_no_library_is_refused(make: Callable[[Path], Path], words: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=words):
        call_command("import_library", str(make(tmp_path / "it.zip")))
    assert Incident.objects.count() == 0
