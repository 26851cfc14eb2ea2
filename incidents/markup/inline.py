"""One paragraph's text → its marks: code, links, emphasis, line breaks. Pure, one pass over the text.

CommonMark's inline rules, but for what Korean records mean: bold may end in a bracket or quote before a particle,
`2*3*4` and `__init__` are text, and so are HTML, `<host>`, tildes and pictures. A mark without its other half is text,
and a link to where no reader should be led stays as it was typed, so no word is ever lost.
"""

import html
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from unicodedata import category as _category
from xml.etree.ElementTree import Element, SubElement

from markdown.util import AtomicString

from incidents.markup.cleaning import harmless_address, printable

MAX_DEPTH = 10  # marks inside marks; deeper ones are shown as typed

_TOKEN = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<name>__(?<![0-9A-Za-z_]__)[0-9A-Za-z]+(?:_[0-9A-Za-z]+)*__(?![0-9A-Za-z_]))"
    r"|(?P<code>`+)"
    r"|(?P<marks>\*+|_+)"
    r"|(?P<open>\[)"
    r"|(?P<close>\])"
    r"|(?P<address><(?:https?://|mailto:)[^\s<>]{1,2000}>)"
    r"|(?P<entity>&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});)"
    r"|(?P<break>\\?\n)"
)
_FIRST_SIGN = re.compile(r"[\\`*_\[\]<&\n]")
_CODE_SIGN = re.compile(r"\\.|`+")
_BACKTICKS = re.compile(r"`+")
_GAP = re.compile(r"[ \t]*\n?[ \t]*")
_ADDRESS_PART = re.compile(r"[^\s\\()<>\x00-\x1f]+")
_ANGLED_ADDRESS = re.compile(r"<([^<>\n]{0,2000})>")
_TITLE = re.compile(r"\"((?:[^\"\\\n]|\\.){0,500})\"|'((?:[^'\\\n]|\\.){0,500})'")
_RESOLVED = re.compile(r"\\([!-/:-@\[-`{-~])|(&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});)")
_MAX_ADDRESS = 2_000  # characters, the common limit of browsers and servers
_MAX_BRACKETS = 8  # open brackets inside an address

# Korean puts a particle right behind a bracket or sign: `**재시도(retry)**였고`, `**C++**와`. These don't end a word:
_NEVER_BEFORE_END = frozenset("/\\*_<")
_NEVER_AFTER_START = frozenset("/\\*_>.,!?:;%…·~")
_BESIDE = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3131-\u318e\u3400-\u9fff\uac00-\ud7a3]")


@dataclass(slots=True)
class _Marks:
    """A run of `*` or `_`: how many are left over, and the emphasis that it closes and opens, innermost first."""

    sign: str
    length: int
    can_open: bool
    can_close: bool
    left: int
    closes: list[str] = field(default_factory=list)
    opens: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Node:
    """A piece of the text, `source[start:end]`. `kind`: text, code, break, marks, bracket, link, link-end."""

    kind: str
    text: str
    start: int
    end: int
    marks: _Marks | None = None
    attributes: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _Bracket:
    """An open bracket: its node, and how many runs of marks stand before it."""

    node: int
    marks: int


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each code span, its backticks included."""
    if "`" not in text:
        return []
    found: list[tuple[int, int]] = []
    closings = _Backticks(text)
    position = 0
    while sign := _CODE_SIGN.search(text, position):
        position = sign.end()
        closing = closings.after(sign) if sign[0][0] == "`" else None
        if closing is not None:
            position = closing + len(sign[0])
            found.append((sign.start(), position))
    return found


def spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of what no sentence's end can stand in: code, links, emphasis; the outermost, in order."""
    found: list[tuple[int, int]] = []
    depth = start = 0
    for node in _nodes(text):
        opens, closes = 0, 0
        if node.kind == "code":
            opens, closes = 1, 1
        elif node.kind == "link":
            opens = 1
        elif node.kind == "link-end":
            closes = 1
        elif node.marks is not None:
            depth -= len(node.marks.closes)
            if depth == 0 and node.marks.closes:
                found.append((start, node.end))
            opens = len(node.marks.opens)
        if depth == 0 and opens:
            start = node.start
        depth += opens - closes
        if depth == 0 and closes:
            found.append((start, node.end))
    return found


