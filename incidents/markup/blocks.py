"""Lines of a text → its blocks: paragraph, heading, rule, code, quotation, list, table. Pure, one pass over the lines.

CommonMark's blocks, but for what Korean records mean: a list may stand right under a sentence, `2024. 3. 2.` at a
line's start is a date, two spaces nest below any marker, dashes under a sentence are a rule and no heading, `>= 5` is
no quotation, a pipe inside code splits no cell, and a list or quotation of nothing is text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from incidents.markup.inline import code_spans


class Kind(StrEnum):
    """What a block is."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    RULE = "rule"
    FENCE = "fence"
    INDENTED = "indented"
    QUOTE = "quote"
    LIST = "list"
    TABLE = "table"


@dataclass(frozen=True)
class Block:
    """A block: its lines are `lines[start:end]`, blank lines around it left out."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True)
class Item:
    """An item of a list: its number (None for a bullet), its lines without marker and indent."""

    number: int | None
    lines: tuple[str, ...]
    is_followed_by_blank: bool


@dataclass(frozen=True)
class Table:
    """A table: each row has as many cells as `alignments` (`left`, `center`, `right` or nothing)."""

    alignments: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class _Marker:
    """The marker at the start of an item: `content` is what follows it, at column `content_indent`."""

    indent: int
    number: int | None
    content_indent: int
    content: str


CODE_INDENT = 4
NESTED_INDENT = 2  # spaces under a marker's own column that make a line part of the item

_FENCE = re.compile(r" *(?:(`{3,})([^`]*)|(~{3,})([^~]*))$")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
# A threshold at a line's start (`>=5`, `>10%`) is no quotation.
_QUOTE = re.compile(r" {0,3}>(?![=\d])")
_QUOTE_MARK = re.compile(r" {0,3}> ?")
_MARKER = re.compile(r"( *)(?:[-*+]|(\d{1,3})[.)])(?=[ \t]|$)")  # a year has four digits
# `3. 2.` is a day, `24. 3. 2.` too; in `1. 3. 2.` the first number can be no year, so it numbers an item.
_DATE = re.compile(r" *(?:(?:1[3-9]|[2-9]\d)\. ?)?(?:0?[1-9]|1[0-2])\. ?(?:0?[1-9]|[12]\d|3[01])\.(?!\d| ?\d{1,2}\.)")
_CELL_MARK = re.compile(r"\\.|\|")
_RULE_CELL = re.compile(r":?-+:?")
_PLAIN_LANGUAGE = re.compile(r"\{?[.]?[A-Za-z0-9_+#.-]{1,24}\}?")


def as_lines(text: str) -> list[str]:
    """Return the lines of a text, tabs at their start as spaces."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [_with_spaces(line) if "\t" in line else line for line in lines]


def scan_blocks(lines: Sequence[str]) -> list[Block]:
    """Return the blocks of the outermost level, in order. Every line that is not blank is in one of them."""
    blocks: list[Block] = []
    index = 0
    while index < len(lines):
        if _is_blank(lines[index]):
            index += 1
            continue
        kind = _kind_at(lines, index)
        end = _end_of(kind, lines, index)
        if kind is Kind.QUOTE and not any(_unquoted(line).strip() for line in lines[index:end]):
            kind = Kind.PARAGRAPH
        last = end
        while _is_blank(lines[last - 1]):
            last -= 1
        blocks.append(Block(kind, index, last))
        index = end
    return blocks


def heading_parts(line: str) -> tuple[int, str]:
    """Return a heading's level, from 1, and its text without the closing marks."""
    marks = _HEADING.match(line)
    if marks is None:
        return 1, line.strip()
    text = line[marks.end() :].strip()
    bare = text.rstrip("#")
    return len(marks[1]), bare.rstrip() if not bare or bare[-1] in " \t" else text


def fenced_code(lines: Sequence[str]) -> str:
    """Return the code between two fences, or after one that was never closed.

    What stands beside the opening fence is a language and left out; a line of words there is kept as the first line.
    """
    opening = _FENCE.match(lines[0])
    if opening is None:
        return "\n".join(lines)
    fence = opening[1] or opening[3]
    beside = (opening[2] or opening[4] or "").strip()
    indent = _indent(lines[0])
    is_closed = len(lines) > 1 and _closes(lines[-1], fence)
    body = [line[min(indent, _indent(line)) :] for line in lines[1 : len(lines) - is_closed]]
    if beside and not _PLAIN_LANGUAGE.fullmatch(beside):
        body.insert(0, beside)
    return "\n".join(body)


def indented_code(lines: Sequence[str]) -> str:
    """Return the code of an indented block."""
    return "\n".join(line[min(CODE_INDENT, _indent(line)) :] for line in lines)


def quoted_lines(lines: Sequence[str]) -> list[str]:
    """Return a quotation's lines without one level of marks."""
    return [_with_spaces(_unquoted(line)) for line in lines]


