"""A reader sees no draft: not by any address, search, suggestion, count, feed, API, export, nor from any cache."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from incidents.catalogue import get_catalogue
from incidents.models import Incident, RelatedIncident
from tests.admin.forms import open_form, save_form
from tests.conftest import PASSWORD
from tests.factories import make_draft, make_incident

pytestmark = pytest.mark.django_db

SECRETS = ("얼룩말정산", "IL-0002", "IL-0003", "비밀상회", "zebra.example")

LISTINGS = (
    "/incidents/",
    "/incidents.md",
    "/incidents.json",
    "/api/v1/incidents/",
    "/feed/",
    "/feed/changed/",
    "/api/v1/suggest/",
    "/opensearch/suggest/",
    "/api/v1/export/library.ndjson",
    "/api/v1/export/library.csv",
)
QUERIES = (
    "",
    "q=얼룩말정산",
    "q=얼룩말",
    "q=IL-0002",
    "q=https://zebra.example/report",
    "q=비밀상회",
    "component=etcd",
    "component=etcd&sort=oldest&view=full",
    "include=withdrawn,merged",
    "updated_since=2000-01-01",
)
OF_A_RECORD = (
    "/incidents/{id}/",
    "/incidents/{id}.md",
    "/incidents/{id}.json",
    "/incidents/{id}/history/",
    "/incidents/{id}/v/0/",
    "/incidents/{id}/v/1/",
    "/incidents/{id}/report/",
    "/api/v1/incidents/{id}/",
    "/api/v1/incidents/{id}/related/",
)


def plain_addresses() -> Iterator[str]:
    """Yield every address of the site that takes no argument, but for the admin's."""

    def walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            elif "<" not in route and "^" not in route:
                yield f"/{route}"

    yield from (address for address in walk(get_resolver().url_patterns, "") if not address.startswith("/admin/"))


def body_of(response: HttpResponseBase) -> str:
    """Return an answer's body as text, archives unpacked."""
    whole: Any = response
    data: bytes = b"".join(whole.streaming_content) if whole.streaming else whole.content
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            data = b"".join(archive.read(name) + name.encode() for name in archive.namelist())
    return data.decode(errors="replace")


def leaks(client: Client, address: str, asked: str = "") -> list[str]:
    """Return the secrets in an answer's body, but for what the reader wrote into the address."""
    body = body_of(client.get(address))
    return [secret for secret in SECRETS if secret in body and secret not in asked]


@pytest.fixture
def readers(client: Client) -> list[Client]:
    """An anonymous reader and one with an account but no rights, in a library with a draft and one in review.

    Whoever may see the drafts has looked at them first, and the public record is tied to one.
    """
    public = make_incident(components=("etcd",), title="모두가 보는 기록")
    drafts = [
        make_draft(
            title="얼룩말정산 초안",
            symptom="얼룩말정산 이 멈췄다.",
            organization="비밀상회",
            components=("etcd",),
            sources=[{"title": "얼룩말정산 보고서", "url": "https://zebra.example/report"}],
        )
    ]
    drafts.append(
        make_incident(
            status="in_review",
            title="얼룩말정산 검토",
            organization="비밀상회",
            components=("etcd",),
            sources=[{"title": "얼룩말정산 보고서", "url": "https://zebra.example/report"}],
        )
    )
    RelatedIncident.objects.create(incident=public, other=drafts[0], relation="similar")
    root = User.objects.create_superuser("root", password=PASSWORD)
    desk = Client()
    desk.force_login(root)
    for draft in drafts:
        assert "얼룩말정산" in desk.get(f"/admin/incidents/incident/{draft.pk}/site/").content.decode()
        assert desk.get(f"/incidents/{draft.public_id}/").status_code == 404
    member = Client()
    member.force_login(User.objects.create_user("member", password=PASSWORD))
    return [client, member]


def test_no_plain_address_shows_a_draft(readers: list[Client]) -> None:
    addresses = list(plain_addresses())
    assert "/incidents/" in addresses
    assert "/sitemap.xml" in addresses
    for reader in readers:
        assert {address: found for address in addresses if (found := leaks(reader, address))} == {}


@pytest.mark.parametrize("address", LISTINGS)
def test_no_listing_search_or_export_shows_a_draft(readers: list[Client], address: str) -> None:
    for reader in readers:
        for query in QUERIES:
            assert leaks(reader, f"{address}?{query}", query) == [], query


@pytest.mark.parametrize("address", OF_A_RECORD)
def test_the_addresses_of_a_draft_are_those_of_nothing(readers: list[Client], address: str) -> None:
    for reader in readers:
        for public_id in ("IL-0002", "IL-0003", "il-2"):
            draft = reader.get(address.format(id=public_id))
            nothing = reader.get(address.format(id="IL-9999"))
            assert draft.status_code == nothing.status_code == 404
            assert body_of(draft).replace(public_id, "").count("얼룩말") == 0


def test_a_public_record_names_no_draft_that_it_is_tied_to(readers: list[Client]) -> None:
    public = Incident.objects.get(number=1)
    desk = Client()
    desk.force_login(User.objects.get(username="root"))
    save_form(desk, public, open_form(desk, public), lesson="새 교훈이다.")
    assert public.versions.count() == 2
    for reader in readers:
        for address in OF_A_RECORD:
            assert leaks(reader, address.format(id="IL-0001")) == [], address
        for address in ("/incidents/IL-0001/history/?from=1&to=2", "/incidents/IL-0001/v/2/", "/corrections/"):
            assert leaks(reader, address) == [], address


def test_no_count_includes_a_draft(readers: list[Client]) -> None:
    assert list(get_catalogue().everything().counts("component").values()) == [1]
    for reader in readers:
        found = reader.get("/api/v1/incidents/?component=etcd").json()
        assert found["count"] == 1
        assert reader.get("/api/v1/components/etcd/").json()["count"] == 1
        citations = reader.get("/api/v1/citations/?id=IL-0002&id=IL-0003@1%23symptom-1").json()["citations"]
        assert [citation["status"] for citation in citations] == ["unknown", "unknown"]


def test_the_desk_shows_a_reader_nothing(readers: list[Client]) -> None:
    for reader in readers:
        for address in (
            "/admin/",
            "/admin/desk/",
            "/admin/incidents/incident/",
            "/admin/incidents/incident/2/change/",
            "/admin/incidents/incident/2/site/",
            "/admin/incidents/incident/2/history/",
            "/admin/autocomplete/?app_label=incidents&model_name=relatedincident&field_name=other&term=얼룩말",
        ):
            response = reader.get(address)
            assert response.status_code == 302, address
            assert "/admin/login/" in response["Location"]
