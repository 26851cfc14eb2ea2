"""The embedded engine: postings stored by Whoosh in a folder, one writer at a time, readers on whole generations only.

Layout of the folder: `state.json` names the live index and its revision and is replaced by rename, which is the moment
of every change; `build-*/` is a Whoosh index; `writer.lock` is held while writing; `tokens.sqlite3` keeps analyses.
Whoosh only stores: its scoring, its top-N (wrong in 2.7.5) and its query language are never used.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import sqlite3
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from whoosh import columns, fields, formats, index, writing
from whoosh.codec.whoosh3 import W3Codec
from whoosh.reading import SegmentReader

from incidents.errors import SearchUnavailable
from incidents.search.base import Health, Progress, SearchBackend, SearchDocument
from incidents.search.documents import ALIAS, LABEL, SECTIONS, AnalysedDocument, analyse, content_key, normalized_url, pack, unpack
from incidents.search.korean import ANALYSIS_VERSION
from incidents.search.literal import LiteralIndex
from incidents.search.morphemes import dictionary_version, use_folder
from incidents.search.postings import EMPTY, Postings
from incidents.search.reader import DocumentTable, IndexReader, Lexicon
from incidents.search.service import SearchService

logger = logging.getLogger(__name__)

SCHEMA_VERSION = 4
LOCK_SECONDS = 30.0  # a writer waits this long for another one; saving a record must not fail because an import runs
MERGE_SEGMENTS = 10  # more small segments than this are merged into one
_CACHED_PLACES = 4_000_000  # places of postings held at most, 12 bytes each
_BLOCK = 1024  # postings per block: fewer, larger blocks are read faster than Whoosh's 128


class _PlacesFormat(formats.Format):  # type: ignore[misc]  # Whoosh has no types
    """A posting's value is its packed places, little-endian uint32."""

    posting_size = -1

    def __init__(self) -> None:
        super().__init__()


class Places(fields.FieldType):  # type: ignore[misc]
    """A field whose value is an iterable of (term, places) made elsewhere; Whoosh analyses nothing."""

    def __init__(self) -> None:
        super().__init__(_PlacesFormat(), None, scorable=False, stored=False)

    def index(self, value: Iterable[tuple[str, NDArray[np.uint32]]], **_: object) -> Iterator[tuple[bytes, int, float, bytes]]:
        for term, places in value:
            yield term.encode("utf-8", "surrogatepass"), len(places), 1.0, np.asarray(places, "<u4").tobytes()

    def from_bytes(self, value: bytes) -> str:
        return value.decode("utf-8", "surrogatepass")

    def to_bytes(self, value: str | bytes) -> bytes:
        return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")


def _schema() -> fields.Schema:
    return fields.Schema(
        key=fields.ID(unique=True),
        words=Places(),
        terms=fields.COLUMN(columns.VarBytesColumn()),
        surfaces=fields.COLUMN(columns.VarBytesColumn()),
        meta=fields.STORED(),
    )


@dataclass(frozen=True, slots=True)
class _State:
    """What state.json says. folder: name of the live index. revision: the library's revision that it has reached.

    files: {name: (size, CRC-32)} of the segments' files, which never change once written.
    """

    folder: str
    generation: int
    revision: int
    documents: int
    version: str
    files: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> _State:
        """Return the state; OSError, ValueError or TypeError where there is none."""
        return cls(**json.loads(path.read_text("utf-8")))


def index_version() -> str:
    """Return what an index must have been built with to be of use: schema, analysis and dictionary."""
    return f"{SCHEMA_VERSION}.{ANALYSIS_VERSION}.{dictionary_version()}"


