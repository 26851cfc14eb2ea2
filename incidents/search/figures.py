"""The last figures of `make relevance`, as the page about the search shows them. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib import resources


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """One way of searching on the judged queries: averages between 0 and 1. kinds: nDCG@10 of each kind of query."""

    key: str
    name: str
    ndcg: float
    recall: float
    zero_hits: float
    kinds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RelevanceFigures:
    """The figures of one run, this search first."""

    made_on: date
    records: int
    queries: int
    searches: tuple[SearchFigures, ...]


def relevance_figures() -> RelevanceFigures:
    """Return what `data/relevance.json` holds."""
    given = json.loads((resources.files("incidents.search") / "data" / "relevance.json").read_text("utf-8"))
    searches = tuple(
        SearchFigures(s["key"], s["name"], s["ndcg"], s["recall"], s["zero_hits"], s["kinds"])
        for s in given["searches"]
    )
    return RelevanceFigures(date.fromisoformat(given["made_on"]), given["records"], given["queries"], searches)
