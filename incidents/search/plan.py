"""SearchQuery + thesaurus → what to look up. Pure; knows neither postings nor engines.

An atom is one thing said: a dictionary word, an identifier, or several words that the thesaurus lists as one
(`장애 조치`). Ranking weighs atoms, so that `데이터센터화재` and `데이터센터 화재` rank alike; a need says which atoms must
be found together, so that what was typed solid or in quotes is a phrase.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from incidents.search.korean import HANGUL_WORD, LIGHT, Word, cover, hangul_word
from incidents.search.query import Clause, SearchQuery
from incidents.search.thesaurus import Thesaurus

SYNONYM_WEIGHT = 0.8
ALIKE_WEIGHT = 0.6
JOINED_WEIGHT = 0.8  # of the words that the thesaurus joins (`속도 제한`), each alone
ATOMS_KEPT = 5_000
PART_WEIGHT = 0.35  # of an identifier's parts where the whole isn't found


@dataclass(frozen=True, slots=True)
class Form:
    """Terms at offsets that say an atom. width: positions taken."""

    terms: tuple[tuple[str, int], ...]
    width: int
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """One thing to find, in any of its forms; the first form is the one typed. Atoms of one key are alike.

    alike and near: forms that only help ranking, nearly the same and related. parts: the words it is made of, each in all its
    forms, since a record may hold those alone. said, said_near: the terms of all forms, for naming facet values.
    """

    text: str
    forms: tuple[Form, ...]
    is_light: bool = False
    alike: tuple[Form, ...] = ()
    near: tuple[Form, ...] = ()
    parts: tuple[tuple[Form, ...], ...] = ()
    key: str = ""
    said: tuple[tuple[str, float], ...] = ()
    said_near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """What one clause asks for: its atoms, next to each other if solid, or its own terms as typed.

    listed: the word as it stands in a list of words, "" if in none. Its letters are it, however a record was cut.
    """

    clause: Clause
    atoms: tuple[int, ...]
    own: Form
    is_solid: bool
    is_required: bool = True
    key: str = ""
    listed: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything to look up for a query: atoms in order as typed, needs that refer to them by index.

    fields: of each atom, the only field that it is looked for in, or None.
    """

    atoms: tuple[Atom, ...]
    needs: tuple[Need, ...]
    excluded: tuple[Need, ...] = ()
    fields: tuple[str | None, ...] = ()


def make_plan(query: SearchQuery, thesaurus: Thesaurus) -> Plan:
    """Return the plan of a query. Forms of several words are seen across typed words (`장애 조치`), but not in quotes."""
    clauses = [_as_listed(clause, thesaurus) for clause in query.clauses]
    positive = [clause for clause in clauses if not clause.is_negated]
    leaves = [_Leaf(n, *leaf, not c.is_phrase, c.field) for n, c in enumerate(positive) for leaf in _leaves(c)]
    atoms: list[Atom] = []
    fields: list[str | None] = []
    owners: list[list[int]] = [[] for _ in positive]
    index = 0
    while index < len(leaves):
        end = _longest_form(leaves, index, thesaurus)
        group = leaves[index:end]
        for number in dict.fromkeys(leaf.clause for leaf in group):
            owners[number].append(len(atoms))
        atoms.append(_atom(group, thesaurus))
        fields.append(group[0].field)
        index = end
    is_light = [all(atoms[i].is_light for i in own) for own in owners]
    all_light = all(is_light)
    needs = []
    for number, clause in enumerate(positive):
        if owners[number]:
            required = all_light or not is_light[number] or clause.is_phrase or clause.field is not None
            keys = "+".join(atoms[index].key for index in owners[number])
            key = f"{clause.field}|{clause.is_phrase}|{clause.text}|{keys}"
            needs.append(
                Need(
                    clause,
                    tuple(owners[number]),
                    _own(clause),
                    len(owners[number]) > 1,
                    required,
                    key,
                    _listed(clause, thesaurus),
                )
            )
    excluded = tuple(
        Need(clause, (), _own(clause), False, listed=_listed(clause, thesaurus))
        for clause in clauses
        if clause.is_negated and _leaves(clause)
    )
    return Plan(tuple(atoms), tuple(needs), excluded, tuple(fields))


def _listed(clause: Clause, thesaurus: Thesaurus) -> str:
    """Return the listed word that a clause is, without the particle that it may be typed with."""
    word = clause.words[0]
    if clause.is_phrase or len(clause.words) > 1 or not HANGUL_WORD.fullmatch(word.surface):
        return ""
    return next((body for body in (word.surface, word.stem) if thesaurus.is_word(body)), "")


def _as_listed(clause: Clause, thesaurus: Thesaurus) -> Clause:
    """Return a clause with its listed word cut as that is cut alone."""
    listed = _listed(clause, thesaurus)
    return replace(clause, words=(hangul_word(listed),)) if listed else clause