class _Segment:
    """One Whoosh segment's unchanging data, kept over generations."""

    def __init__(self, reader: SegmentReader, files: Sequence[Path]) -> None:
        self.reader = reader
        self._sizes = [(path, path.stat().st_size) for path in files]
        self.count = reader.doc_count_all()
        self.meta: list[dict[str, Any]] = [reader.stored_fields(n)["meta"] for n in range(self.count)]
        self.terms = reader.column_reader("terms")
        self.surfaces = reader.column_reader("surfaces")
        self._lexicon: dict[str, int] | None = None
        self._literal: LiteralIndex | None = None

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
                text.decode("utf-8", "surrogatepass"): info.doc_frequency()
                for (name, text), info in (terms.items_from("words", b"") if self.count else ())
                if name == "words"
            }
        return self._lexicon

    def labels(self) -> list[str]:
        """Return the keys of labels and aliases."""
        self.refuse_if_truncated()
        out = []
        for mark in (LABEL.encode(), ALIAS.encode()):
            for name, text in self.reader._terms.terms_from("words", mark) if self.count else ():
                if name != "words" or not text.startswith(mark):
                    break
                out.append(text.decode("utf-8", "surrogatepass"))
        return out

    def literal(self) -> LiteralIndex:
        """Return the words as written; built at first use, about 0.1 ms a record."""
        if self._literal is None:
            self.refuse_if_truncated()
            self._literal = LiteralIndex.of(unpack(self.surfaces[n]) for n in range(self.count))
        return self._literal

    def postings(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.uint32]] | None:
        """Return (document number for each place, places), or None where the term is not in this segment."""
        self.refuse_if_truncated()
        terms = self.reader._terms
        encoded = term.encode("utf-8", "surrogatepass")
        if ("words", encoded) not in terms:
            return None
        matcher = terms.matcher("words", encoded, _FORMAT)
        numbers: list[NDArray[np.int64]] = []
        sizes: list[NDArray[np.int64]] = []
        values: list[bytes] = []
        while True:
            matcher._read_data()
            ids, _, block = matcher._data  # (gaps between document numbers, weights, values)
            numbers.append(np.cumsum(np.array(ids, np.int64)))
            sizes.append(np.fromiter(map(len, block), np.int64, len(block)) >> 2)
            values.extend(block)
            if matcher._lastblock:
                break
            matcher._next_block()
        documents = np.repeat(np.concatenate(numbers), np.concatenate(sizes))
        return documents, np.frombuffer(b"".join(values), "<u4").astype(np.uint32, copy=False)


_FORMAT = _PlacesFormat()


