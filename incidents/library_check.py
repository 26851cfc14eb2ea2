"""A library's folder read and checked as one, on all cores where it is large. No database.

Everything is checked before the first record is given out, and all faults of all files come in one RecordError. Each
file is read once: what was checked is put aside, compressed, in a file without a name, and is what is given out. The
memory holds IDs alone: a library of 100,000 records needs some tens of megabytes.
"""

import pickle
import tempfile
import zlib
from array import array
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from incidents.checks_file import CheckData
from incidents.cross_check import Vocabulary, check_faults, duplicate_fault, record_faults, reference_faults
from incidents.faults import Fault, RecordError
from incidents.library_files import LibraryFolder, find_library, read_checks, read_located, read_taxonomy
from incidents.processes import can_fork, cores, forked_pool
from incidents.records import RecordData, canonical_record, content_of
from incidents.taxonomy_file import TaxonomyData

MAX_FAULTS = 1_000  # more help nobody; a wrong folder of 100,000 files would otherwise fill the memory
WORTH_IT: Final = 200  # files; with fewer, starting processes takes longer than they save
BATCH: Final = 50  # files that a process reads at a time
IN_MEMORY: Final = 4_000_000  # bytes of records, compressed, that are put aside without a file


@dataclass(frozen=True, slots=True)
class LibraryFiles:
    """What a folder or a file holds, checked."""

    records: tuple[RecordData, ...] = ()
    taxonomy: TaxonomyData | None = None
    checks: tuple[CheckData, ...] | None = None


@dataclass(frozen=True, slots=True)
class CheckedLibrary:
    """A library folder in which no fault was found. To be closed."""

    folder: LibraryFolder
    taxonomy: TaxonomyData | None
    checks: tuple[CheckData, ...] | None
    kept: "_Kept"

    def records(self, ids: Collection[str] | None = None) -> Iterator[RecordData]:
        """Yield the records one by one, by file name, in canonical form and as they were checked, or just those of `ids`."""
        for number, file in enumerate(self.folder.record_files):
            if ids is None or file.stem in ids:
                yield self.kept[number][0]

    def records_with_texts(self) -> Iterator[tuple[RecordData, str]]:
        """Yield each record with the text of its version."""
        yield from map(self.kept.__getitem__, range(len(self.folder)))

    def close(self) -> None:
        """Let go of the records."""
        self.kept.close()


class _Kept:
    """Records and the texts of their versions, put aside in the order in which they were read."""

    def __init__(self, folder: Path | None) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(folder) if folder else None)  # noqa: SIM115  # closed by close()
        self._ends = array("Q", [0])

    def append(self, data: bytes) -> None:
        self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))

    def __getitem__(self, number: int) -> tuple[RecordData, str]:
        start, end = self._ends[number : number + 2]
        self._file.seek(start)
        found: tuple[RecordData, str] = pickle.loads(zlib.decompress(self._file.read(end - start)))  # noqa: S301  # our own
        return found

    def close(self) -> None:
        self._file.close()


def check_folder(
    folder: LibraryFolder,
    *,
    taxonomy: TaxonomyData | None = None,
    known_ids: Collection[str] = (),
    on_file: Callable[[], object] | None = None,
    scratch: Path | None = None,
) -> CheckedLibrary:
    """Return the folder after reading every file once and finding no fault.

    `taxonomy` and `known_ids` are what the library holds already: slugs may come from either, IDs too. Slugs are not
    checked when there is no taxonomy at all. `on_file` is called after each record, for a progress bar. `scratch`: where
    many records are put aside, the system's temporary folder by default. Raises RecordError with the faults of all
    files, by file and line, at most MAX_FAULTS.
    """
    faults = _Collector(folder.faults)
    own_taxonomy = faults.attempt(lambda: read_taxonomy(folder))
    checks = faults.attempt(lambda: read_checks(folder))
    vocabulary = Vocabulary.of(own_taxonomy, taxonomy)
    # A taxonomy that can't be read would make every slug a fault: its own faults say enough.
    is_checked = not (folder.taxonomy_file and own_taxonomy is None) and bool(vocabulary.slugs)
    # A record's ID is its file's name, so the IDs are known before the files are read, also those of faulty files.
    ids = {file.stem for file in folder.record_files}.union(known_ids)
    kept = _Kept(scratch)
    try:
        files: dict[str, str] = {}
        with closing(_read_all(_Reader(folder, vocabulary if is_checked else None, ids))) as found:
            for read in found:
                if read.data:
                    if (fault := duplicate_fault(read.id, read.file, read.line, files)) is not None:
                        faults.add([fault])
                    kept.append(read.data)
                faults.add(read.faults)
                if on_file is not None:
                    on_file()
                if faults.is_full:
                    break
        if checks is not None and is_checked:
            faults.add(check_faults(checks, vocabulary, ids))
        faults.raise_if_any()
    except BaseException:
        kept.close()
        raise
    return CheckedLibrary(folder, own_taxonomy, None if checks is None else checks.checks, kept)


