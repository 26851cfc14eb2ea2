"""The piece of a record that shows why it was found, from its stored text. Marks sit on the text as written."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import accumulate

import numpy as np
from django.utils.safestring import SafeString

from incidents.search.base import Snippet
from incidents.search.korean import LIGHT, fold, hangul_word
from incidents.search.plan import make_plan
from incidents.search.query import SearchQuery
from incidents.search.thesaurus import Thesaurus

LENGTH = 160  # characters of a snippet, about two lines of a card
FIELDS = ("symptom", "cause", "trigger", "contributing_factors", "detection", "actions", "follow_ups", "lesson")

_SENTENCE_END = re.compile(r"([.!?。…][\"'”’)\]]*)\s+|\n+")  # what closes a sentence belongs to it
_ODD = re.compile(r"[^\x00-\x7f가-힣·…]+")
_HANGUL = re.compile("[가-힣]*")
FIRST_SYLLABLE, LAST_SYLLABLE = ord("가"), ord("힣")
FINALS, VOWELS = 28, 21  # a syllable's code is (onset * VOWELS + vowel) * FINALS + final
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
# What a stem's last vowel becomes before endings: 하 → 해, 오 → 와, 되 → 돼, 끄 → 꺼, 지 → 져, 그렇 → 그래.
_CHANGES = {
    "ㅏ": "ㅏㅐ",
    "ㅑ": "ㅑㅒ",
    "ㅓ": "ㅓㅐㅔ",
    "ㅕ": "ㅕㅖ",
    "ㅗ": "ㅗㅘ",
    "ㅚ": "ㅚㅙ",
    "ㅜ": "ㅜㅝㅓ",
    "ㅡ": "ㅡㅓㅏ",
    "ㅣ": "ㅣㅕ",
}
# After a word of two syllables or more these are particles and no part of another word.
SURE_PARTICLES = frozenset(
    "은 는 을 를 에 의 와 에서 에는 에서는 으로 으로는 까지 부터 에게 에게는 보다 마다 에도 와의 에서의".split()
)
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in which words are found: folded, in lower case, and the offset in the original of each of its characters and its end."""

    text: str
    offsets: Sequence[int]


def fold_with_offsets(text: str) -> Folded:
    """Return a text folded. A base character and its combining marks fold together, so that no mark is left alone by a cut."""
    odd = _ODD.search(text)
    if odd is None:
        return Folded(text.lower(), range(len(text) + 1))
    out: list[str] = []
    offsets: list[int] = []
    is_shifted = False
    done = 0
    while odd is not None:
        start = max(done, odd.start() - 1)  # what stands before may be marked by it
        out.append(text[done:start].lower())
        offsets.extend(range(done, start))
        while start < odd.end():
            end = start + 1
            while end < len(text) and _extends(text[end]):
                end += 1
            piece = fold(text[start:end]).casefold()
            out.append(piece)
            offsets.extend([start] * len(piece))
            is_shifted = is_shifted or len(piece) != 1 or end != start + 1
            start = end
        done = start
        odd = _ODD.search(text, max(done, odd.end()))
    out.append(text[done:].lower())
    if not is_shifted:
        return Folded("".join(out), range(len(text) + 1))
    offsets.extend(range(done, len(text) + 1))
    return Folded("".join(out), offsets)


class RecordText:
    """What a row of a list is cut from: a record's title and plain texts, folded and divided once for all queries."""

    __slots__ = ("ends", "folded", "id", "names", "revision", "starts", "title", "title_folded", "whole")

    def __init__(self, id: int, revision: int, title: str, sections: Mapping[str, str]) -> None:
        self.id = id
        self.revision = revision
        self.title = title
        self.title_folded = fold_with_offsets(title)
        self.names = tuple(name for name in FIELDS if sections.get(name))
        self.whole = "\n".join(sections[name] for name in self.names)  # one search through all of them
        self.starts = array("I", accumulate((len(sections[name]) + 1 for name in self.names), initial=0))
        self.folded = fold_with_offsets(self.whole)
        self.ends = array("I")  # of sentences and what parts them, in turn: end, start of the next
        for match in _SENTENCE_END.finditer(self.whole):
            self.ends.extend((match.start() if match[1] is None else match.end(1), match.end()))

    def field_at(self, offset: int) -> int:
        """Return the place in `names` of the field that an offset lies in."""
        return bisect_right(self.starts, offset) - 1

    def place_at(self, offset: int) -> int:
        """Return the place in `ends` of the sentence that an offset lies in, or that ends before it."""
        place = bisect_right(self.ends, offset)
        return place - place % 2  # odd in the gap after a sentence

    def sentence(self, place: int) -> Span:
        """Return the sentence at a place; the next is two places on."""
        start = self.ends[place - 1] if place else 0
        return start, self.ends[place] if place < len(self.ends) else len(self.whole)


