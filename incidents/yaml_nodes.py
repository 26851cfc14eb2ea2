"""YAML as text: a strict reader that guesses nothing and knows every line, and the writing of one scalar. Pure.

YAML 1.1 turns `no`, `on`, `0135`, `12:30:45` and `1_000` into booleans and numbers. Here every scalar stays the text
that stands in the file. Anchors, aliases, tags and merge keys are refused, so that a small file can't grow to a large
one, and so is a key that stands twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from incidents.faults import FaultList
from incidents.plain_text import CONTROL

MAX_DEPTH = 8  # records need 3, checks 4; anything deeper is a mistake or an attack

# libyaml is ten times as fast; the wheels of PyYAML bring it, a build from source may not.
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NULLS = frozenset({"~", "null", "Null", "NULL"})
_QUOTE_HINT = "값 전체를 큰따옴표로 감싸 주십시오."


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value as the text that stands there; `line` is counted from 1. `is_plain`: without quotes, on its line.

    `is_cut`: a ` #` follows on the same line, so that what stands after it is a comment; for an empty value only a `#`
    with no space behind it (`title: #12`), since `title:  # the title` is a comment that was meant.
    """

    text: str
    line: int
    is_plain: bool = False
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple["Node", ...]
    line: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys in the file's order, each once; the line of a key is `keys[name]`."""

    values: dict[str, "Node"]
    keys: dict[str, int]
    line: int


Node = Scalar | Sequence | Mapping


class _RefusedError(Exception):
    """Reading can't go on; the fault is already noted."""


