"""Markdown → a tree of sections, each with its heading and its blocks. Pure text.

Unlike a Markdown parser this keeps every block's source text and also sees the headings that people write without `#`:
a bold line alone, a known word behind `□` or a number, `**Impact:** …` before a sentence. `#` in a fence is no heading,
a comment is no text, and `2021. 12. 1.` is a date and no list.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from incidents.documents.vocabulary import display, fold

BlockKind = Literal["paragraph", "list", "table", "code", "quote", "rule"]
# Says whether a text is, word for word, a known heading, and whether one that text follows (not "Author", "Date").
Known = Callable[[str], Literal["", "field", "value"]]

# Real headings have the levels 1–6; what only looks like one stands below the last real one. Signs and numbers before
# headings (`□`, `1.`, `가.`) rank in the order in which a document first uses them.
BOLD_LEVEL: Final = 8
LABEL_LEVEL: Final = 90

_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_ATX_TIGHT = re.compile(r"^(#{2,6})([^\s#].*)$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})([^`]*)$")
_RULE = re.compile(r"^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_ITEM = re.compile(
    r"^(\s*)([-*+•·∙◦○●▪■▶►‣※❏❖➤➢☐☑☒✓✔]|[\uf000-\uf0ff]|ㅇ(?=\s)|\d{1,3}[.)]|[①-⑳])(?:(\s+)(.*)|$)", re.DOTALL
)
_GLUED_ITEM = re.compile(r"^(\s*)([•∙◦●▪‣①-⑳])(\S.*)$", re.DOTALL)
_DATE_AHEAD = re.compile(r"^\s*\d{1,4}\.\s*\d{1,2}\.")
_QUOTE = re.compile(r"^ {0,3}>\s?(.*)$")
_TABLE_LINE = re.compile(r"^\s*\|.*\|\s*$|^\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?)?\s*$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_BOLD_LINE = re.compile(r"^\s{0,3}(\*\*|__)(?=\S)(.{1,160}?)(?<=\S)\1\s*[:：]?\s*$")
_BOLD_LABEL = re.compile(r"^\s{0,3}(\*\*|__)(?=\S)([^*_\n]{1,80}?)\s*(?:[:：]\s*\1|\1\s*[:：])\s*(\S.*)$", re.DOTALL)
_MORE_LABELS = re.compile(r"(?:\*\*|__)[^*_\n]{1,80}(?:[:：]\s*(?:\*\*|__)|(?:\*\*|__)\s*[:：])")
_PLAIN_LABEL = re.compile(r"^\s{0,3}([^\s:：|`*_>#][^:：|`\n]{0,39}?)\s*[:：]\s+(\S.*)$", re.DOTALL)
_MORE_PLAIN_LABELS = re.compile(r"\s[/|·]\s+[^\s:：/|]{1,20}\s*[:：]")
_MARKED = re.compile(
    r"^\s{0,3}(?:[□■▣◆◇▶►◎●○※❏]|ㅇ(?=\s)|\d{1,2}(?:\.\d{1,2})*[.)]?(?=\s)|[가-하][.)]|[①-⑳]|[ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ]\.?|【|\[|<|《)\s*\S"
)
_OPEN: Final = "<!--"
_CLOSE: Final = "-->"
_FRONT_KEY = re.compile(r"^([A-Za-z가-힣][\w가-힣 .-]{0,40}?)\s*:(?:\s+(.*))?$")
_FRONT_LINES: Final = 200


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a section: its source text, without the blank lines around it."""

    kind: BlockKind
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading (as it stands, `""` for the text before the first one) with its own blocks and its subsections."""

    heading: str
    level: int
    blocks: tuple[Block, ...] = ()
    children: tuple["Section", ...] = ()

    @property
    def name(self) -> str:
        """The heading as an editor reads it."""
        return display(self.heading)

    def walk(self) -> Iterator["Section"]:
        """This section and all below it, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Outline:
    """A document: its front matter as labelled values, and the root section (level 0, no heading)."""

    front_matter: tuple[tuple[str, str], ...]
    root: Section
    has_real_headings: bool
    comments: tuple[str, ...]
    unclosed_fence: bool


