"""Finding letters inside words: the last resort that leaves nothing in a record unfindable. Arrays and strings only.

All distinct words stand in one string and are searched as such; each knows its records. `+` in a word marks where two
content words of a solid compound meet: `전원` in 서버+전원 is a word of its own, `버전` only straddles two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incidents.search.gathering import TermPostings
from incidents.search.postings import SECTION_BITS, TermPlaces, contains, distinct, without

WHOLE_ANYWAY = 4  # syllables: a piece of text so long doesn't straddle two words by chance
SECTION_BITS_OF_WORD = 4  # bits of a section's number in `LiteralIndex.where`

Documents = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LiteralIndex:
    """The distinct words of some documents.

    text: the words without marks, each after a line break, and one more at the end. starts: int64, each word's offset.
    borders: int64, sorted offsets at which two content words meet. first: int64[words + 1] into where: int32, the
    document's number and, in the lower 4 bits, the section of each place of a word.
    """

    text: str
    starts: NDArray[np.int64]
    borders: NDArray[np.int64]
    first: NDArray[np.int64]
    where: NDArray[np.int32]

    @classmethod
    def of(cls, documents: Iterable[TermPlaces]) -> LiteralIndex:
        """Return the index of documents' marked words, numbered from 0 in their order."""
        numbers: dict[str, int] = {}
        ids: list[NDArray[np.int64]] = []
        places: list[NDArray[np.int64]] = []
        for document, group in enumerate(documents):
            own = np.fromiter(
                (numbers.setdefault(term, len(numbers)) for term in group.terms), np.int64, len(group.terms)
            )
            sections = group.places.astype(np.int64) >> SECTION_BITS
            pairs = distinct((np.repeat(own, group.counts) << SECTION_BITS_OF_WORD) | sections)
            ids.append(pairs >> SECTION_BITS_OF_WORD)
            places.append((document << SECTION_BITS_OF_WORD) | (pairs & (1 << SECTION_BITS_OF_WORD) - 1))
        word_of = np.concatenate(ids) if ids else np.empty(0, np.int64)
        where = np.concatenate(places) if places else np.empty(0, np.int64)
        order = np.argsort(word_of, kind="stable")
        first = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(np.bincount(word_of, minlength=len(numbers)), out=first[1:])
        return cls._with_words(numbers, first, where[order].astype(np.int32))

    @classmethod
    def gathered(cls, parts: Iterable[TermPostings]) -> LiteralIndex:
        """Return the index of marked words that were gathered, in their order."""
        names: list[str] = []
        sizes = [np.zeros(1, np.int64)]
        where = [np.empty(0, np.int32)]
        for part in parts:
            words = np.repeat(np.arange(len(part.terms)), np.diff(part.first_place))
            found = (np.repeat(part.documents, part.counts) << SECTION_BITS_OF_WORD) | (part.places >> SECTION_BITS)
            is_new = np.ones(len(found), bool)  # sorted, so that a word's places in one section are neighbours
            is_new[1:] = (found[1:] != found[:-1]) | (words[1:] != words[:-1])
            names.extend(part.terms)
            sizes.append(np.bincount(words[is_new], minlength=len(part.terms)))
            where.append(found[is_new].astype(np.int32))
        return cls._with_words(names, np.cumsum(np.concatenate(sizes)), np.concatenate(where))

    @classmethod
    def _with_words(cls, names: Iterable[str], first: NDArray[np.int64], where: NDArray[np.int32]) -> LiteralIndex:
        marked = "\n" + "".join(f"{term}\n" for term in names)
        codes = np.frombuffer(marked.encode("utf-32-le", "surrogatepass"), np.uint32)
        marks = np.flatnonzero(codes == ord("+"))
        plain = codes[codes != ord("+")]
        breaks = np.flatnonzero(plain == ord("\n"))
        return cls(marked.replace("+", ""), breaks[:-1] + 1, marks - np.arange(len(marks)), first, where)

    def find(self, needle: str, section: int | None = None) -> tuple[Documents, Documents]:
        """Return (documents that hold the needle as a word or inside one, documents where it only straddles two).

        Both ascending and without a common one. section: the only section to look in.
        """
        found: list[int] = []
        at = self.text.find(needle)
        while at >= 0:
            found.append(at)
            at = self.text.find(needle, at + 1)
        if not found or "\n" in needle or not needle:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        starts = np.array(found, np.int64)
        is_whole = self._are_whole(starts, len(needle))
        words = np.searchsorted(self.starts, starts, "right") - 1
        whole = self._documents(words[is_whole], section)
        straddling = self._documents(words[~is_whole], section)
        return whole, without(straddling, whole)

    def _are_whole(self, starts: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
        """Return for each piece whether no border lies inside it, or it begins and ends at borders or a word's ends."""
        if size >= WHOLE_ANYWAY or not len(self.borders):
            return np.ones(len(starts), bool)
        ends = starts + size
        borders = np.append(self.borders, np.iinfo(np.int64).max)
        after_start = np.searchsorted(borders, starts, "right")
        is_clear = borders[after_start] >= ends
        begins = contains(self.starts, starts) | contains(self.borders, starts)
        finishes = contains(self.starts, ends + 1) | (ends == len(self.text) - 1) | contains(self.borders, ends)
        result: NDArray[np.bool_] = is_clear | (begins & finishes)
        return result

    def _documents(self, words: NDArray[np.int64], section: int | None) -> Documents:
        words = distinct(words)
        if not len(words):
            return words
        sizes = self.first[words + 1] - self.first[words]
        offsets = np.repeat(self.first[words] - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
        places = self.where[offsets + np.arange(int(sizes.sum()))]
        if section is not None:
            places = places[(places & (1 << SECTION_BITS_OF_WORD) - 1) == section]
        return distinct(places.astype(np.int64) >> SECTION_BITS_OF_WORD)
