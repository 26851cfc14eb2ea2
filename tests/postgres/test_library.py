"""A library in PostgreSQL: the same answers as the embedded engine's, on one server and on a replica."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from bench.cluster import Cluster
from tests.conftest import FIXTURES, ROOT, Server, manage, start_server, stop_server

RENAME = """
from incidents.lifecycle import commit_version
from incidents.models import Incident
incident = Incident.objects.get(number={0})
incident.title = "{1}"
incident.save()
commit_version(incident, author=None, reason="시험")
"""
MANY_CHANGES = """
from incidents.indexing import sync_index
from incidents.lifecycle import commit_version, move
from incidents.models import Incident
for number in range(1, 30):
    incident = Incident.objects.get(number=number)
    incident.title = incident.title + " 다시"
    incident.save()
    commit_version(incident, author=None, reason="시험")
    sync_index()
move(Incident.objects.get(number=31), "withdrawn", author=None, reason="시험")
sync_index()
"""


WORDS = """
from incidents.indexing import fresh_backend
from incidents.models import SearchTerm
from incidents.search import parse_query
def found(text):
    return len(fresh_backend().search(parse_query(text, is_as_typed=True)).full)
term = SearchTerm(terms=["말레우스", "인증서"])
seen = [found("말레우스")]
for term.is_active in (True, False):
    term.save()
    seen.append(found("말레우스") - found("인증서") * term.is_active)
term.delete()
print(seen, found("인증서") > 0)
"""


# Lists, facets, searches, single records and whole exports: what one process answers, the other answers too.
ANSWERS = (
    "/", "/incidents/", "/incidents/?page=3&sort=oldest", f"/incidents/?q={quote('인증서 만료')}",
    f"/incidents/?q={quote('복제본에서')}&view=full", "/incidents/?cause=dns-error&group=year", "/incidents/IL-0042.md",
    "/components/etcd/", "/checks/KC-001/", "/stats/", "/feed/", "/api/v1/incidents/IL-0042/",
    f"/api/v1/incidents/?q={quote('인증서')}&page_size=100", "/api/v1/causes/", "/api/v1/stats/",
    "/api/v1/citations/?id=IL-0042&id=IL-9999", f"/api/v1/suggest/?q={quote('인증')}",
    "/api/v1/export/library.ndjson", "/api/v1/export/library.csv",
)  # fmt: skip


@pytest.fixture(scope="session")
def library(postgres: Cluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The bundled library in PostgreSQL: a data folder without an index, and the environment that leads there."""
    folder = tmp_path_factory.mktemp("postgres")
    postgres.sql("CREATE DATABASE library")
    environment: dict[str, Any] = {"DATABASE_URL": postgres.url("library"), "KB_SEARCH_BACKEND": "postgres"}
    manage(folder, "migrate", "--no-input", **environment)
    manage(folder, "collectstatic", "--no-input", **environment)
    manage(folder, "import_library", str(FIXTURES), **environment)
    return folder, environment


