"""Reading the embedded index: segments that never change, and generations of them as the evaluator sees them."""

from __future__ import annotations

import logging
import struct
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from whoosh.reading import SegmentReader, TermNotFound

from incidents.errors import SearchUnavailable
from incidents.search.base import SearchDocument
from incidents.search.byte_cache import BoundedCache
from incidents.search.documents import ALIAS, LABEL, SECTIONS, unpack
from incidents.search.gathering import Gatherer
from incidents.search.literal import LiteralIndex
from incidents.search.postings import EMPTY, Postings
from incidents.search.reader import DocumentTable, IndexReader, first_rows
from incidents.search.spelling import Correction, Speller
from incidents.search.whoosh_codec import decode, encode, read_postings

logger = logging.getLogger(__name__)

_CACHED_PLACES = 4_000_000  # places of postings held of a segment at most, 12 bytes each
_KEPT_FREQUENCIES = 50_000  # terms whose numbers of documents are held at most
_KEPT_BYTES = 48 << 20  # of the postings of a generation
_WORDS = "words"  # the field of all terms


_FACTS = struct.Struct(f"<qqq{len(SECTIONS)}I")  # primary key, date, revision, section lengths; then the public ID


def pack_facts(document: SearchDocument, lengths: bytes) -> bytes:
    """Return what the table of documents says of one, as it is stored. lengths: of its sections, <i8."""
    numbers = (document.id, document.sort_date, document.revision, *np.frombuffer(lengths, "<i8").tolist())
    return _FACTS.pack(*numbers) + document.public_id.encode()


def read_key(facts: bytes) -> str:
    """Return the term by which a document is deleted, its primary key, of its facts as stored."""
    return str(_FACTS.unpack_from(facts)[0])


def literal_files(folder: Path, segment: str) -> tuple[Path, Path]:
    """Return the two files of a segment's words as written: small arrays, and the large one."""
    return folder / f"words_{segment}.npz", folder / f"words_{segment}.npy"


def write_literal(folder: Path, segment: str, words: Gatherer) -> None:
    """Write a segment's words as written beside it, so that no reader has to gather them."""
    small, large = literal_files(folder, segment)
    found = LiteralIndex.gathered(words.parts())
    np.save(large, found.where)
    text = np.frombuffer(found.text.encode("utf-8", "surrogatepass"), np.uint8)
    np.savez(small, text=text, starts=found.starts, borders=found.borders, first=found.first)