def list_items(lines: Sequence[str]) -> list[Item]:
    """Return the items of a block that is a list."""
    return _read_list(lines, 0)[1]


def table(lines: Sequence[str]) -> Table:
    """Return the table of a block that is one. A cell too many joins the last, so that no word is lost."""
    alignments = tuple(_alignment(cell) for cell in _cells(lines[1]))
    width = len(alignments)
    rows = [_row(line, width) for line in (lines[0], *lines[2:])]
    return Table(alignments, rows[0], tuple(rows[1:]))


# -- Where a block starts and ends ------------------------------------------------------------------------------------


def _kind_at(lines: Sequence[str], index: int) -> Kind:
    if _indent(lines[index]) >= CODE_INDENT:
        return Kind.INDENTED
    return _structure_at(lines, index) or (Kind.LIST if _marker(lines[index], needs_content=True) else Kind.PARAGRAPH)


def _structure_at(lines: Sequence[str], index: int) -> Kind | None:
    """Return what starts at a line even right under a sentence; a list is asked for apart."""
    line = lines[index]
    first = line.lstrip(" ")[:1]
    if first in ("`", "~") and _FENCE.match(line):
        return Kind.FENCE
    if first == "#" and _HEADING.match(line) and line.strip("# \t"):
        return Kind.HEADING
    if first in ("-", "*", "_") and _is_rule(line):
        return Kind.RULE
    if first == ">" and _QUOTE.match(line):
        return Kind.QUOTE
    if _is_table_at(lines, index):
        return Kind.TABLE
    return None


def _interrupts(lines: Sequence[str], index: int) -> bool:
    """Whether a block starts at a line right under a sentence."""
    if _structure_at(lines, index):
        return True
    marker = _marker(lines[index], needs_content=True)
    return marker is not None and marker.number in (None, 0, 1)


def _end_of(kind: Kind, lines: Sequence[str], start: int) -> int:
    if kind is Kind.FENCE:
        return _end_of_fence(lines, start)
    if kind is Kind.INDENTED:
        end = start + 1
        while end < len(lines) and (_is_blank(lines[end]) or _indent(lines[end]) >= CODE_INDENT):
            end += 1
        return end
    if kind is Kind.QUOTE:
        return _end_of_quote(lines, start)
    if kind is Kind.LIST:
        return _read_list(lines, start)[0]
    if kind is Kind.TABLE:
        return _end_of_table(lines, start)
    if kind is Kind.PARAGRAPH:
        end = start + 1
        while end < len(lines) and not _is_blank(lines[end]) and not _interrupts(lines, end):
            end += 1
        return end
    return start + 1


def _end_of_fence(lines: Sequence[str], start: int) -> int:
    fence = _fence(lines[start]) or ""
    for index in range(start + 1, len(lines)):
        if _closes(lines[index], fence):
            return index + 1
    return len(lines)


def _end_of_quote(lines: Sequence[str], start: int) -> int:
    """A sentence goes on without a mark, as in mail, unless a fence is open."""
    has_fence = False
    end = start
    while end < len(lines):
        line = lines[end]
        if _QUOTE_MARK.match(line):
            has_fence = has_fence or _fence(_unquoted(line)) is not None
        elif has_fence or _is_blank(line) or not _unquoted(lines[end - 1]).strip() or _interrupts(lines, end):
            break
        end += 1
    return end


def _end_of_table(lines: Sequence[str], start: int) -> int:
    end = start + 2
    while end < len(lines) and "|" in lines[end] and _structure_at(lines, end) is None:
        end += 1
    return end


# -- Lists ------------------------------------------------------------------------------------------------------------


def _read_list(lines: Sequence[str], start: int) -> tuple[int, list[Item]]:
    """Return the line after a list, and its items."""
    items: list[Item] = []
    unclosed: set[str] = set()
    is_ordered = False
    index = start
    while index < len(lines):
        follows = items[-1].number + 1 if items and items[-1].number is not None else None
        marker = _marker(lines[index], needs_content=not items, follows=follows)
        if marker is None or (items and (marker.number is not None) != is_ordered) or _is_rule(lines[index]):
            break
        is_ordered = marker.number is not None
        end = _end_of_item(lines, index, marker, unclosed)
        following = end
        while following < len(lines) and _is_blank(lines[following]):
            following += 1
        body = _item_lines(lines[index + 1 : end], marker)
        items.append(Item(marker.number, (marker.content, *body), following > end))
        index = following
    return index, items


