"""Completions while typing: by the beginnings of words, letter by letter, so that half a syllable matches too. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from incidents.search.base import SuggestEntry, Suggestion
from incidents.search.korean import fold

_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = ["ㅏ", "ㅐ", "ㅑ", "ㅒ", "ㅓ", "ㅔ", "ㅕ", "ㅖ", "ㅗ", "ㅗㅏ", "ㅗㅐ", "ㅗㅣ", "ㅛ", "ㅜ", "ㅜㅓ", "ㅜㅔ", "ㅜㅣ", "ㅠ", "ㅡ", "ㅡㅣ", "ㅣ"]  # fmt: skip
_FINALS = ["", "ㄱ", "ㄲ", "ㄱㅅ", "ㄴ", "ㄴㅈ", "ㄴㅎ", "ㄷ", "ㄹ", "ㄹㄱ", "ㄹㅁ", "ㄹㅂ", "ㄹㅅ", "ㄹㅌ", "ㄹㅍ", "ㄹㅎ", "ㅁ", "ㅂ", "ㅂㅅ", "ㅅ", "ㅆ", "ㅇ", "ㅈ", "ㅊ", "ㅋ", "ㅌ", "ㅍ", "ㅎ"]  # fmt: skip
_CLUSTERS = {"ㄳ": "ㄱㅅ", "ㄵ": "ㄴㅈ", "ㄶ": "ㄴㅎ", "ㄺ": "ㄹㄱ", "ㄻ": "ㄹㅁ", "ㄼ": "ㄹㅂ", "ㄽ": "ㄹㅅ", "ㄾ": "ㄹㅌ", "ㄿ": "ㄹㅍ", "ㅀ": "ㄹㅎ",
             "ㅄ": "ㅂㅅ", "ㅘ": "ㅗㅏ", "ㅙ": "ㅗㅐ", "ㅚ": "ㅗㅣ", "ㅝ": "ㅜㅓ", "ㅞ": "ㅜㅔ", "ㅟ": "ㅜㅣ", "ㅢ": "ㅡㅣ"}  # fmt: skip
_WORD = re.compile(r"[^\W_]+")
_KIND_ORDER = {"component": 0, "cause": 1, "factor": 2, "organization": 3, "check": 4, "incident": 5}


@lru_cache(maxsize=12_000)
def _letters_of(character: str) -> str:
    code = ord(character) - 0xAC00
    if 0 <= code < 11172:
        return _INITIALS[code // 588] + _VOWELS[code // 28 % 21] + _FINALS[code % 28]
    return _CLUSTERS.get(character, character)


def letters(text: str) -> str:
    """Return text with syllables taken apart into the letters that are typed: 넽 → ㄴㅔㅌ, 과 → ㄱㅗㅏ."""
    return "".join(map(_letters_of, text))


def initials(text: str) -> str:
    """Return text with each syllable replaced by its initial consonant."""
    return "".join(_INITIALS[(ord(c) - 0xAC00) // 588] if "가" <= c <= "힣" else c for c in text)


def is_initials(text: str) -> bool:
    """Return whether a word is two or more initial consonants and nothing else."""
    return len(text) >= 1 and all(c in _INITIALS for c in text)


class Suggester:
    """Finds entries by the beginnings of their words, in any order of words."""

    def __init__(self, entries: Iterable[SuggestEntry]) -> None:
        ordered = sorted(entries, key=lambda e: (_KIND_ORDER[e.kind], -e.weight, e.text))
        self._entries = ordered
        self._letters = [_keys(entry, letters) for entry in ordered]
        self._initials = [_keys(entry, initials) for entry in ordered]

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        """Return at most `limit` completions, vocabulary before records, beginnings before later words."""
        parts = _WORD.findall(fold(unicodedata.normalize("NFC", text[:200])).casefold())
        if not parts:
            return []
        needles = [("\n" + (part if is_initials(part) else letters(part)), is_initials(part)) for part in parts]
        joined = "\r" + letters("".join(parts))
        found = []
        for number, entry in enumerate(self._entries):
            by_letters, by_initials = self._letters[number], self._initials[number]
            at = [(by_initials if short else by_letters).find(needle) for needle, short in needles]
            if min(at) < 0:
                if len(parts) == 1 and joined in by_letters:
                    at = [1]
                else:
                    continue
            found.append((_KIND_ORDER[entry.kind] // 5, at[0] > 0, _KIND_ORDER[entry.kind], number))
        found.sort()
        chosen = []
        seen: set[tuple[str, str]] = set()
        for *_, number in found:
            entry = self._entries[number]
            if (entry.kind, entry.target) in seen:
                continue
            seen.add((entry.kind, entry.target))
            chosen.append(Suggestion(entry.kind, entry.text, entry.target))
            if len(chosen) == limit:
                break
        return chosen


def _keys(entry: SuggestEntry, spell: Callable[[str], str]) -> str:
    """Return an entry's words, each after a line break, and names from each word on without spaces after a
    carriage return."""
    out = []
    for name in (entry.text, *entry.aliases):
        parts = _WORD.findall(fold(name).casefold())
        out.append("\n" + "\n".join(spell(part) for part in parts))
        if entry.kind != "incident":
            out.extend("\r" + spell("".join(parts[start:])) for start in range(len(parts) - 1))
    return "".join(out)
