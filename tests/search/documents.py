"""Small documents and engines to search in."""

from __future__ import annotations

from collections.abc import Iterable

from incidents.search import SearchDocument, SearchQuery, parse_query
from incidents.search.base import SearchBackend
from incidents.search.documents import analyse
from incidents.search.reader import IndexReader, MemoryReader
from incidents.search.service import SearchService


def document(number: int, symptom: str = "", **fields: object) -> SearchDocument:
    """Return a document whose text is its symptom, with whatever else is given."""
    sections = {"symptom": symptom}
    for name in ("trigger", "cause", "contributing_factors", "detection", "actions", "follow_ups", "lesson"):
        if name in fields:
            sections[name] = str(fields.pop(name))
    values: dict[str, object] = {
        "id": number,
        "public_id": f"IL-{number:04d}",
        "title": "",
        "organization": "",
        "labels": (),
        "sections": sections,
        "sources": (),
        "year": 2024,
        "sort_date": 738_000,
        "revision": 1,
    }
    return SearchDocument(**(values | fields))  # type: ignore[arg-type]


class MemorySearch(SearchService):
    """The engine-independent service on an index in memory."""

    def __init__(self, documents: Iterable[SearchDocument]) -> None:
        super().__init__()
        self._reader = MemoryReader([(d, analyse(d)) for d in documents])

    def reader(self) -> tuple[IndexReader, object]:
        return self._reader, 1


def found(search: SearchService | SearchBackend, text: str) -> list[int]:
    """Return the full matches of a query, best first."""
    return list(search.search(parse_query(text)).full.tolist())


def shown(search: SearchService | SearchBackend, text: str) -> list[int]:
    """Return everything that a listing without facets shows for a query, in order."""
    result = search.search(parse_query(text))
    ids = list(result.full.tolist())
    return ids + list(result.following(len(ids)).tolist())


def query(text: str) -> SearchQuery:
    """Return a parsed query."""
    return parse_query(text)
