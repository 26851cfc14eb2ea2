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
    """Return a process for each core; each calls `start` with what is given, which is inherited, not sent."""
    return ProcessPoolExecutor(
        cores(), mp_context=multiprocessing.get_context("fork"), initializer=start, initargs=given
    )
