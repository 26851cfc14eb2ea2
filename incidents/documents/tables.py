"""Tables of foreign Markdown: cells, and the labelled values that many a table really is. Pure text."""

import re
from dataclasses import dataclass

from incidents.documents.vocabulary import HeadingVocabulary, Match, display, fold

_RULE_CELL = re.compile(r"^\s*:?-+:?\s*$")
_BREAK = re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)
# Heads of the two columns of a table of facts.
_LABEL_HEADS = frozenset(
    fold(text)
    for text in (
        "",
        "항목",
        "구분",
        "분류",
        "내용 구분",
        "question",
        "field",
        "item",
        "key",
        "name",
        "property",
        "attribute",
        "metric",
        "질문",
        "키",
        "항 목",
        "요소",
    )
)
_VALUE_HEADS = frozenset(
    fold(text)
    for text in (
        "",
        "내용",
        "값",
        "설명",
        "세부 내용",
        "상세",
        "상세 내용",
        "답",
        "답변",
        "answer",
        "value",
        "description",
        "detail",
        "details",
        "비고",
        "내 용",
        "response",
        "결과",
    )
)
# Heads of the column that says what is to be done (or was done), the best first.
_ACTION_HEADS = (
    "action item", "action items", "action", "actions", "task", "what", "follow up", "remediation", "measure", "factor", "finding", "description", "item", "title", "issue", "summary", "details", "todo",
    "조치 내용", "조치 사항", "조치", "대책", "재발 방지 대책", "개선 사항", "개선 과제", "과제", "할 일", "액션 아이템", "작업", "내용", "세부 내용", "상세 내용", "추진 내용", "개선 내용", "요인", "항목", "제목", "업무",
)  # fmt: skip
_ACTION_ORDER = {fold(head): order for order, head in reversed(list(enumerate(_ACTION_HEADS)))}
_DETAIL_HEADS = frozenset(
    fold(head)
    for head in (
        "details",
        "detail",
        "description",
        "notes on action",
        "세부 내용",
        "상세 내용",
        "상세",
        "세부",
        "설명",
        "내용",
    )
)
_NUMBER_HEADS = frozenset(fold(head) for head in ("#", "no", "no.", "nr", "번호", "순번", "연번", "순서", "id")) | {""}


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
    if table.width == 2:
        rows = list(table.rows)
        head = (fold(table.header[0]), fold(table.header[1]))
        is_generic = head[0] in _LABEL_HEADS and head[1] in _VALUE_HEADS
        if not is_generic:
            rows.insert(0, (table.header[0], table.header[1]))
        known = sum(_known(row[0], vocabulary) is not None for row in rows)
        asked = sum(row[0].rstrip("*_ ").endswith("?") for row in rows)
        if rows and (known + asked) * 2 >= len(rows) and (is_generic or known):
            return tuple((row[0], row[1]) for row in rows if row[0].strip() or row[1].strip())
        return None
    if table.width == 4:
        rows = [row for row in (table.header, *table.rows) if any(cell.strip() for cell in row)]
        labels = [row[at] for row in rows for at in (0, 2) if row[at].strip()]
        known = sum(_known(label, vocabulary) is not None for label in labels)
        if labels and known * 2 >= len(labels) and known >= 2 and not _is_list_head(table.header):
            pairs = [(row[at], row[at + 1]) for row in rows for at in (0, 2)]
            # A merged cell is repeated or leaves the rest empty: `| 영향 범위 | … | | |`.
            return tuple((label, value) for label, value in dict.fromkeys(pairs) if label.strip() or value.strip())
    if table.width >= 2 and len(table.rows) == 1:
        known = sum(_known(head, vocabulary) is not None for head in table.header)
        if known * 2 > table.width and not _is_list_head(table.header):
            return tuple(zip(table.header, table.rows[0], strict=True))
    return None


def _known(label: str, vocabulary: HeadingVocabulary) -> Match | None:
    match = vocabulary.match(label, "label") if label.strip() and len(label) <= 90 else None
    return match if match is not None and match.score >= 80 else None


def _is_list_head(header: tuple[str, ...]) -> bool:
    """Whether the columns are those of a list of actions (`Action | Owner | Due`)."""
    heads = [fold(head) for head in header]
    return any(head in _ACTION_ORDER for head in heads) and any(
        head in _OWNER_HEADS or head in _DUE_HEADS for head in heads
    )


_OWNER_HEADS = frozenset(
    fold(head)
    for head in ("owner", "owners", "assignee", "assigned to", "responsible", "dri", "who", "team", "담당", "담당자", "담당 팀", "담당 부서", "책임자", "주관", "주관 부서", "작업자", "부서")
)  # fmt: skip
_DUE_HEADS = frozenset(
    fold(head)
    for head in (
        "due",
        "due date",
        "deadline",
        "eta",
        "기한",
        "완료 예정",
        "완료 예정일",
        "예정일",
        "일정",
        "완료일",
        "목표일",
    )
)


def row_items(table: Table, is_person: bool = True) -> tuple[RowItem, ...]:
    """The rows of a table of actions or factors as items: the column that says what, the rest beside it."""
    heads = [fold(head) for head in table.header]
    if not any(heads):
        chosen = _longest(table)
    else:
        ranked = [(_ACTION_ORDER[head], at) for at, head in enumerate(heads) if head in _ACTION_ORDER]
        chosen = min(ranked)[1] if ranked else _longest(table)
    detail = next((at for at, head in enumerate(heads) if at != chosen and head in _DETAIL_HEADS), None)
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
            if heads[at] in _NUMBER_HEADS and len(cell) <= 4:
                continue
            named = f"{display(table.header[at])}: {cell}" if heads[at] else cell
            (people if heads[at] in _OWNER_HEADS and is_person else others).append(" ".join(named.split()))
        items.append(RowItem(text.strip(), tuple(others), tuple(people)))
    return tuple(items)


def _longest(table: Table) -> int:
    lengths = [sum(len(row[at]) for row in table.rows) for at in range(table.width)]
    return lengths.index(max(lengths)) if lengths else 0
