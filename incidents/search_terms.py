"""Editors' words for the search, read where the library has changed: every process takes a saved one with its next request."""

from __future__ import annotations

from typing import Final

from django.db import router

from incidents.models import SearchTerm
from incidents.part_cache import Lru
from incidents.search import TermRow

Rows = tuple[TermRow, ...]

_kept: Final[Lru[Rows]] = Lru(4)  # by database, since a replica may be a moment behind, and revision


def terms_at(revision: int) -> tuple[object, Rows]:
    """Return (version, rows) of the words that editors joined, as of a revision of the library that was just asked for.

    They may be newer, never older. The version is the rows themselves: a change of anything else keeps what the search
    has made of them.
    """
    key = (router.db_for_read(SearchTerm), revision)
    rows = _kept.get(key)
    if rows is None:
        rows = SearchTerm.objects.active_rows()
        _kept.put(key, rows)
    return rows, rows
