"""Words that mean the same or stand near, applied to queries only: changing them needs no new index. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import permutations
from typing import Any

from incidents.search.korean import fold, leaves_of, placed_leaves

Leaves = tuple[str, ...]
Groups = dict[Leaves, list[Leaves]]

# What stands after a noun in records. A word that the analyser doesn't know may be cut differently before each of them.
_AFTER_WORDS = (
    "",
    *"은 는 이 가 을 를 에 의 와 과 로 으로 도 만 에서 에는 까지 부터 보다 처럼 이나 라는 이라는 들 들이 이다 였다".split(),
)


@dataclass(frozen=True, slots=True)
class TermRow:
    """What some terms have to do with one another.

    relation "same": each is as good as the others and makes a full match. "alike": each says nearly the same and counts
    for ranking only. "near": the first draws in the others, for ranking only and more weakly. "word": each is a word of
    its own that the analyser may not know. "apart": no row may join any two of them.
    """

    terms: tuple[str, ...]
    relation: str = "same"


class Thesaurus:
    """Groups of forms by their leaves. `longest` is the number of leaves of the longest form.

    What ships is taken as it stands, though a word may be in several rows (속도 제한). A word that is `added` as the same
    as another joins all that the other one is the same as.
    """

    def __init__(self, rows: Iterable[TermRow], added: Iterable[TermRow] = ()) -> None:
        self.same: Groups = {}
        self.alike: Groups = {}
        self.near: Groups = {}
        self.longest = 1
        self.texts: dict[Leaves, str] = {}
        self.offsets: dict[Leaves, tuple[int, ...]] = {}
        self._terms: set[str] = set()
        self._words: set[str] = set()
        self.atoms: dict[tuple[tuple[int, str, int, bool], ...], Any] = {}  # what plan.py made of leaves, kept
        apart = []
        for row in rows:
            self._add(row)
        for row in added:
            if row.relation == "apart":
                apart.append(row)
            elif row.relation == "word":
                for term in row.terms:
                    self._add_word(term)
            else:
                self._add(row, reaches=True)
        for row in apart:
            for one, other in permutations([leaves_of(term) for term in row.terms], 2):
                for groups in (self.same, self.alike, self.near):
                    if other in groups.get(one, ()):
                        groups[one].remove(other)

    def _add(self, row: TermRow, *, reaches: bool = False) -> None:
        forms = [form for form in map(self._form, row.terms) if form]
        if row.relation == "near":
            for other in forms[1:]:
                self.near.setdefault(forms[0], []).append(other)
        else:
            if reaches and row.relation == "same":
                forms = list(dict.fromkeys([*forms, *(other for form in forms for other in self.forms(form))]))
            _join(self.alike if row.relation == "alike" else self.same, forms)

    def _add_word(self, term: str) -> None:
        """Take a word with every way in which it is cut before a particle, but none that drops a part of it."""
        own = written(term)
        self._words.add(own)
        cut = (
            self._form(term + particle, term)
            for particle in _AFTER_WORDS
            if "".join(leaves_of(term + particle)).startswith(own) or not particle
        )
        _join(self.same, [form for form in dict.fromkeys(cut) if form])

    def _form(self, text: str, shown: str = "") -> Leaves:
        placed = placed_leaves(text)
        form = tuple(term for term, _ in placed)
        if form:
            self.texts.setdefault(form, shown or text)
            self.offsets.setdefault(form, tuple(offset - placed[0][1] for _, offset in placed))
            self._terms.update(form)
            self.longest = max(self.longest, len(form))
        return form

    def places(self, leaves: Leaves) -> tuple[int, ...]:
        """Return at which positions the leaves of a form stand: not each next one, where a word has several."""
        return self.offsets.get(leaves) or tuple(range(len(leaves)))

    def is_word(self, text: str) -> bool:
        """Return whether somebody said that a text is a word, whatever the analyser makes of it."""
        return text in self._words

    def forms(self, leaves: Leaves) -> list[Leaves]:
        """Return the other forms that mean the same as these leaves."""
        return self.same.get(leaves, [])

    def similar(self, leaves: Leaves) -> list[Leaves]:
        """Return forms that say nearly the same: they help ranking and never make a full match."""
        same = self.same.get(leaves, [])
        own = {leaves, *same}
        found = list(self.alike.get(leaves, []))
        for form in same:
            found.extend(self.alike.get(form, []))
        return [form for form in dict.fromkeys(found) if form not in own]

    def mentions(self, term: str) -> bool:
        """Return whether a term stands in any form: then it is a word, though no record may hold it."""
        return term in self._terms or term in self._words

    def text(self, leaves: Leaves) -> str:
        """Return how a form is written where it is listed."""
        return self.texts.get(leaves, " ".join(leaves))

    def knows(self, leaves: Leaves) -> bool:
        """Return whether the leaves are a listed form."""
        return leaves in self.same or leaves in self.alike or leaves in self.near

    def neighbours(self, leaves: Leaves) -> list[Leaves]:
        """Return forms that stand near: they help ranking and never make a full match."""
        own = {leaves, *self.same.get(leaves, [])}
        found = [other for form in own for other in self.near.get(form, [])]
        return [form for form in dict.fromkeys(found) if form not in own]


def _join(groups: Groups, forms: list[Leaves]) -> None:
    for form in forms:
        known = groups.setdefault(form, [])
        known.extend(other for other in forms if other != form and other not in known)


def written(text: str) -> str:
    """Return a term as terms are compared: folded, without case, its spaces single."""
    return " ".join(unicodedata.normalize("NFC", fold(text)).casefold().split())


def has_leaves(text: str) -> bool:
    """Return whether there is anything in a text to look for."""
    return any(leaves_of(text))


def links(row: TermRow) -> frozenset[tuple[str, str]]:
    """Return the pairs of terms that a row joins, each as written: (a word, "") for a word of its own."""
    terms = tuple(dict.fromkeys(map(written, row.terms)))
    if row.relation == "word":
        return frozenset((term, "") for term in terms)
    if row.relation == "near":
        return frozenset((terms[0], other) for other in terms[1:])
    return frozenset((min(pair), max(pair)) for pair in permutations(terms, 2))


@lru_cache(maxsize=1)
def shipped_rows() -> tuple[TermRow, ...]:
    """Return the rows of `data/synonyms.txt`: `a = b` the same, `a ~ b` nearly, `a > b, c` that a draws in b and c."""
    text = (resources.files("incidents.search") / "data" / "synonyms.txt").read_text("utf-8")
    return tuple(row for line in text.splitlines() if (row := parse_row(line)))


def parse_row(line: str) -> TermRow | None:
    """Return the row that a line of the synonym file says, or None for an empty line or a comment."""
    body = line.partition("#")[0].strip()
    if not body:
        return None
    if ">" in body:
        head, _, rest = body.partition(">")
        return TermRow((head.strip(), *(term.strip() for term in rest.split(","))), "near")
    if "~" in body:
        return TermRow(tuple(term.strip() for term in body.split("~")), "alike")
    return TermRow(tuple(term.strip() for term in body.split("=")))
