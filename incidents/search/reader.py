"""What evaluation needs of an index generation, and the one that lives in memory only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incidents.search.base import SearchDocument
from incidents.search.documents import ALIAS, LABEL, SECTIONS, AnalysedDocument, source_addresses
from incidents.search.literal import LiteralIndex
from incidents.search.postings import EMPTY, Postings
from incidents.search.spelling import Speller


@dataclass(frozen=True)
class DocumentTable:
    """The documents of a generation by row. Rows of documents that were taken out stay, with the ID -1.

    ids, dates, revisions: whole numbers[n]. public_ids: n strings. lengths: [n, len(SECTIONS)], positions in each section.
    addresses: normalized source address -> row of the first record that cites it.
    """

    ids: NDArray[np.int64]
    dates: NDArray[np.int64] | NDArray[np.int32]
    revisions: NDArray[np.int64]
    public_ids: Sequence[str]
    lengths: NDArray[np.float32] | NDArray[np.uint16]
    addresses: Callable[[], dict[str, int]]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def live(self) -> NDArray[np.int64]:
        """Return the rows of documents that are in the index, ascending."""
        return np.flatnonzero(self.ids >= 0)

    @cached_property
    def by_date(self) -> NDArray[np.int64]:
        """Return all rows in the order that breaks ties: newest first, then by primary key."""
        return np.lexsort((self.ids, -self.dates))

    @cached_property
    def rows_by_public_id(self) -> dict[str, int]:
        """Return {public ID: row}."""
        return {public_id: row for row, public_id in enumerate(self.public_ids) if self.ids[row] >= 0}

    @cached_property
    def rows_by_address(self) -> dict[str, int]:
        """Return {normalized source address: row}."""
        return self.addresses()


class IndexReader(ABC):
    """One unchanging generation of an index."""

    @property
    @abstractmethod
    def table(self) -> DocumentTable:
        """Return the documents."""

    @abstractmethod
    def labels(self) -> Sequence[str]:
        """Return the keys of facet labels and aliases (see documents.LABEL and ALIAS) that some document has."""

    def prepare(self, terms: Iterable[str]) -> None:  # noqa: B027  # an engine in memory has nothing to do
        """Take note of terms that `word` will be asked for next; for engines that are slow to ask one by one."""

    @abstractmethod
    def word(self, term: str) -> Postings:
        """Return where a term stands; EMPTY if nowhere."""

    @abstractmethod
    def count(self, term: str) -> int:
        """Return the number of documents that hold a term."""

    def counts(self, terms: Sequence[str]) -> list[int]:
        """Return the number of documents that hold each of some terms."""
        return [self.count(term) for term in terms]

    @abstractmethod
    def nearest(self, word: str) -> str | None:
        """Return the best known spelling near a word that no document holds."""

    @abstractmethod
    def literal(self, needle: str, section: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (rows that hold letters as a word or inside one, rows in which they only straddle two words)."""

    @abstractmethod
    def document_terms(self, row: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        """Return the distinct terms of a document and how often each stands in it."""


def first_rows(rows: Iterable[tuple[int, Iterable[str]]]) -> dict[str, int]:
    """Return {address: row} of (row, addresses) pairs; the first row that has an address keeps it."""
    out: dict[str, int] = {}
    for row, addresses in rows:
        for address in addresses:
            out.setdefault(address, row)
    return out


class MemoryReader(IndexReader):
    """An index held in memory: for tests and for trying out rankings."""

    def __init__(self, documents: Iterable[tuple[SearchDocument, AnalysedDocument]]) -> None:
        given = list(documents)
        self._analysed = [analysed for _, analysed in given]
        self._table = DocumentTable(
            np.array([d.id for d, _ in given], np.int64),
            np.array([d.sort_date for d, _ in given], np.int64),
            np.array([d.revision for d, _ in given], np.int64),
            [d.public_id for d, _ in given],
            np.array([a.lengths for _, a in given], np.float32).reshape(len(given), len(SECTIONS)),
            lambda: first_rows((row, source_addresses(d)) for row, (d, _) in enumerate(given)),
        )
        found: dict[str, list[tuple[int, NDArray[np.uint32]]]] = {}
        for row, analysed in enumerate(self._analysed):
            for term, places in analysed.words.items():
                found.setdefault(term, []).append((row, places))
        self._words = {
            term: Postings(
                np.repeat(np.array([row for row, _ in entries], np.int64), [len(places) for _, places in entries]),
                np.concatenate([places for _, places in entries]),
            )
            for term, entries in found.items()
        }
        self._counts = {term: len(entries) for term, entries in found.items()}
        self._literal = LiteralIndex.of([a.surfaces for a in self._analysed])

    @property
    def table(self) -> DocumentTable:
        return self._table

    @cached_property
    def _speller(self) -> Speller:
        return Speller(self._counts)

    def labels(self) -> Sequence[str]:
        return sorted(term for term in self._words if term[0] in (LABEL, ALIAS))

    def word(self, term: str) -> Postings:
        return self._words.get(term, EMPTY)

    def count(self, term: str) -> int:
        return self._counts.get(term, 0)

    def nearest(self, word: str) -> str | None:
        found = self._speller.nearest(word)
        return found.word if found else None

    def literal(self, needle: str, section: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self._literal.find(needle, section)

    def document_terms(self, row: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        words = self._analysed[row].words
        return words.terms, words.counts.astype(np.float32)
