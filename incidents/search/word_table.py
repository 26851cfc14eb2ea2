"""What each distinct word of texts gives, kept as numbers: a document's terms are then sorted as arrays.

A record has some 450 words and 850 places of terms; asking the same few thousand words anew each time took five times
as long.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from incidents.search.korean import Word, fold, placed_terms, surface_of, words
from incidents.search.postings import TermPlaces

MAX_TERM = 200  # characters of a term: longer ones are cut, on both sides
_KEPT_WORDS: Final = 60_000
_NO_TERM: Final = -(1 << 40)  # the end of a word without terms: before any other

# (numbers of the terms, their offsets, positions taken, end of the last term, number of the whole word)
_Row = tuple[tuple[int, ...], tuple[int, ...], int, int, int]


class WordTable:
    """Numbers of terms, and of each word that was met its row. For one thread at a time."""

    def __init__(self) -> None:
        self._rows: dict[int, _Row] = {}  # by the identity of the word, which _words keeps
        self._words: list[Word] = []
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    def make_room(self) -> None:
        """Forget everything once there is much; between documents only, since numbers begin anew."""
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

    def _row(self, word: Word) -> _Row:
        placed = tuple(placed_terms(word))
        row = (
            tuple(self.number(term) for term, _, _ in placed),
            tuple(offset for _, offset, _ in placed),
            word.width,
            max((offset + width for _, offset, width in placed), default=_NO_TERM),
            self.number(surface_of(word)),
        )
        self._words.append(word)
        self._rows[id(word)] = row
        return row

    def read(self, text: str, base: int, found: Places, whole: Places) -> int:
        """Note a text's terms in `found`, its whole words in `whole`, and return its length in positions.

        base: what all places have in common, the section.
        """
        rows = self._rows
        position = base
        last = 0
        terms, places, sizes, starts = found.terms, found.offsets, found.sizes, found.starts
        first_word = len(whole.terms)
        for word, _, _ in words(fold(text)):
            row = rows.get(id(word)) or self._row(word)
            numbers, offsets, width, end, surface = row
            terms += numbers
            places += offsets
            sizes.append(len(numbers))
            starts.append(position)
            whole.terms.append(surface)
            last = max(last, position + end)
            position += width
        count = len(whole.terms) - first_word
        whole.offsets.extend(range(count))
        whole.sizes.append(count)
        whole.starts.append(base)
        return max(0, last - base)

    def sorted(self, found: Places) -> TermPlaces:
        """Return terms in ascending order with their distinct places, ascending too."""
        terms = np.array(found.terms, np.int64)
        places = np.repeat(np.array(found.starts, np.int64), found.sizes) + np.array(found.offsets, np.int64)
        keys = np.unique((terms << 32) | places)
        numbers, counts = np.unique(keys >> 32, return_counts=True)
        names = [self._names[number] for number in numbers.tolist()]
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), np.int64)
        rank[order] = np.arange(len(names))
        by_term = np.argsort(np.repeat(rank, counts), kind="stable")
        return TermPlaces(
            tuple(names[n] for n in order), counts[order].astype(np.uint32), keys[by_term].astype(np.uint32)
        )


class Places:
    """Numbers of terms, and for each run of them where it starts: a place is a start and an offset."""

    __slots__ = ("offsets", "sizes", "starts", "terms")

    def __init__(self) -> None:
        self.terms: list[int] = []
        self.offsets: list[int] = []
        self.sizes: list[int] = []
        self.starts: list[int] = []

    def add(self, term: int, place: int) -> None:
        """Note one term at a place."""
        self.terms.append(term)
        self.offsets.append(0)
        self.sizes.append(1)
        self.starts.append(place)
