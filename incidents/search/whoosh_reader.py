"""Reading the embedded index: segments that never change, and generations of them as the evaluator sees them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from whoosh.reading import SegmentReader, TermNotFound

from incidents.errors import SearchUnavailable
from incidents.search.documents import ALIAS, LABEL, SECTIONS, unpack
from incidents.search.literal import LiteralIndex
from incidents.search.postings import EMPTY, Postings
from incidents.search.reader import DocumentTable, IndexReader, first_rows
from incidents.search.spelling import Correction, Speller
from incidents.search.whoosh_codec import PlacesFormat, decode, encode

logger = logging.getLogger(__name__)

_CACHED_PLACES = 4_000_000  # places of postings held of a segment at most, 12 bytes each
_KEPT_WORDS = 5_000  # terms of a generation held at most
_FORMAT = PlacesFormat()
_WORDS = "words"  # the field of all terms


class WhooshSegment:
    """One Whoosh segment's unchanging data, with what was read of it, kept over generations."""

    def __init__(self, reader: SegmentReader, files: Sequence[Path]) -> None:
        self.reader = reader
        self._sizes = [(path, path.stat().st_size) for path in files]
        self.count: int = reader.doc_count_all()
        self.meta: list[dict[str, Any]] = [reader.stored_fields(n)["meta"] for n in range(self.count)]
        self.terms = reader.column_reader("terms")
        self.surfaces = reader.column_reader("surfaces")
        self._lexicon: dict[str, int] | None = None
        self._speller: Speller | None = None
        self._literal: LiteralIndex | None = None
        self._postings: dict[str, Postings | None] = {}
        self._cached_places = 0

    def damage(self) -> str:
        """Return the name of a file that is gone or shorter than it was when opened, else ""."""
        for path, size in self._sizes:
            try:
                if path.stat().st_size < size:
                    return path.name
            except OSError:
                return path.name
        return ""

    def refuse_if_truncated(self) -> None:
        """Raise OSError if a file was cut: it is mapped into memory, and touching what is gone would end the process."""
        for path, size in self._sizes:
            try:
                if path.stat().st_size < size:
                    raise OSError(f"truncated: {path.name}")
            except FileNotFoundError:
                continue  # the mapping keeps a removed file alive

    def lexicon(self) -> dict[str, int]:
        """Return {term: number of documents}, deleted ones included."""
        if self._lexicon is None:
            self.refuse_if_truncated()
            terms = self.reader._terms  # the codec's terms reader: bytes and term infos without Whoosh's wrappers
            self._lexicon = {
                decode(text): info.doc_frequency()
                for (name, text), info in (terms.items_from(_WORDS, b"") if self.count else ())
                if name == _WORDS
            }
        return self._lexicon

    def speller(self) -> Speller:
        """Return the speller over the segment's terms; built at first use."""
        if self._speller is None:
            self._speller = Speller(self.lexicon())
        return self._speller

    def labels(self) -> list[str]:
        """Return the keys of labels and aliases."""
        self.refuse_if_truncated()
        out = []
        for mark in (LABEL.encode(), ALIAS.encode()):
            for name, text in self.reader._terms.terms_from(_WORDS, mark) if self.count else ():
                if name != _WORDS or not text.startswith(mark):
                    break
                out.append(decode(text))
        return out

    def literal(self) -> LiteralIndex:
        """Return the words as written; built at first use, about 0.1 ms a record."""
        if self._literal is None:
            self.refuse_if_truncated()
            self._literal = LiteralIndex.of(unpack(self.surfaces[n]) for n in range(self.count))
        return self._literal

    def postings(self, term: str) -> Postings | None:
        """Return a term's postings by document number, or None where the segment hasn't got it. Remembered."""
        try:
            return self._postings[term]
        except KeyError:
            pass
        self.refuse_if_truncated()
        found: Postings | None
        try:
            found = Postings(*self.reader._terms.matcher(_WORDS, encode(term), _FORMAT).read_all())
        except TermNotFound:
            found = None
        if self._cached_places > _CACHED_PLACES:
            self._postings.clear()
            self._cached_places = 0
        self._postings[term] = found
        self._cached_places += 16 + (len(found.rows) if found else 0)
        return found

    def frequency(self, term: str) -> int:
        """Return the number of documents that hold a term, deleted ones included."""
        if self._lexicon is not None:
            return self._lexicon.get(term, 0)
        self.refuse_if_truncated()
        try:
            return int(self.reader._terms.term_info(_WORDS, encode(term)).doc_frequency())
        except TermNotFound:
            return 0


