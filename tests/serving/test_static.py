"""Static files: compressed forms hold the file, and are made once."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import brotli
import pytest
from django.contrib.staticfiles import storage
from django.core.management import call_command
from django.test import Client

from incidents.static_storage import KeepingCompressor, StaticStorage, uncollected_files
from incidents.views import site
from tests.conftest import ROOT


def test_compressed_forms_are_made_once_and_again_after_a_change(tmp_path: Path):
    file = tmp_path / "base.css"
    file.write_text("a { color: red }\n" * 100)
    compressor = KeepingCompressor(quiet=True)
    names = compressor.compress(str(file))
    assert sorted(names) == [f"{file}.br", f"{file}.gz"]
    assert brotli.decompress(Path(f"{file}.br").read_bytes()) == file.read_bytes()
    assert gzip.decompress(Path(f"{file}.gz").read_bytes()) == file.read_bytes()
    before = Path(f"{file}.br").stat().st_ino, Path(f"{file}.br").stat().st_ctime_ns
    assert compressor.compress(str(file)) == names
    assert (Path(f"{file}.br").stat().st_ino, Path(f"{file}.br").stat().st_ctime_ns) == before
    file.write_text("b { color: blue }\n" * 100)
    os.utime(file, (1, 1))
    compressor.compress(str(file))
    assert brotli.decompress(Path(f"{file}.br").read_bytes()) == file.read_bytes()


@pytest.fixture
def collecting(settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for collected files of the test's own, as in use: with hashes in the names and a manifest of them."""
    settings.STATIC_ROOT = str(tmp_path / "static")
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": "incidents.static_storage.StaticStorage"}}
    monkeypatch.setattr(site, "_collected", False)
    return tmp_path / "static"


@pytest.mark.django_db
def test_readiness_says_that_static_files_are_missing(collecting: Path):
    assert "css/base.css" in uncollected_files()
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"status": "unready", "problems": ["static files"]})
    call_command("collectstatic", interactive=False, verbosity=0)
    storage.staticfiles_storage._wrapped = StaticStorage()  # type: ignore[attr-defined]  # reads the manifest anew
    assert uncollected_files() == []
    assert Client().get("/readyz").json() == {"status": "ok", "problems": []}


def test_the_server_does_not_start_without_static_files_and_says_what_to_run(library_dir: Path, tmp_path: Path):
    shutil.copytree(library_dir, tmp_path / "data", ignore=shutil.ignore_patterns("static"))
    done = subprocess.run(
        [sys.executable, "-m", "gunicorn", "--config", "kb/gunicorn.py", "--bind", "127.0.0.1:0", "kb.wsgi"],
        cwd=ROOT,
        env={**os.environ, "KB_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "먼저 실행하십시오: .venv/bin/python manage.py collectstatic --no-input" in done.stderr
