"""The Markdown below a record's front matter: headings ↔ fields, and what a text may not hold. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from incidents.faults import FaultList
from incidents.plain_text import CONTROL, canonical_text, describe_control

# Field → heading, in the order of a record.
SECTION_LABELS: dict[str, str] = {
    "symptom": "증상",
    "trigger": "촉발",
    "cause": "원인",
    "contributing_factors": "기여 요인",
    "detection": "감지",
    "actions": "조치",
    "follow_ups": "후속 조치",
    "lesson": "교훈",
}
LIST_SECTIONS = frozenset({"contributing_factors", "actions", "follow_ups"})
REQUIRED_SECTIONS = ("symptom", "cause", "actions", "lesson")  # of a published record

MAX_SECTION_CHARS = 50_000
MAX_ITEMS = 200

_HEADING_IN_TEXT = "글 안에는 제목 줄을 쓸 수 없습니다. 문장으로 고치거나 줄 앞의 # 에 \\ 를 붙여 주십시오."
_OPEN_FENCE = "코드 블록이 닫히지 않았습니다. 여는 줄과 같은 표시만 있는 줄을 끝에 더해 주십시오."

_FIELDS = {label: field for field, label in SECTION_LABELS.items()}
_ALLOWED = ", ".join(f"## {label}" for label in _FIELDS)

# A fence may open behind the markers of list items: "- ```".
_FENCE_OPEN = re.compile(r"\s*(?:(?:[-*+]|[0-9]{1,9}[.)])\s+)*(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})")
_FENCE_CLOSE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})\s*\Z")
# "## 원인", "##원인", "# 원인", but not "#channel": one sign with no space is text.
_HEADING = re.compile(r" {0,3}(?:#+(?:\s|\Z)|##+[^\s#])")
_TITLE = re.compile(r" {0,3}#+\s*(?P<title>.*?)\s*#*\s*\Z")
_UNDERLINE = re.compile(r" {0,3}(?:={2,}|-{2,})\s*\Z")
_BOLD_LABEL = re.compile(r"\s*(?:\*\*|__)\s*(?:" + "|".join(_FIELDS) + r")\s*:?\s*(?:\*\*|__)\s*:?\s*\Z")
_BARE_LABEL = re.compile(r" {0,3}#(?:" + "|".join(_FIELDS) + r")\s*\Z")
_ITEM = re.compile(r"[-*+](?:\s+|\Z)")
_NUMBERED = re.compile(r"[0-9]{1,9}[.)]\s")


@dataclass(frozen=True, slots=True)
class Sections:
    """What was read: prose by field, items by field, and the line of each heading."""

    prose: Mapping[str, str]
    items: Mapping[str, tuple[str, ...]]
    lines: Mapping[str, int]
    has_heading_faults: bool


def _fences(lines: Sequence[str]) -> tuple[list[bool], int | None]:
    """Return for each line whether it belongs to a code fence, and the index of a fence that stays open."""
    fence, opened = "", 0
    fenced = []
    for index, line in enumerate(lines):
        if fence:
            closing = _FENCE_CLOSE.match(line)
            if closing and closing["fence"].startswith(fence):
                fence = ""
            fenced.append(True)
        else:
            opening = _FENCE_OPEN.match(line)
            if opening:
                fence, opened = opening["fence"], index
            fenced.append(opening is not None)
    return fenced, opened if fence else None


def _is_heading(line: str, before: str) -> bool:
    """Return whether a Markdown reader, or a person, takes this line, or the one `before` it, for a heading."""
    if _HEADING.match(line) or _BOLD_LABEL.match(line) or _BARE_LABEL.match(line):
        return True
    return bool(before.strip() and "|" not in before and _UNDERLINE.match(line))


def text_problems(text: str) -> list[tuple[int, str]]:
    """Return what keeps a Markdown text from standing in a record, as (line from 0, Korean sentence).

    A text is the whole of one section, or one item of a list. Headings belong to the record and may not stand in it;
    a code fence must be closed; control characters are refused. Admin and files share this rule, so that whatever can
    be saved can be exported and read again.
    """
    problems = []
    lines = text.split("\n")
    fenced, opened = _fences(lines)
    before = ""
    for index, line in enumerate(lines):
        if found := CONTROL.search(line):
            problems.append((index, f"{describe_control(found[0])} 지워 주십시오."))
        if not fenced[index] and _is_heading(line, before):
            problems.append((index, _HEADING_IN_TEXT))
        before = "" if fenced[index] else line
    if opened is not None:
        problems.append((opened, _OPEN_FENCE))
    if len(text) > MAX_SECTION_CHARS:
        problems.append((0, f"글이 너무 깁니다({len(text):,}자). {MAX_SECTION_CHARS:,}자 아래로 줄여 주십시오."))
    return problems


def read_sections(lines: Sequence[str], faults: FaultList, *, first_line: int) -> Sections:
    """Return the sections of a record's body, noting every fault; `lines` begin on the file's `first_line`."""
    blocks, has_heading_faults = _split(lines, faults, first_line)
    prose: dict[str, str] = {}
    items: dict[str, tuple[str, ...]] = {}
    heading_lines: dict[str, int] = {}
    for block in blocks:
        field = block.field
        heading_lines[field] = block.line
        if not any(line.strip() for line in block.lines):
            if block.is_cut:
                continue
            faults.add(block.line, f"빈 절입니다: ## {SECTION_LABELS[field]}. 내용이 없으면 제목째 지워 주십시오.")
        elif field in LIST_SECTIONS:
            items[field] = _read_items(block, faults)
        else:
            text = canonical_text("\n".join(block.lines))
            start = next(number for number, line in enumerate(block.lines, start=1) if line.strip())
            _note_problems(text, block.line + start, faults)
            prose[field] = text
    return Sections(prose, items, heading_lines, has_heading_faults)


@dataclass(slots=True)
class _Block:
    field: str
    line: int  # of the heading
    lines: list[str]  # below it
    fenced: list[bool]
    is_cut: bool = False  # by a heading that is refused


def _split(lines: Sequence[str], faults: FaultList, first_line: int) -> tuple[list[_Block], bool]:
    fenced, opened = _fences(lines)
    if opened is not None:
        faults.add(first_line + opened, _OPEN_FENCE)
    has_faults = opened is not None
    blocks: list[_Block] = []
    seen: dict[str, int] = {}
    order = list(SECTION_LABELS)
    furthest = -1
    # What stands below a heading that is refused is not read: it would only bring faults that follow from the first.
    block: _Block | None = _Block("", first_line, [], [])
    before = ""
    for index, line in enumerate(lines):
        number = first_line + index
        if fenced[index] or not _is_heading(line, before):
            if block is not None and not block.field and line.strip():
                faults.add(
                    number, f"첫 제목보다 앞에 글이 있습니다. 제목 아래로 옮겨 주십시오. 쓸 수 있는 제목: {_ALLOWED}"
                )
                block = None
            if block is not None:
                block.lines.append(line)
                block.fenced.append(fenced[index])
            before = "" if fenced[index] else line
            continue
        before = ""
        label = line.removeprefix("## ").rstrip() if line.startswith("## ") else ""
        field = _FIELDS.get(label, "")
        if not field:
            faults.add(number, _explain_heading(line))
        elif field in seen:
            faults.add(number, f"같은 제목이 두 번 있습니다: ## {label} (먼저 {seen[field]}행). 한 절로 합쳐 주십시오.")
            field = ""
        elif order.index(field) < furthest:
            faults.add(number, f"제목의 차례가 다릅니다: ## {label}. 차례대로 옮겨 주십시오: {_ALLOWED}")
            seen[field] = number
            field = ""
        if not field:
            has_faults = True
            if block is not None:
                block.is_cut = True
            block = None
            continue
        seen[field] = number
        furthest = order.index(field)
        block = _Block(field, number, [], [])
        blocks.append(block)
    if opened is not None and blocks:
        blocks.pop()  # it holds the rest of the file
    return blocks, has_faults


def _explain_heading(line: str) -> str:
    if _UNDERLINE.match(line):
        return f"밑줄로 만든 제목은 쓰지 않습니다. 제목은 다음 가운데 하나여야 합니다: {_ALLOWED}"
    title = _TITLE.sub(r"\g<title>", line[:100]).strip("*_: ")
    title = title if len(title) <= 40 else title[:40] + "…"
    near = get_close_matches(title, _FIELDS, n=1, cutoff=0.3)
    advice = f" 혹시 ## {near[0]} 입니까?" if near else ""
    return f"알 수 없는 제목입니다: {title or '(빈 제목)'}.{advice} 제목은 다음 가운데 하나여야 합니다: {_ALLOWED}"


def _read_items(block: _Block, faults: FaultList) -> tuple[str, ...]:
    found: list[tuple[int, list[str]]] = []
    complaints = 0
    for offset, (line, is_fenced) in enumerate(zip(block.lines, block.fenced, strict=True), start=1):
        number = block.line + offset
        marker = _ITEM.match(line)
        if marker and (not is_fenced or _opens_item(block, offset - 1)):
            found.append((number, [line[marker.end() :]]))
        elif not line.strip():
            if found:
                found[-1][1].append("")
        elif found and line.startswith("  "):
            found[-1][1].append(line[2:])
        elif not complaints:
            complaints += 1
            faults.add(number, _explain_item(line, is_fenced, bool(found)))
    items = []
    for number, lines in found:
        text = canonical_text("\n".join(lines)).lstrip()
        if not text:
            faults.add(number, "빈 항목입니다. 내용을 적거나 줄을 지워 주십시오.")
            continue
        _note_problems(text, number + next(i for i, line in enumerate(lines) if line.strip()), faults)
        items.append(text)
    if len(items) > MAX_ITEMS:
        faults.add(block.line, f"항목이 너무 많습니다({len(items)}개). {MAX_ITEMS}개까지 적을 수 있습니다.")
    return tuple(items)


def _opens_item(block: _Block, index: int) -> bool:
    """Return whether this fenced line is one that opens its fence ("- ```"), not one inside it."""
    return not block.fenced[index - 1] if index else True


def _explain_item(line: str, is_fenced: bool, has_items: bool) -> str:
    if line.startswith("\t"):
        return "탭으로 들여 썼습니다. 탭 대신 빈칸 두 개를 써 주십시오."
    if is_fenced:
        return "목록 안의 코드 블록입니다. 항목에 딸리도록 모든 줄을 두 칸 들여 써 주십시오."
    if _NUMBERED.match(line):
        return "번호 목록은 쓰지 않습니다. 항목마다 번호 대신 `- ` 를 붙여 주십시오."
    if has_items:
        return "목록 항목이 아닌 줄입니다. 앞 항목에 이어지면 두 칸 들여 쓰고, 새 항목이면 `- ` 를 붙여 주십시오."
    return "이 절은 목록입니다. 항목마다 줄 앞에 `- ` 를 붙여 주십시오."


def _note_problems(text: str, first_line: int, faults: FaultList) -> None:
    for offset, message in text_problems(text):
        faults.add(first_line + offset, message)


def write_sections(prose: Mapping[str, str], items: Mapping[str, Sequence[str]]) -> str:
    """Return the body of a record: each section that has a text, an empty line before its heading."""
    parts = []
    for field, label in SECTION_LABELS.items():
        if field in LIST_SECTIONS:
            text = "\n".join(map(_write_item, items.get(field, ())))
        else:
            text = canonical_text(prose.get(field, ""))
        if text:
            parts.append(f"\n## {label}\n{text}\n")
    return "".join(parts)


def canonical_item(text: str) -> str:
    """Return one item of a list in its stored form: as a text, and with no white space at its beginning."""
    return canonical_text(text).lstrip()


def _write_item(text: str) -> str:
    lines = canonical_item(text).split("\n")
    return "- " + "\n".join([lines[0], *(f"  {line}" if line else "" for line in lines[1:])])