class WhooshReader(IndexReader):
    """One generation: every segment's postings seen through the table's rows, deleted documents left out.

    is_damaged: set once reading failed; what is in memory already still answers, but the files are of no more use.
    """

    def __init__(self, segments: Sequence[_Segment], deleted: Sequence[Collection[int]]) -> None:
        self.is_damaged = False
        self._segments = segments
        self._has_deleted = any(deleted)
        live = [
            (meta["date"], meta["pk"], s, n)
            for s, segment in enumerate(segments)
            for n, meta in enumerate(segment.meta)
            if n not in deleted[s]
        ]
        live.sort(key=lambda item: (-item[0], item[1]))
        self._where = [(s, n) for _, _, s, n in live]
        self._rows = [np.full(segment.count, -1, np.int64) for segment in segments]
        for row, (s, n) in enumerate(self._where):
            self._rows[s][n] = row
        metas = [segments[s].meta[n] for s, n in self._where]
        lengths = np.frombuffer(b"".join(meta["lengths"] for meta in metas), "<u4").reshape(len(metas), len(SECTIONS))
        addresses: dict[str, int] = {}
        for row, meta in enumerate(metas):
            for address in meta["addresses"]:
                addresses.setdefault(address, row)
        self._table = DocumentTable(
            np.array([meta["pk"] for meta in metas], np.int64),
            [meta["id"] for meta in metas],
            [meta["title"] for meta in metas],
            addresses,
            lengths.astype(np.float32),
            np.array([meta["revision"] for meta in metas], np.int64),
        )
        self._read_lock = threading.Lock()
        self._cache: dict[str, Postings] = {}
        self._cached_places = 0

    @property
    def table(self) -> DocumentTable:
        return self._table

    @cached_property
    def words(self) -> Lexicon:
        merged: dict[str, int] = {}
        with self._read_lock, self._unavailable_if_damaged():
            for segment in self._segments:
                if not merged:
                    merged = dict(segment.lexicon())
                else:
                    for term, count in segment.lexicon().items():
                        merged[term] = merged.get(term, 0) + count
        terms = sorted(merged)
        return Lexicon(terms, np.array([merged[term] for term in terms], np.int64))

    def labels(self) -> Sequence[str]:
        with self._read_lock, self._unavailable_if_damaged():
            return sorted({key for segment in self._segments for key in segment.labels()})

    def word(self, term: str) -> Postings:
        found = self._cache.get(term)
        if found is None:
            with self._read_lock, self._unavailable_if_damaged():  # segment files are read by seeking
                found = self._read(term)
                if self._cached_places > _CACHED_PLACES:
                    self._cache.clear()
                    self._cached_places = 0
                self._cache[term] = found
                self._cached_places += len(found.rows) + 32
        return found

    def literal(self, needle: str, section: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        whole: list[NDArray[np.int64]] = []
        straddling: list[NDArray[np.int64]] = []
        with self._read_lock, self._unavailable_if_damaged():
            for segment, mapping in zip(self._segments, self._rows, strict=True):
                inside, across = segment.literal().find(needle, section)
                whole.append(mapping[inside])
                straddling.append(mapping[across])
        return _rows(whole), _rows(straddling)

    def _read(self, term: str) -> Postings:
        rows: list[NDArray[np.int64]] = []
        places: list[NDArray[np.uint32]] = []
        for segment, mapping in zip(self._segments, self._rows, strict=True):
            found = segment.postings(term)
            if found is not None:
                rows.append(mapping[found[0]])
                places.append(found[1])
        if not rows:
            return EMPTY
        all_rows = np.concatenate(rows) if len(rows) > 1 else rows[0]
        all_places = np.concatenate(places) if len(places) > 1 else places[0]
        if self._has_deleted:
            keep = all_rows >= 0
            all_rows, all_places = all_rows[keep], all_places[keep]
        order = np.argsort((all_rows << 32) | all_places, kind="stable")
        return Postings(all_rows[order], all_places[order])

    def document_terms(self, row: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        segment, number = self._where[row]
        with self._read_lock, self._unavailable_if_damaged():
            self._segments[segment].refuse_if_truncated()
            words = unpack(self._segments[segment].terms[number])
        return words.terms, words.counts.astype(np.float32)

    @contextmanager
    def _unavailable_if_damaged(self) -> Iterator[None]:
        """Turn whatever Whoosh raises on damaged bytes into SearchUnavailable, and remember it."""
        try:
            yield
        except SearchUnavailable:
            raise
        except Exception as error:
            self.is_damaged = True
            logger.exception("search index does not read")
            raise SearchUnavailable("검색 색인이 상해 다시 만들고 있습니다. 잠시 뒤에 다시 시도해 주세요.") from error

    def damage(self) -> str:
        """Return the name of a file that is gone or cut, or of a field that doesn't read, else ""."""
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
                return segment.reader.segment().segment_id()
        return ""


def _rows(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return rows of several segments, sorted, those of deleted documents (-1) left out."""
    rows = np.concatenate(parts) if parts else np.empty(0, np.int64)
    return np.sort(rows[rows >= 0])


class TokenCache:
    """Analyses kept by content, so that a rebuild analyses only what changed. Losing it costs time, nothing else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = self._open()
        except sqlite3.Error:
            path.unlink(missing_ok=True)
            try:
                self._connection = self._open()
            except sqlite3.Error:
                logger.warning("no token cache at %s", path, exc_info=True)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=10)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS analysed"
            " (key TEXT PRIMARY KEY, lengths BLOB NOT NULL, words BLOB NOT NULL, surfaces BLOB NOT NULL)"
        )
        return connection

    def analyse(self, document: SearchDocument) -> AnalysedDocument:
        """Return a document's analysis, from the cache where its content is known."""
        key = content_key(document)
        if self._connection is not None:
            try:
                row = self._connection.execute("SELECT lengths, words, surfaces FROM analysed WHERE key = ?", (key,)).fetchone()
                if row:
                    return AnalysedDocument(unpack(row[1]), unpack(row[2]), np.frombuffer(row[0], "<i8"))
            except Exception:  # a damaged cache is as good as none
                logger.warning("unreadable token cache", exc_info=True)
        analysed = analyse(document)
        if self._connection is not None:
            lengths = np.asarray(analysed.lengths, "<i8").tobytes()
            values = (key, lengths, pack(analysed.words), pack(analysed.surfaces))
            try:
                self._connection.execute("INSERT OR REPLACE INTO analysed VALUES (?, ?, ?, ?)", values)
            except sqlite3.Error:
                logger.warning("token cache not written", exc_info=True)
        return analysed

    def keep_only(self, keys: Collection[str]) -> None:
        """Forget every analysis but those of some contents."""
        if self._connection is None:
            return
        try:
            kept = set(keys)
            stale = [(key,) for (key,) in self._connection.execute("SELECT key FROM analysed") if key not in kept]
            self._connection.executemany("DELETE FROM analysed WHERE key = ?", stale)
        except sqlite3.Error:
            logger.warning("token cache not pruned", exc_info=True)

    def close(self) -> None:
        """Commit and close."""
        if self._connection is not None:
            try:
                self._connection.commit()
                self._connection.close()
            except sqlite3.Error:
                logger.warning("token cache not saved", exc_info=True)
            self._connection = None


class WhooshBackend(SearchService, SearchBackend):
    """Search in a folder of files. Safe for threads and for several processes on one machine."""

    def __init__(self, folder: Path | str) -> None:
        super().__init__()
        self.folder = Path(folder)
        use_folder(self.folder / "analyser")
        self._open_lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None  # identity of the state file that `_state` was read from
        self._state: _State | None = None
        self._reader: WhooshReader | None = None
        self._reader_key: tuple[str, int] | None = None
        self._segments: dict[str, _Segment] = {}

    # Reading

    def reader(self) -> tuple[IndexReader, int]:
        """Return the newest generation's reader and its number; SearchUnavailable where there is no whole index."""
        state = self._current_state()
        if state is None or state.version != index_version():
            raise SearchUnavailable("검색 색인이 준비되지 않았습니다. 색인을 만드는 중이면 잠시 뒤에 다시 시도해 주세요.")
        key = (state.folder, state.generation)
        if self._reader is None or self._reader_key != key:
            with self._open_lock:
                if self._reader is None or self._reader_key != key:
                    self._open(state)
        assert self._reader is not None
        return self._reader, hash(key)

    def _current_state(self) -> _State | None:
        try:
            stat = os.stat(self._state_path)
        except OSError:
            self._seen = self._state = None
            return None
        seen = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        if seen != self._seen:
            try:
                self._state = _State.read(self._state_path)
            except (OSError, ValueError, TypeError):
                logger.exception("unreadable search state")
                self._state = None
            self._seen = seen
        return self._state

    def _open(self, state: _State) -> None:
        try:
            self._open_index(state)
        except Exception as error:  # Whoosh raises whatever its damaged bytes lead to
            logger.exception("search index does not open")
            raise SearchUnavailable("검색 색인을 열지 못했습니다. 운영자는 rebuild_index 명령으로 다시 만들 수 있습니다.") from error

    def _open_index(self, state: _State) -> None:
        for _ in range(5):  # a writer may take the files of the generation away while it is being opened
            try:
                whole = index.open_dir(str(self.folder / state.folder))
                info = whole._read_toc()
                known = {}
                segments, deleted = [], []
                for segment in info.segments:
                    name = f"{state.folder}/{segment.segment_id()}"
                    known[name] = self._segments.get(name) or self._segment(whole, segment, state.files)
                    segments.append(known[name])
                    deleted.append(frozenset(segment.deleted_docs()))
                break
            except (FileNotFoundError, index.EmptyIndexError) as error:
                failure: Exception = error
                time.sleep(0.02)
        else:
            raise failure
        self._reader = WhooshReader(segments, deleted)
        self._segments = known
        self._reader_key = (state.folder, state.generation)

    def _segment(self, whole: index.FileIndex, segment: Any, promised: Mapping[str, tuple[int, int]]) -> _Segment:
        files = _segment_files(whole, segment)
        if not files:
            raise FileNotFoundError(segment.segment_id())
        if name := _differing(files, promised):
            raise OSError(f"damaged: {name}")
        return _Segment(SegmentReader(whole.storage, whole.schema, segment), files)

    # Writing

    @property
    def _state_path(self) -> Path:
        return self.folder / "state.json"

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the writer's lock; SearchUnavailable if another writer keeps it too long."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "writer.lock", "a") as handle:
            deadline = time.monotonic() + LOCK_SECONDS
            pause = 0.005
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError as error:
                    if time.monotonic() > deadline:
                        raise SearchUnavailable("다른 작업이 검색 색인을 쓰고 있습니다. 잠시 뒤에 다시 시도해 주세요.") from error
                    time.sleep(pause)
                    pause = min(0.1, pause * 1.5)
            try:
                yield
            finally:
                fcntl.flock(handle, fcntl.LOCK_UN)

    def update(self, documents: Iterable[SearchDocument], removed_ids: Collection[int] = (), *, revision: int = 0) -> None:
        with self._writing():
            state = self._current_state()
            if state is None or state.version != index_version():
                raise SearchUnavailable("검색 색인이 없습니다. rebuild_index 명령으로 먼저 만들어 주세요.")
            cache = TokenCache(self.folder / "tokens.sqlite3")
            try:
                self._update(state, list(documents), removed_ids, revision, cache)
            except (OSError, EOFError, KeyError, index.IndexError) as error:
                raise SearchUnavailable("검색 색인을 고치지 못했습니다. rebuild_index 명령으로 다시 만들 수 있습니다.") from error
            finally:
                cache.close()

    def _update(
        self, state: _State, documents: Sequence[SearchDocument], removed: Collection[int], revision: int, cache: TokenCache
    ) -> None:
        whole = index.open_dir(str(self.folder / state.folder))
        writer = _writer(whole)
        try:
            for key in {*removed, *(document.id for document in documents)}:
                writer.delete_by_term("key", str(key))
            for document in documents:
                _add(writer, document, cache.analyse(document))
        except BaseException:
            writer.cancel()
            raise
        writer.commit(mergetype=_merge_small)
        info = whole._read_toc()
        count = sum(segment.doc_count_all() - segment.deleted_count() for segment in info.segments)
        files = _fingerprints(whole, info.segments, state.files)
        reached = max(revision, state.revision)
        self._save_state(_State(state.folder, info.generation, reached, count, state.version, files))

    def rebuild(
        self,
        documents: Iterable[SearchDocument],
        *,
        revision: int = 0,
        progress: Progress | None = None,
        is_wanted: Callable[[], bool] | None = None,
    ) -> int:
        with self._writing():
            if is_wanted is not None and not is_wanted():
                return 0
            name = f"build-{uuid.uuid4().hex[:12]}"
            target = self.folder / name
            target.mkdir()
            cache = TokenCache(self.folder / "tokens.sqlite3")
            count = 0
            try:
                whole = index.create_in(str(target), _schema())
                writer = _writer(whole, limitmb=256)
                keys = set()
                for document in documents:
                    keys.add(content_key(document))
                    _add(writer, document, cache.analyse(document))
                    count += 1
                    if progress is not None:
                        progress(count)
                writer.commit(merge=False)
                cache.keep_only(keys)
                info = whole._read_toc()
                files = _fingerprints(whole, info.segments, {})
                self._save_state(_State(name, info.generation, revision, count, index_version(), files))
            except BaseException:
                shutil.rmtree(target, ignore_errors=True)
                raise
            finally:
                cache.close()
            self._remove_old(name)
            return count

    def _promised_files(self, state: _State) -> list[Path]:
        return [self.folder / state.folder / name for name in state.files]

    def _save_state(self, state: _State) -> None:
        scratch = self.folder / f".state-{uuid.uuid4().hex[:8]}"
        with open(scratch, "w", encoding="utf-8") as handle:
            json.dump({name: getattr(state, name) for name in state.__slots__}, handle)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(scratch, self._state_path)

    def _remove_old(self, live: str) -> None:
        for old in self.folder.glob("build-*"):
            if old.name != live:
                shutil.rmtree(old, ignore_errors=True)

    # State

    def revision(self) -> int:
        state = self._current_state()
        return state.revision if state is not None and state.version == index_version() else -1

    def is_usable(self) -> bool:
        try:
            reader, _ = self.reader()
        except SearchUnavailable:
            return False
        return not (isinstance(reader, WhooshReader) and reader.is_damaged)

    def health(self) -> Health:
        try:
            state = self._current_state()
            if state is None:
                return Health(False, "검색 색인이 없습니다.", 0, -1, {})
            if state.version != index_version():
                return Health(False, "검색 색인이 지금의 사전이나 구조로 만들어지지 않았습니다.", state.documents, state.revision, {})
            if name := _differing(self._promised_files(state), state.files):
                return Health(False, f"검색 색인의 파일이 상했습니다({name}).", state.documents, state.revision, {})
            self._open_index(state)  # anew, so that damage since the last opening is seen
            assert self._reader is not None
            reader = self._reader
            damaged = reader.damage()
            if damaged:
                return Health(False, f"검색 색인의 파일이 상했습니다({damaged}).", state.documents, state.revision, {})
            table = reader.table
            revisions = dict(zip(table.ids.tolist(), table.revisions.tolist(), strict=True))
            return Health(True, "검색 색인이 온전합니다.", len(table), state.revision, revisions)
        except Exception:
            logger.exception("search index does not open")
            return Health(False, "검색 색인을 열지 못했습니다.", 0, -1, {})


def _segment_files(whole: index.FileIndex, segment: Any) -> list[Path]:
    return sorted(Path(whole.storage.folder).glob(f"*{segment.segment_id()}*"))


def _fingerprints(
    whole: index.FileIndex, segments: Iterable[Any], known: Mapping[str, tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    """Return {name: (size, CRC-32)} of the files of all segments; those already known aren't read again."""
    files = [path for segment in segments for path in _segment_files(whole, segment)]
    return {path.name: known.get(path.name) or (path.stat().st_size, _crc(path)) for path in files}


def _differing(files: Iterable[Path], promised: Mapping[str, tuple[int, int]]) -> str:
    """Return the name of a file that isn't as it was written, else "". A gigabyte a second."""
    for path in files:
        if path.name not in promised:  # committed by a writer that was stopped before it could say so
            continue
        size, crc = promised[path.name]
        if not path.exists() or path.stat().st_size != size or _crc(path) != crc:
            return path.name
    return ""


def _crc(path: Path) -> int:
    crc = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return crc


def _writer(whole: index.FileIndex, limitmb: int = 64) -> writing.SegmentWriter:
    return writing.SegmentWriter(whole, codec=W3Codec(blocklimit=_BLOCK, compression=1), limitmb=limitmb, timeout=5.0)


def _add(writer: writing.SegmentWriter, document: SearchDocument, analysed: AnalysedDocument) -> None:
    meta = {
        "pk": document.id,
        "id": document.public_id,
        "title": document.title,
        "date": document.sort_date,
        "revision": document.revision,
        "lengths": np.asarray(analysed.lengths, "<u4").tobytes(),
        "addresses": [normalized_url(source) for source in document.sources if "://" in source],
    }
    writer.add_document(
        key=str(document.id),
        words=analysed.words.items(),
        terms=pack(analysed.words),
        surfaces=pack(analysed.surfaces),
        meta=meta,
    )


def _merge_small(writer: writing.SegmentWriter, segments: list[Any]) -> list[Any]:
    """Merge small segments once there are many: seldom, so that publishing stays quick, yet readers never see dozens."""
    if len(segments) < MERGE_SEGMENTS:
        return segments
    largest = max(segment.doc_count_all() for segment in segments)
    kept = []
    for segment in segments:
        if segment.doc_count_all() * 10 < largest or segment.deleted_count() * 2 > segment.doc_count_all():
            reader = SegmentReader(writer.storage, writer.schema, segment)
            writer.add_reader(reader)
            reader.close()
        else:
            kept.append(segment)
    return kept