def _part(leaves: tuple[str, ...], weight: float, thesaurus: Thesaurus) -> tuple[Form, ...]:
    same = (_form(other, weight * SYNONYM_WEIGHT, thesaurus) for other in thesaurus.forms(leaves))
    alike = (_form(other, weight * ALIKE_WEIGHT, thesaurus) for other in thesaurus.similar(leaves))
    return (_form(leaves, weight, thesaurus), *same, *alike)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A term of the query: number of its clause, term, offset in the clause, number of its atom there."""

    clause: int
    term: str
    offset: int
    atom: int
    is_plain: bool
    field: str | None


def _own(clause: Clause) -> Form:
    leaves = tuple((term, offset) for term, offset, _ in _leaves(clause))
    return Form(leaves, leaves[-1][1] + 1)


def _atom(group: list[_Leaf], thesaurus: Thesaurus) -> Atom:
    """Return the atom of some leaves; its parts are the typed words it joins, or the terms of one word."""
    terms = tuple(leaf.term for leaf in group)
    key = tuple((leaf.clause - group[0].clause, leaf.term, leaf.offset, leaf.is_plain) for leaf in group)
    if key in thesaurus.atoms:
        known: Atom = thesaurus.atoms[key]
        return known
    if len(thesaurus.atoms) > ATOMS_KEPT:
        thesaurus.atoms.clear()
    clauses = list(dict.fromkeys(leaf.clause for leaf in group))
    first = group[0].offset
    offsets = [leaf.offset - first for leaf in group] if len(clauses) == 1 else list(thesaurus.places(terms))
    own = Form(tuple(zip(terms, offsets, strict=True)), offsets[-1] + 1)
    others = thesaurus.forms(terms) if group[0].is_plain else []
    alike = tuple(
        _form(other, ALIKE_WEIGHT, thesaurus) for other in (thesaurus.similar(terms) if group[0].is_plain else [])
    )
    near = tuple(_form(other, 1.0, thesaurus) for other in (thesaurus.neighbours(terms) if group[0].is_plain else []))
    parts: tuple[tuple[Form, ...], ...] = ()
    if len(clauses) > 1:
        words = [tuple(leaf.term for leaf in group if leaf.clause == number) for number in clauses]
        parts = tuple(_part(word, JOINED_WEIGHT, thesaurus) for word in words)
    elif len(terms) > 1:
        parts = tuple(_part((term,), PART_WEIGHT, thesaurus) for term in dict.fromkeys(terms))
    said: dict[str, float] = {}
    forms = (own, *(_form(other, SYNONYM_WEIGHT, thesaurus) for other in others if other != terms))
    for form in (*forms, *alike):
        for term, _ in form.terms:
            said[term] = max(said.get(term, 0.0), form.weight)
    made = Atom(
        " ".join(terms),
        forms,
        all(term in LIGHT for term in terms),
        alike,
        near,
        parts,
        f"{' '.join(terms)}@{offsets}{len(clauses)}{group[0].is_plain}",
        tuple(said.items()),
        tuple(dict.fromkeys(term for form in near for term, _ in form.terms)),
    )
    thesaurus.atoms[key] = made
    return made


def word_form(word: Word) -> Form:
    """Return the terms of one chunk as a form."""
    leaves = cover(word)
    return Form(leaves, leaves[-1][1] + 1 if leaves else 1)


def _form(leaves: tuple[str, ...], weight: float, thesaurus: Thesaurus) -> Form:
    places = thesaurus.places(leaves)
    return Form(tuple(zip(leaves, places, strict=True)), places[-1] + 1, weight)


def _leaves(clause: Clause) -> list[tuple[str, int, int]]:
    """Return (term, offset, number of its atom) of a clause; an atom never spans chunks."""
    out: list[tuple[str, int, int]] = []
    base = 0
    number = 0
    for word in clause.words:
        atom_at: dict[int, int] = {}
        for atom, (start, width) in enumerate(word.atoms):
            for offset in range(start, start + width):
                atom_at.setdefault(offset, atom)
        out += [(term, base + offset, number + atom_at.get(offset, 0)) for term, offset in cover(word)]
        base += word.width
        number += max(1, len(word.atoms))
    return out


def _longest_form(leaves: list[_Leaf], start: int, thesaurus: Thesaurus) -> int:
    """Return the end of the longest known form that begins at `start`, else of the atom that does."""
    first = leaves[start]
    end = start + 1
    while end < len(leaves) and (leaves[end].clause, leaves[end].atom) == (first.clause, first.atom):
        end += 1
    if not first.is_plain:
        return end
    for stop in range(min(len(leaves), start + thesaurus.longest), end - 1, -1):
        last = leaves[stop - 1]
        if stop < len(leaves) and (leaves[stop].clause, leaves[stop].atom) == (last.clause, last.atom):
            continue  # it would cut an atom in two
        if not all(leaf.is_plain and leaf.field == first.field for leaf in leaves[start:stop]):
            continue
        if thesaurus.knows(tuple(leaf.term for leaf in leaves[start:stop])):
            return stop
    return end
