"""Error pages: what is wrong, and ways on."""

from __future__ import annotations

import pytest
from django.test import Client
from lxml import html as lxml_html

from tests.factories import make_incident

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("address", "way_on"),
    [
        ("/incidents/?cause=nope", "/incidents/"),
        ("/incidents/?component=etcd&cause=nope", "/incidents/?component=etcd"),
        ("/incidents/?component=etcd&page=99", "/incidents/?component=etcd"),
        ("/incidents/?year_from=2019.5&q=가", "/incidents/?q=%EA%B0%80"),
        ("/incidents/?sort=random&view=grid", "/incidents/"),
    ],
)
def test_way_back_leaves_out_what_is_wrong(client: Client, address: str, way_on: str) -> None:
    make_incident(components=["etcd"])
    response = client.get(address)
    assert 400 <= response.status_code < 500
    links = lxml_html.fromstring(response.content).xpath("//li[@class='message__way']/a/@href")
    assert links[0] == way_on
    assert client.get(way_on).status_code == 200


@pytest.mark.parametrize(
    "address", ["/incidents/IL-9999/", "/causes/nope/", "/years/1800/", "/nowhere/", "/incidents/x%00/"]
)
def test_missing_page_leads_on(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 404
    links = lxml_html.fromstring(response.content).xpath("//li[@class='message__way']/a/@href")
    assert links == ["/incidents/", "/"]


def test_word_of_the_reader_is_text(client: Client) -> None:
    response = client.get("/incidents/?cause=<script>alert(1)</script>")
    assert b"<script>alert(1)" not in response.content
