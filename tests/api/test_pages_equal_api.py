"""One query string, one answer: the page shows what the API says, on the bundled library."""

from __future__ import annotations

import html
import re
from urllib.parse import quote

import pytest

QUERIES = [
    "",
    "page=3",
    "sort=oldest&page_size=7",
    "sort=id&page=2",
    "q=인증서 만료",
    "q=retry storm&sort=newest",
    "q=재시도&factor=retry-storm&year_from=2012",
    "q=\"연결 풀\"",
    "q=증상:로그인",
    "q=장애 -네트워크",
    "component=etcd",
    "cause=dns-error&cause=config-error&component=dns",
    "detection=alert&year_from=2019&year_to=2022",
    "duration_from=60&duration_to=120",
    "check=KC-001",
    "group=year&page_size=5",
    "organization=cloudflare&sort=added",
]  # fmt: skip


def shown_rows(page: str) -> list[str]:
    results = page.split('id="results"', 1)[1]
    return list(
        dict.fromkeys(re.findall(r'<a class="incident-row__link[^"]*" href="/incidents/(IL-\d+)/', results))
    ) or list(dict.fromkeys(re.findall(r'href="/incidents/(IL-\d+)/', results)))


@pytest.mark.parametrize("query", QUERIES)
def test_the_page_shows_the_records_the_count_and_the_facets_of_the_api(client, bundled, query):
    page = client.get(f"/incidents/?{query}").content.decode()
    answer = client.get(f"/api/v1/incidents/?{query}").json()
    assert shown_rows(page) == [record["id"] for record in answer["results"]]
    assert f"{answer['count']}건" in page
    for facet, options in answer["facets"].items():
        for option in options if facet != "year" else ():
            address = f"/incidents/?{option['toggle_query']}".rstrip("?")
            link = rf'id="{facet}-{re.escape(option["value"])}" href="{re.escape(html.escape(address))}"[^>]*>(.*?)</a>'
            (text,) = re.findall(link, page, re.DOTALL)
            assert re.findall(r'facet__count">(\d+)<', text) == [str(option["count"])], (facet, option)
            assert html.escape(option["label"]) in text


@pytest.mark.parametrize("query", ["", "component=etcd", "q=인증서", "cause=dns-error&year_from=2015"])
def test_every_count_of_a_facet_is_what_choosing_it_gives(client, bundled, query):
    answer = client.get(f"/api/v1/incidents/?{query}").json()
    for options in answer["facets"].values():
        for option in options[:4]:
            if not option["is_selected"]:
                address = f"/api/v1/incidents/?{option['toggle_query']}&fields=id&page_size=1"
                chosen = client.get(address).json()
                others = sum(one["is_selected"] for one in options)
                if not others:
                    assert chosen["count"] == option["count"], option


def test_every_mark_of_the_figures_counts_its_listing(client, bundled):
    figures = client.get("/api/v1/stats/").json()
    marks = [mark for name in ("years", "durations", "together") for mark in figures[name]["marks"]]
    marks += [term for name in ("causes", "components", "detections") for term in figures[name]["terms"]]
    marks += [cell for row in figures["cause_detection"]["rows"] for cell in row["cells"] if cell["count"]]
    assert len(marks) > 100
    for mark in marks:
        if mark["query"]:
            assert (
                client.get(f"/api/v1/incidents/?{mark['query']}&fields=id&exclude=facets").json()["count"]
                == mark["count"]
            ), mark


def test_vocabulary_pages_count_as_the_api_does(client, bundled):
    for kind in ("causes", "components", "factors", "detections", "organizations"):
        page = client.get(f"/{kind}/").content.decode()
        for term in client.get(f"/api/v1/{kind}/").json()["results"]:
            address = re.escape(f'href="/{kind}/{quote(term["slug"])}/"')
            counted = re.search(rf"{address}[^>]*>.*?index__count\">(\d+)", page, re.DOTALL)
            assert counted, term["slug"]
            assert int(counted[1]) == term["count"], term["slug"]
