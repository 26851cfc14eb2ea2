"""Backup and restore of a library in PostgreSQL: a dump in a snapshot, exchanged in one transaction."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from bench.cluster import Cluster
from tests.conftest import FIXTURES, manage

pytestmark = pytest.mark.skipif(
    shutil.which("pg_dump") is None, reason="PostgreSQL's client programs are not installed"
)

CHANGE = """
from incidents.lifecycle import commit_version
from incidents.models import Incident
incident = Incident.objects.get(number=1)
incident.lesson = "봉황새가 둥지를 틀기 전에 경보를 건다."
incident.save()
commit_version(incident, author=None)
"""


def exported(folder: Path, target: Path, environment: dict[str, Any]) -> dict[str, bytes]:
    manage(folder, "export_library", str(target), **environment)
    return {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*.*")}


def test_backup_and_restore(postgres: Cluster, tmp_path: Path) -> None:
    for name in ("kept", "other"):
        postgres.sql(f"CREATE DATABASE {name}")
    environment: dict[str, Any] = {"DATABASE_URL": postgres.url("kept")}
    folder = tmp_path / "data"
    some = tmp_path / "some"
    (some / "incidents").mkdir(parents=True)
    for number in (1, 2, 3):
        shutil.copy(FIXTURES / "incidents" / f"IL-000{number}.md", some / "incidents")
    shutil.copy(FIXTURES / "taxonomy.yaml", some)
    manage(folder, "migrate", "--no-input", **environment)
    manage(folder, "import_library", str(some), **environment)
    before = exported(folder, tmp_path / "before", environment)
    backup = str(tmp_path / "backup.zip")
    manage(folder, "backup", backup, **environment)
    manage(folder, "shell", "-c", CHANGE, **environment)
    changed = exported(folder, tmp_path / "changed", environment)
    assert changed != before
    revision = int(postgres.sql("SELECT revision FROM incidents_librarystate", "kept"))

    manage(folder, "restore", backup, **environment)

    assert exported(folder, tmp_path / "after", environment) == before
    assert int(postgres.sql("SELECT revision FROM incidents_librarystate", "kept")) > revision
    assert "faults 0" in manage(folder, "check_library", **environment).stdout
    kept = next(folder.glob("before-restore-*.zip"))
    manage(folder, "restore", str(kept), **environment)
    assert exported(folder, tmp_path / "again", environment) == changed

    elsewhere: dict[str, Any] = {"DATABASE_URL": postgres.url("other")}
    manage(tmp_path / "empty", "restore", backup, **elsewhere)
    assert exported(tmp_path / "empty", tmp_path / "there", elsewhere) == before

    data = Path(backup).read_bytes()
    Path(backup).write_bytes(data[:-1024])
    assert manage(folder, "restore", backup, check=False, **environment).returncode == 1
    assert exported(folder, tmp_path / "still", environment) == changed
    wrong = manage(tmp_path / "sqlite", "restore", str(kept), check=False)
    assert wrong.returncode == 1
    assert "다른 데이터베이스의 백업입니다" in wrong.stderr
