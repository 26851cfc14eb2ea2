"""Every page of the bundled library: nothing broken, nothing missing, nothing that leads nowhere."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit
from zlib import crc32

import pytest
from django.test import Client
from lxml import html

SKIPPED = ("/admin/", "/static/", "/api/v1/export/", "/mcp")


def is_followed(path: str, query: str) -> bool:
    """Every record, term, check and page; of what each of them has alike (a choice, a feed, a twin) one in ten."""
    is_one_of_many = bool(query) or path.endswith((".md", ".json")) or len(path.strip("/").split("/")) > 2
    if path.startswith(SKIPPED) or len(parse_qsl(query)) > 1:
        return False
    return not is_one_of_many or crc32(f"{path}?{query}".encode()) % 10 == 0


def test_no_link_is_broken_and_every_anchor_is_there(bundled: Path) -> None:
    client = Client()
    seen, queue = {"/"}, deque(["/"])
    anchors: dict[str, set[str]] = {}
    wanted: list[tuple[str, str, str]] = []
    broken: list[tuple[str, int]] = []
    while queue:
        address = queue.popleft()
        response = client.get(address)
        if response.status_code in {301, 302}:
            response = client.get(response["Location"])
        if response.status_code != 200:
            broken.append((address, response.status_code))
            continue
        if not response["Content-Type"].startswith("text/html"):
            b"".join(response) if response.streaming else response.content
            continue
        page = html.fromstring(response.content)
        anchors[address] = set(page.xpath("//@id"))
        for href in page.xpath("//a/@href"):
            target, fragment = urldefrag(urljoin(f"http://testserver{address}", href))
            parts = urlsplit(target)
            if parts.netloc != "testserver":
                continue
            link = parts.path + (f"?{parts.query}" if parts.query else "")
            if fragment:
                wanted.append((address, link, fragment))
            if link not in seen and is_followed(parts.path, parts.query):
                seen.add(link)
                queue.append(link)
    assert broken == []
    assert len([address for address in anchors if address.startswith("/incidents/IL-")]) >= 400
    dangling = [
        (page, link, fragment) for page, link, fragment in wanted if link in anchors and fragment not in anchors[link]
    ]
    assert dangling == []


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/incidents/",
        "/incidents/?q=인증서 만료",
        "/incidents/?view=full&cause=hardware-failure",
        "/incidents/?group=cause",
        "/incidents/IL-0421/",
        "/incidents/IL-0421.md",
        "/components/",
        "/components/etcd/",
        "/causes/",
        "/causes/dns-error/",
        "/factors/",
        "/factors/retry-storm/",
        "/organizations/",
        "/years/",
        "/years/2023/",
        "/about/",
        "/about/search/",
        "/patterns/",
        "/healthz",
        "/readyz",
    ],
)
def test_the_contract_s_addresses_answer(bundled: Path, address: str) -> None:
    response = Client().get(address)
    assert response.status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "/nope",
        "/incidents/IL-9999/",
        "/incidents/nope/",
        "/incidents/IL-0001%00/",
        "/components/nope/",
        "/components/etcd%2F/",
        "/causes/nope/",
        "/organizations/nope/",
        "/years/1800/",
        "/years/99999999999999999999/",
        "/incidents/?page=999",
        "/incidents/?page=0",
        "/incidents/?cause=nope",
        "/incidents/?component=%00",
        "/incidents/?sort=random",
        "/incidents/?year_from=2024&year_to=2020",
    ],
)
def test_what_is_not_there_is_said_in_korean_with_a_way_back(bundled: Path, address: str) -> None:
    response = Client().get(address)
    assert response.status_code == 404
    page = html.fromstring(response.content)
    assert page.get("lang") == "ko"
    assert any("가" <= sign <= "힣" for sign in page.xpath("string(//h1)"))
    ways = {urlsplit(href).path for href in page.xpath("//main//a/@href")}
    assert ways & {"/", "/incidents/"}


@pytest.mark.parametrize(
    "q",
    [
        '"',
        '""',
        "-",
        "-가",
        "((((",
        "(title:",
        ":",
        "http:",
        "AND",
        "AND AND",
        "^2",
        "~",
        "[a TO",
        "{",
        "\\",
        "%",
        "+",
        "'",
        '17" 모니',
        "🔥",
        "가\x00나",
        "*",
        "가*",
    ],
)
def test_signs_are_text_and_never_an_error(bundled: Path, q: str) -> None:
    assert Client().get("/incidents/", {"q": q}).status_code == 200


@pytest.mark.parametrize("raw", ["q=%ED%A0%80", "q=%C0%AF", "q=%ff"])
def test_broken_utf8_is_no_server_error(bundled: Path, raw: str) -> None:
    assert Client().get(f"/incidents/?{raw}").status_code in {200, 400, 404}


def test_the_number_of_queries_does_not_grow_with_the_page(bundled: Path, django_assert_num_queries: object) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def queries(address: str) -> int:
        client = Client()
        client.get(address)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            client.get(address)
        return len(captured)

    for view in ("list", "full"):
        assert queries(f"/incidents/?view={view}&page_size=3&sort=id") == queries(
            f"/incidents/?view={view}&page_size=100&sort=id"
        )


def test_a_fragment_is_only_the_listing_and_a_restored_page_is_whole(bundled: Path) -> None:
    client = Client()
    fragment = client.get("/incidents/?cause=dns-error", headers={"HX-Request": "true"})
    restored = client.get(
        "/incidents/?cause=dns-error", headers={"HX-Request": "true", "HX-History-Restore-Request": "true"}
    )
    whole = client.get("/incidents/?cause=dns-error")
    assert [b"<html" in answer.content for answer in (fragment, restored, whole)] == [False, True, True]
    for answer in (fragment, restored, whole):
        assert {"HX-Request", "HX-History-Restore-Request"} <= {name.strip() for name in answer["Vary"].split(",")}


def test_page_and_api_count_alike(bundled: Path) -> None:
    client = Client()
    for query in (
        "component=etcd&component=dns&cause=config-error",
        "q=인증서 만료",
        "factor=retry-storm&year_from=2020",
        "",
    ):
        count = client.get(f"/api/v1/incidents/?{query}").json()["count"]
        line = html.fromstring(client.get(f"/incidents/?{query}").content).xpath("string(//*[@id='count'])")
        assert line.strip().startswith(f"{count}건")


def test_every_kind_of_id_leads_to_the_record(bundled: Path) -> None:
    client = Client()
    for public_id in ("il-421", "IL-421", "il-0421", "IL‑0421", "ＩＬ－０４２１"):
        response = client.get(f"/incidents/{public_id}/")
        assert (response.status_code, response["Location"]) == (302, "/incidents/IL-0421/")


def test_headers_allow_no_inline_code(bundled: Path) -> None:
    response = Client().get("/incidents/IL-0421/")
    policy = response["Content-Security-Policy"]
    assert "unsafe-inline" not in policy
    assert "default-src 'none'" in policy
    page = html.fromstring(response.content)
    assert (
        page.xpath("//@style | //style | //script[not(@src) and not(@type='application/ld+json')] | //@onclick") == []
    )
