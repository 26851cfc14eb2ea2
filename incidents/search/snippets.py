"""The piece of a record that shows why it was found, from its stored text. Marks sit on the text as written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from incidents.search.base import SearchDocument, Snippet
from incidents.search.korean import LIGHT, fold, hangul_word
from incidents.search.plan import make_plan
from incidents.search.query import SearchQuery
from incidents.search.thesaurus import Thesaurus

LENGTH = 160  # characters of a snippet, about two lines of a card
FIELDS = ("symptom", "cause", "trigger", "contributing_factors", "detection", "actions", "follow_ups", "lesson")

_SENTENCE_END = re.compile(r"(?<=[.!?。…])[\"'”’)\]]*\s+|\n+")
_HANGUL_RUN = re.compile(r"[가-힣]+")
_IS_PLAIN = re.compile(r"[\x00-\x7f가-힣\s·…]*\Z")
Span = tuple[int, int]


def fold_with_offsets(text: str) -> tuple[str, Sequence[int]]:
    """Return the folded text in lower case and, for each of its characters and its end, the offset in the original.

    A base character and its combining marks fold together, so that no mark is ever left alone by a cut.
    """
    if _IS_PLAIN.match(text):
        lowered = text.lower()
        return lowered, range(len(lowered) + 1)
    out: list[str] = []
    offsets: list[int] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and _extends(text[end]):
            end += 1
        piece = fold(text[start:end]).casefold()
        out.append(piece)
        offsets.extend([start] * len(piece))
        start = end
    offsets.append(len(text))
    return "".join(out), offsets


def _extends(character: str) -> bool:
    return (
        unicodedata.combining(character) != 0
        or "\u1160" <= character <= "\u11ff"
        or character in "\u200d\ufe0e\ufe0f"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


class Highlighter:
    """Finds a query's words in texts."""

    def __init__(self, terms: Iterable[str], literals: Iterable[str] = ()) -> None:
        self.terms = frozenset(term for term in terms if term)
        self.literals = frozenset(literals)
        patterns = [_pattern(term) for term in sorted(self.terms | self.literals, key=len, reverse=True)]
        self._regex = re.compile("|".join(patterns)) if patterns else None

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, term) in a text's own offsets, in order, not overlapping."""
        if self._regex is None:
            return []
        folded, offsets = fold_with_offsets(text)
        found: list[tuple[int, int, str]] = []
        for match in self._regex.finditer(folded):
            start, end = match.span()
            term = match.group()
            if "가" <= term[0] <= "힣" and term not in self.literals:
                confirmed = self._confirm(folded, start, end)
                if confirmed is None:
                    continue
                start, end, term = confirmed
            if found and offsets[start] < found[-1][1]:
                continue
            stop = offsets[end]
            if end and offsets[end] == offsets[end - 1]:  # inside one original character (㎏): take all of it
                stop = next((o for o in offsets[end:] if o > offsets[end]), len(text))
            found.append((offsets[start], stop, term))
        return found

    def _confirm(self, folded: str, start: int, end: int) -> tuple[int, int, str] | None:
        """Return the span of a term of the query in the Hangul run around a candidate, if its analysis has one there."""
        left, right = start, end
        while left > 0 and "가" <= folded[left - 1] <= "힣":
            left -= 1
        while right < len(folded) and "가" <= folded[right] <= "힣":
            right += 1
        run = folded[left:right]
        for term in _terms_of(run):
            if term not in self.terms:
                continue
            at = run.find(term, start - left)
            if at >= 0 and left + at == start:
                return start, start + len(term), term
            if term.endswith("다") and _stem_regex(term).match(run, start - left):
                return start, end, term
        return None


@lru_cache(maxsize=20_000)
def _terms_of(run: str) -> tuple[str, ...]:
    word = hangul_word(run)
    spans = sorted(word.spans, key=lambda span: -span[2])
    return (*(span[0] for span in spans), *(leaf for leaf in word.leaves if leaf))


def _pattern(term: str) -> str:
    if "가" <= term[0] <= "힣":
        if term.endswith("다") and len(term) > 1:
            return f"{_stem_pattern(term)}|{re.escape(term)}"
        return re.escape(term)
    if term[0].isdigit() and term.isdigit():
        return rf"(?<![\d.]){re.escape(term)}(?!\d)"
    left = r"(?<![^\W\d_가-힣])" if term[0].isalpha() else ""
    right = r"(?![^\W\d_가-힣])" if term[-1].isalpha() else ""
    return f"{left}{re.escape(term)}{right}"


