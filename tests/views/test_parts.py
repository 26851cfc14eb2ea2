"""Parts filled from pieces are, to the byte, what their partials give."""

from __future__ import annotations

import pytest
from django.db import connection
from django.http import QueryDict
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from incidents.listing import build_listing
from incidents.models import Incident
from incidents.part_cache import MARKS, Pieces
from incidents.row_cards import RowCard
from incidents.templatetags.part_tags import facet, facet_options, incident_row, part, switches

QUERIES = [
    "",
    "q=인증서",
    "q=인증서&cause=dns-error&cause=bad-deploy&component=etcd",
    "cause=dns-error&year_from=2012&sort=oldest&group=cause&view=list",
    "q=\uf8ff&component=dns&page_size=5",
    "q=없는말&cause=dns-error",
]


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("query", QUERIES)
def test_each_value_of_each_facet(bundled, db, query, language):
    with translation.override(language):
        for _ in range(2):  # rendered, then filled
            listing = build_listing(QueryDict(query))
            options = [(option, result) for result in listing.facets for option in result.options]
            assert options or listing.count == 0
            for option, its_facet in options:
                context = {"option": option, "name": its_facet.name, "path": "/incidents/"}
                expected = render_to_string("incidents/partials/_facet_option.html", context)
                assert facet_options([option], its_facet, "/incidents/") == expected


@pytest.mark.parametrize("is_plain", [True, False])
@pytest.mark.parametrize("query", QUERIES)
def test_each_row(bundled, db, query, is_plain):
    for _ in range(2):
        for row in build_listing(QueryDict(query)).rows:
            incident = Incident.objects.for_cards().get(pk=row.pk)
            method, tags = incident.detection_method, (incident.cause_tags, incident.component_tags)
            cause, component = (tag.all()[0].term.label if tag.all() else "" for tag in tags)
            card = RowCard(
                public_id=incident.public_id,
                url=incident.get_absolute_url(),
                year=incident.year or 0,
                organization=incident.organization.name if incident.organization else "",
                cause=cause,
                component=component,
                detection=method.label if method and method.slug != "unknown" else "",
                minutes=incident.duration_minutes,
            )
            ruler = render_to_string("incidents/partials/_ruler.html", {"minutes": incident.duration_minutes})
            context = {"card": card, "title_html": row.title_html, "snippet": row.snippet, "ruler": ruler}
            context |= {"level": "3", "is_plain": is_plain}
            expected = render_to_string("incidents/partials/_incident_row.html", context)
            assert incident_row(row, "3", is_plain) == expected


@pytest.mark.parametrize("query", QUERIES)
def test_the_address_of_a_value_is_that_of_choosing_it(bundled, db, query):
    listing = build_listing(QueryDict(query))
    for result in listing.facets:
        by_slug = listing.catalogue.vocabularies[result.name].by_slug
        for option in result.options:
            assert option.toggle_query == listing.params.with_toggled(result.name, by_slug[option.value]).query()


def test_known_rows_ask_the_database_for_revisions_alone(bundled, db):
    def shown() -> list[str]:
        return [incident_row(row) for row in build_listing(QueryDict("q=인증서")).rows]

    first = shown()
    with CaptureQueriesContext(connection) as captured:
        assert shown() == first
    assert {query["sql"] for query in captured.captured_queries} == {
        "SELECT revision FROM incidents_librarystate WHERE id = 1"
    }


def test_a_part_is_the_partial_itself_with_what_is_filled_in_escaped(db):
    box = "incidents/partials/_search_box.html"
    for text in ("", "인증서", "<b> & '따옴표'"):
        expected = render_to_string(box, {"input_id": "q", "form_id": "search", "q": text})
        for _ in range(2):  # rendered, then filled
            assert part(box, input_id="q", form_id="search", fill_q=text) == expected
    assert part(box, input_id="site-q", is_small=True) == render_to_string(
        box, {"input_id": "site-q", "is_small": True}
    )


@pytest.mark.parametrize("query", QUERIES)
def test_each_row_of_switches(bundled, db, query):
    listing = build_listing(QueryDict(query))
    for choices in (listing.views, listing.groupings, listing.sorts):
        context = {"choices": choices, "path": "/incidents/", "label": "보기", "is_named": True, "is_end": False}
        expected = render_to_string("incidents/partials/_switches.html", context)
        for _ in range(2):
            assert switches(choices, "/incidents/", "보기", is_named=True) == expected


def test_folded_values_stand_under_the_headings_of_their_vocabulary(bundled, db):
    component = next(facet for facet in build_listing(QueryDict("")).facets if facet.name == "component")
    folded = [option.value for group in component.more_groups for option in group.options]
    assert sorted(folded) == sorted(option.value for option in component.options[7:])
    assert [group.name for group in component.more_groups] == sorted({o.group for o in component.options[7:]})
    html = facet(component, "/incidents/")
    assert html.count('class="facet__group"') == len(component.more_groups)
    assert html.index(f'id="component-{folded[0]}"') > html.index('class="facet__group"')


def test_pieces_take_a_value_in_each_place():
    pieces = Pieces(f"<a href={MARKS[0]}>{MARKS[1]}</a><b>{MARKS[0]}</b>")
    assert pieces.filled(("x", "y")) == "<a href=x>y</a><b>x</b>"
    assert Pieces("plain").filled(()) == "plain"
