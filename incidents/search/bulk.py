"""Analysing many documents on all cores. Order is kept, and memory is that of a few batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from typing import Final, TypeVar

from incidents.processes import can_fork, cores, forked_pool
from incidents.search.base import SearchDocument
from incidents.search.korean import tokens

BATCH: Final = 50
WORTH_IT: Final = 100  # unknown documents; with fewer, starting processes takes longer than they save

_Made = TypeVar("_Made")
Known = Callable[[list[SearchDocument]], Sequence[_Made | None]]


def analyse_all(
    documents: Iterable[SearchDocument], known: Known[_Made], make: Callable[[SearchDocument], _Made]
) -> Iterator[tuple[SearchDocument, _Made]]:
    """Yield (document, what `make` makes of it) in order, with `make` run on all cores.

    `known` gives what is made already, None for the rest, for a batch. Only a process without other threads is forked,
    as commands are: a server's thread works by itself.
    """
    iterator = iter(documents)
    pool: ProcessPoolExecutor | None = None
    waiting: deque[tuple[list[SearchDocument], Sequence[_Made | None], Future[list[_Made]] | None]] = deque()
    unknown_count = 0
    try:
        while batch := list(islice(iterator, BATCH)):
            found = known(batch)
            unknown = [document for document, made in zip(batch, found, strict=True) if made is None]
            unknown_count += len(unknown)
            if pool is None and unknown_count > WORTH_IT and can_fork():
                tokens("분석기를 나누기 전에 읽어 둔다")  # the dictionary's memory is shared with the processes
                pool = forked_pool()
            waiting.append((batch, found, pool.submit(_make_all, make, unknown) if pool and unknown else None))
            if len(waiting) > 2 * cores() or pool is None:
                yield from _finished(*waiting.popleft(), make)
        while waiting:
            yield from _finished(*waiting.popleft(), make)
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def _make_all(make: Callable[[SearchDocument], _Made], documents: list[SearchDocument]) -> list[_Made]:
    return [make(document) for document in documents]


def _finished(
    batch: list[SearchDocument],
    found: Sequence[_Made | None],
    future: Future[list[_Made]] | None,
    make: Callable[[SearchDocument], _Made],
) -> Iterator[tuple[SearchDocument, _Made]]:
    new = iter(future.result() if future is not None else ())
    for document, made in zip(batch, found, strict=True):
        if made is None:
            made = next(new) if future is not None else make(document)
        yield document, made