def compare(folder: Path, environment: dict[str, str], index: Path) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.postgres.compare", str(index)],
        cwd=ROOT,
        env={**os.environ, "KB_DATA_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    different: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
    return different


def fetch(address: str, cookie: str = "") -> str:
    request = urllib.request.Request(address, headers={"Cookie": cookie} if cookie else {})
    with urllib.request.urlopen(request, timeout=30) as response:
        return str(response.read().decode())


def title_of(page: str) -> str:
    found = re.search(r"<title[^>]*>(.*?)</title>", page, re.DOTALL)
    return found[1] if found else ""


def wait_until(condition: Callable[[], bool]) -> None:
    """Ask until it is so; a test that waits in vain is stopped by its own count."""
    for _ in range(5_000):
        if condition():
            return
    raise AssertionError("it did not come to be")


def test_both_engines_answer_alike_and_leave_no_folder(library, tmp_path):
    folder, environment = library
    assert compare(folder, environment, tmp_path / "index") == []
    assert not (folder / "index").exists()


def test_an_editor_s_word_counts_at_once_without_a_new_index(library, postgres):
    folder, environment = library
    build = postgres.sql("SELECT build FROM search_state", "library")
    said = manage(folder, "shell", "-v", "0", "-c", WORDS, **environment).stdout
    assert said.splitlines()[-1] == "[0, 0, 0] True"
    assert postgres.sql("SELECT build FROM search_state", "library") == build


def test_both_engines_answer_alike_after_many_changes(library, postgres, tmp_path):
    """Thirty updates, more than a merge's worth, and a record taken back."""
    folder, environment = library
    postgres.sql("CREATE DATABASE changed TEMPLATE library")
    environment = {**environment, "DATABASE_URL": postgres.url("changed")}
    before = int(postgres.sql("SELECT generation FROM search_state", "changed"))
    manage(folder, "shell", "-c", MANY_CHANGES, **environment)
    assert int(postgres.sql("SELECT generation FROM search_state", "changed")) == before + 30
    build = postgres.sql("SELECT build FROM search_state", "changed")
    assert int(postgres.sql(f"SELECT count(*) FROM search_segment_{build}", "changed")) <= 12
    assert compare(folder, environment, tmp_path / "index") == []
    manage(folder, "check_library", **environment)
    manage(folder, "rebuild_index", **environment)
    assert compare(folder, environment, tmp_path / "other") == []
    # Nothing of the build before is left.
    assert postgres.sql("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'search\\_%'", "changed") == "8"


def test_moving_from_sqlite_keeps_everything(postgres, library_dir, tmp_path):
    """The documented command; then checks and exports of both are the same, and the next record gets the next number."""
    data = tmp_path / "sqlite"
    shutil.copytree(library_dir, data)
    manage(data, "shell", "-c", RENAME.format(7, "옮기기 전에 고친 제목이라 판이 둘이다"))
    postgres.sql("CREATE DATABASE moved")
    target = tmp_path / "target"
    target.mkdir()
    environment: dict[str, Any] = {"DATABASE_URL": postgres.url("moved"), "KB_SEARCH_BACKEND": "postgres"}
    manage(target, "migrate", "--no-input", **environment)
    source = f"sqlite:///{data / 'library.sqlite3'}"
    manage(target, "copy_database", source, **environment)
    manage(target, "check_library", **environment)
    manage(data, "export_library", str(tmp_path / "a"))
    manage(target, "export_library", str(tmp_path / "b"), **environment)
    files = {path.relative_to(tmp_path / "a"): path.read_bytes() for path in (tmp_path / "a").rglob("*.*")}
    assert {path.relative_to(tmp_path / "b"): path.read_bytes() for path in (tmp_path / "b").rglob("*.*")} == files
    counted = (
        "from django.apps import apps; "
        "print([(m._meta.label, m._base_manager.count()) for m in apps.get_models(include_auto_created=True)"
        " if m._meta.label != 'sessions.Session'])"
    )
    counts = [
        manage(folder, "shell", "-v", "0", "-c", counted, **env).stdout
        for folder, env in ((data, {}), (target, environment))
    ]
    assert counts[0] == counts[1]
    again = manage(target, "copy_database", source, check=False, **environment)
    assert again.returncode == 1
    assert "이미 기록이 있습니다" in again.stderr
    made = manage(
        target, "shell", "-v", "0", "-c", "from incidents.models import Incident; print(Incident.objects.create(title='새').number)",
        **environment,
    )  # fmt: skip
    largest = max(int(path.stem[3:]) for path in files if path.stem.startswith("IL-"))
    assert int(made.stdout) > largest


def test_a_wrong_source_changes_nothing(library, tmp_path):
    folder, environment = library
    for url in ("sqlite:////no/such/folder/library.sqlite3", "nonsense", f"sqlite:///{tmp_path / 'empty.sqlite3'}"):
        done = manage(folder, "copy_database", url, check=False, **environment)
        assert done.returncode == 1
        assert "데이터베이스" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.fixture
def replicated(library, postgres, replica) -> Iterator[tuple[Server, Server]]:
    """Two web processes on two ports over one library: one on the primary, one that reads from the replica."""
    folder, environment = library
    servers = [start_server(folder, workers=1, **environment)]
    replica_url = {"DATABASE_REPLICA_URL": replica.url("library")}
    wait_until(lambda: caught_up(postgres, replica))
    servers.append(start_server(folder, workers=1, **environment, **replica_url))
    yield servers[0], servers[1]
    replica.sql("SELECT pg_wal_replay_resume()")
    for server in servers:
        stop_server(server)


def caught_up(postgres: Cluster, replica: Cluster) -> bool:
    here = postgres.sql("SELECT pg_current_wal_lsn()")
    return replica.sql(f"SELECT pg_last_wal_replay_lsn() >= '{here}'") == "t"


def test_one_edits_and_the_other_reads_from_the_replica(library, postgres, replica, replicated):
    folder, environment = library
    editing, reading = replicated
    for number in range(3):
        title = f"복제본에서 {number}번째로 읽는 제목이 바뀐 기록"
        manage(folder, "shell", "-c", RENAME.format(42, title), **environment)
        assert title in title_of(fetch(f"{editing.url}/incidents/IL-0042/"))
        fetch(f"{editing.url}/incidents/?q=복제본에서".replace("복제본에서", "%EB%B3%B5%EC%A0%9C%EB%B3%B8"))
        wait_until(lambda: caught_up(postgres, replica))
        assert title in title_of(fetch(f"{reading.url}/incidents/IL-0042/"))
        assert "IL-0042" in fetch(f"{reading.url}/incidents/?q=%EB%B3%B5%EC%A0%9C%EB%B3%B8")
    different = []
    for address in ANSWERS:
        here, there = (fetch(server.url + address).replace(server.url, "") for server in replicated)
        if here != there:
            different.append(address)
    assert different == []
    exported = [line for line in fetch(f"{reading.url}/api/v1/export/library.ndjson").splitlines() if title in line]
    assert len(exported) == 1


def test_who_has_written_reads_the_primary_though_the_replica_is_behind(library, replica, replicated):
    folder, environment = library
    _, reading = replicated
    before = title_of(fetch(f"{reading.url}/incidents/IL-0043/"))
    replica.sql("SELECT pg_wal_replay_pause()")
    title = "복제본이 아직 모르는 제목으로 바꾼 기록"
    manage(folder, "shell", "-c", RENAME.format(43, title), **environment)
    assert title_of(fetch(f"{reading.url}/incidents/IL-0043/")) == before
    assert title in title_of(fetch(f"{reading.url}/incidents/IL-0043/", cookie="wrote=1"))
    assert title_of(fetch(f"{reading.url}/incidents/IL-0043/")) == before
    replica.sql("SELECT pg_wal_replay_resume()")
    wait_until(lambda: title in title_of(fetch(f"{reading.url}/incidents/IL-0043/")))


def test_pages_go_on_without_the_replica(library):
    folder, environment = library
    nobody = "postgres://postgres@127.0.0.1:9/library"
    server = start_server(folder, workers=1, **environment, DATABASE_REPLICA_URL=nobody)
    try:
        assert "IL-0044" in fetch(f"{server.url}/incidents/IL-0044/")
    finally:
        stop_server(server)


def test_the_postgres_engine_needs_postgresql(tmp_path):
    done = manage(tmp_path, "check", check=False, KB_SEARCH_BACKEND="postgres", DATABASE_URL="")
    assert done.returncode != 0
    assert "needs a DATABASE_URL" in done.stderr