def read_yaml(text: str, faults: FaultList, *, first_line: int = 1) -> Node | None:
    """Return the tree of one YAML document, or None when it is empty or, after noting faults, unreadable.

    `text` has come through plain_text.decode(); `first_line` is the file's line on which it begins.
    """
    lines = text.split("\n")
    # Tabs are refused by YAML itself in most places; other characters would shift its count of lines.
    unclean = [number for number, line in enumerate(lines) if "\t" in line or CONTROL.search(line)]
    for number in unclean:
        name = "탭이" if "\t" in lines[number] else "제어 문자가"
        faults.add(first_line + number, f"{name} 있습니다. 지우거나 빈칸으로 바꾸어 주십시오.")
    if unclean:
        return None
    reader = _Reader(lines, faults, first_line)
    try:
        return reader.read(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        faults.add(*_explain(error, lines, first_line))
    except yaml.YAMLError:
        faults.add(first_line, "YAML 로 읽을 수 없는 문자가 있습니다. 지워 주십시오.")
    except _RefusedError:
        pass
    return None


class _Reader:
    def __init__(self, lines: list[str], faults: FaultList, first_line: int) -> None:
        self.lines = lines
        self.faults = faults
        self.first_line = first_line

    def read(self, events: Iterator[yaml.Event]) -> Node | None:
        tree: Node | None = None
        seen = False
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if seen:
                    self.refuse(event, "YAML 문서가 둘입니다. `---` 로 나누지 말고 하나로 적어 주십시오.")
                seen = True
            elif isinstance(event, yaml.NodeEvent):
                tree = self.node(event, events, depth=0)
        return tree

    def node(self, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            self.refuse(
                event, "앵커(&)와 별칭(*)은 쓰지 않습니다. 값을 그대로 적거나, 글이라면 큰따옴표로 감싸 주십시오."
            )
        if getattr(event, "tag", None):
            self.refuse(event, "YAML 태그(!)는 쓰지 않습니다. 지우거나, 글이라면 큰따옴표로 감싸 주십시오.")
        if depth > MAX_DEPTH:
            self.refuse(event, "너무 깊이 겹쳐 있습니다. 형식을 확인해 주십시오.")
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(event, events, depth)
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(event, events, depth)
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event)
        raise AssertionError(event)

    def sequence(self, start: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Sequence:
        items: list[Node] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self.node(event, events, depth + 1))
        return Sequence(tuple(items), self.line(start))

    def mapping(self, start: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Mapping:
        values: dict[str, Node] = {}
        keys: dict[str, int] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self.node(event, events, depth + 1)
            value = self.node(next(events), events, depth + 1)
            if not isinstance(key, Scalar):
                self.faults.add(key.line, "키는 한 낱말이어야 합니다. 대괄호와 중괄호의 짝을 확인해 주십시오.")
            elif key.text in keys:
                self.faults.add(
                    key.line, f"같은 키가 두 번 있습니다: {key.text} (먼저 {keys[key.text]}행). 하나만 남겨 주십시오."
                )
            else:
                keys[key.text] = key.line
                values[key.text] = value
        return Mapping(values, keys, self.line(start))

    def scalar(self, event: yaml.ScalarEvent) -> Scalar:
        line = self.line(event)
        is_plain = event.style is None or event.style == ""
        if is_plain and event.value in _NULLS:
            self.faults.add(line, f"비운 값은 그냥 비워 둡니다: {event.value}. 글이라면 큰따옴표로 감싸 주십시오.")
        is_cut = False
        end = event.end_mark
        if is_plain and end is not None and end.line < len(self.lines):
            rest = self.lines[end.line][end.column :].lstrip(" ")
            is_cut = rest.startswith("#") if event.value else re.match(r"#[^\s#]", rest) is not None
        return Scalar(str(event.value), line, is_plain, is_cut)

    def line(self, event: yaml.Event) -> int:
        return self.first_line + (event.start_mark.line if event.start_mark is not None else 0)

    def refuse(self, event: yaml.Event, message: str) -> None:
        self.faults.add(self.line(event), message)
        raise _RefusedError


def _explain(error: yaml.MarkedYAMLError, lines: list[str], first_line: int) -> tuple[int, str]:
    """Return (line, what to do) for a syntax error: where the mistake was made, not where the parser noticed it."""
    context, problem = str(error.context or ""), str(error.problem or "")
    mark = error.problem_mark or error.context_mark
    if error.context_mark is not None and ("quoted scalar" in context or "flow" in context):
        mark = error.context_mark
    number = min(int(mark.line), len(lines) - 1) if mark is not None else 0
    source = lines[number]
    value = re.sub(r"^\s*(?:- )?[^:]*: *", "", source)
    if (
        "mapping values are not allowed" in problem
        or "simple key" in context
        or "could not find expected ':'" in problem
    ):
        if ":" in value:
            return first_line + number, f"값에 콜론(:)이 있습니다. {_QUOTE_HINT}"
        while number and not _is_pair(source):
            number -= 1
            source = lines[number]
        if number and not _is_pair(lines[number - 1]):
            return first_line + number - 1, "`키: 값` 꼴이 아닙니다. 콜론(:)과 그 뒤의 빈칸을 확인해 주십시오."
        return first_line + number, f"들여쓰기나 콜론(:)이 맞지 않습니다. 값에 콜론이 있으면 {_QUOTE_HINT}"
    if "quoted scalar" in context:
        return (
            first_line + number,
            "따옴표가 닫히지 않았거나 그 안의 \\ 가 잘못됐습니다. 짝을 맞추고 \\ 는 \\\\ 로 적어 주십시오.",
        )
    if "flow" in context:
        return first_line + number, f"괄호의 짝이나 쉼표가 맞지 않습니다. 글에 괄호나 쉼표가 있으면 {_QUOTE_HINT}"
    if value[:1] in {'"', "'"}:
        return (
            first_line + number,
            '닫는 따옴표 뒤에 글이 더 있습니다. 값 전체를 큰따옴표로 감싸고 안의 큰따옴표는 \\" 로 적어 주십시오.',
        )
    if value[:1] and value[:1] in "[]{},&*!|>%@`":
        return first_line + number, f"값이 {value[0]} 기호로 시작합니다. {_QUOTE_HINT}"
    return (
        first_line + number,
        "머리말을 읽을 수 없습니다. 들여쓰기를 맞추고, 기호로 시작하거나 콜론이 든 값은 큰따옴표로 감싸 주십시오.",
    )


def _is_pair(line: str) -> bool:
    """Return whether a line holds a key and a colon, or nothing that could be meant as one."""
    text = line.strip()
    return not text or text.startswith(("#", "-")) or re.match(r"[^:]+:(?:\s|\Z)", text) is not None


# What a plain scalar may not begin with or hold, in block and in flow style (YAML 1.2.2, 7.3.3; PyYAML alone trips
# over a question mark in flow style).
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")
_FLOW_INDICATORS = re.compile(r"[,?\[\]{}]")
# Words that some YAML reader takes for something else than text: YAML 1.1 booleans, nulls, `=` and `<<`, and the
# numbers of 1.1 (underscores, sexagesimal, 0b) and 1.2 (0o, exponents), dates and times.
_SPECIAL_WORDS = re.compile(r"(?i:y|yes|n|no|true|false|on|off|null|~|=|<<)\Z")
_SPECIAL_NUMBERS = re.compile(
    r"[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_]*(?::[0-5]?[0-9])*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?"
    r"|\.[0-9_]+(?:e[-+]?[0-9]+)?|\.inf|\.nan)\Z|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9:.+\-Zz ]*)?\Z",
    re.IGNORECASE,
)


def needs_quotes(text: str, *, in_flow: bool = False) -> bool:
    """Return whether one line of text must stand in quotes so that every YAML reader takes it for that text."""
    return (
        not text
        or text[0] in _INDICATORS
        or text != text.strip()
        or "\n" in text
        or ": " in text
        or " #" in text
        or text.endswith(":")
        or "\t" in text
        or text.startswith(("...", "="))
        or (in_flow and (_FLOW_INDICATORS.search(text) is not None or ":" in text))
        or _SPECIAL_WORDS.match(text) is not None
        or _SPECIAL_NUMBERS.match(text) is not None
    )


def write_scalar(text: str, *, in_flow: bool = False) -> str:
    """Return text as a YAML scalar on one line: plain where that is safe everywhere, else in double quotes."""
    return quoted(text) if needs_quotes(text, in_flow=in_flow) else text


def quoted(text: str) -> str:
    """Return text in double quotes on one line; line breaks and tabs become `\\n` and `\\t`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
