"""Parts of pages rendered once and filled many times: the markup stays in its partial, and the cost of one rendering is
shared by all pages that show the same record or the same value.

A partial is rendered with marks in the places of what differs each time (a count, an address, a highlighted title).
The result is cut at the marks, kept, and joined with the real values from then on.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from secrets import randbelow
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

from django.conf import settings
from django.template import loader
from django.utils.safestring import SafeString

V = TypeVar("V")

# Signs of the private use area, which escaping and particles leave alone; drawn anew by each process, so that no text
# can hold them.
MARKS: Final = tuple("".join(chr(0xE000 + randbelow(6_000)) for _ in range(8)) for _ in range(10))
_MARK: Final = re.compile("|".join(f"({mark})" for mark in MARKS))
_caches: WeakSet[Lru[Any]] = WeakSet()


def forget_parts() -> None:
    """Drop every part of this process: for a database that was put in another's place, as between two tests."""
    for cache in list(_caches):
        cache.clear()


class Lru(Generic[V]):
    """The most recently used values, at most `size`; for threads."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = threading.Lock()
        _caches.add(self)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> V | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: Hashable, value: V) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self.size:
                self._values.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._values.clear()


# SafeString itself, where hundreds are made for a page: `mark_safe` looks for lazy texts each time.
class Pieces:
    """A rendered partial, cut at its marks."""

    __slots__ = ("_order", "_texts")

    def __init__(self, html: str) -> None:
        texts, order, start = [], [], 0
        for match in _MARK.finditer(html):
            texts.append(html[start : match.start()])
            order.append((match.lastindex or 1) - 1)
            start = match.end()
        self._texts = (*texts, html[start:])
        self._order = tuple(order)

    def filled(self, values: Sequence[str]) -> SafeString:
        """Return the HTML with `values[n]`, each already safe HTML, in the places of MARKS[n]."""
        out = [self._texts[0]]
        for number, text in zip(self._order, self._texts[1:], strict=True):
            out += (values[number], text)
        return SafeString("".join(out))  # the partial escaped what is in the pieces; the values are safe


class PartCache:
    """Pieces of partials by the template and what they were made from."""

    def __init__(self, size: int) -> None:
        self._pieces: Lru[Pieces] = Lru(size)

    def pieces(self, template: str, key: Hashable, context: Callable[[], dict[str, Any]]) -> Pieces:
        """Return the pieces under a key, rendered with `context()` where there are none yet."""
        found = self._pieces.get((template, key))
        if found is None:
            found = Pieces(loader.get_template(template).render(context()))
            if not settings.DEBUG:  # there a template may change under a running process
                self._pieces.put((template, key), found)
        return found