def _stem_pattern(term: str) -> str:
    """Return a pattern of a verb's possible written stems: 멈추다 → 멈추, 멈춤, 멈췄."""
    stem = term[:-1]
    out = []
    for number, syllable in enumerate(stem):
        code = ord(syllable) - 0xAC00
        if number + 1 < len(stem):
            first = code // 28 * 28
            out.append(f"[{chr(0xAC00 + first)}-{chr(0xAC00 + first + 27)}]")
        else:
            first = code // 588 * 588
            out.append(f"[{chr(0xAC00 + first)}-{chr(0xAC00 + first + 587)}]")
    return "".join(out)


@lru_cache(maxsize=2_000)
def _stem_regex(term: str) -> re.Pattern[str]:
    return re.compile(_stem_pattern(term))


@lru_cache(maxsize=64)
def _highlighter(query: SearchQuery, thesaurus: Thesaurus) -> Highlighter:
    plan = make_plan(query, thesaurus)
    atoms = [atom for atom in plan.atoms if not atom.is_light] or list(plan.atoms)
    terms: set[str] = set()
    for atom in atoms:
        for form in (*atom.forms, *atom.alike, *(part[0] for part in atom.parts)):
            terms.update(term for term, _ in form.terms if term not in LIGHT or atom.is_light or len(form.terms) > 1)
    for clause in query.clauses:
        if not clause.is_negated:
            for word in clause.words:
                terms.update(term for term, _, width in word.spans if width == word.width)
    return Highlighter(terms)


def mark_text(query: SearchQuery, thesaurus: Thesaurus, text: str) -> SafeString:
    """Return a whole text, escaped and marked."""
    return _marked(text, [(start, end) for start, end, _ in _highlighter(query, thesaurus).spans(text)])


def snippet(query: SearchQuery, thesaurus: Thesaurus, document: SearchDocument) -> Snippet:
    """Return the sentences with most of the query's words; the beginning of the record where only other fields match.

    A field named in the query (`감지:인증서`) is the only one looked at.
    """
    highlighter = _highlighter(query, thesaurus)
    wanted = [clause.field for clause in query.clauses if clause.field in FIELDS and not clause.is_negated]
    best: tuple[float, str, str, int, list[Span]] | None = None
    for order, name in enumerate(FIELDS):
        if wanted and name not in wanted:
            continue
        text = document.sections.get(name, "")
        spans = highlighter.spans(text)
        if not spans:
            continue
        for start, end in _sentences(text):
            inside = [span for span in spans if start <= span[0] < end]
            if not inside:
                continue
            score = len({term for _, _, term in inside}) + 0.05 * min(len(inside), 5) - 0.01 * order
            if best is None or score > best[0]:
                best = (score, name, text, start, [(a, b) for a, b, _ in spans])
    if best is None:
        name = next((name for name in FIELDS if document.sections.get(name)), "symptom")
        text = document.sections.get(name, "")
        return Snippet(name, _cut(text, 0, []))
    _, name, text, start, marks = best
    return Snippet(name, _cut(text, start, marks))


def _sentences(text: str) -> list[Span]:
    out = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        out.append((start, match.start()))
        start = match.end()
    if start < len(text):
        out.append((start, len(text)))
    return out


def _cut(text: str, start: int, marks: Sequence[Span]) -> SafeString:
    """Return about LENGTH characters from a sentence's start, moved on if the first mark would be out of sight."""
    first = next((a for a, _ in marks if a >= start), start)
    if first - start > LENGTH * 2 // 3:
        start = _word_start(text, first - LENGTH // 3)
    end = start
    for a, b in _sentences(text):
        if b <= start:
            continue
        if end > start and b - start > LENGTH:
            break
        end = b
        if a >= start and b - start > LENGTH:
            break
    if end - start > LENGTH:
        end = _word_end(text, start + LENGTH, marks)
    head = "… " if start and not _is_sentence_start(text, start) else ""
    tail = " …" if end < len(text.rstrip()) else ""
    inside = [(a - start, min(b, end) - start) for a, b in marks if start <= a < end]
    return mark_safe(head + _marked(text[start:end], inside) + tail)  # both parts are escaped


def _is_sentence_start(text: str, offset: int) -> bool:
    return any(a == offset for a, _ in _sentences(text))


def _word_start(text: str, offset: int) -> int:
    while offset > 0 and not text[offset - 1].isspace():
        offset -= 1
    return max(offset, 0)


def _word_end(text: str, offset: int, marks: Sequence[Span]) -> int:
    offset = next((b for a, b in marks if a < offset < b), offset)
    limit = min(len(text), offset + 20)
    while offset < limit and not text[offset].isspace():
        offset += 1
    while offset < len(text) and _extends(text[offset]):
        offset += 1
    return offset


def _marked(text: str, spans: Sequence[Span]) -> SafeString:
    out: list[str] = []
    done = 0
    for start, end in spans:
        out += [str(escape(text[done:start])), "<mark>", str(escape(text[start:end])), "</mark>"]
        done = end
    out.append(str(escape(text[done:])))
    return mark_safe(" ".join("".join(out).split("\n")))  # every piece is escaped above
