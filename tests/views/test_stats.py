"""The statistics page: every mark opens exactly the records that it counts."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.http import QueryDict
from django.test import Client
from lxml import html as lxml_html

from incidents.catalogue import get_catalogue
from incidents.listing import build_listing
from incidents.stats import LibraryFigures, Mark, known_counts, library_figures

pytestmark = pytest.mark.django_db


def marks_of(figures: LibraryFigures) -> list[Mark]:
    heat = [
        mark
        for figure in (figures.cause_component, figures.cause_detection)
        for mark in (*figure.columns, *(cell for row in figure.rows for cell in (row.head, *row.cells)))
    ]
    return [*figures.years.marks, *figures.durations.bins, *heat, *figures.factors.terms, *figures.together.marks]


def test_every_mark_counts_what_its_link_shows(bundled: object) -> None:
    marks = marks_of(library_figures(get_catalogue()))
    wrong = [
        (mark.label, mark.count, shown)
        for mark in marks
        if mark.count != (shown := build_listing(QueryDict(mark.query)).count)
    ]
    assert wrong == []
    assert len(marks) > 300


def test_links_of_the_page_say_the_count_of_their_listing(bundled: object, client: Client) -> None:
    tree = lxml_html.fromstring(client.get("/stats/").content)
    for link in tree.xpath("//svg[@aria-label='연도별 기록 수']//a | //figure[@id='detection']//td/a")[::7]:
        count = re.search(r"(\d+)건$", link.get("aria-label"))
        assert count is not None
        listing = client.get(link.get("href")).content.decode()
        assert f"{count[1]}건 중 1~" in unescape(listing)


def test_denominators_add_up(bundled: object) -> None:
    catalogue = get_catalogue()
    figures = library_figures(catalogue)
    assert sum(mark.count for mark in figures.years.marks) == len(catalogue)
    assert figures.durations.known + figures.durations.unknown == len(catalogue)
    assert (
        sum(mark.count for mark in figures.durations.bins) == figures.durations.known == len(figures.durations.records)
    )
    assert known_counts(catalogue.everything()) == (figures.cause_detection.known, figures.durations.known)


def test_table_beside_a_plot_has_its_numbers(bundled: object, client: Client) -> None:
    tree = lxml_html.fromstring(client.get("/stats/").content)
    plotted = [text.text for text in tree.xpath("//figure[@id='years']//svg//text[@class='plot__value']")]
    listed = [cell.text for cell in tree.xpath("//figure[@id='years']//table//td") if cell.text != "0"]
    assert plotted == listed


@pytest.mark.parametrize("path", ["/components/k8s-control-plane/", "/causes/dns-error/", "/detections/alert/"])
def test_marks_of_a_term_count_within_the_term(bundled: object, client: Client, path: str) -> None:
    tree = lxml_html.fromstring(client.get(path).content)
    marks = tree.xpath("//*[@id='by-year' or @id='long']/ancestor::section//table//tr[.//a]")
    assert len(marks) > 3
    for row in marks:
        query = row.xpath(".//a/@href")[0].partition("?")[2]
        assert build_listing(QueryDict(query)).count == int(row.xpath("string(./td)"))
