"""What a search must answer, worked out record by record without arrays, caches or postings.

Only the reading of the query (the plan) and the terms of a text are shared with the library; matching, counting,
weighing and ordering are written anew from their definitions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

from incidents.search import SearchDocument
from incidents.search.documents import HEADINGS, SECTIONS, label_keys
from incidents.search.evaluate import SECTION_WEIGHTS, Ranking
from incidents.search.korean import fold, leaves_of, surfaces, tokens, words
from incidents.search.plan import Atom, Form, Need, Plan

TEXTS = SECTIONS[1:9]


class Record:
    """One record's terms: for each section {term: positions}."""

    def __init__(self, document: SearchDocument) -> None:
        self.document = document
        texts = {"title": document.title, "organization": document.organization}
        texts |= {name: document.sections.get(name, "") for name in TEXTS}
        hosts = [s.split("://")[1].split("/")[0].removeprefix("www.") if "://" in s else s for s in document.sources]
        texts["sources"] = "\n".join(hosts)
        headings = [HEADINGS[name] for name in TEXTS if document.sections.get(name)]
        texts["id"] = " ".join([document.public_id, str(document.year), *headings])
        self.positions: dict[str, dict[str, list[int]]] = {}
        self.lengths: dict[str, int] = {}
        for section, text in texts.items():
            found: dict[str, list[int]] = {}
            for token in tokens(text):
                found.setdefault(token.term, []).append(token.position)
            self.positions[section] = found
            self.lengths[section] = sum(word.width for word, _, _ in words(fold(text)))
        self.labels = {key for label in document.labels for key in label_keys(label)}
        self.aliases = {key for alias in document.aliases for key in label_keys(alias, "~")}
        self.words = [word for text in texts.values() for word, _ in surfaces(text)]

    @cached_property
    def terms(self) -> set[str]:
        return {term for found in self.positions.values() for term in found}

    def occurrences(self, form: Form) -> list[tuple[str, int]]:
        """Return (section, position) of each place where a form's terms stand at their offsets."""
        first, base = form.terms[0]
        if first not in self.terms:
            return []
        return [
            (section, start)
            for section, found in self.positions.items()
            for start in found.get(first, ())
            if all(start + offset - base in found.get(term, ()) for term, offset in form.terms)
        ]