def _extends(character: str) -> bool:
    return (
        unicodedata.combining(character) != 0
        or "\u1160" <= character <= "\u11ff"
        or character in "\u200d\ufe0e\ufe0f"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


class Highlighter:
    """Finds a query's words in texts: candidates by their letters, then what the analysis of the word around them says."""

    def __init__(self, terms: Iterable[str], literals: Iterable[str] = ()) -> None:
        self.terms = frozenset(term for term in terms if term)
        self.literals = frozenset(literals)
        everything = self.terms | self.literals
        self._stems = tuple(_stem(term) for term in everything if _is_verb(term) and term not in self.literals)
        stems = {stem.term for stem in self._stems}
        self._words = tuple(term for term in everything if term not in stems)

    def spans(self, text: Folded) -> list[tuple[int, int, str]]:
        """Return (start, end, term) in the original's offsets, in order, not overlapping."""
        folded, offsets = text.text, text.offsets
        candidates = [
            (at, at + len(term), term)
            for term in self._words
            for at in _places(folded, term)
            if _ends(folded, term, at)
        ]
        if self._stems:
            opened = _opened(folded)
            for stem in self._stems:
                candidates += [(at, at + stem.length, stem.term) for at in stem.places(opened)]
        candidates.sort(key=lambda candidate: (candidate[0], -candidate[1]))
        found: list[tuple[int, int, str]] = []
        for start, end, term in candidates:
            if found and offsets[start] < found[-1][1]:
                continue
            span: tuple[int, int, str] | None = (start, end, term)
            if is_hangul(term[0]) and term not in self.literals:
                span = self._confirm(folded, start, end, term)
            if span is None:
                continue
            start, end, term = span
            stop = offsets[end]
            if end and offsets[end] == offsets[end - 1]:  # inside one original character (㎏): take all of it
                stop = next((o for o in offsets[end:] if o > offsets[end]), offsets[-1])
            found.append((offsets[start], stop, term))
        return found

    def _confirm(self, folded: str, start: int, end: int, candidate: str) -> tuple[int, int, str] | None:
        """Return the span of a term of the query in the Hangul run around a candidate, if its analysis has one there."""
        left, right = start, _HANGUL.match(folded, end).end()  # type: ignore[union-attr]  # it may be empty
        while left and "가" <= folded[left - 1] <= "힣":
            left -= 1
        if (
            left == start
            and 1 < len(candidate) == end - start
            and (right == end or folded[end:right] in SURE_PARTICLES)
        ):
            return start, end, candidate  # an analysis would say no more
        run = folded[left:right]
        for term in _terms_of(run):
            if term not in self.terms:
                continue
            at = run.find(term, start - left)
            if at >= 0 and left + at == start:
                return start, start + len(term), term
            if _is_verb(term) and _stem(term).is_at(run, start - left):
                return start, end, term
        return None


class _Stem:
    """A verb's written stems: 멈추다 → 멈추, 멈춤, 멈춰. Finals may differ, and the last vowel as endings change it."""

    def __init__(self, term: str) -> None:
        self.term = term
        self.length = len(term) - 1
        head, last = "".join(map(_open, term[:-2])), ord(_open(term[-2]))
        vowel = (last - FIRST_SYLLABLE) // FINALS % VOWELS
        self._forms = tuple(
            head + chr(last + (_VOWELS.index(other) - vowel) * FINALS)
            for other in _CHANGES.get(_VOWELS[vowel], _VOWELS[vowel])
        )

    def places(self, opened: str) -> Iterator[int]:
        """Yield where the stem may stand in a text whose syllables are opened."""
        for form in self._forms:
            yield from _places(opened, form)

    def is_at(self, run: str, start: int) -> bool:
        """Return whether the stem may stand at an offset of a run of Hangul."""
        return "".join(map(_open, run[start : start + self.length])) in self._forms


def is_hangul(character: str) -> bool:
    """Return whether a character is a composed Hangul syllable."""
    return "가" <= character <= "힣"


def _is_verb(term: str) -> bool:
    return len(term) > 1 and term[-1] == "다" and all(map(is_hangul, term))


def _open(syllable: str) -> str:
    """Return a syllable without its final consonant."""
    return chr(ord(syllable) - (ord(syllable) - FIRST_SYLLABLE) % FINALS)


def _opened(text: str) -> str:
    """Return a text with each Hangul syllable opened; offsets stay."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    index = np.where((codes >= FIRST_SYLLABLE) & (codes <= LAST_SYLLABLE), codes - FIRST_SYLLABLE, 0)
    opened: bytes = (codes - index % FINALS).tobytes()
    return opened.decode("utf-32-le", "surrogatepass")


def _places(text: str, term: str) -> Iterator[int]:
    at = text.find(term)
    while at >= 0:
        yield at
        at = text.find(term, at + 1)


def _ends(text: str, term: str, at: int) -> bool:
    """Return whether a word that is no Hangul ends where it is written: `etc` is not in `etcd`, nor 10 in 100."""
    if is_hangul(term[0]):
        return True
    before, after = text[at - 1 : at], text[at + len(term) : at + len(term) + 1]
    if term.isdigit():
        return not (before.isdigit() or before == "." or after.isdigit())
    return not ((term[0].isalpha() and _is_letter(before)) or (term[-1].isalpha() and _is_letter(after)))


def _is_letter(character: str) -> bool:
    return character.isalpha() and not is_hangul(character)


@lru_cache(maxsize=20_000)
def _terms_of(run: str) -> tuple[str, ...]:
    word = hangul_word(run)
    spans = sorted(word.spans, key=lambda span: -span[2])
    return (*(span[0] for span in spans), *(leaf for leaf in word.leaves if leaf))


@lru_cache(maxsize=2_000)
def _stem(term: str) -> _Stem:
    return _Stem(term)


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
    return Highlighter(terms, {need.listed for need in plan.needs if need.listed})


def mark_text(query: SearchQuery, thesaurus: Thesaurus, text: str) -> SafeString:
    """Return a whole text, escaped and marked."""
    return _marked(text, _pairs(_highlighter(query, thesaurus).spans(fold_with_offsets(text))))


def row_pieces(
    query: SearchQuery, thesaurus: Thesaurus, texts: Iterable[RecordText]
) -> dict[int, tuple[SafeString, Snippet]]:
    """Return {id: (title marked, snippet)}.

    A snippet is the sentences with most of the query's words; the beginning of the record where only other fields
    match. A field named in the query (`감지:인증서`) is the only one looked at.
    """
    highlighter = _highlighter(query, thesaurus)
    wanted = {clause.field for clause in query.clauses if clause.field in FIELDS and not clause.is_negated}
    pieces = {}
    for text in texts:
        title = _marked(text.title, _pairs(highlighter.spans(text.title_folded)))
        pieces[text.id] = title, _snippet(text, highlighter.spans(text.folded), wanted)
    return pieces


def _pairs(spans: Iterable[tuple[int, int, str]]) -> list[Span]:
    return [(start, end) for start, end, _ in spans]


def _snippet(text: RecordText, spans: list[tuple[int, int, str]], wanted: Collection[str]) -> Snippet:
    if wanted:
        spans = [span for span in spans if text.names[text.field_at(span[0])] in wanted]
    if not spans:
        return Snippet(text.names[0], _cut(text, 0, 0, [])) if text.names else Snippet("symptom", SafeString(""))
    best = (-1.0, 0, 0)
    place = 0
    while place < len(spans):
        start, end = text.sentence(text.place_at(spans[place][0]))
        first = place
        while place < len(spans) and (place == first or spans[place][0] < end):
            place += 1
        inside = spans[first:place]
        order = text.field_at(start)
        score = (
            len({term for _, _, term in inside}) + 0.05 * min(len(inside), 5) - 0.01 * FIELDS.index(text.names[order])
        )
        if score > best[0]:
            best = (score, order, start)
    _, order, start = best
    return Snippet(text.names[order], _cut(text, order, start, _pairs(spans)))


def _cut(text: RecordText, order: int, start: int, marks: Sequence[Span]) -> SafeString:
    """Return about LENGTH characters of a field from a sentence's start, moved on if the first mark would be out of sight."""
    whole, limit = text.whole, text.starts[order + 1] - 1
    first = next((a for a, _ in marks if a >= start), start)
    if first - start > LENGTH * 2 // 3:
        start = _word_start(whole, first - LENGTH // 3)
    place = text.place_at(start)
    head = "… " if text.sentence(place)[0] != start else ""
    end = start
    while end < limit:
        a, b = text.sentence(place)
        if end > start and b - start > LENGTH:
            break
        end = min(b, limit)
        if b >= limit or (a >= start and b - start > LENGTH):
            break
        place += 2
    if end - start > LENGTH:
        end = min(_word_end(whole, start + LENGTH, marks), limit)
    tail = " …" if whole[end:limit].strip() else ""
    inside = [(a - start, min(b, end) - start) for a, b in marks if start <= a < end]
    return SafeString(head + _marked(whole[start:end], inside) + tail)  # both parts are escaped


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
        out += (escape(text[done:start]), "<mark>", escape(text[start:end]), "</mark>")
        done = end
    out.append(escape(text[done:]))
    return SafeString(" ".join("".join(out).split("\n")))  # every piece is escaped above
