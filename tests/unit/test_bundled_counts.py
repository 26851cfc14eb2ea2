"""Counts of the listing against counting the record files by hand."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.http import QueryDict

from incidents.listing import build_listing

PARAMETERS = {"component": "components", "cause": "causes", "factor": "factors"}


@pytest.fixture(scope="module")
def records(bundled: Path) -> dict[str, dict[str, Any]]:
    """{ID: front matter} of the published record files, read without our parser."""
    found = {}
    for file in sorted((bundled / "incidents").glob("IL-*.md")):
        front = yaml.safe_load(file.read_text(encoding="utf-8").split("\n---\n")[0].removeprefix("---\n"))
        if front.get("status", "published") == "published":
            found[file.stem] = front
    return found


def test_the_listing_counts_every_published_file(records: dict[str, Any]) -> None:
    assert build_listing(QueryDict("")).count_line == f"{len(records)}건 중 1~20번째"


@pytest.mark.parametrize("parameter", [*PARAMETERS, "detection", "organization"])
def test_every_facet_value_counts_its_files(records: dict[str, Any], parameter: str) -> None:
    by_label: dict[str, int] = {}
    for front in records.values():
        if parameter == "organization":
            by_label[front["organization"]] = by_label.get(front["organization"], 0) + 1
        else:
            for slug in (
                front.get(PARAMETERS[parameter], []) if parameter != "detection" else [front["detection_method"]]
            ):
                by_label[slug] = by_label.get(slug, 0) + 1
    facet = next(facet for facet in build_listing(QueryDict("")).facets if facet.name == parameter)
    shown = {option.label if parameter == "organization" else option.value: option.count for option in facet.options}
    assert shown == by_label
    queries = {option.toggle_query: option.count for option in facet.options}
    assert {query: build_listing(QueryDict(query)).count for query in queries} == queries


def test_random_combinations_count_their_files(records: dict[str, Any]) -> None:
    choose = random.Random(20261129)
    fronts = list(records.values())
    for _ in range(200):
        chosen: dict[str, set[str]] = {}
        expected = set(records)
        for parameter in choose.sample(sorted(PARAMETERS), choose.randint(1, 3)):
            key = PARAMETERS[parameter]
            values = {
                choose.choice(front[key]) for front in choose.sample(fronts, choose.randint(1, 3)) if front.get(key)
            }
            if values:
                chosen[parameter] = values
                expected &= {i for i, front in records.items() if values & set(front.get(key, []))}
        first, last = sorted(choose.sample(range(2005, 2027), 2))
        query = QueryDict(mutable=True)
        for parameter, values in chosen.items():
            query.setlist(parameter, sorted(values))
        if choose.random() < 0.3:
            query["year_from"], query["year_to"] = str(first), str(last)
            expected &= {i for i, front in records.items() if first <= front["year"] <= last}
        query["page_size"] = "100"
        query["sort"] = "id"
        listing = build_listing(query)
        assert listing.count == len(expected), query.urlencode()
        assert [row.incident.public_id for row in listing.rows] == sorted(expected)[:100]
