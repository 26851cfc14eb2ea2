"""Search kept in PostgreSQL: any number of processes on any number of machines, no index folder, little memory.

The ranking is the embedded engine's own, since both give the same evaluator the same postings: the same records come in
the same order. What a worker keeps is bounded: a few columns of all documents, and the postings it used last.
"""

from __future__ import annotations

import logging
import sys
import threading
import uuid
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
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
from numpy.typing import NDArray

from incidents.errors import SearchUnavailable
from incidents.search import postgres_store as store
from incidents.search.base import Health, Progress, SearchBackend, SearchDocument
from incidents.search.bulk import analyse_all
from incidents.search.documents import AnalysedDocument, analyse, content_key
from incidents.search.evaluate import Evaluator, LruCache
from incidents.search.korean import ANALYSIS_VERSION
from incidents.search.literal import LiteralIndex
from incidents.search.morphemes import dictionary_version, use_folder
from incidents.search.postgres_store import Segment, State
from incidents.search.postings import EMPTY, Postings
from incidents.search.reader import DocumentTable, IndexReader
from incidents.search.service import SearchService
from incidents.search.spelling import Speller
from incidents.search.suggest import letters

logger = logging.getLogger(__name__)

SCHEMA_VERSION: Final = 1
SEGMENT_DOCUMENTS: Final = 10_000  # a rebuild inverts so many at once, in some 150 MB
SMALL_DOCUMENTS: Final = 500
MERGE_SEGMENTS: Final = 10  # more small segments than this are merged into one
LOCK_SECONDS: Final = 30.0
CHUNK: Final = 500
POSTINGS_BYTES: Final = 8 << 20
EVALUATION_BYTES: Final = 6 << 20
RESULTS_BYTES: Final = 6 << 20

T = TypeVar("T")


def index_version() -> str:
    """Return what an index must have been built with to be of use: schema, analysis and dictionary."""
    return f"{SCHEMA_VERSION}.{ANALYSIS_VERSION}.{dictionary_version()}"


def weight(value: object) -> int:
    """Return the bytes, about, that a cached value holds on to."""
    if isinstance(value, np.ndarray):
        return value.nbytes + 100
    if isinstance(value, tuple):
        return sum(map(weight, value)) + 60
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is not None:
        return sum(weight(getattr(value, name)) for name in fields) + 200
    return sys.getsizeof(value, 200)


