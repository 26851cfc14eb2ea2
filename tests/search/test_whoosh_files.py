"""Processes that opened an index together read it at the same time."""

from __future__ import annotations

import multiprocessing
import random
from multiprocessing.queues import SimpleQueue
from pathlib import Path

from bench.library import made_library
from incidents.search import parse_query
from incidents.search.whoosh_backend import WhooshBackend

PROCESSES = 4


def _counts(backend: WhooshBackend, terms: list[str], seed: int, results: SimpleQueue[list[int] | str]) -> None:
    order = list(terms)
    random.Random(seed).shuffle(order)
    try:
        reader, _ = backend.reader()
        found = {term: len(reader.word(term).rows) for term in order}
        results.put([found[term] for term in terms])
    except Exception as error:  # whatever damaged bytes lead to
        results.put(repr(error))


def test_workers_forked_after_the_index_was_opened_read_it_at_once(tmp_path: Path) -> None:
    backend = WhooshBackend(tmp_path / "index")
    backend.rebuild(made_library(120))
    alone = WhooshBackend(tmp_path / "index")
    reader, _ = alone.reader()
    terms = sorted(alone._segments.popitem()[1].lexicon())[::3]
    expected = [len(reader.word(term).rows) for term in terms]
    backend.search(parse_query("인증서"))  # the parent has the files open, as a server that loads before it forks
    context = multiprocessing.get_context("fork")
    results: SimpleQueue[list[int] | str] = context.SimpleQueue()
    workers = [context.Process(target=_counts, args=(backend, terms, n, results)) for n in range(PROCESSES)]
    for worker in workers:
        worker.start()
    answers = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    assert [answer == expected for answer in answers] == [True] * PROCESSES
