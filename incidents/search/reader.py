"""What evaluation needs of an index generation, and the one that lives in memory only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incidents.search.base import SearchDocument
from incidents.search.documents import ALIAS, LABEL, SECTIONS, AnalysedDocument, normalized_url
from incidents.search.literal import LiteralIndex
from incidents.search.postings import EMPTY, Postings


@dataclass(frozen=True)
class DocumentTable:
    """The documents of a generation in the order that breaks ties: newest first, then by primary key.

    ids: int64[n]. public_ids, titles: n strings. addresses: normalized source address -> row.
    lengths: float32[n, len(SECTIONS)], positions in each section. revisions: int64[n].
    """

    ids: NDArray[np.int64]
    public_ids: Sequence[str]
    titles: Sequence[str]
    addresses: dict[str, int]
    lengths: NDArray[np.float32]
    revisions: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def rows_by_public_id(self) -> dict[str, int]:
        """Return {public ID: row}."""
        return {public_id: row for row, public_id in enumerate(self.public_ids)}


@dataclass(frozen=True)
class Lexicon:
    """Every term of a field, sorted, with the number of documents that hold it."""

    terms: Sequence[str]
    counts: NDArray[np.int64]

    @cached_property
    def index(self) -> dict[str, int]:
        """Return {term: its number}."""
        return {term: number for number, term in enumerate(self.terms)}

    def __contains__(self, term: object) -> bool:
        return term in self.index

    def count(self, term: str) -> int:
        """Return the number of documents that hold a term, 0 if none."""
        number = self.index.get(term)
        return 0 if number is None else int(self.counts[number])


class IndexReader(ABC):
    """One unchanging generation of an index."""

    @property
    @abstractmethod
    def table(self) -> DocumentTable:
        """Return the documents."""

    @property
    @abstractmethod
    def words(self) -> Lexicon:
        """Return the terms that queries look up."""

    @abstractmethod
    def labels(self) -> Sequence[str]:
        """Return the keys of facet labels and aliases (see documents.LABEL and ALIAS) that some document has."""

    @abstractmethod
    def word(self, term: str) -> Postings:
        """Return where a term stands; EMPTY if nowhere."""

    @abstractmethod
    def literal(self, needle: str, section: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (rows that hold letters as a word or inside one, rows in which they only straddle two words)."""

    @abstractmethod
    def document_terms(self, row: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        """Return the distinct terms of a document and how often each stands in it."""


def make_table(documents: Sequence[tuple[SearchDocument, NDArray[np.int64]]], addresses: dict[str, int]) -> DocumentTable:
    """Return the table of documents that are already in tie order, each with its section lengths."""
    lengths = np.array([lengths for _, lengths in documents], np.float32).reshape(len(documents), len(SECTIONS))
    return DocumentTable(
        np.array([d.id for d, _ in documents], np.int64),
        [d.public_id for d, _ in documents],
        [d.title for d, _ in documents],
        addresses,
        lengths,
        np.array([d.revision for d, _ in documents], np.int64),
    )


class MemoryReader(IndexReader):
    """An index held in memory: for tests and for trying out rankings."""

    def __init__(self, documents: Iterable[tuple[SearchDocument, AnalysedDocument]]) -> None:
        ordered = sorted(documents, key=lambda pair: (-pair[0].sort_date, pair[0].id))
        addresses = {
            normalized_url(source): row
            for row, (document, _) in reversed(list(enumerate(ordered)))
            for source in document.sources
            if "://" in source
        }
        self._table = make_table([(document, analysed.lengths) for document, analysed in ordered], addresses)
        self._analysed = [analysed for _, analysed in ordered]
        self._words, self._word_lexicon = _invert([a.words.items() for a in self._analysed])
        self._literal = LiteralIndex.of([a.surfaces for a in self._analysed])

    @property
    def table(self) -> DocumentTable:
        return self._table

    @property
    def words(self) -> Lexicon:
        return self._word_lexicon

    def labels(self) -> Sequence[str]:
        return [term for term in self._words if term[0] in (LABEL, ALIAS)]

    def word(self, term: str) -> Postings:
        return self._words.get(term, EMPTY)

    def literal(self, needle: str, section: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self._literal.find(needle, section)

    def document_terms(self, row: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        words = self._analysed[row].words
        return words.terms, words.counts.astype(np.float32)


def _invert(documents: Sequence[Iterable[tuple[str, NDArray[np.uint32]]]]) -> tuple[dict[str, Postings], Lexicon]:
    found: dict[str, list[tuple[int, NDArray[np.uint32]]]] = {}
    for row, items in enumerate(documents):
        for term, places in items:
            found.setdefault(term, []).append((row, places))
    postings = {
        term: Postings(
            np.repeat(np.array([row for row, _ in entries], np.int64), [len(places) for _, places in entries]),
            np.concatenate([places for _, places in entries]),
        )
        for term, entries in found.items()
    }
    terms = sorted(found)
    return postings, Lexicon(terms, np.array([len(found[term]) for term in terms], np.int64))