class BoundedCache(LruCache):
    """The most recently used values within so many bytes, instead of so many values."""

    def __init__(self, limit: int) -> None:
        super().__init__(0)
        self.limit = limit
        self.used = 0
        self._weights: OrderedDict[Hashable, int] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value kept for a key, or make and keep it."""
        if key in self.values:
            self.values.move_to_end(key)
            return self.values[key]  # type: ignore[return-value]  # what `make` returned for this key
        value = make()
        self.values[key] = value
        self._weights[key] = weight(value)
        self.used += self._weights[key]
        while self.used > self.limit and len(self.values) > 1:
            oldest, _ = self.values.popitem(last=False)
            self.used -= self._weights.pop(oldest)
        return value


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
    """The columns of all segments one after another; addresses are looked up."""

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
        found = np.flatnonzero((self.numbers == store.public_number(public_id)) & (self.ids >= 0))
        return int(found[0]) if len(found) else None


class PostgresReader(IndexReader):
    """One generation of a build: row = a segment's first row + the number of the document in it."""

    def __init__(
        self,
        connect: Callable[[], BaseDatabaseWrapper],
        build: str,
        segments: Sequence[Segment],
        removed_counts: Counter[int],
    ) -> None:
        self.removed_counts = removed_counts
        self._connect = connect
        self._build = build
        self.segments = segments
        sizes = [len(segment) for segment in segments]
        self._first = dict(
            zip((s.number for s in segments), np.concatenate(([0], np.cumsum(sizes)))[:-1].tolist(), strict=True)
        )
        self._postings = BoundedCache(POSTINGS_BYTES)
        ids = _joined([s.ids for s in segments], np.int64).copy()
        for segment in segments:
            ids[self._first[segment.number] + segment.removed] = -1
        self._has_removed = bool((ids < 0).any())
        numbers = _joined([s.public_numbers for s in segments], np.int32)
        self._table = _Table(
            ids=ids,
            dates=_joined([s.dates for s in segments], np.int64),
            revisions=_joined([s.revisions for s in segments], np.int64),
            public_ids=_PublicIds(numbers),
            lengths=np.concatenate([s.lengths for s in segments]) if segments else np.zeros((0, 13), np.uint16),
            addresses=lambda: _Finder(self._find_address),
            numbers=numbers,
        )

    @property
    def table(self) -> DocumentTable:
        return self._table

    def labels(self) -> Sequence[str]:
        return sorted({label for segment in self.segments for label in segment.labels})

    def word(self, term: str) -> Postings:
        return self._postings.get(term, lambda: self._read(term))

    def _read(self, term: str) -> Postings:
        key = store.term_key(term)
        if not any(_place(segment.keys, key) >= 0 for segment in self.segments):
            return EMPTY
        with self._reading() as connection:
            found = store.read_postings(connection, self._build, key)
        parts = [(postings, self._first[n]) for n, postings in found if n in self._first]
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
        key = store.term_key(term)
        total = -self.removed_counts.get(key, 0)
        for segment in self.segments:
            place = _place(segment.keys, key)
            total += int(segment.counts[place]) if place >= 0 else 0
        return total

    def nearest(self, word: str) -> str | None:
        size = len(letters(word))
        limit = 1 if size < 8 else 2 if size < 14 else 3
        # A syllable has two to four letters, a Latin character one.
        is_hangul = "가" <= word[0] <= "힣"
        slack = limit if not is_hangul else limit + 1
        with self._reading() as connection:
            counts = store.read_spellings(
                connection,
                self._build,
                shortest=max(2, len(word) - slack),
                longest=len(word) + slack,
                like=word,
                ends=1 if is_hangul else 2,
            )
        known = {}
        for term, count in counts.items():
            live = count - self.removed_counts.get(store.term_key(term), 0) if self.removed_counts else count
            if live > 0 and ("가" <= term[0] <= "힣") == is_hangul:
                known[term] = live
        found = Speller(known).nearest(word)
        return found.word if found else None

    def literal(self, needle: str, section: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # Kept, as the ways out of a search without a match each ask for nearly the same words.
        return self._postings.get((needle, section), lambda: self._literals(needle, section))

    def _literals(self, needle: str, section: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        wholes, straddling = [], []
        for segment in self.segments:
            whole, across = self._literal(segment, needle, section)
            wholes.append(whole + self._first[segment.number])
            straddling.append(across + self._first[segment.number])
        rows, loose = np.concatenate(wholes), np.concatenate(straddling)
        ids = self._table.ids
        return rows[ids[rows] >= 0], loose[ids[loose] >= 0]

    def _literal(
        self, segment: Segment, needle: str, section: int | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        text, starts = segment.plain_words
        found: list[int] = []
        at = text.find(needle) if needle and "\n" not in needle else -1
        while at >= 0:
            found.append(at)
            at = text.find(needle, at + 1)
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        numbers = np.unique(np.searchsorted(starts, found, "right") - 1).tolist()
        with self._reading() as connection:
            places = store.read_words(connection, self._build, segment.number, numbers)
        marked = segment.words.split("\n")
        chosen = [marked[n] for n in numbers]
        wheres = [places[n] for n in numbers]
        first = np.concatenate(([0], np.cumsum([len(where) for where in wheres]))).astype(np.int64)
        return _small_index(chosen, first, np.concatenate(wheres)).find(needle, section)

    def document_terms(self, row: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        return self._postings.get(row, lambda: self._document_terms(row))

    def _document_terms(self, row: int) -> tuple[Sequence[str], NDArray[np.float32]]:
        number = max((n for n, first in self._first.items() if first <= row), key=lambda n: self._first[n])
        with self._reading() as connection:
            return store.read_terms(connection, self._build, number, row - self._first[number])

    def _find_address(self, address: str) -> int | None:
        with self._reading() as connection:
            rows = [
                self._first[s] + n for s, n in store.find_address(connection, self._build, address) if s in self._first
            ]
        live = [row for row in rows if self._table.ids[row] >= 0]
        return live[0] if live else None

    @contextmanager
    def _reading(self) -> Iterator[BaseDatabaseWrapper]:
        with _unavailable():
            yield self._connect()


def _removed_counts(
    connection: BaseDatabaseWrapper, build: str, segments: Sequence[Segment], before: PostgresReader | None
) -> Counter[int]:
    """Return {term's key: how many documents that were taken out hold it}, from the former generation's where it can be."""
    counts: Counter[int] = Counter(before.removed_counts) if before else Counter()
    known = {segment.number: set(segment.removed.tolist()) for segment in before.segments} if before else {}
    now = {segment.number: set(segment.removed.tolist()) for segment in segments}
    if any(gone - now.get(number, set()) for number, gone in known.items()):  # a merge took segments away
        counts, known = Counter(), {}
    for number, removed in now.items():
        fresh = removed - known.get(number, set())
        if fresh:
            counts += store.count_terms(connection, build, number, sorted(fresh))
    return counts


def _small_index(words: Sequence[str], first: NDArray[np.int64], where: NDArray[np.int32]) -> LiteralIndex:
    """Return the literal index of just some words, whose places are known."""
    marked = "\n" + "".join(f"{word}\n" for word in words)
    codes = np.frombuffer(marked.encode("utf-32-le"), np.uint32)
    marks = np.flatnonzero(codes == ord("+"))
    breaks = np.flatnonzero(codes[codes != ord("+")] == ord("\n"))
    return LiteralIndex(marked.replace("+", ""), breaks[:-1] + 1, marks - np.arange(len(marks)), first, where)


def _joined(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)


def _place(keys: NDArray[np.int64], key: int) -> int:
    """Return where a key stands in a sorted array, or -1."""
    index = int(np.searchsorted(keys, key))
    return index if index < len(keys) and keys[index] == key else -1


@contextmanager
def _unavailable() -> Iterator[None]:
    """Turn the database's errors and rows that a rebuild has just dropped into SearchUnavailable."""
    try:
        yield
    except (DatabaseError, LookupError, ValueError) as error:
        logger.exception("the search index in PostgreSQL does not read")
        raise SearchUnavailable("검색 색인을 읽지 못했습니다. 잠시 뒤에 다시 시도해 주세요.") from error


@dataclass
class _Opened:
    """What a process has read of one database: the generation, its reader, the evaluator upon it."""

    key: tuple[str, int]
    reader: PostgresReader
    evaluator: Evaluator


class PostgresBackend(SearchService, SearchBackend):
    """Search in the library's own database; on a replica where the request reads from one."""

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
            self._results = BoundedCache(RESULTS_BYTES)
        return opened.evaluator

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
            with self._open_lock, _unavailable():
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
        for number, documents, removed in store.segment_marks(connection, build):
            segment = known.get(number)
            if segment is None or len(segment) != documents:
                segment = store.read_segment(connection, build, number)
            elif segment.removed.tobytes() != removed:
                segment = segment.without(removed)
            segments.append(segment)
        counts = _removed_counts(connection, build, segments, before.reader if before and known else None)
        reader = PostgresReader(lambda: connections[alias], build, segments, counts)
        evaluator = Evaluator(reader)
        evaluator._cache = BoundedCache(EVALUATION_BYTES)
        return _Opened(key, reader, evaluator)

    def _state(self, alias: str) -> State | None:
        with _unavailable():
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
            marks = store.segment_marks(connection, state.build)
            number = max((number for number, _, _ in marks), default=-1) + 1
            gone, changed = set(removed_ids), 0
            iterator = iter(documents)
            while chunk := list(islice(iterator, CHUNK)):
                store.take_out(connection, state.build, [*gone, *(document.id for document in chunk)])
                gone.clear()
                store.write_segment(
                    connection, state.build, number, list(self._analysed(connection, state.build, chunk))
                )
                number += 1
                changed += len(chunk)
            if gone:
                store.take_out(connection, state.build, list(gone))
            self._merge(connection, state.build, number)
            live = sum(size - len(removed) // 4 for _, size, removed in store.segment_marks(connection, state.build))
            reached = max(revision, state.revision)
            store.write_state(connection, State(state.build, state.generation + 1, reached, live, state.version))

    def _merge(self, connection: BaseDatabaseWrapper, build: str, number: int) -> None:
        """Put many small segments together into one, without the documents that were taken out."""
        small = [n for n, size, _ in store.segment_marks(connection, build) if size <= SMALL_DOCUMENTS]
        if len(small) <= MERGE_SEGMENTS:
            return
        kept = []
        for one in small:
            segment = store.read_segment(connection, build, one)
            removed = set(segment.removed.tolist())
            for n, content, analysed, addresses in store.read_documents(connection, build, one):
                if n not in removed:
                    kept.append((_document(segment, n, addresses), content, analysed))
        store.delete_segments(connection, build, small)
        if kept:
            store.write_segment(connection, build, number, kept)

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
                store.write_segment(connection, build, number, analysed)
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
            found = store.read_analyses(connection, build, contents) if build is not None and has_build else {}
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
            with _unavailable():
                opened = self._open(DEFAULT_DB_ALIAS, (state.build, state.generation), None)
            table = opened.reader.table
            live = table.live
            revisions = dict(zip(table.ids[live].tolist(), table.revisions[live].tolist(), strict=True))
            return Health(True, "검색 색인이 온전합니다.", len(live), state.revision, revisions)
        except SearchUnavailable:
            return Health(False, "검색 색인을 열지 못했습니다.", 0, -1, {})


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


def _document(segment: Segment, number: int, addresses: Iterable[str]) -> SearchDocument:
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
        revision=int(segment.revisions[number]),
    )
