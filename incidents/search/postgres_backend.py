"""Search kept in PostgreSQL: any number of processes on any number of machines, no index folder, little memory.

The ranking is the embedded engine's own, since both give the same evaluator the same postings: the same records come in
the same order. What a worker keeps is bounded: a few columns of all documents, and the postings it used last.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    OperationalError,
    connections,
    router,
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper

from incidents.errors import SearchUnavailable
from incidents.search import postgres_reading as reading
from incidents.search import postgres_store as store
from incidents.search import postgres_writing as writing
from incidents.search.base import Health, Progress, SearchBackend, SearchDocument
from incidents.search.bulk import analyse_all
from incidents.search.documents import AnalysedDocument, analyse, content_key
from incidents.search.evaluate import Evaluator
from incidents.search.korean import ANALYSIS_VERSION
from incidents.search.morphemes import dictionary_version, use_folder
from incidents.search.postgres_reader import PostgresReader, unavailable
from incidents.search.postgres_reading import Segment
from incidents.search.postgres_store import State
from incidents.search.reader import IndexReader
from incidents.search.service import SearchService

logger = logging.getLogger(__name__)

SCHEMA_VERSION: Final = 2
SEGMENT_DOCUMENTS: Final = 10_000  # a rebuild inverts so many at once, in some 150 MB
SMALL_DOCUMENTS: Final = 500
MERGE_SEGMENTS: Final = 10  # more small segments than this are merged into one
LOCK_SECONDS: Final = 30.0
CHUNK: Final = 500


def index_version() -> str:
    """Return what an index must have been built with to be of use: schema, analysis and dictionary."""
    return f"{SCHEMA_VERSION}.{ANALYSIS_VERSION}.{dictionary_version()}"


@dataclass
class _Opened:
    """What a process has read of one database: the generation, its reader, the evaluator upon it."""

    key: tuple[str, int]
    reader: PostgresReader
    evaluator: Evaluator


class PostgresBackend(SearchService, SearchBackend):
    """Search in the library's own database; on a replica where the request reads from one."""

    evaluation_bytes = 4 << 20
    results_bytes = 5 << 20

    def __init__(self) -> None:
        super().__init__()
        use_folder(Path(settings.DATA_DIR) / "analyser")
        self._opened: dict[str, _Opened] = {}  # by database: a replica may be a moment behind
        self._open_lock = threading.Lock()

    # Reading

    def reader(self) -> tuple[IndexReader, object]:
        opened = self._current()
        return opened.reader, opened.key

    def evaluator(self) -> Evaluator:
        """Return the evaluator of the newest generation, with caches bounded in bytes."""
        opened = self._current()
        if self._generation != opened.key:
            self._generation = opened.key
            self._results = self._new_results()
        return opened.evaluator

    def _forget_words(self) -> None:
        for opened in self._opened.values():
            opened.evaluator.forget()

    def _alias(self) -> str:
        from incidents.models import LibraryState  # models are loaded after backends may be named

        return router.db_for_read(LibraryState)

    def _current(self) -> _Opened:
        alias = self._alias()
        state = self._state(alias)
        if state is None or state.version != index_version():
            raise SearchUnavailable(
                "검색 색인이 준비되지 않았습니다. 색인을 만드는 중이면 잠시 뒤에 다시 시도해 주세요."
            )
        key = (state.build, state.generation)
        opened = self._opened.get(alias)
        if opened is None or opened.key != key:
            with self._open_lock, unavailable():
                opened = self._opened.get(alias)
                if opened is None or opened.key != key:
                    opened = self._open(alias, key, opened)
                    self._opened[alias] = opened
        return opened

    def _open(self, alias: str, key: tuple[str, int], before: _Opened | None) -> _Opened:
        build = key[0]
        known = {s.number: s for s in before.reader.segments} if before and before.key[0] == build else {}
        connection = connections[alias]
        segments = []
        for number, documents, removed in reading.segment_marks(connection, build):
            segment = known.get(number)
            if segment is None or len(segment) != documents:
                segment = reading.read_segment(connection, build, number)
            elif segment.removed.tobytes() != removed:
                segment = segment.without(removed)
            segments.append(segment)
        opened = PostgresReader(lambda: connections[alias], build, segments)
        evaluator = self._evaluator_of(opened)
        return _Opened(key, opened, evaluator)

    def _state(self, alias: str) -> State | None:
        with unavailable():
            return store.read_state(connections[alias])

    # Writing

    @contextmanager
    def _writing(self) -> Iterator[BaseDatabaseWrapper]:
        """One transaction that holds the writer's lock; SearchUnavailable if another writer keeps it too long."""
        connection = connections[DEFAULT_DB_ALIAS]
        try:
            with transaction.atomic():
                store.lock(connection, LOCK_SECONDS)
                yield connection
        except OperationalError as error:
            raise SearchUnavailable("다른 작업이 검색 색인을 쓰고 있습니다. 잠시 뒤에 다시 시도해 주세요.") from error
        except DatabaseError as error:
            logger.exception("the search index in PostgreSQL could not be written")
            raise SearchUnavailable(
                "검색 색인을 고치지 못했습니다. rebuild_index 명령으로 다시 만들 수 있습니다."
            ) from error

    def update(
        self, documents: Iterable[SearchDocument], removed_ids: Collection[int] = (), *, revision: int = 0
    ) -> None:
        with self._writing() as connection:
            state = store.read_state(connection)
            if state is None or state.version != index_version():
                raise SearchUnavailable("검색 색인이 없습니다. rebuild_index 명령으로 먼저 만들어 주세요.")
            if revision and state.revision >= revision:
                return  # while this one waited for its turn, another process brought in the same
            marks = reading.segment_marks(connection, state.build)
            number = max((number for number, _, _ in marks), default=-1) + 1
            gone, changed = set(removed_ids), 0
            iterator = iter(documents)
            while chunk := list(islice(iterator, CHUNK)):
                writing.take_out(connection, state.build, [*gone, *(document.id for document in chunk)])
                gone.clear()
                writing.write_segment(
                    connection, state.build, number, list(self._analysed(connection, state.build, chunk))
                )
                number += 1
                changed += len(chunk)
            if gone:
                writing.take_out(connection, state.build, list(gone))
            self._merge(connection, state.build, number)
            live = sum(size - len(removed) // 4 for _, size, removed in reading.segment_marks(connection, state.build))
            reached = max(revision, state.revision)
            store.write_state(connection, State(state.build, state.generation + 1, reached, live, state.version))

    def _merge(self, connection: BaseDatabaseWrapper, build: str, number: int) -> None:
        """Put many small segments together into one, without the documents that were taken out."""
        small = [n for n, size, _ in reading.segment_marks(connection, build) if size <= SMALL_DOCUMENTS]
        if len(small) <= MERGE_SEGMENTS:
            return
        kept = []
        for one in small:
            segment = reading.read_segment(connection, build, one)
            revisions = reading.read_revisions(connection, build, one).tolist()
            removed = set(segment.removed.tolist())
            for n, content, analysed, addresses in reading.read_documents(connection, build, one):
                if n not in removed:
                    kept.append((_document(segment, n, revisions[n], addresses), content, analysed))
        writing.delete_segments(connection, build, small)
        if kept:
            writing.write_segment(connection, build, number, kept)

    def rebuild(
        self,
        documents: Iterable[SearchDocument],
        *,
        revision: int = 0,
        progress: Progress | None = None,
        is_wanted: Callable[[], bool] | None = None,
    ) -> int:
        build = uuid.uuid4().hex[:12]
        with self._writing() as connection:
            if is_wanted is not None and not is_wanted():
                return 0
            old = store.read_state(connection)
            store.create(connection, build)
            count = number = 0
            made = self._analysed(connection, old.build if old else None, documents)
            while True:
                analysed = []
                for document, content, one in islice(made, SEGMENT_DOCUMENTS):
                    analysed.append((_bare(document), content, one))
                    count += 1
                    if progress is not None:
                        progress(count)
                if not analysed:
                    break
                writing.write_segment(connection, build, number, analysed)
                number += 1
            store.finish(connection, build)
            generation = old.generation + 1 if old else 1
            store.write_state(connection, State(build, generation, revision, count, index_version()))
            for name in store.builds(connection):
                if name != build:
                    store.drop(connection, name)
        return count

    def _analysed(
        self, connection: BaseDatabaseWrapper, build: str | None, documents: Iterable[SearchDocument]
    ) -> Iterator[tuple[SearchDocument, str, AnalysedDocument]]:
        """Yield (document, its content's key, its analysis), taken from the index where it has the content already."""
        keys: deque[str] = deque()
        has_build = build is not None and build in store.builds(connection)

        def known(batch: list[SearchDocument]) -> list[AnalysedDocument | None]:
            contents = [content_key(document) for document in batch]
            keys.extend(contents)
            found = reading.read_analyses(connection, build, contents) if build is not None and has_build else {}
            return [found.get(content) for content in contents]

        for document, analysed in analyse_all(documents, known, analyse):
            yield document, keys.popleft(), analysed

    # State

    def revision(self) -> int:
        try:
            state = self._state(self._alias())
        except SearchUnavailable:
            return -1
        return state.revision if state is not None and state.version == index_version() else -1

    def is_usable(self) -> bool:
        try:
            self._current()
        except SearchUnavailable:
            return False
        return True

    def health(self) -> Health:
        try:
            state = self._state(DEFAULT_DB_ALIAS)
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
            with unavailable():
                opened = self._open(DEFAULT_DB_ALIAS, (state.build, state.generation), None)
                revisions = _revisions(connections[DEFAULT_DB_ALIAS], state.build, opened.reader)
            return Health(True, "검색 색인이 온전합니다.", len(revisions), state.revision, revisions)
        except SearchUnavailable:
            return Health(False, "검색 색인을 열지 못했습니다.", 0, -1, {})


def _revisions(connection: BaseDatabaseWrapper, build: str, reader: PostgresReader) -> dict[int, int]:
    """Return {primary key: revision} of the documents that are in the index."""
    ids = reader.table.ids
    numbers = [segment.number for segment in reader.segments]
    revisions = [reading.read_revisions(connection, build, number).tolist() for number in numbers]
    every = (revision for own in revisions for revision in own)
    return {pk: revision for pk, revision in zip(ids.tolist(), every, strict=True) if pk >= 0}


def _bare(document: SearchDocument) -> SearchDocument:
    """Return a document without its texts, which its analysis has: thousands of them wait to be written at once."""
    return SearchDocument(
        id=document.id,
        public_id=document.public_id,
        title="",
        organization="",
        labels=(),
        sections={},
        sources=document.sources,
        year=document.year,
        sort_date=document.sort_date,
        revision=document.revision,
    )


def _document(segment: Segment, number: int, revision: int, addresses: Iterable[str]) -> SearchDocument:
    return SearchDocument(
        id=int(segment.ids[number]),
        public_id=f"IL-{int(segment.public_numbers[number]):04d}",
        title="",
        organization="",
        labels=(),
        sections={},
        sources=tuple(f"https://{address}" for address in addresses),
        year=0,
        sort_date=int(segment.dates[number]),
        revision=revision,
    )