class WhooshSegment:
    """One Whoosh segment's unchanging data, with what was read of it, kept over generations."""

    def __init__(self, reader: SegmentReader, files: Sequence[Path]) -> None:
        self.reader = reader
        self._sizes = [(path, path.stat().st_size) for path in files]
        self.count: int = reader.doc_count_all()
        facts = reader.column_reader("facts")
        rows = [facts[n] for n in range(self.count)]
        numbers = np.frombuffer(b"".join(row[: _FACTS.size] for row in rows), np.uint8).reshape(self.count, _FACTS.size)
        heads = np.ascontiguousarray(numbers[:, :24]).view("<i8").reshape(self.count, 3)
        self.ids, self.dates, self.revisions = (heads[:, n].astype(np.int64) for n in range(3))
        lengths = np.ascontiguousarray(numbers[:, 24:]).view("<u4").reshape(self.count, len(SECTIONS))
        self.lengths = lengths.astype(np.float32)
        self.public_ids = [row[_FACTS.size :].decode() for row in rows]
        self.terms = reader.column_reader("terms")
        self.surfaces = reader.column_reader("surfaces")
        self.addresses = reader.column_reader("addresses")
        self._literal_files = literal_files(files[0].parent, reader.segment().segment_id())
        self._lexicon: dict[str, int] | None = None
        self._speller: Speller | None = None
        self._literal: LiteralIndex | None = None
        self._postings: dict[str, Postings | None] = {}
        self._cached_places = 0
        self._frequencies: dict[str, int] = {}

    def damage(self) -> str:
        """Return the name of a file that is gone or shorter than it was when opened, else ""."""
        for path, size in self._sizes:
            try:
                if path.stat().st_size < size:
                    return path.name
            except OSError:
                return path.name
        return ""

    def lexicon(self) -> dict[str, int]:
        """Return {term: number of documents}, deleted ones included."""
        if self._lexicon is None:
            terms = self.reader._terms
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
        out = []
        for mark in (LABEL.encode(), ALIAS.encode()):
            for name, text in self.reader._terms.terms_from(_WORDS, mark) if self.count else ():
                if name != _WORDS or not text.startswith(mark):
                    break
                out.append(decode(text))
        return out

    def literal(self) -> LiteralIndex:
        """Return the words as written: read from their files, gathered where those are missing."""
        if self._literal is None:
            small, large = self._literal_files
            if small.exists() and large.exists():
                with np.load(small) as given:
                    text = given["text"].tobytes().decode("utf-8", "surrogatepass")
                    arrays = (given["starts"], given["borders"], given["first"])
                self._literal = LiteralIndex(text, *arrays, np.load(large))
            else:
                self._literal = LiteralIndex.of(unpack(self.surfaces[n]) for n in range(self.count))
        return self._literal

    def postings(self, term: str) -> Postings | None:
        """Return a term's postings by document number, or None where the segment hasn't got it. Remembered."""
        try:
            return self._postings[term]
        except KeyError:
            pass
        found: Postings | None
        try:
            terms = self.reader._terms  # the codec's terms reader: bytes and term infos without Whoosh's wrappers
            found = Postings(*read_postings(terms._postfile, terms.term_info(_WORDS, encode(term))))
        except TermNotFound:
            found = None
        if self._cached_places > _CACHED_PLACES:
            self._postings.clear()
            self._cached_places = 0
        self._postings[term] = found
        self._cached_places += 16 + (len(found.rows) if found else 0)
        return found

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """Return the number of documents that hold each term, deleted ones included. Remembered."""
        if self._lexicon is not None:
            return [self._lexicon.get(term, 0) for term in terms]
        known = self._frequencies
        missing = [term for term in terms if term not in known]
        if missing and len(known) > _KEPT_FREQUENCIES:
            known.clear()
            missing = list(terms)
        for term in missing:
            try:
                known[term] = int(self.reader._terms.term_info(_WORDS, encode(term)).doc_frequency())
            except TermNotFound:
                known[term] = 0
        return [known[term] for term in terms]


class WhooshReader(IndexReader):
    """One generation: the segments' documents one after another, the rows of deleted ones empty. `lock` is held to read.

    is_damaged: set once reading failed; what is in memory already still answers, but the files are of no more use.
    """

    def __init__(
        self, segments: Sequence[WhooshSegment], deleted: Sequence[Collection[int]], lock: threading.RLock
    ) -> None:
        self.is_damaged = False
        self._segments = segments
        self._starts = np.concatenate(([0], np.cumsum([segment.count for segment in segments]))).astype(np.int64)
        gone = [int(self._starts[s]) + number for s, numbers in enumerate(deleted) for number in numbers]
        self._gone = np.array(sorted(gone), np.int64)
        ids = _joined([segment.ids for segment in segments])
        ids[self._gone] = -1
        self._table = DocumentTable(
            ids,
            _joined([segment.dates for segment in segments]),
            _joined([segment.revisions for segment in segments]),
            [public_id for segment in segments for public_id in segment.public_ids],
            np.concatenate([np.empty((0, len(SECTIONS)), np.float32), *(segment.lengths for segment in segments)]),
            self._addresses,
        )
        self._read_lock = lock
        self._words = BoundedCache(_KEPT_BYTES)

    def _addresses(self) -> dict[str, int]:
        with self._reading():
            texts = [segment.addresses[n] for segment in self._segments for n in range(segment.count)]
        return first_rows((row, decode(texts[row]).split("\n")) for row in self._table.live.tolist())

    @property
    def table(self) -> DocumentTable:
        return self._table

    def labels(self) -> Sequence[str]:
        with self._reading():
            return sorted({key for segment in self._segments for key in segment.labels()})

    def word(self, term: str) -> Postings:
        return self._words.get(term, lambda: self._read(term))

    def _read(self, term: str) -> Postings:
        with self._reading():
            return self._gathered(term)

    def _gathered(self, term: str) -> Postings:
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
            return sum(segment.frequencies((term,))[0] for segment in self._segments)

    def counts(self, terms: Sequence[str]) -> list[int]:
        if len(self._gone):
            return super().counts(terms)
        with self._reading():
            found = [segment.frequencies(terms) for segment in self._segments]
        return [sum(numbers) for numbers in zip(*found, strict=True)]

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


def _joined(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, np.int64), *parts])
