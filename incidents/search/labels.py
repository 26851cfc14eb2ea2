"""Facet values that a query names: their labels and aliases, the records that have them, and what naming them is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incidents.search.documents import LABEL
from incidents.search.plan import Plan
from incidents.search.ranking import Ranking
from incidents.search.reader import IndexReader

NO_BITS = np.empty(0, np.uint8)
ROUNDING = 1e-9  # a share of exactly `label_share` counts, in whatever order it was summed


@dataclass(frozen=True, slots=True)
class Label:
    """A facet value's label or alias: (leaf, weight) pairs, their sum, the rows that have it, what naming it is worth.

    rows: row numbers; None where many have it: then bits has one a row. A library has some forty labels and aliases a record.
    """

    leaves: tuple[tuple[str, float], ...]
    weight: float
    rows: NDArray[np.int64] | None
    bits: NDArray[np.uint8]
    worth: float

    def take_best(self, dense: NDArray[np.float64], worth: float) -> None:
        """Raise what rows with this label have to `worth`."""
        if self.rows is None:
            has_it = np.unpackbits(self.bits, count=len(dense)).view(bool)
            np.maximum(dense, worth, out=dense, where=has_it)
        else:
            dense[self.rows] = np.maximum(dense[self.rows], worth)


class Labels:
    """The labels and aliases of one index generation, each read when a query first names a word of it."""

    def __init__(self, reader: IndexReader, ranking: Ranking, idf: Callable[[int], float]) -> None:
        self._reader = reader
        self._ranking = ranking
        self._idf = idf
        self._size = len(reader.table)
        self._known: dict[int, Label] = {}
        self._known_parts: dict[str, tuple[tuple[int, float], ...]] = {}

    def named(self, plan: Plan) -> list[tuple[Label, float]]:
        """Return (label, worth) for each facet value that the query names, in its label's or an alias's words.

        A label of several words may be named in part: its worth falls with the square of the share left out. A row that
        has several of the values is to take the best.
        """
        said: dict[str, float] = {}
        near = self._ranking.near_label
        for atom in plan.atoms:
            for term, weight in atom.said:
                if weight > said.get(term, 0.0):
                    said[term] = weight
            for term in atom.said_near:
                if near > said.get(term, 0.0):
                    said[term] = near
        self._know(said)
        shares: dict[int, float] = {}
        for term, said_weight in said.items():
            for number, part in self._parts(term):
                shares[number] = shares.get(number, 0.0) + said_weight * part
        found = []
        for number, share in shares.items():
            if share >= self._ranking.label_share - ROUNDING:
                label = self._label(number)
                found.append((label, label.worth * share * share))
        return found

    def _know(self, terms: Iterable[str]) -> None:
        """Have the reader look up at once what is not known yet of the labels that have some of the terms."""
        numbers = {number for term in terms for number in self._numbers.get(term, ())}
        fresh = [self._keys[number] for number in sorted(numbers.difference(self._known))]
        if fresh:
            self._reader.counts([leaf for _, leaves in fresh for leaf in leaves])
            self._reader.prepare(mark + " ".join(leaves) for mark, leaves in fresh)

    def _parts(self, term: str) -> Sequence[tuple[int, float]]:
        """Return (label's number, the term's share of the label's weight) of each label that has a term."""
        known = self._known_parts.get(term)
        if known is None:
            numbers = self._numbers.get(term, ())
            labels = [(number, self._label(number)) for number in numbers]
            known = tuple((n, w / label.weight) for n, label in labels for leaf, w in label.leaves if leaf == term)
            if known:
                self._known_parts[term] = known
        return known

    @cached_property
    def _keys(self) -> list[tuple[str, tuple[str, ...]]]:
        return [(key[0], tuple(key[1:].split(" "))) for key in self._reader.labels()]

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        out: dict[str, list[int]] = {}
        for number, (_, leaves) in enumerate(self._keys):
            for leaf in leaves:
                out.setdefault(leaf, []).append(number)
        return out

    def _label(self, number: int) -> Label:
        known = self._known.get(number)
        if known is None:
            mark, leaves = self._keys[number]
            weights = [0.3 + self._idf(self._reader.count(leaf)) for leaf in leaves]
            rows = self._reader.word(mark + " ".join(leaves)).documents()
            worth = self._ranking.label if mark == LABEL else self._ranking.alias
            total = sum(weights)
            is_frequent = len(rows) * 64 > self._size  # eight bytes a row are more than a bit for each of all
            known = Label(
                leaves=tuple(zip(leaves, weights, strict=True)),
                weight=total,
                rows=None if is_frequent else rows,
                bits=self._bits(rows) if is_frequent else NO_BITS,
                worth=worth * total**0.5 * self._idf(len(rows)),
            )
            self._known[number] = known
        return known

    def _bits(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        is_in = np.zeros(self._size, bool)
        is_in[rows] = True
        return np.packbits(is_in)
