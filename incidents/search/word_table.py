"""What each distinct word of texts gives, kept as numbers: a document's terms are then gathered and sorted as arrays.

A record has some 450 words and 850 places of terms, and nearly all of its words were met before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from incidents.search.korean import chunks, fold, placed_terms, surface_of, word_of
from incidents.search.postings import SECTION_BITS, TermPlaces

MAX_TERM = 200  # characters of a term: longer ones are cut, on both sides
_KEPT_WORDS: Final = 60_000
_NO_TERM: Final = -(1 << 40)  # the end of a word without terms: before any other

Numbers = NDArray[np.int64]


class WordTable:
    """Words and terms by number, and what each word gives. For one thread at a time."""

    def __init__(self) -> None:
        self._words: dict[tuple[str, str], int] = {}  # (kind, chunk) -> the word's number
        self._numbers: dict[str, int] = {}  # term -> its number
        self._names: list[str] = []
        self._first = _Growing()  # of each word: where its terms begin, how many they are,
        self._sizes = _Growing()
        self._widths = _Growing()  # the positions that it takes,
        self._ends = _Growing()  # where its last term ends,
        self._surfaces = _Growing()  # the term that is the whole word
        self._terms = _Growing()  # of each term of a word: its number,
        self._offsets = _Growing()  # and its position in the word

    def make_room(self) -> None:
        """Forget everything once there is much. Numbers begin anew, so between documents only."""
        if len(self._words) > _KEPT_WORDS:
            self.__init__()  # type: ignore[misc]  # as new

    def number(self, term: str) -> int:
        """Return a term's number; a term that is too long is cut."""
        term = term[:MAX_TERM]
        found = self._numbers.get(term)
        if found is None:
            found = self._numbers[term] = len(self._names)
            self._names.append(term)
        return found

    def _note(self, kind: str, chunk: str) -> int:
        """Return the number of a word that wasn't met before."""
        word = word_of(kind, chunk)
        placed = tuple(placed_terms(word))
        self._first.extend((len(self._terms),))
        self._sizes.extend((len(placed),))
        self._widths.extend((word.width,))
        self._ends.extend((max((offset + width for _, offset, width in placed), default=_NO_TERM),))
        self._surfaces.extend((self.number(surface_of(word)),))
        self._terms.extend([self.number(term) for term, _, _ in placed])
        self._offsets.extend([offset for _, offset, _ in placed])
        number = self._words[kind, chunk] = len(self._words)
        return number

    def read(
        self, texts: Sequence[str], more: Sequence[tuple[int, int]]
    ) -> tuple[TermPlaces, TermPlaces, NDArray[np.int64]]:
        """Return the terms of a document's sections, their whole words, and the sections' lengths in positions.

        more: (number, place) of further terms.
        """
        known = self._words
        found: list[int] = []
        borders = [0]
        for text in texts:
            for kind, chunk, _, _ in chunks(fold(text)):
                number = known.get((kind, chunk))
                found.append(self._note(kind, chunk) if number is None else number)
            borders.append(len(found))
        words = np.array(found, np.int64)
        starts = np.array(borders, np.int64)
        bases = np.repeat(np.arange(len(texts)) << SECTION_BITS, np.diff(starts))
        ordinals = np.arange(len(words)) - np.repeat(starts[:-1], np.diff(starts))
        widths = self._widths.values[words]
        before = np.concatenate(([0], np.cumsum(widths)))
        positions = before[:-1] - np.repeat(before[starts[:-1]], np.diff(starts))
        ends = positions + self._ends.values[words]
        lengths = np.array([ends[a:b].max(initial=0) for a, b in pairwise(borders)], np.int64)
        sizes = self._sizes.values[words]
        inside = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = np.repeat(self._first.values[words], sizes) + inside
        extra = np.array(more, np.int64).reshape(-1, 2)
        terms = np.concatenate((self._terms.values[rows], extra[:, 0]))
        places = np.concatenate((np.repeat(bases + positions, sizes) + self._offsets.values[rows], extra[:, 1]))
        return self._sorted(terms, places), self._sorted(self._surfaces.values[words], bases + ordinals), lengths

    def _sorted(self, terms: Numbers, places: Numbers) -> TermPlaces:
        """Return terms in ascending order with their distinct places, ascending too."""
        keys = (terms << 32) | places
        keys.sort()
        is_new = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
        keys = keys[is_new]
        owners = keys >> 32
        is_first = np.ones(len(keys), bool)
        np.not_equal(owners[1:], owners[:-1], out=is_first[1:])
        firsts = np.flatnonzero(is_first)
        counts = np.diff(firsts, append=len(keys))
        names = [self._names[number] for number in owners[firsts].tolist()]
        order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
        counts = counts[order]
        rows = np.repeat(firsts[order] - (np.cumsum(counts) - counts), counts) + np.arange(len(keys))
        return TermPlaces(
            tuple(names[n] for n in order.tolist()), counts.astype(np.uint32), keys[rows].astype(np.uint32)
        )


class _Growing:
    """Numbers that are added at the end now and then and read as an array all the time."""

    def __init__(self) -> None:
        self._room: NDArray[Any] = np.empty(1_000, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def extend(self, numbers: Sequence[int]) -> None:
        count = self._count + len(numbers)
        if count > len(self._room):
            self._room = np.concatenate((self._room, np.empty(max(len(self._room), count), np.int64)))
        self._room[self._count : count] = numbers
        self._count = count

    @property
    def values(self) -> Numbers:
        """Return the numbers, to be read before more are added."""
        return self._room[: self._count]
