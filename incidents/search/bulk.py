"""Analysing many documents on all cores. Order is kept, and memory is that of a few batches."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from typing import Final

from incidents.search.base import SearchDocument
from incidents.search.documents import AnalysedDocument, analyse
from incidents.search.korean import tokens

BATCH: Final = 100
WORTH_IT: Final = 400  # unknown documents; with fewer, starting processes takes longer than they save

Known = Callable[[list[SearchDocument]], list[AnalysedDocument | None]]
Pair = tuple[SearchDocument, AnalysedDocument]


def analyse_all(documents: Iterable[SearchDocument], known: Known) -> Iterator[Pair]:
    """Yield (document, analysis) in order; `known` gives what is analysed already, None for the rest, for a batch.

    Only a process without other threads is forked, as commands are: a server's thread analyses by itself.
    """
    iterator = iter(documents)
    pool: ProcessPoolExecutor | None = None
    waiting: deque[
        tuple[list[SearchDocument], list[AnalysedDocument | None], Future[list[AnalysedDocument]] | None]
    ] = deque()
    cores = len(os.sched_getaffinity(0))
    unknown_count = 0
    try:
        while batch := list(islice(iterator, BATCH)):
            found = known(batch)
            unknown = [document for document, analysed in zip(batch, found, strict=True) if analysed is None]
            unknown_count += len(unknown)
            if pool is None and unknown_count > WORTH_IT and cores > 1 and threading.active_count() == 1:
                tokens("분석기를 나누기 전에 읽어 둔다")  # the dictionary's memory is shared with the processes
                pool = ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("fork"))
            waiting.append((batch, found, pool.submit(_analyse, unknown) if pool and unknown else None))
            if len(waiting) > 2 * cores or pool is None:
                yield from _finished(*waiting.popleft())
        while waiting:
            yield from _finished(*waiting.popleft())
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def _analyse(documents: list[SearchDocument]) -> list[AnalysedDocument]:
    return [analyse(document) for document in documents]


def _finished(
    batch: list[SearchDocument], found: list[AnalysedDocument | None], future: Future[list[AnalysedDocument]] | None
) -> Iterator[Pair]:
    made = iter(future.result() if future is not None else ())
    for document, analysed in zip(batch, found, strict=True):
        if analysed is None:
            analysed = next(made) if future is not None else analyse(document)
        yield document, analysed
