"""Postings of many documents turned round: given document by document, taken term by term, in bounded memory.

What is given lies in arrays until they hold a run's worth; the run is then sorted by term and put into a file without
a name. In the end the runs are joined, some terms at a time. What grows with the library are its distinct terms alone.
"""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from incidents.search.postings import TermPlaces

RUN: Final = 1_000_000  # postings: some 3,000 records, and some 60 MB while they are sorted

Numbers = NDArray[np.uint32]
Offsets = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TermPostings:
    """Some terms in ascending order, with the whole of their postings.

    first: int64[terms + 1] into documents, which ascend within a term, and counts: the places of each. first_place:
    int64[terms + 1] into places.
    """

    terms: Sequence[str]
    first: Offsets
    documents: Numbers
    counts: Numbers
    first_place: Offsets
    places: Numbers


class Gatherer:
    """Takes documents' terms with their places, and gives them back by term. To be closed."""

    def __init__(self, folder: Path, run: int = RUN) -> None:
        """`folder` is where runs are put when one is full; `run`: postings of one."""
        self._folder = folder
        self._limit = run
        self._numbers: dict[str, int] = {}  # term -> its number, by first appearance
        self._runs: list[_Run] = []
        self._file: IO[bytes] | None = None
        self._begin_run()

    def _begin_run(self) -> None:
        self._terms = array("I")
        self._documents: list[int] = []
        self._sizes: list[int] = []
        self._counts: list[NDArray[Any]] = []
        self._places: list[NDArray[Any]] = []

    def add(self, document: int, group: TermPlaces) -> None:
        """Take a document's terms. Documents come in ascending order."""
        numbers = self._numbers
        self._terms.extend([numbers.setdefault(term, len(numbers)) for term in group.terms])
        self._documents.append(document)
        self._sizes.append(len(group.terms))
        self._counts.append(group.counts)
        self._places.append(group.places)
        if len(self._terms) >= self._limit:
            self._runs.append(self._put_away(self._sorted_run()))
            self._begin_run()

    def _sorted_run(self) -> _Run:
        numbers = np.frombuffer(self._terms, np.uint32)
        names = list(self._numbers)
        order = sorted(np.unique(numbers).tolist(), key=names.__getitem__)
        rank = np.zeros(len(names), np.int64)
        rank[order] = np.arange(len(order))
        ranks = rank[numbers]
        by_term = np.argsort(ranks, kind="stable")
        counts = _joined(self._counts)
        starts = (np.cumsum(counts, dtype=np.int64) - counts)[by_term]
        documents = np.repeat(np.array(self._documents, np.uint32), self._sizes)[by_term]
        counts = counts[by_term]
        first = _offsets(np.bincount(ranks, minlength=len(order)))
        return _Run(
            np.array(order, np.int64),
            first,
            documents,
            counts,
            _offsets(counts)[first],
            _pieces(_joined(self._places), starts, counts),
        )

    def _put_away(self, run: _Run) -> _Run:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115  # closed by close()
        arrays = (self._kept(array) for array in (run.documents, run.counts, run.places))
        documents, counts, places = arrays
        return _Run(run.numbers, run.first, documents, counts, run.first_place, places)

    def _kept(self, values: Numbers | _OnDisk) -> Numbers | _OnDisk:
        """Return the same values in the file."""
        if self._file is None or isinstance(values, _OnDisk):
            return values
        start = self._file.tell()
        self._file.write(values.tobytes())
        self._file.flush()
        return _OnDisk(self._file.fileno(), start)

    def parts(self) -> Iterator[TermPostings]:
        """Yield all terms in ascending order, some at a time."""
        runs = [*self._runs, self._sorted_run()]
        names = sorted(self._numbers)
        rank = np.empty(len(names), np.int64)
        rank[[self._numbers[name] for name in names]] = np.arange(len(names))
        ranks = [rank[run.numbers] for run in runs]
        sizes = np.zeros(len(names), np.int64)
        for run, own in zip(runs, ranks, strict=True):
            sizes[own] += np.diff(run.first)
        ends = np.cumsum(sizes)
        start = 0
        while start < len(names):
            done = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + self._limit, "right")))
            yield _join(
                names[start:stop], [run.between(own, start, stop) for run, own in zip(runs, ranks, strict=True)]
            )
            start = stop

    def close(self) -> None:
        """Let go of everything."""
        self._runs.clear()
        self._numbers.clear()
        self._begin_run()
        if self._file is not None:
            self._file.close()
            self._file = None


@dataclass(frozen=True, slots=True)
class _OnDisk:
    """Numbers in an open file, read a piece at a time: a map of it would count as memory of the process."""

    descriptor: int
    start: int

    def __getitem__(self, part: slice) -> Numbers:
        data = os.pread(self.descriptor, 4 * (part.stop - part.start), self.start + 4 * part.start)
        return np.frombuffer(data, np.uint32)


@dataclass(frozen=True, slots=True)
class _Run:
    """The postings of some documents by term: numbers of the terms in the terms' order, the rest as in TermPostings."""

    numbers: NDArray[np.int64]
    first: Offsets
    documents: Numbers | _OnDisk
    counts: Numbers | _OnDisk
    first_place: Offsets
    places: Numbers | _OnDisk

    def between(self, ranks: NDArray[np.int64], start: int, stop: int) -> tuple[Offsets, Numbers, Numbers, Numbers]:
        """Return (term, counted from `start`, of each posting, documents, counts, places) of the ranks from start to stop."""
        low, high = np.searchsorted(ranks, (start, stop)).tolist()
        terms = np.repeat(ranks[low:high] - start, np.diff(self.first[low : high + 1]))
        own = slice(int(self.first[low]), int(self.first[high]))
        places = self.places[int(self.first_place[low]) : int(self.first_place[high])]
        return terms, self.documents[own], self.counts[own], places


def _join(names: Sequence[str], runs: Sequence[tuple[Offsets, Numbers, Numbers, Numbers]]) -> TermPostings:
    """Return the postings of several runs as one, those of a term in the order of the runs."""
    terms, documents, counts, places = (np.concatenate(parts) for parts in zip(*runs, strict=True))
    if len(runs) > 1:
        by_term = np.argsort(terms, kind="stable")
        starts = (np.cumsum(counts, dtype=np.int64) - counts)[by_term]
        documents, counts = documents[by_term], counts[by_term]
        places = _pieces(places, starts, counts)
    first = _offsets(np.bincount(terms, minlength=len(names)))
    return TermPostings(names, first, documents, counts, _offsets(counts)[first], places)


def _joined(parts: Sequence[NDArray[Any]]) -> Numbers:
    return np.concatenate([np.empty(0, np.uint32), *parts], dtype=np.uint32)


def _offsets(sizes: NDArray[Any]) -> Offsets:
    """Return where each of things of some sizes begins, one after another, and where the last one ends."""
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out


def _pieces(values: Numbers, starts: Offsets, sizes: Numbers) -> Numbers:
    """Return the pieces of an array that begin at `starts`, one after another."""
    offsets = _offsets(sizes)
    index = np.repeat(starts - offsets[:-1], sizes) + np.arange(int(offsets[-1]))
    found: Numbers = values[index]
    return found
