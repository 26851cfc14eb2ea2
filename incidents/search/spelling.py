"""Corrections of words that no record holds: the other keyboard layout, and near spellings letter by letter. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from incidents.search.suggest import letters

_KEYS = dict(
    zip(
        "rRseEfaqQtTdwWczxvgkoiOjpuPhynbml",
        "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎㅏㅐㅑㅒㅓㅔㅕㅖㅗㅛㅜㅠㅡㅣ",
        strict=True,
    )
)
_LATIN = {jamo: key for key, jamo in _KEYS.items()}
_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = {v: i for i, v in enumerate("ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ")}
_FINALS = {f: i for i, f in enumerate(["", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"])}
_JOINED_VOWELS = {"ㅗㅏ": "ㅘ", "ㅗㅐ": "ㅙ", "ㅗㅣ": "ㅚ", "ㅜㅓ": "ㅝ", "ㅜㅔ": "ㅞ", "ㅜㅣ": "ㅟ", "ㅡㅣ": "ㅢ"}
_JOINED_FINALS = {"ㄱㅅ": "ㄳ", "ㄴㅈ": "ㄵ", "ㄴㅎ": "ㄶ", "ㄹㄱ": "ㄺ", "ㄹㅁ": "ㄻ", "ㄹㅂ": "ㄼ", "ㄹㅅ": "ㄽ", "ㄹㅌ": "ㄾ", "ㄹㅍ": "ㄿ", "ㄹㅎ": "ㅀ", "ㅂㅅ": "ㅄ"}  # fmt: skip


def hangul_from_keys(text: str) -> str | None:
    """Return the Hangul that the same keys give on the two-set layout (`wkddo` → 장애), or None if not all syllables."""
    jamo = [_KEYS.get(c) or _KEYS.get(c.lower()) for c in text]
    if not text or any(j is None for j in jamo):
        return None
    return _compose([j for j in jamo if j is not None])


def latin_from_keys(text: str) -> str | None:
    """Return the Latin letters of the keys that gave a Hangul text (`ㄷㅅㅊㅇ` → etcd), or None where it has other signs."""
    keys = [_LATIN.get(letter) for letter in letters(text)]
    return None if not keys or any(key is None for key in keys) else "".join(key or "" for key in keys).lower()


def _compose(jamo: Sequence[str]) -> str | None:
    """Return syllables made of single letters, or None where a letter is left over."""
    out: list[str] = []
    i = 0
    while i < len(jamo):
        if jamo[i] not in _INITIALS or i + 1 >= len(jamo) or jamo[i + 1] not in _VOWELS:
            return None
        initial, vowel = jamo[i], jamo[i + 1]
        i += 2
        if i < len(jamo) and vowel + jamo[i] in _JOINED_VOWELS:
            vowel = _JOINED_VOWELS[vowel + jamo[i]]
            i += 1
        final = ""
        if i < len(jamo) and jamo[i] in _FINALS and not (i + 1 < len(jamo) and jamo[i + 1] in _VOWELS):
            final = jamo[i]
            i += 1
            if (
                i < len(jamo)
                and final + jamo[i] in _JOINED_FINALS
                and not (i + 1 < len(jamo) and jamo[i + 1] in _VOWELS)
            ):
                final = _JOINED_FINALS[final + jamo[i]]
                i += 1
        out.append(chr(0xAC00 + (_INITIALS.index(initial) * 21 + _VOWELS[vowel]) * 28 + _FINALS[final]))
    return "".join(out)


def distance(a: str, b: str, limit: int) -> int:
    """Return the edit distance with neighbours swapped counting one (optimal string alignment), or limit + 1 if more."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return previous[-1]


@dataclass(frozen=True, slots=True)
class Correction:
    """A known word near an unknown one: its distance in letters, and the number of documents that hold it."""

    word: str
    distance: int
    count: int

    def rank(self) -> tuple[int, int, str]:
        """Return what sorts better corrections first."""
        return self.distance, -self.count, self.word


class Speller:
    """Finds the known word nearest to an unknown one, by letters; Hangul syllables are taken apart first."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        """Take {word: number of documents}. Verbs (…다) and words with signs or digits are never proposed."""
        self._counts = counts
        self._words = [w for w in counts if 2 <= len(w) <= 24 and w.isalpha() and not w.endswith("다")]
        self._spelt = [letters(word) for word in self._words]
        grams: dict[str, list[int]] = {}
        sizes = []
        for number, spelt in enumerate(self._spelt):
            own = _grams(spelt)
            sizes.append(len(own))
            for gram in own:
                grams.setdefault(gram, []).append(number)
        self._grams = {gram: np.array(numbers, np.int32) for gram, numbers in grams.items()}
        self._sizes = np.array(sizes, np.float32)

    def nearest(self, word: str) -> Correction | None:
        """Return the best correction of a word, or None where nothing is near enough.

        Near enough is one wrong letter in short words, two from 8 letters (Hangul: about three syllables), three from 14;
        Latin words must begin alike, since a wrong first letter is seen by who types it.
        """
        spelt = letters(word)
        is_hangul = "가" <= word[0] <= "힣"
        if len(spelt) < 4 or len(word) > 24:
            return None
        limit = 1 if len(spelt) < 8 else 2 if len(spelt) < 14 else 3
        grams = _grams(spelt)
        hits = [self._grams[gram] for gram in grams if gram in self._grams]
        if not hits:
            return None
        overlap = np.bincount(np.concatenate(hits), minlength=len(self._words)) / (self._sizes + len(grams))
        best: Correction | None = None
        for number in np.argsort(-overlap, kind="stable")[:60].tolist():
            other = self._spelt[number]
            if (not is_hangul and other[0] != spelt[0]) or ("가" <= self._words[number][0] <= "힣") != is_hangul:
                continue
            far = distance(spelt, other, limit)
            if 0 < far <= limit:
                candidate = Correction(self._words[number], far, self._counts[self._words[number]])
                if best is None or candidate.rank() < best.rank():
                    best = candidate
        return best


def _grams(spelt: str) -> set[str]:
    padded = f"^{spelt}$"
    return {padded[i : i + 2] for i in range(len(padded) - 1)}