@dataclass(frozen=True, slots=True)
class _Heading:
    text: str
    level: int
    # For how much a label speaks: "all" up to the next heading, "own" only for its paragraph, "lone" for its paragraph
    # unless the document is written in such labels.
    reach: Literal["all", "own", "lone"] = "all"
    # The sign before a heading without `#`, `""` for a bold or bare one.
    sign: str = ""


class TooManySectionsError(ValueError):
    """More headings than a document written by people has."""


def outline(markdown: str, known: Known, *, most_sections: int = 2_000) -> Outline:
    """The tree of a document in LF and NFC; raises `TooManySectionsError`.

    `known` decides whether a line that merely could be a heading is one.
    """
    front_matter, body = split_front_matter(markdown)
    lines, comments = _without_comments(body.split("\n"))
    pieces, unclosed = _pieces(lines, known)
    pieces = _plain_labels_open(_ranked(pieces))
    count = sum(isinstance(piece, _Heading) for piece in pieces)
    if count > most_sections:
        raise TooManySectionsError(count)
    real = any(isinstance(piece, _Heading) and piece.level <= 6 for piece in pieces)
    return Outline(front_matter, _tree(pieces), real, comments, unclosed)


def split_front_matter(markdown: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """The labelled values of a `---` (or `+++`) front matter, and the text after it.

    Read line by line, not as YAML: a value is text here, and odd front matter must neither fail nor vanish.
    """
    lines = markdown.lstrip("\n").split("\n")
    fence = lines[0].strip()
    if fence not in ("---", "+++"):
        return (), markdown
    end = next((at for at, line in enumerate(lines[1:_FRONT_LINES], 1) if line.strip() in (fence, "...")), 0)
    pairs: list[tuple[str, str]] = []
    for line in lines[1:end]:
        key = _FRONT_KEY.match(line.replace(" = ", ": ", 1) if fence == "+++" else line)
        if key:
            pairs.append((key.group(1).strip(), _unquoted(key.group(2) or "")))
        elif pairs and line.strip() and not line.lstrip().startswith("#"):
            label, value = pairs[-1]
            addition = _unquoted(line.strip().removeprefix("- "))
            pairs[-1] = (
                label,
                f"{value}, {addition}" if value and line.lstrip().startswith("- ") else f"{value} {addition}".strip(),
            )
        elif line.strip() and not line.lstrip().startswith("#"):
            return (), markdown
    if not end or not pairs:
        return (), markdown
    return tuple(pairs), "\n".join(lines[end + 1 :])


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    if value in (">", "|", ">-", "|-"):
        return ""
    return value[1:-1].strip() if value.startswith("[") and value.endswith("]") else value


def _without_comments(lines: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Lines without HTML comments outside code; an unclosed one is text, so that nothing vanishes."""
    kept: list[str] = []
    comments: list[str] = []
    last_close = max((at for at, line in enumerate(lines) if _CLOSE in line), default=-1)
    fence = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = _fence_after(fence, line)
        if fence or _OPEN not in line:
            kept.append(line)
            at += 1
            continue
        shown, rest = _without_closed_comments(line, comments)
        may_close = bool(rest) and at < last_close
        end = next((later for later in range(at + 1, len(lines)) if _CLOSE in lines[later]), 0) if may_close else 0
        if rest and end:
            last, _, after = lines[end].partition(_CLOSE)
            comments.append("\n".join([rest.removeprefix(_OPEN), *lines[at + 1 : end], last]).strip())
            # What stands behind the comment is read again: another one may begin there.
            lines[end] = shown + after
            at = end
            continue
        kept.append(shown + rest)
        at += 1
    return kept, tuple(comments)


def _without_closed_comments(line: str, comments: list[str]) -> tuple[str, str]:
    """A line without the comments that it closes itself, and its rest from one that stays open (`""` if none does)."""
    shown: list[str] = []
    at = 0
    while (start := line.find(_OPEN, at)) >= 0:
        if line.count("`", at, start) % 2:  # in a code span
            stop = line.find("`", start)
            if stop < 0:
                break
            shown.append(line[at : stop + 1])
            at = stop + 1
            continue
        end = line.find(_CLOSE, start + len(_OPEN))
        if end < 0:
            return "".join([*shown, line[at:start]]), line[start:]
        shown.append(line[at:start])
        comments.append(line[start + len(_OPEN) : end].strip())
        at = end + len(_CLOSE)
    shown.append(line[at:])
    text = "".join(shown)
    return (text if text.strip() else ""), ""


def _fence_after(fence: str, line: str) -> str:
    """The fence that is open after `line`, given the one that was open before it."""
    found = _FENCE.match(line)
    if not fence:
        return found.group(2) if found else ""
    closes = found and found.group(2).startswith(fence) and not found.group(3).strip()
    return "" if closes else fence


_Piece = _Heading | Block


def _pieces(lines: list[str], known: Known) -> tuple[list[_Piece], bool]:
    """Headings and blocks in document order, and whether a fence was never closed."""
    pieces: list[_Piece] = []
    unclosed = False
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        if _FENCE.match(line):
            end, closed = _fence_end(lines, at)
            unclosed = unclosed or not closed
            pieces.append(Block("code", "\n".join(lines[at:end]).rstrip()))
            at = end
            continue
        heading = _real_heading(line)
        if heading:
            pieces.append(heading)
            at += 1
            continue
        if _RULE.match(line):
            pieces.append(Block("rule", line.strip()))
            at += 1
            continue
        if _is_table(lines, at):
            end = at
            while end < len(lines) and ("|" in lines[end]) and lines[end].strip():
                end += 1
            pieces.append(Block("table", "\n".join(lines[at:end])))
            at = end
            continue
        if _QUOTE.match(line):
            end = at
            while end < len(lines) and _QUOTE.match(lines[end]):
                end += 1
            pieces.append(Block("quote", "\n".join(lines[at:end])))
            at = end
            continue
        marked = _marked_heading(lines, at, known)
        if marked:
            pieces.append(marked)
            at += 1
            continue
        if is_item(line):
            end = _list_end(lines, at, known)
            pieces.append(Block("list", _plain_bullets(lines[at:end])))
            at = end
            continue
        end = _paragraph_end(lines, at, known)
        if end < len(lines) and end > at and _SETEXT.match(lines[end]) and lines[end].strip():
            # The last line of the paragraph is the heading; Markdown takes them all, people mean the one.
            pieces.extend(_paragraph(lines[at : end - 1], known))
            pieces.append(_Heading(lines[end - 1].strip(), 1 if "=" in lines[end] else 2))
            at = end + 1
            continue
        pieces.extend(_paragraph(lines[at:end], known))
        at = end
    return pieces, unclosed


def _fence_end(lines: list[str], at: int) -> tuple[int, bool]:
    fence = _fence_after("", lines[at])
    for end in range(at + 1, len(lines)):
        if not _fence_after(fence, lines[end]):
            return end + 1, True
    return len(lines), False


def _real_heading(line: str) -> _Heading | None:
    found = _ATX.match(line) or _ATX_TIGHT.match(line)
    return _Heading((found.group(2) or "").strip(), len(found.group(1))) if found else None


def _is_table(lines: list[str], at: int) -> bool:
    if "|" not in lines[at]:
        return False
    if _TABLE_LINE.match(lines[at]) and lines[at].count("|") >= 2:
        return True
    return at + 1 < len(lines) and "|" in lines[at + 1] and bool(_TABLE_RULE.match(lines[at + 1]))


def is_item(line: str) -> bool:
    """Whether a line opens a list item; a Korean date at its start (`2021. 12. 1.`) doesn't."""
    if _DATE_AHEAD.match(line) or _RULE.match(line):
        return False
    return bool(_ITEM.match(line) or _GLUED_ITEM.match(line))


def _list_end(lines: list[str], at: int, known: Known) -> int:
    """Where the list that starts at `at` ends: after its items, what is indented under them, and lazy lines."""
    end, fence = at + 1, _fence_after("", lines[at])
    while end < len(lines):
        line = lines[end]
        if fence:
            fence = _fence_after(fence, line)
        elif not line.strip():
            following = next((later for later in range(end, len(lines)) if lines[later].strip()), None)
            if following is None or not (is_item(lines[following]) or lines[following].startswith((" ", "\t"))):
                return end
            if _marked_heading(lines, following, known):
                return end
            end = following
            continue
        elif _ends_list(lines, end, known):
            return end
        else:
            fence = _fence_after("", line)
        end += 1
    return end


def _ends_list(lines: list[str], at: int, known: Known) -> bool:
    """Whether a line right under a list can't belong to it."""
    line = lines[at]
    if _real_heading(line) or _RULE.match(line) or _marked_heading(lines, at, known) or _bold_heading(line):
        return True
    is_block = bool(_FENCE.match(line) or _QUOTE.match(line)) or _is_table(lines, at)
    return is_block and not line.startswith((" ", "\t"))


def _plain_bullets(lines: list[str]) -> str:
    """List lines with the bullets that Markdown knows: `•`, `ㅇ`, `①` … become `-` or a number."""
    shown: list[str] = []
    fence = ""
    for line in lines:
        was_code = bool(fence)
        fence = _fence_after(fence, line)
        found = None if was_code or fence else (_ITEM.match(line) or _GLUED_ITEM.match(line))
        if found and not _DATE_AHEAD.match(line):
            indent, marker = found.group(1), found.group(2)
            text = (found.group(4) if found.re is _ITEM else found.group(3)) or ""
            if "①" <= marker <= "⑳":
                marker = f"{ord(marker) - ord('①') + 1}."
            elif not (marker in "-*+" or marker[0].isdigit()):
                marker = "-"
            gap = (found.group(3) or " ") if found.re is _ITEM else " "
            line = f"{indent}{marker}{gap if len(gap) <= 4 else ' '}{text}"
        shown.append(line.rstrip())
    return "\n".join(shown).rstrip("\n")


def _paragraph_end(lines: list[str], at: int, known: Known) -> int:
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if not line.strip() or _real_heading(line) or _FENCE.match(line) or _QUOTE.match(line):
            return end
        if _SETEXT.match(line) and len(lines[end - 1].strip()) <= 120:
            return end
        if _RULE.match(line) or _is_table(lines, end) or is_item(line) or _marked_heading(lines, end, known):
            return end
        end += 1
    return end


def _bold_heading(line: str) -> str:
    """The text of a line that is wholly bold, `""` when it isn't or reads like a sentence."""
    found = _BOLD_LINE.match(line)
    if not found or found.group(1) in found.group(2):
        return ""
    text = found.group(2).strip()
    return "" if text.endswith((".", "!", "。", ",")) or not fold(text) else text


def _marked_heading(lines: list[str], at: int, known: Known) -> _Heading | None:
    """A known heading behind a sign or number, alone on its line (`□ 장애 개요`, `2. 원인`, `[조치 내용]`)."""
    line = lines[at]
    if len(line) > 80 or line.startswith(("    ", "\t")) or not _MARKED.match(line) or _DATE_AHEAD.match(line):
        return None
    text = line.strip()
    if not known(text) or text.endswith((".", "다", "다.")) or "](" in text:
        return None
    return _Heading(text, BOLD_LEVEL, sign=_sign(text))


def _sign(text: str) -> str:
    """What kind of sign stands before a heading: the sign itself, or the form of a number (`1.`, `1.1`, `가.`, `①`)."""
    number = re.match(r"^(\d+)((?:\.\d+)*)([.)]?)", text)
    if number:
        return f"1{'.1' * number.group(2).count('.')}{number.group(3)}"
    if re.match(r"^[가-하][.)]", text):
        return f"가{text[1]}"
    for first, last in (("①", "⑳"), ("Ⅰ", "Ⅹ")):
        if first <= text[0] <= last:
            return first
    return text[0]


def _paragraph(lines: list[str], known: Known) -> Iterator[_Piece]:
    """A paragraph, cut where one of its lines is a heading in disguise."""
    gathered: list[str] = []

    def flush() -> Iterator[_Piece]:
        text = "\n".join(gathered).strip()
        gathered.clear()
        if text:
            yield Block("paragraph", text)

    labels = sum(bool(_PLAIN_LABEL.match(line) or _BOLD_LABEL.match(line)) for line in lines)
    for number, line in enumerate(lines):
        bold = _bold_heading(line)
        if bold and (number == 0 or known(bold) or bold.endswith("?")):
            is_value = known(bold) == "value"
            yield from flush()
            yield _Heading(bold, LABEL_LEVEL if is_value else BOLD_LEVEL, "own" if is_value else "all")
            continue
        is_bare = len(lines) == 1 and len(line) <= 60 and not line.rstrip().endswith((".", "다")) and "](" not in line
        if is_bare and known(line):
            yield from flush()
            yield _Heading(line.strip(), BOLD_LEVEL)
            continue
        if line.rstrip().endswith((":", "：")) and len(line) <= 60 and known(line) == "field":
            yield from flush()
            yield _Heading(line.strip(), BOLD_LEVEL)
            continue
        label = _BOLD_LABEL.match(line)
        # Several labels in one line are values, not sections: `**Owner:** … · **Status:** …`.
        if label and known(label.group(2)) and not _MORE_LABELS.search(label.group(3)):
            yield from flush()
            yield _Heading(label.group(2), LABEL_LEVEL, "all" if known(label.group(2)) == "field" else "own")
            gathered.append(label.group(3))
            continue
        # One `Impact: …` is a heading; a row of labels is a table without lines and stays together.
        plain = _PLAIN_LABEL.match(line)
        is_lone = plain and number == 0 and labels == 1 and not _MORE_PLAIN_LABELS.search(line)
        if plain and is_lone and known(plain.group(1)):
            yield from flush()
            yield _Heading(plain.group(1), LABEL_LEVEL, "lone" if known(plain.group(1)) == "field" else "own")
            gathered.append(plain.group(2))
            continue
        gathered.append(line.rstrip())
    yield from flush()


def _ranked(pieces: list[_Piece]) -> list[_Piece]:
    """Gives headings behind signs their levels, in the order in which the signs first appear."""
    ranks: dict[str, int] = {}
    ranked: list[_Piece] = []
    for piece in pieces:
        if isinstance(piece, _Heading) and piece.level == BOLD_LEVEL:
            rank = ranks.setdefault(piece.sign, len(ranks))
            piece = replace(piece, level=BOLD_LEVEL + min(rank, 40))
        ranked.append(piece)
    return ranked


def _plain_labels_open(pieces: list[_Piece]) -> list[_Piece]:
    """Ends the labels that speak for their own paragraph only: what follows stands under the heading before again.

    A document of three and more `Impact: …` paragraphs is one in labels; there they are headings like others.
    """
    lone = sum(isinstance(piece, _Heading) and piece.reach == "lone" for piece in pieces)
    short = {"own"} if lone >= 3 else {"own", "lone"}
    opened: list[_Piece] = []
    resumed = _Heading("", LABEL_LEVEL)
    since_label = -1
    for piece in pieces:
        if isinstance(piece, _Heading):
            since_label = 0 if piece.reach in short else -1
            if since_label < 0:
                resumed = piece
        elif since_label >= 0:
            since_label += 1
            if since_label > 1 and piece.kind == "paragraph":
                opened.append(_Heading(resumed.text, LABEL_LEVEL))
                since_label = -1
        opened.append(piece)
    return opened


@dataclass(slots=True)
class _Open:
    heading: str
    level: int
    blocks: list[Block]
    children: list[Section]

    def close(self) -> Section:
        return Section(self.heading, self.level, tuple(self.blocks), tuple(self.children))


def _tree(pieces: list[_Piece]) -> Section:
    stack = [_Open("", 0, [], [])]

    def close_to(level: int) -> None:
        while len(stack) > 1 and stack[-1].level >= level:
            closed = stack.pop().close()
            stack[-1].children.append(closed)

    for piece in pieces:
        if isinstance(piece, Block):
            stack[-1].blocks.append(piece)
        else:
            close_to(piece.level)
            stack.append(_Open(piece.text, piece.level, [], []))
    close_to(1)
    return stack[0].close()
