"""What changed between two texts, word by word, as parts to show. Pure.

Korean words are compared whole, with their particles: `멈췄다` → `멈췄고` reads as one changed word, not as one changed
syllable. Lines are matched first, so that long texts stay fast and a moved paragraph doesn't smear over the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

Kind = Literal["same", "removed", "added"]

_TOKEN = re.compile(r"\s+|[\w가-힣]+|[^\w\s]")
_MAX_TOKENS = 4_000  # of one changed passage; beyond it the passage is shown as replaced whole


@dataclass(frozen=True)
class Part:
    """A run of text that stands in both texts, only in the former, or only in the latter."""

    kind: Kind
    text: str


def diff_words(before: str, after: str) -> tuple[Part, ...]:
    """Return the parts of both texts in reading order; joined without the added ones they give `before`,
    without the removed ones `after`."""
    if before == after:
        return (Part("same", before),) if before else ()
    return tuple(_joined(_readable(list(_diff_lines(before, after)))))


def _diff_lines(before: str, after: str) -> Iterator[Part]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Part("same", "".join(old[i1:i2]))
        else:
            yield from _diff_tokens("".join(old[i1:i2]), "".join(new[j1:j2]))


def _diff_tokens(before: str, after: str) -> Iterator[Part]:
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if max(len(old), len(new)) > _MAX_TOKENS:
        yield Part("removed", before)
        yield Part("added", after)
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Part("same", "".join(old[i1:i2]))
            continue
        if i1 < i2:
            yield Part("removed", "".join(old[i1:i2]))
        if j1 < j2:
            yield Part("added", "".join(new[j1:j2]))


def _readable(parts: Sequence[Part]) -> Iterator[Part]:
    """Let spaces and single signs between two changes belong to the changes: islands of them hinder reading."""
    for index, part in enumerate(parts):
        is_between = 0 < index < len(parts) - 1
        if part.kind == "same" and is_between and len(part.text.strip()) <= 1 and "\n" not in part.text:
            before, after = parts[index - 1], parts[index + 1]
            if before.kind != "same" and after.kind != "same":
                yield Part("removed", part.text)
                yield Part("added", part.text)
                continue
        yield part


def _joined(parts: Iterator[Part]) -> Iterator[Part]:
    """Gather each run of changes into one removed and one added part."""
    for is_same, run in groupby(parts, key=lambda part: part.kind == "same"):
        parts_of_run = list(run)
        kinds: tuple[Kind, ...] = ("same",) if is_same else ("removed", "added")
        for kind in kinds:
            text = "".join(part.text for part in parts_of_run if part.kind == kind)
            if text:
                yield Part(kind, text)
