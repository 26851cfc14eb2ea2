"""Plan × index generation → exact matches in order. Engine-independent: everything is arrays over document rows.

Score: BM25F (Robertson, Zaragoza & Taylor 2004): a form's places are weighed by section and length before saturation, so a
word counts over all fields together; forms of one atom are pooled; neighbouring atoms add for standing close.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from incidents.search.documents import ALIAS, LABEL, LABEL_WORD, SECTION_NUMBER, SECTIONS
from incidents.search.labels import Labels
from incidents.search.plan import Atom, Form, Need, Plan, word_form
from incidents.search.postings import SECTION_BITS, Postings, joined, phrase, union, without
from incidents.search.ranking import Ranking
from incidents.search.reader import IndexReader
from incidents.search.word_table import MAX_TERM

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]
T = TypeVar("T")

REMEMBERED = 2_000  # forms, atoms, pairs and needs
LITERAL_WORDS = 20  # what has more words was pasted: its words are not looked for inside others, at 50 ms each
LOOKED_UP_AT_ONCE = 64  # terms of the feedback
_WEAK_PARTICLES = frozenset(["인", "란", "든", "랑", "아", "야", "나", "쪽", "뿐", "씩", "라", "자"])


class LruCache:
    """The most recently used values, at most `size`."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.values: OrderedDict[Hashable, object] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value kept for a key, or make and keep it."""
        if key in self.values:
            self.values.move_to_end(key)
            return self.values[key]  # type: ignore[return-value]  # what `make` returned for this key
        value = make()
        self.values[key] = value
        if len(self.values) > self.size:
            self.values.popitem(last=False)
        return value


