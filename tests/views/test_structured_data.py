"""What pages say to machines in their head."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from lxml import html as lxml_html

from incidents.models import Incident
from tests.factories import make_incident

pytestmark = pytest.mark.django_db


def blocks(client: Client, path: str) -> dict[str, Any]:
    tree = lxml_html.fromstring(client.get(path).content)
    found = [json.loads(script.text) for script in tree.xpath("//head/script[@type='application/ld+json']")]
    return {block["@type"]: block for block in found}


def graph(client: Client, path: str) -> dict[str, str]:
    tree = lxml_html.fromstring(client.get(path).content)
    return {meta.get("property"): meta.get("content") for meta in tree.xpath("//head/meta[@property]")}


def canonical(client: Client, path: str) -> list[str]:
    return list(lxml_html.fromstring(client.get(path).content).xpath("//head/link[@rel='canonical']/@href"))


def make() -> Incident:
    return make_incident(
        title="</script><script>alert(1)</script> 야간 정산이 멈췄다",
        factors=["monitoring-gap"],
        sources=[
            {"title": "안내", "url": "https://status.example.org/1", "publisher": "누리상회", "published": "2024-03-04"}
        ],
    )


def test_record_is_a_report_about_terms(client: Client) -> None:
    incident = make()
    found = blocks(client, incident.get_absolute_url())
    report = found["Report"]
    assert report["name"] == incident.title
    assert report["identifier"] == incident.public_id
    assert [term["termCode"] for term in report["about"]] == ["capacity-exhaustion", "job-queue", "monitoring-gap"]
    assert report["isBasedOn"] == [
        {
            "@type": "CreativeWork",
            "name": "안내",
            "url": "https://status.example.org/1",
            "publisher": {"@type": "Organization", "name": "누리상회"},
            "datePublished": "2024-03-04",
        }
    ]
    assert [step["position"] for step in found["BreadcrumbList"]["itemListElement"]] == [1, 2, 3]


def test_title_cannot_leave_the_block(client: Client) -> None:
    body = client.get(make().get_absolute_url()).content.decode()
    assert "<script>alert(1)" not in body


def test_first_page_can_be_searched_and_taken(client: Client) -> None:
    make()
    found = blocks(client, "/")
    assert found["WebSite"]["potentialAction"]["target"]["urlTemplate"].endswith("/incidents/?q={search_term_string}")
    assert [one["encodingFormat"] for one in found["Dataset"]["distribution"]] == ["application/x-ndjson", "text/csv"]


@pytest.mark.parametrize("path", ["/incidents/", "/components/job-queue/", "/causes/capacity-exhaustion/"])
def test_lists_are_collections(client: Client, path: str) -> None:
    incident = make()
    items = blocks(client, path)["CollectionPage"]["mainEntity"]
    assert items["numberOfItems"] == 1
    assert items["itemListElement"][0]["url"].endswith(incident.get_absolute_url())


def test_links_are_previewed(client: Client) -> None:
    incident = make()
    found = graph(client, incident.get_absolute_url())
    assert found["og:title"] == incident.title
    assert found["og:url"].endswith(incident.get_absolute_url())
    assert found["og:description"].startswith("야간 정산 작업이")


def test_narrowed_listing_says_nothing_of_the_kind(client: Client) -> None:
    make()
    assert blocks(client, "/incidents/?cause=capacity-exhaustion") == {}


@pytest.mark.parametrize("path", ["/", "/components/job-queue/", "/stats/"])
def test_pages_name_their_address(client: Client, path: str) -> None:
    make()
    assert [address.removesuffix(path) for address in canonical(client, path)] == ["http://127.0.0.1:8000"]
