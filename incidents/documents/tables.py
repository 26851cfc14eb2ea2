"""Tables of foreign Markdown: cells, and the labelled values that many a table really is. Pure text."""

import re
from dataclasses import dataclass

from incidents.documents.vocabulary import SURE, HeadingVocabulary, Match, display, fold

_RULE_CELL = re.compile(r"^\s*:?-+:?\s*$")
_BREAK = re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of a table, each row as wide as the widest; `<br>` is a line break."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        return len(self.header)


@dataclass(frozen=True, slots=True)
class RowItem:
    """A table row as a list item, with what its other cells say (`Type: prevent`) and who is named in it."""

    text: str
    others: tuple[str, ...]
    people: tuple[str, ...]


def parse_table(text: str) -> Table:
    """The cells of a Markdown table; a pipe in code or behind a backslash stays in its cell."""
    rows = [split_row(line) for line in text.split("\n") if line.strip()]
    width = max((len(row) for row in rows), default=0)
    rule = next((at for at, row in enumerate(rows) if row and all(_RULE_CELL.match(cell) for cell in row)), None)
    body = [row for row in rows if not (row and all(_RULE_CELL.match(cell) for cell in row))]
    padded = [tuple(row + [""] * (width - len(row))) for row in body]
    if rule == 1 or (rule is None and len(padded) > 1):
        return Table(padded[0], tuple(padded[1:]))
    return Table(("",) * width, tuple(padded))


def split_row(line: str) -> list[str]:
    """The cells of one line of a table."""
    cells: list[str] = []
    cell = ""
    at, code = 0, ""
    line = line.strip()
    while at < len(line):
        sign = line[at]
        if sign == "\\" and at + 1 < len(line) and line[at + 1] == "|":
            cell += "|"
            at += 2
            continue
        if sign == "`":
            run = len(line) - at - len(line[at:].lstrip("`"))
            ticks = "`" * run
            if code == ticks:
                code = ""
            elif not code and ticks in line[at + run :]:
                code = ticks
            cell += ticks
            at += run
            continue
        if sign == "|" and not code:
            cells.append(cell)
            cell = ""
        else:
            cell += sign
        at += 1
    cells.append(cell)
    if line.startswith("|"):
        cells = cells[1:]
    if line.endswith("|") and cells and not cells[-1].strip():
        cells = cells[:-1]
    return [_BREAK.sub("\n", cell).strip() for cell in cells]


def labelled_values(table: Table, vocabulary: HeadingVocabulary) -> tuple[tuple[str, str], ...] | None:
    """(label, value) pairs of a table of facts in document order; None when it is a table of another kind.

    Such tables are two columns wide, four (label, value, label, value: the Korean form), or have a head of labels
    above a single row.
    """
    if _is_list_head(table.header, vocabulary):
        return None
    if table.width == 2:
        rows = list(table.rows)
        head = (fold(table.header[0]), fold(table.header[1]))
        is_generic = head[0] in vocabulary.columns["labels"] and head[1] in vocabulary.columns["values"]
        if not is_generic:
            rows.insert(0, (table.header[0], table.header[1]))
        known = sum(_known(row[0], vocabulary) is not None for row in rows)
        asked = sum(row[0].rstrip("*_ ").endswith("?") for row in rows)
        if rows and (known + asked) * 2 >= len(rows) and (is_generic or known):
            return tuple((row[0], row[1]) for row in rows if row[0].strip() or row[1].strip())
        return None
    if table.width == 4:
        columns = vocabulary.columns
        heads = [fold(head) for head in table.header]
        is_generic = heads[0] in columns["labels"] and heads[1] in columns["values"]
        rows = [row for row in table.rows if any(cell.strip() for cell in row)]
        rows = rows if is_generic else [table.header, *rows]
        labels = [row[at] for row in rows for at in (0, 2) if row[at].strip()]
        known = sum(_known(label, vocabulary) is not None for label in labels)
        if labels and known * 2 >= len(labels) and known >= 2:
            pairs = [(row[at], row[at + 1]) for row in rows for at in (0, 2)]
            # A merged cell is repeated or leaves the rest empty: `| 영향 범위 | … | | |`.
            return tuple((label, value) for label, value in dict.fromkeys(pairs) if label.strip() or value.strip())
    if table.width >= 2 and len(table.rows) == 1:
        known = sum(_known(head, vocabulary) is not None for head in table.header)
        if known * 2 > table.width:
            return tuple(zip(table.header, table.rows[0], strict=True))
    return None


def _known(label: str, vocabulary: HeadingVocabulary) -> Match | None:
    match = vocabulary.match(label, "label") if label.strip() and len(label) <= 90 else None
    return match if match is not None and match.score >= SURE else None


def _is_list_head(header: tuple[str, ...], vocabulary: HeadingVocabulary) -> bool:
    """Whether the columns are those of a list of actions (`Action | Owner | Due`)."""
    heads, columns = [fold(head) for head in header], vocabulary.columns
    return any(head in columns["actions"] for head in heads) and any(
        head in columns["owners"] or head in columns["dues"] for head in heads
    )


def row_items(table: Table, vocabulary: HeadingVocabulary) -> tuple[RowItem, ...]:
    """The rows of a table of actions or factors as items: the column that says what, the rest beside it."""
    heads, columns = [fold(head) for head in table.header], vocabulary.columns
    if not any(heads):
        chosen = _longest(table)
    else:
        ranked = [(order, at) for at, head in enumerate(heads) if (order := columns["actions"].get(head)) is not None]
        chosen = min(ranked)[1] if ranked else _longest(table)
    detail = next((at for at, head in enumerate(heads) if at != chosen and head in columns["details"]), None)
    items: list[RowItem] = []
    for row in table.rows:
        text = row[chosen]
        used = {chosen}
        if detail is not None and row[detail].strip():
            text = f"{text}: {row[detail]}" if text.strip() else row[detail]
            used.add(detail)
        others: list[str] = []
        people: list[str] = []
        for at, cell in enumerate(row):
            if at in used or not cell.strip():
                continue
            if heads[at] in columns["numbers"] and len(cell) <= 4:
                continue
            named = f"{display(table.header[at])}: {cell}" if heads[at] else cell
            (people if heads[at] in columns["owners"] else others).append(" ".join(named.split()))
        items.append(RowItem(text.strip(), tuple(others), tuple(people)))
    return tuple(items)


def _longest(table: Table) -> int:
    lengths = [sum(len(row[at]) for row in table.rows) for at in range(table.width)]
    return lengths.index(max(lengths)) if lengths else 0
