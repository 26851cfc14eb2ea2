"""The title of a foreign post-mortem → a title of ours: without its number, date and kind of document. Pure text."""

import re
import unicodedata
from functools import cache

from incidents.documents.rules import rules
from incidents.documents.vocabulary import without_markup

_SIGN = r"\s*(?:[:：|]|[-–—]+(?=\s|$)|(?<=\s)[-–—]|[·/,](?=\s)|–|—)\s*"
_DATE = (
    r"(?:(?:19|20)\d\d\s?[-./]\s?\d{1,2}(?:\s?[-./]\s?\d{1,2})?\.?|(?:19|20)\d\d년\s*\d{1,2}월(?:\s*\d{1,2}일)?|(?:19|20)\d{6}"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+(?:19|20)\d\d"
    r"|\d{1,2}\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,?\s+(?:19|20)\d\d)"
)
_LABEL = re.compile(r"^(?:title|제목|장애명|사고명|건명|subject)\s*[:：]\s*", re.IGNORECASE)
_LONGEST = 500  # characters; a longer line is a paragraph that somebody marked as a heading
_EMPTY_BRACKETS = re.compile(r"[(\[（【]\s*[,;/·-]*\s*[)\]）】]")


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    kind, number = rules().title_kind, rules().title_number
    thing = rf"(?:{number}|{_DATE})"
    bracketed = rf"\s*[(\[（【]\s*(?:{kind}|{thing})(?:\s*[,;/·:]?\s*(?:{kind}|{thing}))*\s*[)\]）】]\s*"
    alone = rf"(?:{kind}|{thing})"
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            bracketed,
            rf"^(?:{alone})(?:\s+(?:{alone}))*{_SIGN}(?:{number})\s+(?=\S)",
            rf"^(?:{alone})(?:\s+(?:{alone}))*{_SIGN}",
            rf"{_SIGN}(?:{alone})(?:\s+(?:{alone}))*\s*$",
            rf"^(?:{kind})\s+(?:for|of|on|about)\s+(?:the\s+)?",
            rf"^(?:{_DATE})\s+",
            rf"\s+(?:on\s+)?(?:{_DATE})\s*$",
            rf"\s+(?:{rules().title_tail})\s*$",
            rf"^(?:{alone})(?:\s+(?:{alone}))*\s*$",
        )
    )


def clean_title(heading: str) -> tuple[str, tuple[str, ...]]:
    """The title without what its file is called, and the parts that were cut.

    `Postmortem: … (incident #218)`, `장애 보고서 — … (2023-11-15)`, `🚨 INC-77: …`. Empty when nothing else is left.
    """
    if len(heading) > _LONGEST:
        return without_markup(heading), ()
    title = without_markup(heading).lstrip("#> ").rstrip("# ")
    cut: list[str] = []
    title = _LABEL.sub("", title)
    for _ in range(6):
        before = title
        for pattern in _patterns():
            found = pattern.search(title)
            if found is None:
                continue
            inner = found.group().strip(" :：|-–—()[]【】（）·,/")
            if inner:
                cut.append(inner)
            at_edge = found.start() == 0 or found.end() == len(title)
            title = f"{title[: found.start()]}{'' if at_edge else ' '}{title[found.end() :]}".strip()
        title = _EMPTY_BRACKETS.sub("", title).strip(" :：|–—·,/")
        if title == before:
            break
    return unicodedata.normalize("NFC", " ".join(title.split())), tuple(cut)


def title_from_filename(filename: str) -> str:
    """A title from a file's name: without suffix and number, signs as spaces; `""` when it says nothing."""
    stem = re.sub(r"\.[A-Za-z0-9]{1,8}$", "", filename)
    stem = re.sub(r"[_+]+|(?<=\w)-(?=\w)(?!\d)", " ", stem) if " " not in stem.strip() else stem
    stem = re.sub(r"^\d{1,3}[\s._-]+", "", stem)
    title, _ = clean_title(stem)
    return title if len(re.sub(r"[\W\d_]", "", title)) >= 4 else ""
