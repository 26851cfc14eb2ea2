"""Words that mean the same or stand near, applied to queries only: changing them needs no new index. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from incidents.search.korean import leaves_of


@dataclass(frozen=True, slots=True)
class TermRow:
    """What some terms have to do with one another.

    relation "same": each is as good as the others and makes a full match. "alike": each says nearly the same and counts
    for ranking only. "near": the first draws in the others, for ranking only and more weakly.
    """

    terms: tuple[str, ...]
    relation: str = "same"


class Thesaurus:
    """Groups of forms by their leaves. `longest` is the number of leaves of the longest form."""

    def __init__(self, rows: Iterable[TermRow]) -> None:
        self.same: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        self.alike: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        self.near: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        self.longest = 1
        self.texts: dict[tuple[str, ...], str] = {}
        self._terms: set[str] = set()
        self.atoms: dict[tuple[tuple[int, str, int, bool], ...], Any] = {}  # what plan.py made of leaves, kept
        for row in rows:
            named = [(leaves_of(term), term) for term in row.terms]
            forms = [form for form, _ in named if form]
            for form, term in named:
                self.texts.setdefault(form, term)
                self._terms.update(form)
            self.longest = max([self.longest, *map(len, forms)])
            if row.relation == "near":
                for other in forms[1:]:
                    self.near.setdefault(forms[0], []).append(other)
            else:
                groups = self.alike if row.relation == "alike" else self.same
                for form in forms:
                    known = groups.setdefault(form, [])
                    known.extend(other for other in forms if other != form and other not in known)

    def forms(self, leaves: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return the other forms that mean the same as these leaves."""
        return self.same.get(leaves, [])

    def similar(self, leaves: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return forms that say nearly the same: they help ranking and never make a full match."""
        same = self.same.get(leaves, [])
        own = {leaves, *same}
        found = list(self.alike.get(leaves, []))
        for form in same:
            found.extend(self.alike.get(form, []))
        return [form for form in dict.fromkeys(found) if form not in own]

    def mentions(self, term: str) -> bool:
        """Return whether a term stands in any form: then it is a word, though no record may hold it."""
        return term in self._terms

    def text(self, leaves: tuple[str, ...]) -> str:
        """Return how a form is written where it is listed."""
        return self.texts.get(leaves, " ".join(leaves))

    def knows(self, leaves: tuple[str, ...]) -> bool:
        """Return whether the leaves are a listed form."""
        return leaves in self.same or leaves in self.alike or leaves in self.near

    def neighbours(self, leaves: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return forms that stand near: they help ranking and never make a full match."""
        own = {leaves, *self.same.get(leaves, [])}
        found = [other for form in own for other in self.near.get(form, [])]
        return [form for form in dict.fromkeys(found) if form not in own]


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
