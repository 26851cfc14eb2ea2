"""One generation of the index in PostgreSQL as the evaluator wants it: a few columns in memory, the rest asked for when used."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from django.db import DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from numpy.typing import NDArray

from incidents.errors import SearchUnavailable
from incidents.search import postgres_reading as reading
from incidents.search.byte_cache import BoundedCache
from incidents.search.documents import SECTIONS
from incidents.search.evaluate import LruCache
from incidents.search.literal import SECTION_BITS_OF_WORD, LiteralIndex
from incidents.search.postgres_reading import Segment
from incidents.search.postgres_store import public_number, storable, term_key
from incidents.search.postings import EMPTY, Postings
from incidents.search.reader import DocumentTable, IndexReader
from incidents.search.spelling import Speller
from incidents.search.suggest import letters

logger = logging.getLogger(__name__)

POSTINGS_BYTES: Final = 5 << 20
COUNTS_KEPT: Final = 5_000  # of terms, some 150 bytes each


class _PublicIds(Sequence[str]):
    """Public IDs by row, written when asked for."""

    def __init__(self, numbers: NDArray[np.int32]) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, row: Any) -> Any:
        return f"IL-{int(self.numbers[row]):04d}"


class _Finder(dict[str, int]):
    """A mapping that asks instead of holding everything."""

    def __init__(self, find: Callable[[str], int | None]) -> None:
        super().__init__()
        self._find = find

    def get(self, key: str, default: Any = None) -> Any:
        """Return the row of a key, or `default`."""
        row = self._find(key)
        return default if row is None else row


@dataclass(frozen=True)
class _Table(DocumentTable):
    """The columns of all segments one after another; addresses are looked up, and revisions read when health asks."""

    numbers: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))

    @cached_property
    def rows_by_public_id(self) -> dict[str, int]:
        """Return something that finds the row of a public ID."""
        return _Finder(self._row_of)

    @cached_property
    def rows_by_address(self) -> dict[str, int]:
        """Return something that finds the row of the first record that cites an address."""
        return self.addresses()

    def _row_of(self, public_id: str) -> int | None:
        found = np.flatnonzero((self.numbers == public_number(public_id)) & (self.ids >= 0))
        return int(found[0]) if len(found) else None


class PostgresReader(IndexReader):
    """One generation of a build: row = a segment's first row + the number of the document in it."""

    def __init__(self, connect: Callable[[], BaseDatabaseWrapper], build: str, segments: Sequence[Segment]) -> None:
        self._connect = connect
        self._build = build
        ends = np.cumsum([0, *(len(segment) for segment in segments)]).tolist()
        self._first = dict(zip((s.number for s in segments), ends[:-1], strict=True))
        self._postings = BoundedCache(POSTINGS_BYTES)
        self._counts = LruCache(COUNTS_KEPT)
        ids = _joined([s.ids for s in segments], np.int64)
        for segment in segments:
            ids[self._first[segment.number] + segment.removed] = -1
        self._has_removed = bool((ids < 0).any())
        dates = _joined([s.dates for s in segments], np.int32)
        numbers = _joined([s.public_numbers for s in segments], np.int32)
        lengths = np.concatenate([s.lengths for s in segments]) if segments else np.zeros((0, len(SECTIONS)), np.uint16)
        # The segments, which the next generation takes over, look into these columns instead of holding their own.
        self.segments = [
            replace(segment, ids=ids[a:b], dates=dates[a:b], public_numbers=numbers[a:b], lengths=lengths[a:b])
            for segment, a, b in zip(segments, ends[:-1], ends[1:], strict=True)
        ]
        self._table = _Table(
            ids=ids,
            dates=dates,
            revisions=np.empty(0, np.int64),
            public_ids=_PublicIds(numbers),
            lengths=lengths,
            addresses=lambda: _Finder(self._find_address),
            numbers=numbers,
        )

    @property
    def table(self) -> DocumentTable:
        return self._table

    def labels(self) -> Sequence[str]:
        return sorted({label for segment in self.segments for label in segment.labels})

    def prepare(self, terms: Iterable[str]) -> None:
        """Read the postings of several terms by one question."""
        wanted = [term for term in dict.fromkeys(terms) if term not in self._postings.values]
        if len(wanted) > 1:
            for term, postings in zip(wanted, self._read(wanted), strict=True):
                self._postings.put(term, postings)

    def word(self, term: str) -> Postings:
        return self._postings.get(term, lambda: self._read([term])[0])

    def _read(self, terms: Sequence[str]) -> list[Postings]:
        keys = [term_key(term) for term in terms]
        found: dict[int, list[tuple[Postings, int]]] = {}
        with self._reading() as connection:
            for key, segment, postings in reading.read_postings(connection, self._build, keys):
                if segment in self._first:
                    found.setdefault(key, []).append((postings, self._first[segment]))
        return [self._put_together(found.get(key, [])) for key in keys]

    def _put_together(self, parts: list[tuple[Postings, int]]) -> Postings:
        if not parts:
            return EMPTY
        rows = np.concatenate([postings.rows + first for postings, first in parts])
        places = np.concatenate([postings.places for postings, _ in parts])
        if self._has_removed:
            keep = self._table.ids[rows] >= 0
            rows, places = rows[keep], places[keep]
        return Postings(rows, places)

    def count(self, term: str) -> int:
        """Return the number of documents that hold a term."""
        return self.counts([term])[0]

    def counts(self, terms: Sequence[str]) -> list[int]:
        known = self._counts.values
        unknown = {term: term_key(term) for term in terms if term not in known}
        found: dict[int, int] = {}
        if unknown:
            with self._reading() as connection:
                found = reading.count_documents(connection, self._build, list(unknown.values()))
        counts = {term: found.get(key, 0) for term, key in unknown.items()}
        return [self._counts.get(term, lambda term=term: counts[term]) for term in terms]  # type: ignore[misc]

    def nearest(self, word: str) -> str | None:
        size = len(letters(word))
        limit = 1 if size < 8 else 2 if size < 14 else 3
        # A syllable has two to four letters, a Latin character one.
        is_hangul = "가" <= word[0] <= "힣"
        slack = limit if not is_hangul else limit + 1
        with self._reading() as connection:
            known = reading.read_spellings(
                connection,
                self._build,
                shortest=max(2, len(word) - slack),
                longest=len(word) + slack,
                like=word,
                ends=1 if is_hangul else 2,
            )
            known = {term: count for term, count in known.items() if ("가" <= term[0] <= "힣") == is_hangul}
            if self._has_removed:
                keys = {term: term_key(term) for term in known}
                gone = reading.count_removed(connection, self._build, list(keys.values()))
                live = {term: known[term] - gone.get(key, 0) for term, key in keys.items()}
                known = {term: count for term, count in live.items() if count > 0}
        found = Speller(known).nearest(word)
        return found.word if found else None

    def literal(self, needle: str, section: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # Kept, as the ways out of a search without a match each ask for nearly the same words.
        return self._postings.get((needle, section), lambda: self._literal(needle, section))

    def _literal(self, needle: str, section: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        words: list[str] = []
        wheres: list[NDArray[np.int32]] = []
        if needle and "\n" not in needle and storable(needle) == needle:
            with self._reading() as connection:
                for segment, own, places in reading.read_words(connection, self._build, needle):
                    if segment in self._first:
                        words += own
                        wheres += [where + (self._first[segment] << SECTION_BITS_OF_WORD) for where in places]
        if not words:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        first = np.cumsum([0, *map(len, wheres)])
        rows, loose = _small_index(words, first, np.concatenate(wheres)).find(needle, section)
        ids = self._table.ids
        return rows[ids[rows] >= 0], loose[ids[loose] >= 0]

    def document_terms(self, row: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        return self._postings.get(row, lambda: self._document_terms(row))

    def _document_terms(self, row: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        number = max((n for n, first in self._first.items() if first <= row), key=lambda n: self._first[n])
        with self._reading() as connection:
            return reading.read_terms(connection, self._build, number, row - self._first[number])

    def _find_address(self, address: str) -> int | None:
        with self._reading() as connection:
            rows = [
                self._first[s] + n
                for s, n in reading.find_address(connection, self._build, address)
                if s in self._first
            ]
        live = [row for row in rows if self._table.ids[row] >= 0]
        return live[0] if live else None

    @contextmanager
    def _reading(self) -> Iterator[BaseDatabaseWrapper]:
        with unavailable():
            yield self._connect()


def _small_index(words: Sequence[str], first: NDArray[np.int64], where: NDArray[np.int32]) -> LiteralIndex:
    """Return the literal index of just some words, whose places are known."""
    marked = "\n" + "".join(f"{word}\n" for word in words)
    codes = np.frombuffer(marked.encode("utf-32-le"), np.uint32)
    marks = np.flatnonzero(codes == ord("+"))
    breaks = np.flatnonzero(codes[codes != ord("+")] == ord("\n"))
    return LiteralIndex(marked.replace("+", ""), breaks[:-1] + 1, marks - np.arange(len(marks)), first, where)


def _joined(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)


@contextmanager
def unavailable() -> Iterator[None]:
    """Turn the database's errors and rows that a rebuild has just dropped into SearchUnavailable."""
    try:
        yield
    except (DatabaseError, LookupError, ValueError) as error:
        logger.exception("the search index in PostgreSQL does not read")
        raise SearchUnavailable("검색 색인을 읽지 못했습니다. 잠시 뒤에 다시 시도해 주세요.") from error
