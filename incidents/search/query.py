"""What a person typed → SearchQuery. Pure; no Django, no engine. Only a few signs mean anything, the rest is text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from incidents.errors import BadParameter
from incidents.search.korean import PARTICLES, Word, fold, words

MAX_CHARACTERS = 4_000  # a pasted log line or two; a whole log is not a query
MAX_WORDS = 200

FIELD_LABELS = {
    "제목": "title", "증상": "symptom", "촉발": "trigger", "원인": "cause", "기여요인": "contributing_factors",
    "감지": "detection", "조치": "actions", "후속조치": "follow_ups", "교훈": "lesson", "조직": "organization",
    "분류": "labels", "출처": "sources",
}  # fmt: skip

_LABEL = r"(?:(?P<label>제목|증상|촉발|원인|기여 ?요인|감지|조치|후속 ?조치|교훈|조직|분류|출처)\s?:\s*(?=\S))?"
_PIECE = re.compile(rf'(?P<minus>-(?=[^\s-]))?{_LABEL}(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+|"))')
_ID = re.compile(r"\A\s*(il-?\d{1,6})\s*\Z", re.IGNORECASE)
_URL = re.compile(r"\A\s*(https?://\S+)\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that must, or with `negated` must not, be found: a word as typed or a quoted phrase.

    words: its chunks without particles. field: one of documents.SECTIONS, or None for all.
    """

    text: str
    words: tuple[Word, ...]
    is_phrase: bool = False
    is_negated: bool = False
    field: str | None = None

    @property
    def source(self) -> str:
        """The clause as one would type it."""
        label = next((f"{name}:" for name, field in FIELD_LABELS.items() if field == self.field), "")
        return f"{'-' * self.is_negated}{label}" + (f'"{self.text}"' if self.is_phrase else self.text)


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A parsed query. text: what was typed in NFC, without invisible signs, for the search box.

    public_id and url are set where the whole query names a record by its ID (`IL-0421`) or a source's address.
    is_as_typed declines a correction: the reader came back to the words as they were typed.
    """

    text: str
    clauses: tuple[Clause, ...]
    public_id: str | None = None
    url: str | None = None
    is_as_typed: bool = False

    def without_each_word(self) -> Iterator[tuple[str, str]]:
        """Yield (a word or phrase, the query's text without it) for each that must be found, where there are two or more."""
        wanted = [clause for clause in self.clauses if not clause.is_negated]
        if len(wanted) > 1:
            for dropped in wanted:
                yield dropped.source, " ".join(c.source for c in self.clauses if c is not dropped)

    @property
    def is_blank(self) -> bool:
        """Return whether nothing was typed: spaces and invisible signs only."""
        return not self.text

    @property
    def has_terms(self) -> bool:
        """Return whether there is anything to look for; `((` has nothing."""
        return bool(self.clauses)


@lru_cache(maxsize=256)  # a page asks for the reader's own several times
def parse_query(text: str, *, is_as_typed: bool = False) -> SearchQuery:
    """Return the query that a reader means.

    `"…"` is a phrase, `-` before a word excludes it, a Korean field label and a colon search one field; every other
    sign is text. is_as_typed: unknown words are not corrected. Raises BadParameter (400) where the text is longer
    than MAX_CHARACTERS or has more than MAX_WORDS.
    """
    if len(text) > MAX_CHARACTERS:
        raise BadParameter(
            f"검색어가 너무 깁니다. {MAX_CHARACTERS:,}자까지 검색할 수 있으니 핵심이 되는 줄만 남겨 주세요.",
            fields={"q": f"{MAX_CHARACTERS:,}자까지 쓸 수 있습니다."},
            names_nothing=False,
        )
    shown = _clean(text)
    folded = fold(shown)
    clauses = []
    total = 0
    for match in _PIECE.finditer(folded):
        label = (match["label"] or "").replace(" ", "")
        body = match["phrase"] if match["phrase"] is not None else match["word"]
        chunks = tuple(word for word, _, _ in words(body) if word.width)
        if not chunks:
            continue
        total += len(chunks)
        is_phrase = match["phrase"] is not None
        clauses.append(Clause(body, chunks, is_phrase, match["minus"] is not None, FIELD_LABELS.get(label)))
    clauses = _without_spaced_particles(clauses, folded)
    if total > MAX_WORDS:
        raise BadParameter(
            f"검색어의 낱말이 너무 많습니다. {MAX_WORDS}개까지 검색할 수 있으니 핵심이 되는 말만 남겨 주세요.",
            fields={"q": f"낱말 {MAX_WORDS}개까지 쓸 수 있습니다."},
            names_nothing=False,
        )
    named = _ID.match(folded)
    address = _URL.match(shown)
    public_id = None
    if named:
        digits = re.sub(r"\D", "", named[1])
        public_id = f"IL-{digits.zfill(4)}"
    return SearchQuery(shown, tuple(dict.fromkeys(clauses)), public_id, address[1] if address else None, is_as_typed)


def replace_clause(query: SearchQuery, replacements: Mapping[Clause, str]) -> SearchQuery:
    """Return the query with some clauses' text replaced, its words in their order."""
    names = {name: label for label, name in FIELD_LABELS.items()}
    pieces = []
    for clause in query.clauses:
        body = replacements.get(clause, clause.text)
        label = f"{names[clause.field]}:" if clause.field else ""
        quoted = f'"{body}"' if clause.is_phrase else body
        pieces.append(f"{'-' if clause.is_negated else ''}{label}{quoted}")
    return parse_query(" ".join(pieces), is_as_typed=True)


def _clean(text: str) -> str:
    """Return text in NFC, its invisible and control signs dropped, its spaces single."""
    text = unicodedata.normalize("NFC", text)
    kept = "".join(
        " " if c in "\t\n\r\0\x0b\x0c\x85\u2028\u2029" else c
        for c in text
        if c in "\t\n\r\0\x0b\x0c\x85\u2028\u2029"
        or (unicodedata.category(c) not in ("Cc", "Cf", "Cs") and c not in "\u3164\uffa0\u115f\u1160")
    )
    return " ".join(kept.split())


def _without_spaced_particles(clauses: list[Clause], folded: str) -> list[Clause]:
    """Drop particles set off by a space after an identifier (`GPU 가`), which the house style writes that way."""
    out: list[Clause] = []
    for index, clause in enumerate(clauses):
        before = clauses[index - 1] if index else None
        is_loose = not (clause.is_phrase or clause.is_negated or clause.field)
        follows = before is not None and before.words[-1].kind == "identifier" and clause.text in PARTICLES
        if not (is_loose and follows and before and f"{before.text} {clause.text}" in folded):
            out.append(clause)
    return out
