"""Work on all cores: processes forked from one that has loaded what they need."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def can_fork() -> bool:
    """Return whether work may be forked off: not from a server's thread, since locks that others hold stay held."""
    return cores() > 1 and threading.active_count() == 1


def forked_pool(start: Callable[..., object] | None = None, *given: Any) -> ProcessPoolExecutor:
    """Return a process for each core; each calls `start` with what is given, which is inherited, not sent.

    They end with the process that forked them, killed or not: they share its files, a writer's lock among them.
    """
    return ProcessPoolExecutor(
        cores(), mp_context=multiprocessing.get_context("fork"), initializer=_begin, initargs=(start, given)
    )


def _begin(start: Callable[..., object] | None, given: tuple[Any, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if start is not None:
        start(*given)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
