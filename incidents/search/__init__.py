"""Korean full-text search over incidents. Others import from here, never from the modules inside.

    backend = get_search_backend()
    query = parse_query(text)           # BadParameter (400) where it is too long
    result = backend.search(query)      # every match in order; SearchUnavailable (503) while there is no index

Whatever engine is behind it, the same records come in the same order.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from incidents.search.base import (
    PARTIAL_BELOW,
    PARTIAL_LIMIT,
    Health,
    Interpretation,
    NearTerm,
    SearchBackend,
    SearchDocument,
    SearchResult,
    Snippet,
    SuggestEntry,
    Suggestion,
)
from incidents.search.figures import RelevanceFigures, SearchFigures, relevance_figures
from incidents.search.query import FIELD_LABELS, SearchQuery, parse_query
from incidents.search.snippets import RecordText
from incidents.search.thesaurus import TermRow, has_leaves, links, shipped_rows, written

if TYPE_CHECKING:
    from collections.abc import Callable

_lock = threading.Lock()
_backend: SearchBackend | None = None
_backend_key: tuple[str, str] | None = None


def get_search_backend() -> SearchBackend:
    """Return the process's backend, made from settings.SEARCH_BACKEND (a dotted path) at first use.

    The embedded engine keeps its files in `index` of settings.DATA_DIR; other engines are made without arguments.
    """
    from django.conf import settings  # late, so that the pure parts work without Django's settings
    from django.utils.module_loading import import_string

    global _backend, _backend_key
    path: str = settings.SEARCH_BACKEND
    key = (path, str(settings.DATA_DIR))
    if _backend is None or _backend_key != key:
        with _lock:
            if _backend is None or _backend_key != key:
                made: Callable[..., SearchBackend] = import_string(path)
                is_embedded = path.endswith("whoosh_backend.WhooshBackend")
                _backend = made(settings.DATA_DIR / "index") if is_embedded else made()
                _backend_key = key
    return _backend


__all__ = ["FIELD_LABELS", "PARTIAL_BELOW", "PARTIAL_LIMIT", "Health", "Interpretation", "NearTerm", "RecordText", "RelevanceFigures",
           "SearchBackend", "SearchDocument", "SearchFigures", "SearchQuery", "SearchResult", "Snippet", "SuggestEntry", "Suggestion", "TermRow",
           "get_search_backend", "has_leaves", "links", "parse_query", "relevance_figures", "shipped_rows", "written"]  # fmt: skip
