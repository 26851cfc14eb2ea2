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
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whoosh import index
from whoosh.reading import SegmentReader

from incidents.errors import SearchUnavailable
from incidents.search.base import Health, Progress, SearchBackend, SearchDocument
from incidents.search.korean import ANALYSIS_VERSION
from incidents.search.morphemes import dictionary_version, use_folder
from incidents.search.reader import IndexReader
from incidents.search.service import SearchService
from incidents.search.token_cache import TokenCache
from incidents.search.whoosh_files import open_to_read
from incidents.search.whoosh_reader import WhooshReader, WhooshSegment, literal_files
from incidents.search.whoosh_writer import Writer, merge_small, schema

logger = logging.getLogger(__name__)

SCHEMA_VERSION = 8
LOCK_SECONDS = 30.0  # a writer waits this long for another one; saving a record must not fail because an import runs


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


class WhooshBackend(SearchService, SearchBackend):
    """Search in a folder of files. Safe for threads and for several processes on one machine."""

    def __init__(self, folder: Path | str) -> None:
        super().__init__()
        self.folder = Path(folder)
        self._state_path = self.folder / "state.json"
        use_folder(self.folder / "analyser")
        self._open_lock = threading.Lock()
        self._read_lock = threading.RLock()  # segment files are read by seeking, and generations share segments
        self._seen: tuple[int, int, int] | None = None  # identity of the state file that `_state` was read from
        self._state: _State | None = None
        self._reader: WhooshReader | None = None
        self._reader_key: tuple[str, int] | None = None
        self._segments: dict[str, WhooshSegment] = {}

    # Reading

    def reader(self) -> tuple[IndexReader, int]:
        """Return the newest generation's reader and its number; SearchUnavailable where there is no whole index."""
        state = self._current_state()
        if state is None or state.version != index_version():
            raise SearchUnavailable(
                "검색 색인이 준비되지 않았습니다. 색인을 만드는 중이면 잠시 뒤에 다시 시도해 주세요."
            )
        key = (state.folder, state.generation)
        if self._reader is None or self._reader_key != key:
            with self._open_lock:
                if self._reader is None or self._reader_key != key:
                    self._open(state)
        if self._reader is None:
            raise SearchUnavailable
        return self._reader, hash(key)

    def _current_state(self) -> _State | None:
        try:
            stat = self._state_path.stat()
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
            raise SearchUnavailable(
                "검색 색인을 열지 못했습니다. 운영자는 rebuild_index 명령으로 다시 만들 수 있습니다."
            ) from error

    def _open_index(self, state: _State) -> None:
        for _ in range(5):  # a writer may take the files of the generation away while it is being opened
            try:
                whole = open_to_read(self.folder / state.folder)
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
        self._reader = WhooshReader(segments, deleted, self._read_lock)
        self._segments = known
        self._reader_key = (state.folder, state.generation)

    def _segment(self, whole: index.FileIndex, segment: Any, promised: Mapping[str, tuple[int, int]]) -> WhooshSegment:
        files = _segment_files(whole, segment)
        there = {path.name for path in files}
        own = segment.segment_id()
        missing = next((name for name in promised if own in name and name not in there), "" if files else own)
        if missing:
            raise FileNotFoundError(missing)
        if name := _differing(files, promised):
            raise OSError(f"damaged: {name}")
        return WhooshSegment(SegmentReader(whole.storage, whole.schema, segment), files)

    # Writing

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the writer's lock; SearchUnavailable if another writer keeps it too long."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "writer.lock").open("a") as handle:
            deadline = time.monotonic() + LOCK_SECONDS
            pause = 0.005
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError as error:
                    if time.monotonic() > deadline:
                        raise SearchUnavailable(
                            "다른 작업이 검색 색인을 쓰고 있습니다. 잠시 뒤에 다시 시도해 주세요."
                        ) from error
                    time.sleep(pause)
                    pause = min(0.1, pause * 1.5)
            try:
                yield
            finally:
                fcntl.flock(handle, fcntl.LOCK_UN)

    def update(
        self, documents: Iterable[SearchDocument], removed_ids: Collection[int] = (), *, revision: int = 0
    ) -> None:
        with self._writing():
            state = self._current_state()
            if state is None or state.version != index_version():
                raise SearchUnavailable("검색 색인이 없습니다. rebuild_index 명령으로 먼저 만들어 주세요.")
            if revision and state.revision >= revision:
                return  # while this one waited for its turn, another process brought in the same
            cache = TokenCache(self.folder / "tokens.sqlite3")
            try:
                self._update(state, list(documents), removed_ids, revision, cache)
            except (OSError, EOFError, KeyError, index.IndexError) as error:
                raise SearchUnavailable(
                    "검색 색인을 고치지 못했습니다. rebuild_index 명령으로 다시 만들 수 있습니다."
                ) from error
            finally:
                cache.close()

    def _update(
        self,
        state: _State,
        documents: Sequence[SearchDocument],
        removed: Collection[int],
        revision: int,
        cache: TokenCache,
    ) -> None:
        whole = index.open_dir(str(self.folder / state.folder))
        writer = Writer(whole)
        try:
            for key in {*removed, *(document.id for document in documents)}:
                writer.delete_by_term("key", str(key))
            for document in documents:
                writer.put(document, cache.analyse(document))
        except BaseException:
            with suppress(Exception):  # on a full disk it fails too, and would hide why
                writer.cancel()
            raise
        writer.commit(mergetype=merge_small)
        info = whole._read_toc()
        count = sum(segment.doc_count_all() - segment.deleted_count() for segment in info.segments)
        _drop_literals(whole, info.segments)
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
                whole = index.create_in(str(target), schema())
                writer = Writer(whole)
                keys = set()
                for document, key, analysed in cache.analyse_all(documents):
                    keys.add(key)
                    writer.put(document, analysed)
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
        with scratch.open("w", encoding="utf-8") as handle:
            json.dump({name: getattr(state, name) for name in state.__slots__}, handle)
            handle.flush()
            os.fsync(handle.fileno())
        scratch.replace(self._state_path)

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
                return Health(
                    False,
                    "검색 색인이 지금의 사전이나 구조로 만들어지지 않았습니다.",
                    state.documents,
                    state.revision,
                    {},
                )
            if name := _differing(self._promised_files(state), state.files):
                return Health(False, f"검색 색인의 파일이 상했습니다({name}).", state.documents, state.revision, {})
            self._open_index(state)  # anew, so that damage since the last opening is seen
            reader = self._reader
            damaged = reader.damage() if reader is not None else state.folder
            if damaged or reader is None:
                return Health(False, f"검색 색인의 파일이 상했습니다({damaged}).", state.documents, state.revision, {})
            table = reader.table
            live = table.live
            revisions = dict(zip(table.ids[live].tolist(), table.revisions[live].tolist(), strict=True))
            return Health(True, "검색 색인이 온전합니다.", len(live), state.revision, revisions)
        except Exception:
            logger.exception("search index does not open")
            return Health(False, "검색 색인을 열지 못했습니다.", 0, -1, {})


def _segment_files(whole: index.FileIndex, segment: Any) -> list[Path]:
    return sorted(Path(whole.storage.folder).glob(f"*{segment.segment_id()}*"))


def _drop_literals(whole: index.FileIndex, segments: Iterable[Any]) -> None:
    """Drop the words as written of segments that are gone; Whoosh takes away its own files alone."""
    folder = Path(whole.storage.folder)
    live = {path.name for segment in segments for path in literal_files(folder, segment.segment_id())}
    for path in folder.glob("words_*"):
        if path.name not in live:
            path.unlink(missing_ok=True)


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
