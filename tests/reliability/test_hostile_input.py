"""Whatever is asked or imported: never a server error, never a half import."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from django.test import Client

from incidents.errors import UserError
from incidents.faults import RecordError
from incidents.importing import import_library
from incidents.models import Incident, LibraryState
from tests.conftest import FIXTURES
from tests.torture.hostile import mutated, queries

BROKEN = ["%00", "%EA%B0%80%00%EB%82%98", "%ED%A0%80", "%C0%AF", "%ff"]
HUGE = "9" * 20


@pytest.fixture(scope="module")
def client(bundled: Path) -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.parametrize(
    "address",
    [
        *(f"/{name}?q={value}" for name in ("incidents/", "api/v1/suggest/", "feed/") for value in BROKEN),
        *(f"/incidents/{value}/" for value in ("IL-0001%00", "%F0%9F%94%A5", f"IL-{HUGE}", f"IL-0001/v/{HUGE}")),
        *(f"/{name}/%00/" for name in ("components", "checks", "reports", "incidents/IL-0001/v")),
        f"/years/{HUGE}/",
        f"/sitemap-{HUGE}.xml",
        f"/api/v1/incidents/IL-{HUGE}/",
        "/components/etcd%2F/",
        "/incidents/IL-0001.md%00",
        "/incidents/?page=%00",
    ],
)
def test_broken_text_is_refused(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code in {200, 301, 302, 400, 404}
    assert b"Traceback" not in response.content


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("q=" + "a" * 70_000, "q"),
        ("q=" + "%EA%B0%80+" * 300, "q"),
        ("q=" + "%22" * 10_000, "q"),
        ("&".join(f"cause=x{n}" for n in range(1_500)), "cause"),
        ("page=99999999999999999999", "page"),
        ("page=-1", "page"),
        ("page_size=1000000", "page_size"),
        ("year_from=99999999999", "year_from"),
    ],
)
def test_each_limit_has_its_message(client: Client, query: str, field: str) -> None:
    answer = client.get(f"/api/v1/incidents/?{query}")
    assert answer.status_code in {400, 404}
    assert field in str(answer.json()["errors"])
    page = client.get(f"/incidents/?{query}")
    assert page.status_code in {400, 404}
    assert "incidents" in page.content.decode()


def test_hostile_queries_never_break_anything(client: Client) -> None:
    for query in queries(160, seed=1):
        for address in ("/incidents/", "/api/v1/incidents/", "/api/v1/suggest/"):
            response = client.get(f"{address}?q={query}")
            assert response.status_code in {200, 302, 400, 404}, query


def test_mutated_files_are_imported_whole_or_refused_with_a_place(bundled: Path, tmp_path: Path) -> None:
    rng = random.Random(2)
    sources = sorted((FIXTURES / "incidents").glob("*.md"))
    (tmp_path / "incidents").mkdir()
    refused = 0
    for _ in range(120):
        source = rng.choice(sources)
        path = tmp_path / "incidents" / source.name
        path.write_bytes(mutated(source.read_bytes(), rng))
        before = (LibraryState.objects.current_revision(), Incident.objects.count())
        try:
            import_library(path)
        except RecordError as error:
            refused += 1
            assert all(fault.file.endswith(source.name) and fault.line >= 1 for fault in error.faults)
            assert (LibraryState.objects.current_revision(), Incident.objects.count()) == before
        except UserError as error:
            refused += 1
            assert str(error)
            assert (LibraryState.objects.current_revision(), Incident.objects.count()) == before
        path.unlink()
    assert 20 < refused < 120