@dataclass(frozen=True, slots=True)
class _Read:
    """What one file came to: the record with its text, packed, or nothing where it can't be read; its ID and that one's line."""

    file: str
    faults: tuple[Fault, ...]
    data: bytes = b""
    id: str = ""
    line: int = 1


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads files of a folder and holds them to vocabulary, unless there is none, and IDs."""

    folder: LibraryFolder
    vocabulary: Vocabulary | None
    ids: Collection[str]

    def read(self, file: Path) -> _Read:
        try:
            located = read_located(self.folder, file)
        except RecordError as error:
            return _Read(self.folder.name(file), error.faults)
        if self.vocabulary is None:
            faults = reference_faults(located, self.ids)
        else:
            faults = record_faults(located, self.vocabulary, self.ids)
        record = canonical_record(located.record)
        data = zlib.compress(pickle.dumps((record, content_of(record)), pickle.HIGHEST_PROTOCOL), 1)
        return _Read(located.file, tuple(faults), data, located.record.id, located.line("id"))


_reader: _Reader | None = None  # of a process that reads for another


def _start(reader: _Reader) -> None:
    global _reader
    _reader = reader


def _read_batch(files: Sequence[Path]) -> list[_Read]:
    if _reader is None:
        raise RuntimeError("a process reads before it was told how")
    return [_reader.read(file) for file in files]


def _read_all(reader: _Reader) -> Generator[_Read, None, None]:
    """Yield what every file came to, in order."""
    files = iter(reader.folder.record_files)
    if len(reader.folder) < WORTH_IT or not can_fork():
        yield from map(reader.read, files)
        return
    waiting: deque[Future[list[_Read]]] = deque()
    pool = forked_pool(_start, reader)
    try:
        while batch := list(islice(files, BATCH)):
            waiting.append(pool.submit(_read_batch, batch))
            if len(waiting) > 2 * cores():
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


_Result = TypeVar("_Result")


class _Collector:
    """The faults of many files, up to MAX_FAULTS."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = list(faults)

    def add(self, faults: Iterable[Fault]) -> None:
        self.faults.extend(faults)

    def attempt(self, read: Callable[[], _Result]) -> _Result | None:
        """Return what `read` returns, or None after keeping the faults that it raised."""
        try:
            return read()
        except RecordError as error:
            self.add(error.faults)
            return None

    @property
    def is_full(self) -> bool:
        return len(self.faults) >= MAX_FAULTS

    def raise_if_any(self) -> None:
        if self.faults:
            raise RecordError(sorted(self.faults)[:MAX_FAULTS])


def read_library(path: Path, *, taxonomy: TaxonomyData | None = None, known_ids: Collection[str] = ()) -> LibraryFiles:
    """Return all that a library folder, or one file of it, holds.

    `taxonomy` and `known_ids` are what the library holds already, as in check_folder. Raises RecordError with all
    faults of all files, NotFound or UserError when there is nothing to read.
    """
    with closing(check_folder(find_library(path), taxonomy=taxonomy, known_ids=known_ids)) as checked:
        return LibraryFiles(tuple(checked.records()), checked.taxonomy, checked.checks)
