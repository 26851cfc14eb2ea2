"""Lists, tables and paragraphs of a section → the items of one of our list fields. Pure text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from incidents.documents.cleaning import PEOPLE, Dropped, remains_of_template, without_owner
from incidents.documents.outline import Block, is_item
from incidents.documents.tables import parse_table, row_items
from incidents.documents.vocabulary import heading_vocabulary

_MARKER = re.compile(r"^(\s*)(?:[-*+]|\d{1,3}[.)])(?:(\s{1,4})|$)")
_BOX = re.compile(
    r"^(\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)?)(?:\[[ xX✓✔-]\]|[☐☑☒✅✔✓❌⬜🔲⏳⌛🔜🚧🟢🟡🔴])\ufe0f?\s*(?=\S|$)"
)
_TIMED = re.compile(r"^[*_`(\[]*\d{1,2}:\d\d")
_SENTENCE_END = re.compile(r"(?:[.!]|다|[음함임됨])[)*_`]*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Items:
    """Items in order; `remains` is what a table or lead-in says beside them, `dropped` are people and placeholders."""

    items: tuple[str, ...]
    remains: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def list_items(text: str) -> tuple[str, ...]:
    """The items of a Markdown list at its own level, without marker and check box; what is below stays inside.

    Sub-items and paragraphs of an item are moved to its left edge, so that each item is Markdown by itself.
    """
    items: list[list[str]] = []
    indent: int | None = None
    content = 0
    fence = ""
    for line in text.split("\n"):
        found = None if fence else _MARKER.match(line)
        if found and is_item(line) and (indent is None or len(found.group(1)) <= indent + (1 if items else 0)):
            indent = len(found.group(1)) if indent is None else min(indent, len(found.group(1)))
            content = found.end() if line[found.end() :].strip() else len(found.group(1)) + 2
            items.append([line[found.end() :]])
        elif items:
            items[-1].append(line)
        else:
            items.append([line])
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence):
            fence = ""
    return tuple(item for lines in items if (item := _item(lines, content)).strip())


def _item(lines: list[str], content: int) -> str:
    rest = lines[1:]
    depths = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    # Two spaces are enough for people, where Markdown wants the width of the marker.
    shift = min([content, *depths]) if depths else 0
    moved = [line[shift:] if line[:shift].strip() == "" else line for line in rest]
    return without_boxes("\n".join([lines[0], *moved])).strip()


def without_boxes(text: str) -> str:
    """`text` without the check boxes (`[x]`, `☐`) at the beginning of its lines, outside code."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        lines.append(line if fence or mark else _BOX.sub(r"\1", line))
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence):
            fence = ""
    return "\n".join(lines)


def to_items(blocks: Sequence[Block], heading: str = "") -> Items:
    """The items that the blocks of a section hold; `heading` goes before each, for a part of a larger section.

    A list gives its items, a table its rows, a paragraph one item; code belongs to what stands before it.
    """
    items: list[str] = []
    remains: list[str] = []
    dropped: list[Dropped] = []
    prose: list[str] = []
    has_own = False  # whether the last item may take code

    def put(text: str) -> None:
        reason = remains_of_template(text)
        if reason:
            dropped.append(Dropped(reason, text))
            return
        text, owner = without_owner(text)
        if owner:
            dropped.append(Dropped(PEOPLE, owner))
        if text.strip():
            items.append(text.strip())

    for number, block in enumerate(blocks):
        following = blocks[number + 1].kind if number + 1 < len(blocks) else ""
        if block.kind == "list":
            for item in list_items(block.text):
                put(_prefixed(heading, item))
            has_own = True
        elif block.kind == "table":
            for row in row_items(parse_table(block.text), heading_vocabulary()):
                before = len(items)
                put(_prefixed(heading, row.text))
                dropped.extend(Dropped(PEOPLE, person) for person in row.people)
                if row.others:
                    named = items[-1].split("\n")[0] if len(items) > before else row.text
                    remains.append(f"{named} — {'; '.join(row.others)}" if named else "; ".join(row.others))
            has_own = False
        elif heading:
            # A part without a list is one item as a whole: `임시 조치 (01:10)` with its command.
            prose.append(block.text)
        elif block.kind == "code" and has_own and items:
            items[-1] = f"{items[-1]}\n\n{block.text}"
        elif steps := _steps(block):
            for step in steps:
                put(step)
            has_own = True
        elif block.kind == "paragraph" and block.text.rstrip().endswith((":", "：")) and following in ("list", "table"):
            remains.append(block.text)
        else:
            before = len(items)
            put(block.text)
            has_own = len(items) > before
    if prose:
        first = Block("paragraph", prose[0])
        is_text = not prose[0].lstrip().startswith(("```", "~~~", "|", ">", "!"))
        body = "\n\n".join(prose)
        put(f"{heading}: {body}" if is_text and first.text.strip() else f"{heading}\n\n{body}")
        # The parts' own lists come after their text in the document as a rule; keep what order there is.
        if len(items) > 1 and blocks and blocks[0].kind not in ("list", "table"):
            items.insert(0, items.pop())
    return Items(tuple(items), tuple(remains), tuple(dropped))


def _steps(block: Block) -> tuple[str, ...]:
    """The lines of a paragraph or quote that are one step each: all open with a time, or all end like sentences."""
    if block.kind not in ("paragraph", "quote"):
        return ()
    lines = [line.strip().removeprefix(">").strip() for line in block.text.split("\n")]
    lines = [line for line in lines if line]
    if len(lines) < 2 or not (all(map(_TIMED.match, lines)) or all(map(_SENTENCE_END.search, lines))):
        return ()
    return tuple(lines)


def _prefixed(heading: str, item: str) -> str:
    return f"{heading}: {item}" if heading and item.strip() else item
