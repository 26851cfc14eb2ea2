"""Everything that a search does above the postings, the same for every engine: caching, corrections, snippets, suggestions."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from incidents.search.base import PARTIAL_LIMIT, Ids, Interpretation, SearchDocument, SearchResult, Snippet, SuggestEntry, Suggestion
from incidents.search.evaluate import Evaluator, LruCache
from incidents.search.plan import Plan, make_plan
from incidents.search.query import SearchQuery
from incidents.search.reader import IndexReader
from incidents.search.snippets import mark_text, snippet
from incidents.search.suggest import Suggester
from incidents.search.thesaurus import TermRow, Thesaurus, shipped_rows

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

RESULTS_KEPT = 256  # whole results a generation: paging, facets and fragments of one query ask for the same one


class SearchService:
    """The engine-independent part of a backend; an engine supplies `reader()`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._generation: object = None
        self._evaluator: Evaluator | None = None
        self._results: LruCache = LruCache(RESULTS_KEPT)
        self._terms: Callable[[], tuple[object, Sequence[TermRow]]] | None = None
        self._terms_version: object = None
        self._thesaurus: Thesaurus | None = None
        self._entries: Callable[[], tuple[object, Sequence[SuggestEntry]]] | None = None
        self._suggester: tuple[object, Suggester] | None = None

    @abstractmethod
    def reader(self) -> tuple[IndexReader, object]:
        """Return the newest generation's reader and something that differs for each generation."""

    def use_terms(self, provider: Callable[[], tuple[object, Sequence[TermRow]]] | None) -> None:
        """Take editors' synonyms from a function: () -> (version, rows). It is asked at each search, so it must be quick."""
        self._terms = provider

    def use_entries(self, provider: Callable[[], tuple[object, Sequence[SuggestEntry]]] | None) -> None:
        """Take what may be suggested from a function: () -> (version, entries); entries are read when version changes."""
        self._entries = provider

    def thesaurus(self) -> Thesaurus:
        """Return shipped and editors' synonyms, read anew when the provider's version changes."""
        version, rows = self._terms() if self._terms else (None, ())
        if self._thesaurus is None or version != self._terms_version:
            self._thesaurus = Thesaurus([*shipped_rows(), *rows])
            self._terms_version = version
            self._results = LruCache(RESULTS_KEPT)
        return self._thesaurus

    def evaluator(self) -> Evaluator:
        """Return the evaluator of the newest generation."""
        reader, generation = self.reader()
        if self._evaluator is None or generation != self._generation:
            self._evaluator = Evaluator(reader)
            self._generation = generation
            self._results = LruCache(RESULTS_KEPT)
        return self._evaluator

    def search(self, query: SearchQuery) -> SearchResult:
        """Return every match of a query, exactly counted, in final order."""
        with self._lock:
            thesaurus = self.thesaurus()
            evaluator = self.evaluator()
            return self._results.get(query, lambda: self._search(query, thesaurus, evaluator))

    def _search(self, query: SearchQuery, thesaurus: Thesaurus, evaluator: Evaluator) -> SearchResult:
        plan = make_plan(query, thesaurus)
        table = evaluator.reader.table
        scores = evaluator.scores(plan)
        full, full_scores = evaluator.order(evaluator.matches(plan), scores)
        jump = self._jump(query, evaluator)
        if jump is not None and jump not in full:
            full = np.concatenate(([jump], full)).astype(np.int64)
            full_scores = np.concatenate(([1e9], full_scores))
        elif jump is not None:
            full = np.concatenate(([jump], full[full != jump])).astype(np.int64)

        def partial() -> Ids:
            with self._lock:
                return self._partial(evaluator, plan, scores, full)

        return SearchResult(
            full=table.ids[full],
            full_scores=full_scores,
            interpretation=Interpretation("exact", query.text, query.text),
            jump=table.public_ids[jump] if jump is not None else None,
            partial_source=_once(partial),
        )

    def _jump(self, query: SearchQuery, evaluator: Evaluator) -> int | None:
        from incidents.search.documents import normalized_url

        table = evaluator.reader.table
        if query.public_id is not None:
            return table.rows_by_public_id.get(query.public_id)
        if query.url is not None:
            return table.addresses.get(normalized_url(query.url))
        return None

    def _partial(self, evaluator: Evaluator, plan: Plan, scores: np.ndarray, full: np.ndarray) -> Ids:
        best, _ = evaluator.order(np.flatnonzero(scores), scores)
        widened = evaluator.feedback(plan, scores, best)
        widened = widened.copy()
        widened[full] = 0
        rows = evaluator.without_excluded(np.flatnonzero(widened), plan)
        ordered, _ = evaluator.order(rows, widened)
        ids: Ids = evaluator.reader.table.ids[ordered[:PARTIAL_LIMIT]]
        return ids

    def snippets(self, query: SearchQuery, documents: Iterable[SearchDocument]) -> dict[int, Snippet]:
        """Return {id: Snippet} for the records of one page."""
        thesaurus = self.thesaurus()
        return {document.id: snippet(query, thesaurus, document) for document in documents}

    def mark(self, query: SearchQuery, text: str) -> SafeString:
        """Return a text, escaped and with the query's words in <mark>."""
        return mark_text(query, self.thesaurus(), text)

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        """Return completions for what has been typed so far."""
        version, entries = self._entries() if self._entries else (None, ())
        if self._suggester is None or self._suggester[0] != version:
            self._suggester = (version, Suggester(entries))
        return self._suggester[1].suggest(text, limit)


def _once(make: Callable[[], Ids]) -> Callable[[], Ids]:
    kept: list[Ids] = []

    def get() -> Ids:
        if not kept:
            kept.append(make())
        return kept[0]

    return get
