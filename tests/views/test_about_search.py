"""The page that says how well the search finds."""

from __future__ import annotations

import pytest
from django.template.defaultfilters import floatformat
from django.test import Client
from lxml import html

from incidents.search import relevance_figures

pytestmark = pytest.mark.django_db


def test_page_shows_the_figures_of_the_last_run(client: Client) -> None:
    tree = html.fromstring(client.get("/about/search/").content)
    rows = tree.xpath("(//table)[1]/tbody/tr")
    shown = [[cell.text_content() for cell in row] for row in rows]
    expected = [
        [s.name, *(str(floatformat(value, 2)) for value in (s.ndcg, s.recall, s.zero_hits))]
        for s in relevance_figures().searches
    ]
    assert shown == expected


def test_own_search_is_first_and_ahead() -> None:
    own, *others = relevance_figures().searches
    assert own.key == "own"
    assert all(own.ndcg >= other.ndcg + 0.10 for other in others)


def test_every_kind_has_a_name(client: Client) -> None:
    tree = html.fromstring(client.get("/about/search/").content)
    assert len(tree.xpath("(//table)[2]/tbody/tr")) == len(relevance_figures().searches[0].kinds)
