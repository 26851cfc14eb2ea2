"""Everything that a search does above the postings, the same for every engine: caching, corrections, snippets, suggestions."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from incidents.search.base import (
    PARTIAL_LIMIT,
    Ids,
    Interpretation,
    NearTerm,
    SearchResult,
    Snippet,
    SuggestEntry,
    Suggestion,
)
from incidents.search.byte_cache import BoundedCache
from incidents.search.documents import normalized_url
from incidents.search.evaluate import Evaluator, LruCache, Rows
from incidents.search.plan import Need, Plan, make_plan
from incidents.search.postings import joined, without
from incidents.search.query import Clause, SearchQuery, parse_query, replace_clause
from incidents.search.reader import IndexReader
from incidents.search.snippets import RecordText, mark_text, row_pieces
from incidents.search.spelling import hangul_from_keys, latin_from_keys
from incidents.search.suggest import Suggester
from incidents.search.thesaurus import TermRow, Thesaurus, shipped_rows
from kb.memory import give_back

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

CORRECTED_WORDS = 8  # longer queries are pasted text rather than words mistyped
NEAR_LIMIT = 6
PARTIAL_SHARE = 0.4  # of the best partial match's score, where a word of a short query is in no record at all
SEARCHES_BETWEEN = 16  # giving memory back, which takes 2 ms where 60,000 records are searched
PLANS_KEPT = 256


class SearchService:
    """The engine-independent part of a backend; an engine supplies `reader()`.

    evaluation_bytes, results_bytes: what may be kept of words and of whole results. Numbers of them would be no bound:
    a common word in a large library takes megabytes.
    """

    evaluation_bytes = 96 << 20
    results_bytes = 48 << 20

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._generation: object = None
        self._evaluator: Evaluator | None = None
        self._results = self._new_results()
        self._plans = LruCache(PLANS_KEPT)
        self._searches = 0
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
            self._thesaurus = Thesaurus(shipped_rows(), rows)
            self._terms_version = version
            self._forget_words()
            self._results = self._new_results()
            self._plans = LruCache(PLANS_KEPT)
        return self._thesaurus

    def _new_results(self) -> LruCache:
        """Return what whole results are kept in: paging, facets and fragments of one query ask for the same one."""
        return BoundedCache(self.results_bytes)

    def _forget_words(self) -> None:
        """Let go of what was found with the words' former forms."""
        if self._evaluator is not None:
            self._evaluator.forget()

    def evaluator(self) -> Evaluator:
        """Return the evaluator of the newest generation."""
        reader, generation = self.reader()
        if self._evaluator is None or generation != self._generation:
            self._evaluator = self._evaluator_of(reader)
            self._generation = generation
            self._results = self._new_results()
        return self._evaluator

    def _evaluator_of(self, reader: IndexReader) -> Evaluator:
        return Evaluator(reader, new_cache=lambda: BoundedCache(self.evaluation_bytes))

    def search(self, query: SearchQuery) -> SearchResult:
        """Return every match of a query, exactly counted, in final order."""
        with self._lock:
            self._searches += 1
            if self._searches % SEARCHES_BETWEEN == 0:
                give_back()  # searches take arrays of megabytes for milliseconds
            thesaurus = self.thesaurus()
            evaluator = self.evaluator()
            key = (query.text, query.is_as_typed)  # clauses follow from these
            return self._results.get(key, lambda: self._search(query, thesaurus, evaluator))

    def _search(self, query: SearchQuery, thesaurus: Thesaurus, evaluator: Evaluator) -> SearchResult:
        plan = self._plan(query, thesaurus)
        evaluator.prepare(plan)
        is_short = len(query.clauses) <= CORRECTED_WORDS
        unknown = [need for need in plan.needs if is_short and need.is_required and evaluator.is_unknown(need, plan)]
        interpretation = Interpretation("exact", query.text, query.text)
        jump = self._jump(query, evaluator)
        if unknown and not query.is_as_typed and jump is None:
            corrected = self._correct(query, unknown, thesaurus, evaluator)
            if corrected is not None:
                interpretation = Interpretation("corrected", corrected.text, query.text)
                plan = make_plan(corrected, thesaurus)
                evaluator.prepare(plan)
        has_unknown = bool(unknown) and interpretation.kind == "exact"
        table = evaluator.reader.table
        scores = evaluator.scores(plan)
        full, full_scores = evaluator.order(evaluator.matches(plan), scores)
        if jump is not None:
            others = full != jump
            full = np.concatenate(([jump], full[others])).astype(np.int64)
            full_scores = np.concatenate(([np.inf], full_scores[others]))
        return SearchResult(
            full=table.ids[full],
            full_scores=full_scores,
            interpretation=interpretation,
            jump=table.public_ids[jump] if jump is not None else None,
            unknown=tuple(need.clause.text for need in unknown),
            make_partial=lambda: self._partial(evaluator, plan, full, has_unknown),
            make_inside=lambda: self._inside(evaluator, plan, full),
            make_near=lambda: self._near(plan, thesaurus, evaluator),
        )

    def _plan(self, query: SearchQuery, thesaurus: Thesaurus) -> Plan:
        return self._plans.get((query.text, query.is_as_typed), lambda: make_plan(query, thesaurus))

    def _jump(self, query: SearchQuery, evaluator: Evaluator) -> int | None:
        table = evaluator.reader.table
        if query.public_id is not None:
            return table.rows_by_public_id.get(query.public_id)
        if query.url is not None:
            return table.rows_by_address.get(normalized_url(query.url))
        return None

    def _correct(
        self, query: SearchQuery, unknown: Sequence[Need], thesaurus: Thesaurus, evaluator: Evaluator
    ) -> SearchQuery | None:
        """Return the query with unknown words corrected, or None where none can be.

        A pasted log line is full of words that no record holds; those are left as they are.
        """
        if len(query.clauses) > CORRECTED_WORDS:
            return None
        replacements = {}
        for need in unknown:
            better = self._better(need.clause, thesaurus, evaluator)
            if better is not None:
                replacements[need.clause] = better
        return replace_clause(query, replacements) if replacements else None

    def _better(self, clause: Clause, thesaurus: Thesaurus, evaluator: Evaluator) -> str | None:
        for other in (hangul_from_keys(clause.text), latin_from_keys(clause.text)):
            if other and len(other) > 1 and self._is_known(other, thesaurus, evaluator):
                return other
        if clause.is_phrase or len(clause.words) > 1:
            return None
        word = clause.words[0]
        for body in filter(None, (word.surface, word.stem)):
            if len(body) < 2 or thesaurus.mentions(body):
                continue
            nearest = evaluator.reader.nearest(body)
            if nearest is not None:
                return nearest + word.surface[len(body) :]
        return None

    def _is_known(self, text: str, thesaurus: Thesaurus, evaluator: Evaluator) -> bool:
        plan = make_plan(parse_query(text, is_as_typed=True), thesaurus)
        return bool(plan.needs) and all(len(evaluator.need(need, plan)) for need in plan.needs)

    def _partial(self, evaluator: Evaluator, plan: Plan, full: Rows, has_unknown: bool) -> Ids:
        """Return the best records that hold some of the words, and all that hold a single word's letters only."""
        with self._lock:
            scores = evaluator.scores(plan)
            rows = np.flatnonzero(scores)
            if len(plan.atoms) > 1:
                best, _ = evaluator.order(rows, scores)
                scores = evaluator.feedback(plan, scores, best)
            rows = evaluator.without_excluded(without(rows, full), plan)
            ordered, _ = evaluator.order(rows, scores)
            ids = evaluator.reader.table.ids
            inside = self._inside_rows(evaluator, plan, full)
            kept = ordered[:PARTIAL_LIMIT]
            if has_unknown and len(kept):
                kept = kept[scores[kept] >= PARTIAL_SHARE * scores[kept[0]]]
            result: Ids = ids[np.concatenate((kept, inside[~np.isin(inside, kept)]))]
            return result

    def _inside(self, evaluator: Evaluator, plan: Plan, full: Rows) -> Ids:
        with self._lock:
            ids: Ids = evaluator.reader.table.ids[self._inside_rows(evaluator, plan, full)]
            return ids

    def _inside_rows(self, evaluator: Evaluator, plan: Plan, full: Rows) -> Rows:
        """Return the rows with a one-word query's letters, newest first: an order that no engine's rows decide."""
        if len(plan.needs) != 1 or plan.needs[0].clause.is_phrase:
            return np.empty(0, np.int64)
        rows = without(joined(*evaluator.literal(plan.needs[0])), full)
        by_date, _ = evaluator.order(evaluator.without_excluded(rows, plan), np.zeros(evaluator.size))
        return by_date

    def _near(self, plan: Plan, thesaurus: Thesaurus, evaluator: Evaluator) -> tuple[NearTerm, ...]:
        """Return other ways to ask: neighbours in the thesaurus, with the records that each finds."""
        with self._lock:
            said = {tuple(term for term, _ in form.terms) for atom in plan.atoms for form in atom.forms}
            out: dict[str, int] = {}
            for atom in plan.atoms:
                for form in atom.near:
                    leaves = tuple(term for term, _ in form.terms)
                    text = thesaurus.text(leaves)
                    if leaves not in said and text not in out:
                        found = make_plan(parse_query(text, is_as_typed=True), thesaurus)
                        out[text] = len(evaluator.matches(found))
            return tuple(NearTerm(text, count) for text, count in out.items() if count)[:NEAR_LIMIT]

    def row_pieces(self, query: SearchQuery, texts: Iterable[RecordText]) -> dict[int, tuple[SafeString, Snippet]]:
        """Return {id: (title marked, snippet)} for the records of one page."""
        return row_pieces(query, self.thesaurus(), texts)

    def mark(self, query: SearchQuery, text: str) -> SafeString:
        """Return a text, escaped and with the query's words in <mark>."""
        return mark_text(query, self.thesaurus(), text)

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        """Return completions for what has been typed so far."""
        version, entries = self._entries() if self._entries else (None, ())
        if self._suggester is None or self._suggester[0] != version:
            self._suggester = (version, Suggester(entries))
        return self._suggester[1].suggest(text, limit)