def _end_of_item(lines: Sequence[str], start: int, marker: _Marker, unclosed: set[str]) -> int:
    """Return the line after an item, blank lines behind it left out."""
    minimum = marker.indent + NESTED_INDENT
    follows = None if marker.number is None else marker.number + 1
    fence = _fence(marker.content)
    is_fence_open = False
    index = start
    while True:
        is_text = fence is None
        if fence is not None:
            closing = _closing_of_item_fence(lines, index, fence, minimum, unclosed)
            is_fence_open = closing is None
            index = index if closing is None else closing
        following = index + 1
        while following < len(lines) and _is_blank(lines[following]):
            following += 1
        if following == len(lines):
            return index + 1
        line = lines[following]
        if _indent(line) < minimum:
            # Only a sentence goes on without indent, right under its first half.
            goes_on = is_text and not is_fence_open and following == index + 1
            if not goes_on or _marker(line, follows=follows) or _interrupts(lines, following):
                return index + 1
        index = following
        fence = None if is_fence_open else _fence(line)


def _closing_of_item_fence(
    lines: Sequence[str], start: int, fence: str, minimum: int, unclosed: set[str]
) -> int | None:
    """Return the line that closes a fence inside an item, though the code may have been pasted without indent.

    None where the fence ends with the item. `unclosed` holds fences known to have no end, so that none is sought twice.
    """
    if any(fence.startswith(known) for known in unclosed):
        return None
    for index in range(start + 1, len(lines)):
        line = lines[index]
        if _closes(line, fence):
            return index
        if _indent(line) < minimum and _marker(line):
            return None
    unclosed.add(fence)
    return None


def _item_lines(lines: Sequence[str], marker: _Marker) -> list[str]:
    """Return an item's further lines without its indent, which the first of them shows."""
    minimum = marker.indent + NESTED_INDENT
    indents = (_indent(line) for line in lines if not _is_blank(line))
    depth = min(marker.content_indent, next((indent for indent in indents if indent >= minimum), minimum))
    return [line[min(depth, _indent(line)) :] for line in lines]


def _marker(line: str, *, needs_content: bool = False, follows: int | None = None) -> _Marker | None:
    """Return the marker at a line's start; `follows` is the number that goes on with the list before it."""
    found = _MARKER.match(line)
    if found is None:
        return None
    number = None if found[2] is None else int(found[2])
    if number is not None and number != follows and _DATE.match(line):
        return None
    content = line[found.end() :].lstrip(" \t")
    if needs_content and not content:
        return None
    gap = len(line) - found.end() - len(content)
    content_indent = found.end() + (gap if 1 <= gap <= CODE_INDENT else 1)
    return _Marker(len(found[1]), number, content_indent, content)


# -- Tables -----------------------------------------------------------------------------------------------------------


def _is_table_at(lines: Sequence[str], index: int) -> bool:
    if "|" not in lines[index] or index + 1 == len(lines):
        return False
    rule = lines[index + 1]
    if "|" not in rule or "-" not in rule:
        return False
    cells = _cells(rule)
    if not all(_RULE_CELL.fullmatch(cell) for cell in cells):
        return False
    return len(cells) in (len(_cells(lines[index])), len(_cells(lines[index], keeps_code=False)))


def _cells(line: str, *, keeps_code: bool = True) -> list[str]:
    """Return the cells of a row. A pipe after a backslash, or inside code, is a sign and divides nothing."""
    text = line.strip()
    spans = code_spans(text) if keeps_code else []
    cells: list[str] = []
    start = 0
    span = 0
    for mark in _CELL_MARK.finditer(text):
        while span < len(spans) and spans[span][1] <= mark.start():
            span += 1
        is_in_code = span < len(spans) and spans[span][0] < mark.start()
        if mark[0] == "|" and not is_in_code:
            cells.append(text[start : mark.start()])
            start = mark.end()
    cells.append(text[start:])
    if text.startswith("|"):
        del cells[0]
    if len(cells) > 1 and not cells[-1].strip():
        del cells[-1]
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _row(line: str, width: int) -> tuple[str, ...]:
    cells = _cells(line)
    if len(cells) < width:  # a lone backtick in two cells is no code
        bare = _cells(line, keeps_code=False)
        cells = bare if len(bare) == width else cells
    if len(cells) > width:
        cells = [*cells[: width - 1], " | ".join(cells[width - 1 :])]
    return (*cells, *[""] * (width - len(cells)))


def _alignment(rule: str) -> str:
    if rule.endswith(":"):
        return "center" if rule.startswith(":") else "right"
    return "left" if rule.startswith(":") else ""


# -- Lines ------------------------------------------------------------------------------------------------------------


def _is_blank(line: str) -> bool:
    return not line or line.isspace()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _with_spaces(line: str) -> str:
    text = line.lstrip(" \t")
    return line[: len(line) - len(text)].expandtabs(4) + text


def _unquoted(line: str) -> str:
    return _QUOTE_MARK.sub("", line, count=1)


def _fence(line: str) -> str | None:
    found = _FENCE.match(line)
    return (found[1] or found[3]) if found else None


def _closes(line: str, fence: str) -> bool:
    marks = line.strip()
    return len(marks) >= len(fence) and marks == fence[0] * len(marks)


def _is_rule(line: str) -> bool:
    marks = "".join(line.split())
    return len(marks) >= 3 and marks[0] in "-*_" and marks == marks[0] * len(marks)