class BruteForce:
    """A library searched record by record."""

    def __init__(self, documents: Iterable[SearchDocument]) -> None:
        self.records = [Record(document) for document in documents]
        self.ranking = Ranking()
        self._averages = {}
        for section in SECTIONS:
            lengths = [r.lengths[section] for r in self.records if r.lengths.get(section)]
            self._averages[section] = max(1.0, sum(lengths) / max(1, len(lengths)))
        self._frequencies: dict[tuple[tuple[tuple[str, int], ...], str | None], list[float]] = {}
        self._every_label = sorted({k for r in self.records for k in r.labels | r.aliases})

    def frequency(self, form: Form, field: str | None = None) -> list[float]:
        """Return the weighted frequency of a form in each record, in one field if one is named."""
        key = (form.terms, field)
        if key not in self._frequencies:
            places = [[p for p in r.occurrences(form) if field in (None, p[0])] for r in self.records]
            self._frequencies[key] = [self._weighted(r, p) for r, p in zip(self.records, places, strict=True)]
        return self._frequencies[key]

    def _weighted(self, record: Record, places: Iterable[tuple[str, int]]) -> float:
        b = self.ranking.b
        return sum(
            SECTION_WEIGHTS[section] / (1 - b + b * record.lengths[section] / self._averages[section])
            for section, _ in places
        )

    def idf(self, count: int) -> float:
        return math.log1p((len(self.records) - count + 0.5) / (count + 0.5))

    def saturated(self, frequencies: Sequence[float]) -> list[float]:
        idf, k1 = self.idf(sum(f > 0 for f in frequencies)), self.ranking.k1
        return [idf * (k1 + 1) * f / (k1 + f) if f > 0 else 0.0 for f in frequencies]

    def pooled(self, forms: Iterable[tuple[Form, float]], field: str | None = None) -> list[float]:
        totals = [0.0] * len(self.records)
        for form, weight in forms:
            for row, frequency in enumerate(self.frequency(form, field)):
                totals[row] += weight * frequency
        return self.saturated(totals)

    def atom(self, atom: Atom, field: str | None) -> list[float]:
        scores = self.pooled(((form, form.weight) for form in (*atom.forms, *atom.alike)), field)
        if len(atom.parts) > 1:
            parts = [0.0] * len(scores)
            for part in atom.parts:
                for row, score in enumerate(self.pooled(((f, f.weight / part[0].weight) for f in part), field)):
                    parts[row] += part[0].weight * score
            scores = [max(pair) for pair in zip(scores, parts, strict=True)]
        return [score * self.ranking.light for score in scores] if atom.is_light else scores

    def pair(self, left: Atom, right: Atom) -> list[float]:
        """Return the bonus of each record in which two atoms stand within the window of one another."""
        if left.is_light or right.is_light:
            return [0.0] * len(self.records)
        near = []
        holders = [0, 0]
        for record in self.records:
            a = sorted({place for form in left.forms for place in record.occurrences(form)})
            b = {place for form in right.forms for place in record.occurrences(form)}
            holders[0] += bool(a)
            holders[1] += bool(b)
            window = range(-self.ranking.window, self.ranking.window + 1)
            near.append([(s, p) for s, p in a if any((s, p + step) in b for step in window)])
        if not all(holders):
            return [0.0] * len(self.records)
        weight = self.ranking.proximity * min(self.idf(holders[0]), self.idf(holders[1]))
        k1 = self.ranking.k1
        frequencies = [self._weighted(record, places) for record, places in zip(self.records, near, strict=True)]
        return [weight * (k1 + 1) * f / (k1 + f) for f in frequencies]

    def labelled(self, plan: Plan) -> list[float]:
        """Return what naming facet values is worth to each record: the best of its values."""
        said: dict[str, float] = {}
        for atom in plan.atoms:
            for form in (*atom.forms, *atom.alike):
                for term, _ in form.terms:
                    said[term] = max(said.get(term, 0.0), form.weight)
        for atom in plan.atoms:
            for form in atom.near:
                for term, _ in form.terms:
                    said[term] = max(said.get(term, 0.0), self.ranking.near_label)
        worth = dict.fromkeys(self._every_label, 0.0)
        for key in self._every_label:
            leaves = key[1:].split(" ")
            weights = [
                0.3 + self.idf(sum(leaf in r.terms for r in self.records)) for leaf in leaves if set(leaves) & set(said)
            ]
            if not weights:
                continue
            share = sum(w * said.get(leaf, 0.0) for leaf, w in zip(leaves, weights, strict=True)) / sum(weights)
            if share >= self.ranking.label_share:
                value = self.ranking.label if key[0] == "@" else self.ranking.alias
                count = sum(key in r.labels | r.aliases for r in self.records)
                worth[key] = value * share * share * math.sqrt(sum(weights)) * self.idf(count)
        return [max((worth[key] for key in r.labels | r.aliases), default=0.0) for r in self.records]

    def scores(self, plan: Plan) -> list[float]:
        totals = self.labelled(plan)
        for atom, field in zip(plan.atoms, plan.fields, strict=True):
            for row, score in enumerate(self.atom(atom, field)):
                totals[row] += score
            if atom.near:
                for row, score in enumerate(self.pooled((form, 1.0) for form in atom.near)):
                    totals[row] += self.ranking.near * score
        for left, right in pairwise(plan.atoms):
            for row, score in enumerate(self.pair(left, right)):
                totals[row] += score
        return totals

    def satisfies(self, record: Record, need: Need, atoms: Sequence[Atom]) -> bool:
        """Return whether a record holds what a clause asks for, in any of its forms."""
        field = need.clause.field

        def places(form: Form) -> list[tuple[str, int]]:
            return [place for place in record.occurrences(form) if field in (None, place[0])]

        if places(need.own):
            return True
        if len(atoms) == 1 and any(places(form) for form in atoms[0].forms):
            return True
        if len(atoms) > 1 and any(len(atom.forms) > 1 for atom in atoms):
            reached = {place for form in atoms[0].forms for place in places(form)}
            for before, atom in pairwise(atoms):
                width = max(form.width for form in before.forms)
                starts = {place for form in atom.forms for place in places(form)}
                reached = {
                    min(following)
                    for section, position in reached
                    if (following := [(s, p) for s, p in starts if s == section and 0 < p - position <= width])
                }
            if reached:
                return True
        if field is None and not need.clause.is_phrase:
            forms = (need.own, *atoms[0].forms)
            return any("@" + " ".join(term for term, _ in form.terms) in record.labels for form in forms)
        return False

    def search(self, plan: Plan) -> list[int]:
        """Return the primary keys of full matches in order; of plans whose every word some record holds."""
        kept = []
        for row, record in enumerate(self.records):
            wanted = [need for need in plan.needs if need.is_required]
            holds = all(self.satisfies(record, need, [plan.atoms[i] for i in need.atoms]) for need in wanted)
            shuns = any(
                any(need.clause.field in (None, section) for section, _ in record.occurrences(need.own))
                for need in plan.excluded
            )
            if holds and not shuns and (wanted or plan.excluded):
                kept.append(row)
        scores = [round(score, 6) for score in self.scores(plan)]
        kept.sort(key=lambda row: (-scores[row], -self.records[row].document.sort_date, self.records[row].document.id))
        return [self.records[row].document.id for row in kept]

    def is_held(self, plan: Plan) -> bool:
        """Return whether each required word is held by some record."""
        return all(
            any(self.satisfies(record, need, [plan.atoms[i] for i in need.atoms]) for record in self.records)
            for need in plan.needs
            if need.is_required
        )


def leaves(text: str) -> tuple[str, ...]:
    """Return a text's terms in order."""
    return leaves_of(text)
