"""What a foreign post-mortem carries that isn't about the incident: found by rules, taken out, listed by name.

Pure text. Nothing vanishes without a word: each thing taken out comes back as `Dropped`.
"""

import re
from dataclasses import dataclass
from typing import Final

from incidents.documents.rules import rules
from incidents.documents.vocabulary import DROPPED_ROLES, any_match

TEMPLATE: Final = "틀의 안내문"
PLACEHOLDER: Final = "빈 자리 표시"
COMMENT: Final = "주석"
CONTENTS: Final = "목차"
PEOPLE: Final = DROPPED_ROLES["people"]
TOOLS: Final = DROPPED_ROLES["tools"]
NUMBER: Final = "문서 번호와 종류"
RULE: Final = "가로줄"
# What stands for a person in running text.
SOMEONE: Final = "담당자"

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_CODE_SPAN = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)")
_INNER_LINK = re.compile(r"(?<!!)\[([^\[\]\n]*)\]\(#[^()\s]*\)")
_ONLY_LINKS = re.compile(r"^[\s|·•*+/,>-]*$")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]*)\]\(([^()\s]+)\)")
_HANDLE = r"@[A-Za-z][\w.-]{0,38}(?![\w/@])"
_ITEM_LINE = re.compile(r"^\s*(?:[-*+•☐☑]|\d{1,3}[.)])\s")
_FIRST_HANDLES = re.compile(
    rf"^(?P<before>\s*(?:[-*+•☐☑]|\d{{1,3}}[.)])\s+(?:\[[ xX]\]\s+)?)"
    rf"(?P<who>{_HANDLE}(?:[,\s]+{_HANDLE})*\s*[:：\-–—]?\s+)(?P<after>\S.*)$"
)
_LAST_HANDLES = re.compile(
    rf"^(?P<before>.*\S)\s+(?P<who>{_HANDLE}(?:[,\s]+{_HANDLE})*)(?P<after>(?:\s*[(（][^()（）]*[)）])?)\s*$"
)
_REMARK_PARTS = re.compile(r"\s*[,/;·]\s*")
_OWNER_PART = re.compile(r"^(?:담당|담당자|책임자|owner|assignee|assigned to|responsible|dri|by)\b", re.IGNORECASE)
_WRAPPED = re.compile(r"^(?:\*[^*].*\*|_.*_|<.*>|\[.*\]|\{.*\}|\(.*\)|>.*)$", re.DOTALL)
_INLINE_TAG = re.compile(r"</?(?:details|center|div|span|font|p|u|section|article)(?:\s[^<>]*)?>", re.IGNORECASE)
_ANCHOR = re.compile(r"<a\s+(?:name|id)=[^<>]*>\s*</a>", re.IGNORECASE)
_SUMMARY = re.compile(r"<summary[^<>]*>\s*(.*?)\s*</summary>", re.IGNORECASE | re.DOTALL)
_HTML_IMAGE = re.compile(r"<img\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\b(alt|src)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_SCRIPT = re.compile(r"<(script|style)\b[^<>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Dropped:
    """Text that goes into no field and no note: why (Korean), and what it says."""

    reason: str
    text: str


def clean(markdown: str) -> tuple[str, tuple[Dropped, ...]]:
    """The text without tool commands, tables of contents, persons' handles and chat addresses outside code."""
    dropped: list[Dropped] = []
    kept: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        opening = _FENCE.match(line)
        if fence:
            if opening and opening.group(1).startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            kept.append(line)
            continue
        if opening:
            fence = opening.group(1)
            kept.append(line)
            continue
        reason = _whole_line(line)
        if reason:
            dropped.append(Dropped(reason, line.strip()))
            kept.append("")
            continue
        kept.append(_outside_code(_without_assignees(_plain_html(line), dropped), dropped))
    return "\n".join(kept), tuple(dropped)


def _whole_line(line: str) -> str:
    """Why a whole line goes, `""` when it stays."""
    text = line.strip()
    if not text or len(text) > 2_000:
        return ""
    if "](#" in text and _ONLY_LINKS.match(re.sub(r"^\d+\.\s*", "", _INNER_LINK.sub("", text))):
        return CONTENTS
    for role, pattern in rules().drop_lines:
        if pattern.match(text):
            return DROPPED_ROLES[role]
    return ""


def _plain_html(line: str) -> str:
    """Markdown for the few tags that people put into it; unknown ones stay as they are."""
    if "<" not in line:
        return line
    line = _SUMMARY.sub(r"**\1**", _SCRIPT.sub("", line))
    return _ANCHOR.sub("", _INLINE_TAG.sub("", _HTML_IMAGE.sub(_image, line)))


def _image(found: re.Match[str]) -> str:
    named = {name.lower(): first or second for name, first, second in _ATTRIBUTE.findall(found.group(1))}
    return f"![{named.get('alt', '') or '그림'}]({named.get('src', '') or '#'})"


def _outside_code(line: str, dropped: list[Dropped]) -> str:
    pieces: list[str] = []
    at = 0
    for code in _CODE_SPAN.finditer(line):
        pieces.extend((_without_people(line[at : code.start()], dropped), code.group()))
        at = code.end()
    pieces.append(_without_people(line[at:], dropped))
    return "".join(pieces)


def _without_assignees(line: str, dropped: list[Dropped]) -> str:
    """A list item without the handles at its beginning or end that say whose it is (`- [ ] Mend it @kim (5/2)`)."""
    if "@" not in line or not _ITEM_LINE.match(line):
        return line
    for pattern in (_FIRST_HANDLES, _LAST_HANDLES):
        found = pattern.search(line)
        if found:
            dropped.append(Dropped(PEOPLE, found["who"].strip(" ,:")))
            line = f"{found['before']}{found['after']}"
    return line


def _without_people(text: str, dropped: list[Dropped]) -> str:
    text = _INNER_LINK.sub(r"\1", text)
    if "http" in text:
        text = _LINK.sub(lambda link: _chat_link(link, dropped), text)
        for pattern in rules().chat_address:
            text = pattern.sub(lambda found: _taken(found, TOOLS, "", dropped), text)
    if "@" in text:
        for pattern in rules().person:
            text = pattern.sub(lambda found: _taken(found, PEOPLE, SOMEONE, dropped), text)
    return text


def _chat_link(link: re.Match[str], dropped: list[Dropped]) -> str:
    if not any_match(rules().chat_address, link.group(2)):
        return link.group()
    dropped.append(Dropped(TOOLS, link.group(2)))
    return link.group(1)


def _taken(found: re.Match[str], reason: str, instead: str, dropped: list[Dropped]) -> str:
    dropped.append(Dropped(reason, found.group().strip()))
    return instead


def remains_of_template(text: str) -> str:
    """Why a paragraph, quote, item or cell is no text about the incident; `""` when it is one."""
    bare = "\n".join(line.strip().removeprefix(">").strip() for line in text.strip().split("\n")).strip()
    if len(bare) > 600:
        return ""
    inner = bare.strip("*_ ")
    if any_match(rules().placeholder, inner):
        return PLACEHOLDER if inner else RULE
    if any_match(rules().template, inner):
        return TEMPLATE
    if is_marked_hint(text) and any_match(rules().template_marked, bare.strip("*_<>[](){} ")):
        return TEMPLATE
    return ""


def is_marked_hint(text: str) -> bool:
    """Whether a paragraph is wholly in italics, in brackets or a quote, as templates write what should stand there."""
    text = text.strip()
    return text.startswith(">") or (len(text) <= 600 and bool(_WRAPPED.match(text)))


def without_owner(item: str) -> tuple[str, str]:
    """An item without the remark at its end that says whose it is, and that remark.

    Other parts of the remark stay (`담당: … / 기한: 5월`).
    """
    first, _, rest = item.partition("\n")
    taken: list[str] = []
    for pattern in rules().owner_tail:
        found = pattern.search(first)
        if found is None or found.start() == 0:
            continue
        remark = found.group().strip()
        parts = _REMARK_PARTS.split(remark.strip("()[]（） -–—"))
        # A part without a label goes on with the names before it; a day or a labelled part doesn't.
        kept = [part for part in parts if not _OWNER_PART.match(part) and (re.search(r"[:：]|\d", part))]
        first = first[: found.start()].rstrip() + (f" ({', '.join(kept)})" if kept else "")
        taken.append(", ".join(part for part in parts if part not in kept) if kept else remark)
    return (f"{first}\n{rest}" if rest else first), " ".join(taken)