class WhooshReader(IndexReader):
    """One generation: the segments' documents one after another, the rows of deleted ones empty.

    is_damaged: set once reading failed; what is in memory already still answers, but the files are of no more use.
    """

    def __init__(self, segments: Sequence[WhooshSegment], deleted: Sequence[Collection[int]]) -> None:
        self.is_damaged = False
        self._segments = segments
        self._starts = np.concatenate(([0], np.cumsum([segment.count for segment in segments]))).astype(np.int64)
        metas = [meta for segment in segments for meta in segment.meta]
        gone = [int(self._starts[s]) + number for s, numbers in enumerate(deleted) for number in numbers]
        self._gone = np.array(sorted(gone), np.int64)
        ids = np.array([meta["pk"] for meta in metas], np.int64)
        ids[self._gone] = -1
        lengths = np.frombuffer(b"".join(meta["lengths"] for meta in metas), "<u4").reshape(len(metas), len(SECTIONS))
        self._table = DocumentTable(
            ids,
            np.array([meta["date"] for meta in metas], np.int64),
            np.array([meta["revision"] for meta in metas], np.int64),
            [meta["id"] for meta in metas],
            [meta["title"] for meta in metas],
            lengths.astype(np.float32),
            lambda: first_rows((row, metas[row]["addresses"]) for row in self._table.live.tolist()),
        )
        self._read_lock = threading.RLock()  # segment files are read by seeking
        self._words: dict[str, Postings] = {}

    @property
    def table(self) -> DocumentTable:
        return self._table

    def labels(self) -> Sequence[str]:
        with self._reading():
            return sorted({key for segment in self._segments for key in segment.labels()})

    def word(self, term: str) -> Postings:
        found = self._words.get(term)
        if found is None:
            with self._reading():
                found = self._read(term)
            if len(self._words) > _KEPT_WORDS:
                self._words.clear()
            self._words[term] = found
        return found

    def _read(self, term: str) -> Postings:
        rows: list[NDArray[np.int64]] = []
        places: list[NDArray[np.uint32]] = []
        for segment, start in zip(self._segments, self._starts.tolist(), strict=False):
            found = segment.postings(term)
            if found is not None:
                rows.append(found.rows + start if start else found.rows)
                places.append(found.places)
        if not rows:
            return EMPTY
        all_rows = np.concatenate(rows) if len(rows) > 1 else rows[0]
        all_places = np.concatenate(places) if len(places) > 1 else places[0]
        if len(self._gone):
            keep = self._table.ids[all_rows] >= 0
            if not keep.all():
                return Postings(all_rows[keep], all_places[keep])
        return Postings(all_rows, all_places)

    def count(self, term: str) -> int:
        if len(self._gone):
            return len(self.word(term).documents())
        with self._reading():
            return sum(segment.frequency(term) for segment in self._segments)

    def nearest(self, word: str) -> str | None:
        with self._reading():
            found = [correction for segment in self._segments if (correction := segment.speller().nearest(word))]
            found = [correction for correction in found if self.count(correction.word)]
        return min(found, key=Correction.rank).word if found else None

    def literal(self, needle: str, section: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        whole: list[NDArray[np.int64]] = []
        straddling: list[NDArray[np.int64]] = []
        with self._reading():
            for segment, start in zip(self._segments, self._starts.tolist(), strict=False):
                inside, across = segment.literal().find(needle, section)
                whole.append(inside + start)
                straddling.append(across + start)
        return self._live(whole), self._live(straddling)

    def _live(self, parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        rows = np.concatenate(parts) if parts else np.empty(0, np.int64)
        live: NDArray[np.int64] = rows[self._table.ids[rows] >= 0]
        return live

    def document_terms(self, row: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        number = int(np.searchsorted(self._starts, row, "right")) - 1
        with self._reading():
            segment = self._segments[number]
            segment.refuse_if_truncated()
            words = unpack(segment.terms[row - int(self._starts[number])])
        return words.terms, words.counts.astype(np.float32)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Read alone; turn whatever Whoosh raises on damaged bytes into SearchUnavailable, and remember it."""
        with self._read_lock:
            try:
                yield
            except SearchUnavailable:
                raise
            except Exception as error:
                self.is_damaged = True
                logger.exception("search index does not read")
                raise SearchUnavailable(
                    "검색 색인이 상해 다시 만들고 있습니다. 잠시 뒤에 다시 시도해 주세요."
                ) from error

    def damage(self) -> str:
        """Return the name of a file that is gone or cut, or of a segment that doesn't read, else ""."""
        for segment in self._segments:
            if name := segment.damage():
                return name
            try:
                for term in segment.lexicon():
                    segment.postings(term)
                for number in range(segment.count):
                    unpack(segment.terms[number])
                    unpack(segment.surfaces[number])
            except Exception:
                logger.exception("damaged index")
                return str(segment.reader.segment().segment_id())
        return ""
