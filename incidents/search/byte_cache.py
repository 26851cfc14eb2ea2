"""Caches bounded in bytes rather than in values: a word's places may be four bytes or four megabytes."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from types import FunctionType
from typing import TypeVar

import numpy as np

from incidents.search.evaluate import LruCache

T = TypeVar("T")


def weight(value: object) -> int:
    """Return the bytes, about, that a cached value holds on to: arrays, and those that its functions have enclosed."""
    if isinstance(value, np.ndarray):
        return value.nbytes + 100
    if isinstance(value, tuple):
        if value and isinstance(value[0], str):
            return 80 * len(value) + 60  # terms, of which a record has hundreds
        return sum(map(weight, value)) + 60
    if isinstance(value, FunctionType):
        enclosed = [cell.cell_contents for cell in value.__closure__ or ()]
        return sum(weight(one) for one in enclosed if isinstance(one, np.ndarray)) + 200
    names = getattr(value, "__dataclass_fields__", None)
    if names is not None:
        held = vars(value).values() if hasattr(value, "__dict__") else [getattr(value, name) for name in names]
        return sum(map(weight, held)) + 200
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
        if self.values:
            newest = next(reversed(self.values))
            if hasattr(self.values[newest], "__dict__"):  # it may have grown by what is made when first asked for
                self._weigh(newest, self.values[newest])
        self.put(key, value)
        return value

    def put(self, key: Hashable, value: object) -> None:
        """Keep a value as the one used last."""
        self.values[key] = value
        self.values.move_to_end(key)
        self._weigh(key, value)
        while self.used > self.limit and len(self.values) > 1:
            oldest, _ = self.values.popitem(last=False)
            self.used -= self._weights.pop(oldest)

    def _weigh(self, key: Hashable, value: object) -> None:
        now = weight(value)
        self.used += now - self._weights.get(key, 0)
        self._weights[key] = now
