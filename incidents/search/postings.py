"""Postings as arrays, and what is done with them: phrases, fields, unions. No engine, no text analysis.

A place is a packed uint32: the section in the upper 5 bits, the position in the section in the lower 27.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SECTION_BITS = 27
POSITION_MASK = (1 << SECTION_BITS) - 1


@dataclass(frozen=True, slots=True)
class Postings:
    """Where a term stands. rows: int64 row of the document for each place; places: uint32; both sorted by (row, place)."""

    rows: NDArray[np.int64]
    places: NDArray[np.uint32]

    def documents(self) -> NDArray[np.int64]:
        """Return the sorted rows, each once."""
        rows = self.rows
        if len(rows) < 2:
            return rows
        keep = np.empty(len(rows), bool)
        keep[0] = True
        np.not_equal(rows[1:], rows[:-1], out=keep[1:])
        return rows[keep]

    def keys(self) -> NDArray[np.int64]:
        """Return one sortable integer a place: row in the upper, place in the lower 32 bits."""
        return (self.rows << 32) | self.places

    def in_sections(self, sections: Sequence[int]) -> Postings:
        """Return only the places in some sections."""
        keep = np.isin(self.places >> SECTION_BITS, sections)
        return Postings(self.rows[keep], self.places[keep])


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the values in ascending order, each once. NumPy's own `unique` hashes them, which takes ten times as long."""
    ordered = np.sort(values)
    if len(ordered) < 2:
        return ordered
    keep = np.empty(len(ordered), bool)
    keep[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=keep[1:])
    return ordered[keep]


def joined(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row numbers of several arrays in ascending order, each once: by marking them, a third of sorting's time."""
    rows = np.concatenate(parts)
    if not len(rows):
        return rows
    marks = np.zeros(int(rows.max()) + 1, bool)
    marks[rows] = True
    return np.flatnonzero(marks)


@dataclass(frozen=True, slots=True)
class TermPlaces:
    """Terms, the number of places of each, and all places one after another, packed."""

    terms: tuple[str, ...]
    counts: NDArray[np.uint32]
    places: NDArray[np.uint32]

    def items(self) -> Iterator[tuple[str, NDArray[np.uint32]]]:
        """Yield (term, its places)."""
        ends = np.cumsum(self.counts)
        start = 0
        for term, end in zip(self.terms, ends.tolist(), strict=True):
            yield term, self.places[start:end]
            start = end


EMPTY = Postings(np.empty(0, np.int64), np.empty(0, np.uint32))


def from_keys(keys: NDArray[np.int64]) -> Postings:
    """Return postings from the integers of `Postings.keys`, which must be sorted."""
    return Postings(keys >> 32, (keys & 0xFFFFFFFF).astype(np.uint32))


def without(rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sorted distinct rows that are not among some others."""
    if not len(rows) or not len(others):
        return rows
    marks = np.zeros(int(max(rows[-1], others.max())) + 1, bool)
    marks[rows] = True
    marks[others] = False
    return np.flatnonzero(marks)


def contains(haystack: NDArray[np.int64], needles: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each needle whether it stands in a sorted array."""
    if not len(haystack):
        return np.zeros(len(needles), bool)
    index = np.searchsorted(haystack, needles)
    index[index == len(haystack)] = 0
    found: NDArray[np.bool_] = haystack[index] == needles
    return found


def union(parts: Iterable[Postings]) -> Postings:
    """Return every place of several postings, each once."""
    given = [part for part in parts if len(part.rows)]
    if not given:
        return EMPTY
    if len(given) == 1:
        return given[0]
    return from_keys(distinct(np.concatenate([part.keys() for part in given])))


def phrase(terms: Sequence[tuple[Postings, int]], slack: int = 0) -> Postings:
    """Return the places where terms stand at their offsets one after another, as postings of the first.

    terms: (postings, offset from the phrase's start), at least one. slack: positions that may stand between neighbours
    in addition. A phrase never crosses a section's border by its width, since positions restart there.
    """
    if any(not len(item.rows) for item, _ in terms):
        return EMPTY
    starts = terms[0][0].keys()
    if len(terms) == 1:
        return terms[0][0]
    ends = starts
    previous = terms[0][1]
    for postings, offset in terms[1:]:
        keys = postings.keys()
        step = offset - previous
        previous = offset
        if not slack:
            keep = contains(keys, ends + step)
            starts, ends = starts[keep], ends[keep] + step
        else:
            index = np.searchsorted(keys, ends + step)
            inside = index < len(keys)
            starts, ends, index = starts[inside], ends[inside], index[inside]
            following = keys[index]
            keep = following - ends <= step + slack
            starts, ends = starts[keep], following[keep]
        if not len(starts):
            return EMPTY
    return from_keys(starts)