def build(parent: Element, text: str) -> None:
    """Put the text into `parent`, in front of the children that it has."""
    children = list(parent)
    for child in children:
        parent.remove(child)
    builder = _Builder(parent)
    for node in _nodes(text):
        builder.add(node)
    builder.finish()
    parent.extend(children)


# -- Reading ----------------------------------------------------------------------------------------------------------


class _Backticks:
    """Where the runs of backticks of a text are, by length."""

    def __init__(self, text: str) -> None:
        self._starts: dict[int, list[int]] = {}
        for run in _BACKTICKS.finditer(text):
            self._starts.setdefault(len(run[0]), []).append(run.start())

    def after(self, run: re.Match[str]) -> int | None:
        """Return the start of the next run as long as this one."""
        starts = self._starts.get(len(run[0]), [])
        index = bisect_left(starts, run.end())
        return starts[index] if index < len(starts) else None


def _nodes(text: str) -> list[_Node]:
    return _Reader(text).read()


class _Reader:
    """Reads one text from left to right. Marks find their halves when a link or the text ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._nodes: list[_Node] = []
        self._marks: list[_Marks] = []
        self._brackets: list[_Bracket] = []
        self._dead_brackets = 0  # the first ones, around a link: links don't nest
        self._backticks: _Backticks | None = None

    def read(self) -> list[_Node]:
        text, position, plain = self._text, 0, 0
        while sign := _FIRST_SIGN.search(text, position):
            token = _TOKEN.match(text, sign.start())
            if token is None:
                position = sign.end()
                continue
            if plain < token.start():
                self._add("text", text[plain : token.start()], plain, token.start())
            position = plain = self._take(token)
        if plain < len(text):
            self._add("text", text[plain:], plain, len(text))
        _pair(self._marks, 0)
        return self._nodes

    def _add(self, kind: str, text: str, start: int, end: int) -> _Node:
        node = _Node(kind, text, start, end)
        self._nodes.append(node)
        return node

    def _take(self, token: re.Match[str]) -> int:
        """Add what a token means, and return where to read on."""
        start, end, text = token.start(), token.end(), token[0]
        match token.lastgroup:
            case "escape":
                self._add("text", text[1], start, end)
            case "entity":
                self._add("text", _character(text), start, end)
            case "code":
                return self._take_code(token)
            case "marks":
                self._take_marks(text, start, end)
            case "open":
                self._brackets.append(_Bracket(len(self._nodes), len(self._marks)))
                self._add("bracket", text, start, end)
            case "close":
                return self._take_closing_bracket(start)
            case "address":
                self._take_address(text, start, end)
            case "break":
                return self._take_break(text, start, end)
            case _:
                self._add("text", text, start, end)
        return end

    def _take_code(self, run: re.Match[str]) -> int:
        self._backticks = self._backticks or _Backticks(self._text)
        closing = self._backticks.after(run)
        if closing is None:
            self._add("text", run[0], run.start(), run.end())
            return run.end()
        code = self._text[run.end() : closing].replace("\n", " ")
        if code.strip(" ") and code[0] == code[-1] == " ":
            code = code[1:-1]
        end = closing + len(run[0])
        self._add("code", code, run.start(), end)
        return end

    def _take_marks(self, run: str, start: int, end: int) -> None:
        can_open, can_close = _flanks(self._text, start, end)
        marks = _Marks(run[0], len(run), can_open, can_close, len(run))
        self._add("marks", "", start, end).marks = marks
        if can_open or can_close:
            self._marks.append(marks)

    def _take_closing_bracket(self, start: int) -> int:
        bracket = self._brackets.pop() if self._brackets else None
        is_dead = len(self._brackets) < self._dead_brackets
        self._dead_brackets = min(self._dead_brackets, len(self._brackets))
        target = None
        if bracket is not None and not is_dead and self._text[self._nodes[bracket.node].end : start].strip():
            target = _target(self._text, start + 1)
        if bracket is None or target is None:
            self._add("text", "]", start, start + 1)
            return start + 1
        attributes, end = target
        _pair(self._marks, bracket.marks)
        opening = self._nodes[bracket.node]
        opening.kind, opening.attributes = "link", attributes  # its text is the "[" that it was
        self._add("link-end", self._text[start:end], start, end)
        self._dead_brackets = len(self._brackets)
        return end

    def _take_address(self, written: str, start: int, end: int) -> None:
        address = harmless_address(_resolve(written[1:-1]))
        if address is None:
            self._add("text", written, start, end)
            return
        self._add("link", "", start, start).attributes = {"href": address}
        self._add("text", written[1:-1], start, end)
        self._add("link-end", "", end, end)

    def _take_break(self, sign: str, start: int, end: int) -> int:
        before = self._nodes[-1] if self._nodes and self._nodes[-1].kind == "text" else None
        is_hard = sign[0] == "\\"
        if before is not None:
            words = before.text.rstrip(" \t")
            is_hard = is_hard or before.text.endswith("  ")
            before.text = words
        self._add("break" if is_hard else "text", "\n", start, end)
        while end < len(self._text) and self._text[end] in " \t":
            end += 1
        return end


def _target(text: str, start: int) -> tuple[dict[str, str], int] | None:
    """Return the attributes of a link and where it ends, if `(address "title")` stands there and leads to no harm."""
    if text[start : start + 1] != "(":
        return None
    position = _skip_gap(text, start + 1)
    angled = _ANGLED_ADDRESS.match(text, position)
    end = angled.end() if angled else _end_of_address(text, position)
    if end is None:
        return None
    written = angled[1] if angled else text[position:end]
    attributes: dict[str, str] = {}
    position = _skip_gap(text, end)
    title = _TITLE.match(text, position) if position > end else None
    if title:
        attributes["title"] = _resolve(title[1] or title[2] or "")
        position = _skip_gap(text, title.end())
    address = harmless_address(_resolve(written)) if text[position : position + 1] == ")" else None
    return None if address is None else (attributes | {"href": address}, position + 1)


def _skip_gap(text: str, position: int) -> int:
    gap = _GAP.match(text, position)
    return gap.end() if gap else position


def _end_of_address(text: str, start: int) -> int | None:
    """Return where an address with its brackets in pairs ends."""
    depth, position = 0, start
    while position < len(text) and position - start <= _MAX_ADDRESS:
        part = _ADDRESS_PART.match(text, position)
        if part:
            position = part.end()
            continue
        sign = text[position]
        if sign == "\\" and position + 1 < len(text):
            position += 2
            continue
        if sign not in "()" or (sign == ")" and depth == 0):
            return position
        depth += 1 if sign == "(" else -1
        if depth > _MAX_BRACKETS:
            return None
        position += 1
    return None


def _resolve(written: str) -> str:
    """Return text with its escapes and entities resolved."""
    return _RESOLVED.sub(lambda found: found[1] or _character(found[2]), written)


def _character(entity: str) -> str:
    """Return the character that an entity names, or the entity where it names none."""
    return printable(html.unescape(entity)) or entity


# -- Emphasis ---------------------------------------------------------------------------------------------------------


def _flanks(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Return whether a run of marks can open and can close emphasis, by the characters beside it."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    is_sign_before, is_sign_after = _is_sign(before), _is_sign(after)
    is_left = not after.isspace() and (not is_sign_after or before.isspace() or is_sign_before)
    is_right = not before.isspace() and (not is_sign_before or after.isspace() or is_sign_after)
    if text[start] == "_":
        return is_left and (not is_right or is_sign_before), is_right and (not is_left or is_sign_after)
    if _is_product(before, after, end - start) or _is_path(before, after, end - start):
        return False, False
    can_open = is_left or (_starts_emphasis(after) and _BESIDE.match(before) is not None)
    can_close = is_right or (_ends_emphasis(before) and _BESIDE.match(after) is not None)
    return can_open, can_close


def _is_product(before: str, after: str, length: int) -> bool:
    """Whether `*` stands between two numbers (`2*3`, `2**3`) or, alone, between two names (`width*height`)."""
    if before.isdigit() and after.isdigit():
        return True
    return length == 1 and before.isascii() and before.isalnum() and after.isascii() and after.isalnum()


def _is_path(before: str, after: str, length: int) -> bool:
    """Whether `*` belongs to a path or a comment: `/var/*`, `src/**/test`, `/* … */`, `*/5`."""
    return "/" in (before, after) if length == 1 else before == after == "/"


def _ends_emphasis(character: str) -> bool:
    return _is_sign(character) and character not in _NEVER_BEFORE_END and _category(character) not in ("Ps", "Pi")


def _starts_emphasis(character: str) -> bool:
    return _is_sign(character) and character not in _NEVER_AFTER_START and _category(character) not in ("Pe", "Pf")


def _is_sign(character: str) -> bool:
    """Whether a character is punctuation or a symbol, as CommonMark means it."""
    return _category(character)[0] in "PS"


def _pair(marks: list[_Marks], bottom: int) -> None:
    """Find the halves of the runs from `bottom` on, and take these runs off the list.

    CommonMark's algorithm: each closing run takes the nearest opening one, and what stands between is text. `floors`
    remembers below which opening run a kind of closing run need not look again, which keeps this linear.
    """
    openers: list[_Marks] = []
    floors: dict[tuple[str, bool, int], int] = {}
    for closer in marks[bottom:]:
        key = (closer.sign, closer.can_open, closer.length % 3)
        while closer.can_close and closer.left:
            found = len(openers) - 1
            floor = floors.get(key, 0)
            while found >= floor and not _match(openers[found], closer):
                found -= 1
            if found < floor:
                floors[key] = len(openers)
                break
            opener = openers[found]
            width = 2 if opener.left >= 2 and closer.left >= 2 else 1
            opener.left -= width
            closer.left -= width
            opener.opens.append(opener.sign * width)
            closer.closes.append(closer.sign * width)
            del openers[found + 1 if opener.left else found :]
            floors = {known: min(value, len(openers)) for known, value in floors.items()}
        if closer.can_open and closer.left:
            openers.append(closer)
    del marks[bottom:]


def _match(opener: _Marks, closer: _Marks) -> bool:
    if opener.sign != closer.sign:
        return False
    if not (opener.can_close or closer.can_open):
        return True
    lengths = opener.length, closer.length
    return sum(lengths) % 3 != 0 or lengths[0] % 3 == lengths[1] % 3 == 0


# -- Building ---------------------------------------------------------------------------------------------------------


class _Builder:
    """Puts nodes into an element. Text is gathered and set once, so that many small pieces cost no more than one."""

    def __init__(self, parent: Element) -> None:
        self._element = parent
        self._outer: list[Element | None] = []  # None for a mark that stands too deep and is shown as typed
        self._depth = 0
        self._pieces: list[str] = []

    def add(self, node: _Node) -> None:
        """Put one node behind the others."""
        match node.kind:
            case "marks" if node.marks is not None:
                for sign in node.marks.closes:
                    self._leave(sign)
                self._pieces.append(node.marks.sign * node.marks.left)
                for sign in reversed(node.marks.opens):
                    self._enter("strong" if len(sign) == 2 else "em", sign, {})
            case "link":
                self._enter("a", node.text, node.attributes or {})
            case "link-end":
                self._leave(node.text)
            case "code":
                self.finish()
                SubElement(self._element, "code").text = AtomicString(node.text)
            case "break":
                self.finish()
                SubElement(self._element, "br")
                self._pieces.append("\n")
            case _:
                self._pieces.append(node.text)

    def finish(self) -> None:
        """Set the text gathered so far."""
        text = "".join(self._pieces)
        self._pieces.clear()
        if text and len(self._element):
            self._element[-1].tail = text
        elif text:
            self._element.text = text

    def _enter(self, tag: str, sign: str, attributes: dict[str, str]) -> None:
        if self._depth == MAX_DEPTH:
            self._pieces.append(sign)
            self._outer.append(None)
            return
        self.finish()
        self._outer.append(self._element)
        self._element = SubElement(self._element, tag, attributes)
        self._depth += 1

    def _leave(self, sign: str) -> None:
        outer = self._outer.pop()
        if outer is None:
            self._pieces.append(sign)
            return
        self.finish()
        self._element = outer
        self._depth -= 1
