"""The account of a document while it is placed: its fields, its times, and every text that has no field.

Mutable and used by one mapping only; what leaves the package is frozen. Pure text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from incidents.documents.cleaning import Dropped
from incidents.documents.items import Items
from incidents.documents.outline import Block
from incidents.documents.timing import TimeSources
from incidents.documents.vocabulary import FIELD_LABELS, LIST_FIELDS, TEXT_FIELDS, Entry
from incidents.plain_text import canonical_text
from incidents.record_text import MAX_ITEMS, MAX_SECTION_CHARS, text_problems

PREAMBLE: Final = "(머리글)"

_ONLY_IMAGES = re.compile(r"^(?:\s*!\[[^\[\]\n]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\]))+\s*$")
_IMAGE = re.compile(r"!\[([^\[\]\n]*)\](?:\(([^()\n]*)\)|\[[^\[\]\n]*\])")


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a section went: its heading with those above it (`Lessons Learned › What went well`), the field or role."""

    heading: str
    target: str
    match: str = ""
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class LeftOver:
    """Text without a field of ours, under the heading it stands under (`""` before the first heading)."""

    heading: str
    text: str


@dataclass(slots=True)
class Account:
    """Where each text of a document went; `times` gathers what it says about when."""

    times: TimeSources
    prose: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in TEXT_FIELDS})
    items: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in LIST_FIELDS})
    left_over: list[LeftOver] = field(default_factory=list)
    remains: list[LeftOver] = field(default_factory=list)
    preamble: list[LeftOver] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    placements: list[Placement] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    source_lines: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    # Prose in which some part stands under its own label.
    has_labels: set[str] = field(default_factory=set)
    # Items whose first statement may belong to another field.
    first_statements: list[tuple[Entry, tuple[str, ...]]] = field(default_factory=list)

    def drop(self, reason: str, texts: Iterable[str]) -> None:
        self.dropped.extend(Dropped(reason, text) for text in texts)

    def remain(self, trail: Sequence[str], text: str) -> None:
        """Keeps text of a section whose other text has a field."""
        if text.strip():
            self.remains.append(LeftOver(" › ".join(trail) or PREAMBLE, text))

    def leave(self, trail: Sequence[str], text: str, *, is_child: bool = False) -> None:
        """Keeps a section without a field; a part of one that was kept just before stands below it."""
        above = " › ".join(trail[:-1])
        if is_child and self.left_over and self.left_over[-1].heading == above:
            last = self.left_over[-1]
            self.left_over[-1] = LeftOver(last.heading, f"{last.text}\n\n**{trail[-1]}**\n\n{text}")
        elif text.strip():
            self.left_over.append(LeftOver(" › ".join(trail), text))

    def place(self, trail: Sequence[str], target: str, phrase: str = "", *, is_sure: bool = True) -> None:
        self.placements.append(Placement(" › ".join(trail), target, phrase, is_sure))

    def put_prose(self, role: str, texts: Sequence[str], label: str = "") -> None:
        """Adds paragraphs to a field of prose, under a bold label where one is given."""
        if label:
            self.has_labels.add(role)
        self.prose[role].append("\n\n".join([*([f"**{label}**"] if label else []), *texts]))

    def put_items(self, role: str, found: Items, trail: Sequence[str]) -> None:
        self.items[role].extend(found.items)
        self.dropped.extend(found.dropped)
        self.remain(trail, bullets(found.remains))

    def without_images(self, text: str, trail: Sequence[str]) -> str:
        """Text without pictures: a description in a sentence stays, a picture alone goes to the note."""
        if "![" not in text or text.lstrip().startswith(("```", "~~~")):
            return text
        lines: list[str] = []
        for line in text.split("\n"):
            if _ONLY_IMAGES.match(line):
                self.remain(trail, line.strip())
                continue
            for found in _IMAGE.finditer(line):
                if found.group(2) and found.group(2) != "#":
                    self.remain(trail, found.group())
            lines.append(_IMAGE.sub(r"\1", line))
        return "\n".join(lines).strip("\n")

    def share_first_statements(self) -> None:
        """A background gives its first statement to the empty field before it, the rest to its own."""
        for entry, items in self.first_statements:
            target = entry.first_to or ""
            lines = (line for item in items for line in ([item] if "```" in item else item.split("\n")))
            statements = [line.strip() for line in lines if line.strip()]
            if statements and target in self.prose and not self.prose[target]:
                self.prose[target].append(statements.pop(0))
                self.remarks.append(
                    f"{FIELD_LABELS[target]} 절이 없어 배경의 첫 문장을 옮겼습니다. 맞는지 확인해 주십시오."
                )
            self.items[entry.role].extend(statements)

    def stored_prose(self, name: str) -> str:
        """The text of a field in its stored form; a part that is too long for a record goes to the note."""
        kept: list[str] = []
        size = 0
        for part in self.prose[name]:
            text = storable(part)
            size += len(text) + 2
            if size > MAX_SECTION_CHARS:
                self.remain((f"{FIELD_LABELS[name]} (한 절에 담기에 긴 글)",), text)
                size -= len(text) + 2
            else:
                kept.append(text)
        return canonical_text("\n\n".join(kept))

    def stored_items(self, name: str) -> tuple[str, ...]:
        """The items of a field in their stored form; those that a record can't hold go to the note."""
        kept: list[str] = []
        for item in self.items[name]:
            text = storable(item).lstrip()
            if not text:
                continue
            if len(text) > MAX_SECTION_CHARS or len(kept) == MAX_ITEMS:
                self.remain((f"{FIELD_LABELS[name]} (기록에 담지 못한 항목)",), bullets([text]))
            else:
                kept.append(text)
        return tuple(kept)


def storable(text: str) -> str:
    """Markdown that may stand in a record: no line of it reads as a heading, no fence stays open."""
    text = canonical_text(text)
    for _ in range(3):
        lines = text.split("\n")
        problems = text_problems(text)
        if not problems:
            return text
        for at, _message in problems:
            line = lines[at]
            if line.lstrip().startswith("#"):
                lines[at] = line.replace("#", "\\#", 1)
            elif line.lstrip().startswith(("```", "~~~")) or "```" in line or "~~~" in line:
                lines.append(_closing_fence(line))
            elif re.match(r"^\s*[=-]{2,}\s*$", line):
                lines[at] = f"\n{line}"
            else:
                lines[at] = re.sub(r"\*\*|__", "", line)
        text = canonical_text("\n".join(lines))
    return text


def _closing_fence(line: str) -> str:
    found = re.search(r"`{3,}|~{3,}", line)
    return found.group() if found else "```"


def joined(blocks: Iterable[Block]) -> str:
    """The text of blocks, with blank lines between them."""
    return "\n\n".join(block.text for block in blocks)


def bullets(items: Iterable[str]) -> str:
    """A Markdown list; further lines of an item stand under its text."""
    return "\n".join("- " + item.strip().replace("\n", "\n  ") for item in items)
