"""A list of Markdown items ↔ the text of one input field: an item a line. Pure.

What follows in the same item is indented by two spaces; code fences stay whole even where somebody pasted them
unindented. `read_items(write_items(items)) == items` for every list of items in canonical form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from incidents.record_text import canonical_item

INDENT = "  "
_MARKER = re.compile(r"[-*+](?:[ \t]+|\Z)")
_FENCE = re.compile(r"\s*(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})")
_FENCE_END = re.compile(r"\s*(?P<fence>`{3,}|~{3,})\s*\Z")


def write_items(items: Sequence[str]) -> str:
    """Return the items as lines. An item that itself begins like a list item gets a `- ` before it."""
    return "\n".join(map(_write_item, items))


def _write_item(item: str) -> str:
    first, *rest = canonical_item(item).split("\n")
    if _MARKER.match(first):
        first = f"- {first}"
    return "\n".join([first, *(INDENT + line if line else "" for line in rest)])


def read_items(text: str) -> list[str]:
    """Return the items of an input field, in canonical form and without empty ones.

    A line that starts at the margin starts an item, with or without a list marker. An indented line, and an empty one
    before an indented one, belongs to the item above, as does everything up to the end of a code fence.
    """
    blocks: list[list[str]] = []
    fence = ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if fence:
            blocks[-1].append(line)
            closing = _FENCE_END.match(line)
            if closing and closing["fence"].startswith(fence):
                fence = ""
            continue
        if not line.strip():
            if blocks:
                blocks[-1].append("")
            continue
        if blocks and line[0] in " \t":
            blocks[-1].append(line)
        else:
            marker = _MARKER.match(line)
            blocks.append([line[marker.end() :] if marker else line])
        opening = _FENCE.match(blocks[-1][-1])
        fence = opening["fence"] if opening else ""
    items = (canonical_item("\n".join(_dedent(block))) for block in blocks)
    return [item for item in items if item]


def _dedent(block: list[str]) -> list[str]:
    """Return the item's lines without the indentation that only marks them as belonging to it."""
    first, *rest = block
    rest = [line.replace("\t", INDENT, 1) if line.startswith("\t") else line for line in rest]
    return [first, *(line.removeprefix(INDENT) if line.startswith(INDENT) else line for line in rest)]