class Evaluator:
    """Evaluates plans on one index generation and remembers postings, atoms and needs."""

    def __init__(
        self,
        reader: IndexReader,
        ranking: Ranking | None = None,
        new_cache: Callable[[], LruCache] = lambda: LruCache(REMEMBERED),
    ) -> None:
        self.reader = reader
        self.ranking = ranking or Ranking()
        self.size = len(reader.table)
        self.total = len(reader.table.live)
        self._norms = self._section_norms()
        self._new_cache = new_cache
        self._cache = new_cache()
        self._scored: tuple[Plan, Scores] | None = None
        self._labels = Labels(reader, self.ranking, self.idf)

    def forget(self) -> None:
        """Drop what is remembered of words, as where the forms that they stand for have changed."""
        self._cache = self._new_cache()
        self._scored = None

    def _section_norms(self) -> NDArray[np.float32]:
        """Return float32[n, sections]: section weight over length normalization, for each document."""
        lengths = self.reader.table.lengths
        weights = np.array([self.ranking.weights[name] for name in SECTIONS], np.float32)
        if not len(lengths):
            return np.zeros((0, len(SECTIONS)), np.float32)
        live = self.reader.table.live
        b = self.ranking.b
        norms = np.empty(lengths.shape, np.float32)
        for section, weight in enumerate(weights):  # one after another: all at once would take some 300 bytes a record
            own = lengths[:, section].astype(np.float64)
            of_live = own[live]
            average = max(of_live.sum() / max(np.count_nonzero(of_live), 1), 1.0)
            norms[:, section] = weight / (1 - b + b * own / average)
        return norms

    # Forms and atoms

    def prepare(self, plan: Plan) -> None:
        """Have the reader fetch at once what a plan will look up, but for what is remembered."""
        self.reader.prepare(self._terms(plan))

    def _terms(self, plan: Plan) -> Iterator[str]:
        known = self._cache.values
        for atom, name in zip(plan.atoms, plan.fields, strict=True):
            if ("atom", atom.key, SECTION_NUMBER[name] if name else None) not in known:
                prefix = LABEL_WORD if name == "labels" else ""
                forms = (*atom.forms, *atom.alike, *atom.near, *(form for part in atom.parts for form in part))
                yield from (prefix + term[:MAX_TERM] for form in forms for term, _ in form.terms)
        for need in (*plan.needs, *plan.excluded):
            if ("need", need.key) not in known:
                prefix = LABEL_WORD if need.clause.field == "labels" else ""
                yield from (prefix + term[:MAX_TERM] for term, _ in need.own.terms)
                for form in (need.own, *(form for index in need.atoms[:1] for form in plan.atoms[index].forms)):
                    yield LABEL + " ".join(term for term, _ in form.terms)

    def form(self, form: Form, section: int | None = None) -> Postings:
        """Return where a form stands."""

        def make() -> Postings:
            prefix = LABEL_WORD if section == SECTION_NUMBER["labels"] else ""
            found = phrase([(self.reader.word(prefix + term[:MAX_TERM]), offset) for term, offset in form.terms])
            return found if section is None else found.in_sections([section])

        return self._cache.get(("form", form.terms, section), make)

    def frequencies(self, postings: Postings) -> tuple[Rows, Scores]:
        """Return the rows that hold something, each once, with the weighted frequency in each."""
        rows = postings.rows
        if not len(rows):
            return rows, np.empty(0, np.float64)
        values = self._norms[rows, postings.places >> SECTION_BITS]
        starts = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
        return rows[starts], np.add.reduceat(values, starts, dtype=np.float64)

    def atom(self, atom: Atom, section: int | None = None) -> tuple[Rows, Scores]:
        """Return the rows that hold any form of an atom, and their scores."""
        return self._cache.get(("atom", atom.key, section), lambda: self._atom(atom, section))

    def _atom(self, atom: Atom, section: int | None) -> tuple[Rows, Scores]:
        """Score an atom: all its forms as one word, or its parts where they weigh more; facet aliases on top."""
        rows, scores = self.pooled([(form, form.weight) for form in (*atom.forms, *atom.alike)], section)
        if len(atom.parts) > 1:
            dense = np.zeros(self.size)
            for part in atom.parts:
                part_rows, part_scores = self.pooled([(form, form.weight / part[0].weight) for form in part], section)
                dense[part_rows] += part[0].weight * part_scores
            dense[rows] = np.maximum(dense[rows], scores)
            rows = np.flatnonzero(dense)
            scores = dense[rows]
        if atom.is_light:
            scores = scores * self.ranking.light
        return rows, scores

    def pooled(self, forms: list[tuple[Form, float]], section: int | None = None) -> tuple[Rows, Scores]:
        """Return rows and BM25F scores of some forms counted as one word."""
        if len(forms) == 1:
            rows, frequency = self.frequencies(self.form(forms[0][0], section))
            frequency = frequency * forms[0][1]
        else:
            dense = np.zeros(self.size)
            for form, weight in forms:
                form_rows, form_frequency = self.frequencies(self.form(form, section))
                dense[form_rows] += weight * form_frequency
            rows = np.flatnonzero(dense)
            frequency = dense[rows]
        return rows, self.idf(len(rows)) * (self.ranking.k1 + 1) * frequency / (self.ranking.k1 + frequency)

    def idf(self, count: int) -> float:
        """Return BM25's weight of a word that `count` documents hold; never negative."""
        return float(np.log1p((self.total - count + 0.5) / (count + 0.5)))

    # Needs

    def need(self, need: Need, plan: Plan) -> Rows:
        """Return the sorted rows that satisfy a need: its atoms (as a phrase if solid), or its own terms as typed."""
        return self._cache.get(("need", need.key), lambda: self._need(need, tuple(plan.atoms[i] for i in need.atoms)))

    def _need(self, need: Need, atoms: tuple[Atom, ...]) -> Rows:
        section = SECTION_NUMBER[need.clause.field] if need.clause.field else None
        found = list(self.literal(need)) if need.listed else [self.form(need.own, section).documents()]
        if len(atoms) == 1:
            found += [self.form(form, section).documents() for form in atoms[0].forms[1:]]
        elif any(len(atom.forms) > 1 for atom in atoms):
            groups = []
            for atom in atoms:
                places = union([self.form(form, section) for form in atom.forms])
                groups.append((places, max(form.width for form in atom.forms)))
            found.append(_neighbours(groups).documents())
        if section is None and not need.clause.is_phrase:
            found += [
                self.reader.word(LABEL + " ".join(term for term, _ in form.terms)).documents()
                for form in (need.own, *atoms[0].forms)
            ]
        present = [rows for rows in found if len(rows)]
        if not present:
            return np.empty(0, np.int64)
        return present[0] if len(present) == 1 else joined(*present)

    def satisfied(self, need: Need, plan: Plan) -> Rows:
        """Return the sorted rows that satisfy a need; where no record holds the words, those with its letters in a word."""
        rows = self.need(need, plan)
        if not len(rows):
            return self.literal(need)[0]
        # 에서, 까지: seldom a word, everywhere at the end of one
        if all(word.kind == "ending" for word in need.clause.words):
            return joined(rows, self.literal(need)[0])
        return rows

    def literal(self, need: Need) -> tuple[Rows, Rows]:
        """Return (rows with a need's letters as a word or inside one, rows where they straddle two words), without more.

        Every chunk must be found; phrases are not looked for. A particle at the end may be left out.
        """
        return self._cache.get(
            ("literal", need.clause.field, need.clause.text, need.listed), lambda: self._literal(need)
        )

    def _literal(self, need: Need) -> tuple[Rows, Rows]:
        nothing = np.empty(0, np.int64)
        if need.clause.is_phrase or len(need.clause.words) > LITERAL_WORDS:
            return nothing, nothing
        section = SECTION_NUMBER[need.clause.field] if need.clause.field else None
        whole: Rows | None = None
        loose: Rows | None = None
        for word in dict.fromkeys(need.clause.words):
            if loose is not None and not len(loose):
                break  # some chunk is nowhere: so is the whole
            inside, across = nothing, nothing
            for needle in dict.fromkeys(filter(None, (need.listed,) if need.listed else (word.surface, word.stem))):
                if len(needle) < 2:
                    continue
                a, b = self.reader.literal(needle, section)
                inside, across = joined(inside, a), joined(across, b)
            if len(word.surface) < 2 or len(need.clause.words) > 1:
                inside = joined(inside, self.form(word_form(word), section).documents())
            everywhere = joined(inside, across)
            whole = inside if whole is None else np.intersect1d(whole, inside, assume_unique=True)
            loose = everywhere if loose is None else np.intersect1d(loose, everywhere, assume_unique=True)
        if whole is None or loose is None:
            return nothing, nothing
        return whole, without(loose, whole)

    def is_unknown(self, need: Need, plan: Plan) -> bool:
        """Return whether no record holds a need's words or letters, or only the noun of a doubtful one (인증셔).

        What is left without a particle counts as found, but not without 인, 란 and the like, which end many nouns.
        """
        if need.clause.is_phrase:
            return not len(self.need(need, plan))
        words = need.clause.words
        if len(words) == 1 and not need.listed:
            word = words[0]
            if not word.is_doubtful and len(self.need(need, plan)):
                return False
            if any(map(len, self.reader.literal(word.surface))):
                return False
            is_sure = word.surface[len(word.stem) :] not in _WEAK_PARTICLES
            return not (
                word.stem and is_sure and not word.is_doubtful and any(map(len, self.reader.literal(word.stem)))
            )
        return not len(self.need(need, plan)) and not any(map(len, self.literal(need)))

    def matches(self, plan: Plan) -> Rows:
        """Return the sorted rows that hold every required word and nothing excluded."""
        wanted = [need for need in plan.needs if need.is_required]
        find = self.satisfied if len(wanted) <= LITERAL_WORDS else self.need
        required = [find(need, plan) for need in wanted]
        if required:
            required.sort(key=len)
            if len(required) == 1:
                rows = required[0]
            else:
                counts: NDArray[np.uint8] = np.zeros(self.size, np.uint8)  # a query has at most 200 words
                for found in required:
                    counts[found] += 1
                rows = np.flatnonzero(counts == len(required))
        elif plan.excluded:
            rows = self.reader.table.live
        else:
            rows = np.empty(0, np.int64)
        return self.without_excluded(rows, plan)

    def without_excluded(self, rows: Rows, plan: Plan) -> Rows:
        """Return the rows that hold nothing the query excludes."""
        if plan.excluded and len(rows):
            keep = np.ones(self.size, bool)
            for need in plan.excluded:
                section = SECTION_NUMBER[need.clause.field] if need.clause.field else None
                if need.listed:
                    for letters in self.literal(need):
                        keep[letters] = False
                else:
                    keep[self.form(need.own, section).documents()] = False
            rows = rows[keep[rows]]
        return rows

    # Ranking

    def scores(self, plan: Plan) -> Scores:
        """Return float64[n]: the score of every document for a plan, 0 where it holds none of its words.

        The last ones are kept, for the partial matches of the same plan; more would be a megabyte a query.
        """
        if self._scored is None or self._scored[0] is not plan:
            self._scored = plan, self._scores(plan)
        return self._scored[1]

    def _scores(self, plan: Plan) -> Scores:
        dense: Scores = np.zeros(self.size)
        for index, atom in enumerate(plan.atoms):
            field = plan.fields[index]
            rows, scores = self.atom(atom, SECTION_NUMBER[field] if field else None)
            dense[rows] += scores
            if atom.near:
                near_rows, near_scores = self._near(atom)
                dense[near_rows] += self.ranking.near * near_scores
        labelled = self._labels.named(plan)
        if labelled:
            best: Scores = np.zeros(self.size)
            for label, worth in labelled:
                label.take_best(best, worth)
            dense += best
        for need in plan.needs:
            if need.listed:
                letters = joined(*self.literal(need))
                dense[letters] += 0.5 * self.idf(len(letters))
            elif len(plan.needs) <= LITERAL_WORDS and not len(self.need(need, plan)):
                inside, across = self.literal(need)
                dense[inside] += 0.5 * self.idf(len(inside))
                dense[across] += 0.25 * self.idf(len(across))
        if self.ranking.proximity:
            for left, right in pairwise(plan.atoms):
                rows, bonus = self.pair(left, right)
                dense[rows] += bonus
        return dense

    def _near(self, atom: Atom) -> tuple[Rows, Scores]:
        return self._cache.get(("near", atom.key), lambda: self.pooled([(form, 1.0) for form in atom.near]))

    def pair(self, left: Atom, right: Atom) -> tuple[Rows, Scores]:
        """Return the rows in which two atoms stand close together, and what that adds."""
        return self._cache.get(("pair", left.key, right.key), lambda: self._pair(left, right))

    def _pair(self, left: Atom, right: Atom) -> tuple[Rows, Scores]:
        """Return rows in which two atoms stand within the window, either way round, and their bonus."""
        if left.is_light or right.is_light:
            return np.empty(0, np.int64), np.empty(0)
        a = union([self.form(form) for form in left.forms])
        b = union([self.form(form) for form in right.forms])
        if not len(a.rows) or not len(b.rows):
            return np.empty(0, np.int64), np.empty(0)
        near = _within(a, b, self.ranking.window)
        if not len(near.rows):
            return np.empty(0, np.int64), np.empty(0)
        rows, frequency = self.frequencies(near)
        weight = self.ranking.proximity * min(self.idf(len(a.documents())), self.idf(len(b.documents())))
        return rows, weight * (self.ranking.k1 + 1) * frequency / (self.ranking.k1 + frequency)

    def order(self, rows: Rows, scores: Scores) -> tuple[Rows, Scores]:
        """Return rows with their scores, best first; equal ones (to 1e-6) by date, newest first, then by primary key."""
        is_in = np.zeros(self.size, bool)
        is_in[rows] = True
        by_date = self.reader.table.by_date
        rows = by_date[is_in[by_date]]
        values = np.round(scores[rows], 6)
        order = np.argsort(-values, kind="stable")
        return rows[order], values[order]

    def feedback(self, plan: Plan, scores: Scores, best: Rows) -> Scores:
        """Return scores with what the best documents have in common added (pseudo-relevance feedback)."""
        ranking = self.ranking
        if not ranking.feedback or not len(best):
            return scores
        weights: dict[str, float] = {}
        best = best[: ranking.feedback_documents]
        mass = scores[best] / max(float(scores[best].sum()), 1e-9)
        known = {term for atom in plan.atoms for form in atom.forms for term, _ in form.terms}
        for row, share in zip(best.tolist(), mass.tolist(), strict=True):
            terms, counts = self.reader.document_terms(row)
            length = float(counts.sum()) or 1.0
            for term, count in zip(terms, counts.tolist(), strict=True):
                weights[term] = weights.get(term, 0.0) + share * count / length
        terms = [term for term in weights if term not in known and term[0] not in (LABEL, ALIAS, LABEL_WORD)]
        ranked = self._most_telling(terms, weights)
        if not ranked:
            return scores
        self.reader.prepare(term for _, term in ranked)
        top = ranked[0][0]
        extra = np.zeros(self.size)
        for weight, term in ranked:
            rows, term_scores = self.pooled([(Form(((term, 0),), 1), 1.0)])
            extra[rows] += weight / top * term_scores
        peak = float(extra.max())
        if not peak:
            return scores
        return scores + ranking.feedback * float(scores.max()) * extra / peak

    def _most_telling(self, terms: list[str], weights: dict[str, float]) -> list[tuple[float, str]]:
        """Return the (weight × idf, term) of the feedback's terms, best first; terms of one record or of many are none.

        Only as many are looked up as may still be among them: none weighs more than the rarest of its frequency would.
        """
        ranked: list[tuple[float, str]] = []
        limit = self.ranking.feedback_terms
        highest = self.idf(2)
        terms.sort(key=lambda term: (-weights[term], term))
        for start in range(0, len(terms), LOOKED_UP_AT_ONCE):
            if len(ranked) == limit and weights[terms[start]] * highest < ranked[-1][0]:
                break
            batch = terms[start : start + LOOKED_UP_AT_ONCE]
            found = [
                (weights[term] * self.idf(count), term)
                for term, count in zip(batch, self.reader.counts(batch), strict=True)
                if 1 < count < self.total * 0.2
            ]
            ranked = sorted((*ranked, *found), reverse=True)[:limit]
        return ranked


def _neighbours(groups: list[tuple[Postings, int]]) -> Postings:
    """Return places where groups of forms follow one another, each within the width of the widest form before it."""
    from incidents.search.postings import EMPTY, from_keys

    starts = groups[0][0].keys()
    ends = starts
    width = groups[0][1]
    for postings, next_width in groups[1:]:
        keys = postings.keys()
        if not len(keys) or not len(starts):
            return EMPTY
        index = np.searchsorted(keys, ends, side="right")
        inside = index < len(keys)
        starts, ends, index = starts[inside], ends[inside], index[inside]
        following = keys[index]
        keep = following - ends <= width
        starts, ends = starts[keep], following[keep]
        width = next_width
    return from_keys(starts)


def _within(a: Postings, b: Postings, window: int) -> Postings:
    """Return the places of a that have a place of b at most `window` positions before or after them."""
    keys, others = a.keys(), b.keys()
    index = np.searchsorted(others, keys)
    after = others[np.minimum(index, len(others) - 1)] - keys
    before = keys - others[np.maximum(index - 1, 0)]
    keep = (np.abs(after) <= window) | (np.abs(before) <= window)
    return Postings(a.rows[keep], a.places[keep])
