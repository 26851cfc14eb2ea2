"""Progress bars of commands: on a terminal, on stderr, and only when the work takes more than a second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

tqdm.monitor_interval = 0  # its watching thread would keep the work from being forked off to all cores


@contextmanager
def progress(total: int | None, label: str) -> Iterator[Callable[[], object]]:
    """Yield a function to be called once for each thing done."""
    with tqdm(total=total, desc=label, delay=1, disable=not sys.stderr.isatty(), unit="건", file=sys.stderr) as bar:
        yield bar.update
