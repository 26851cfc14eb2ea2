"""What a search must answer, worked out record by record without arrays, postings or an engine.

Only the reading of the query (the plan) and the terms of a text are shared with the library; matching, counting,
weighing and ordering are written anew from their definitions. What is kept beside the records only says which of them
need to be looked at, and where the last query's words were found.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from urllib.parse import urlsplit

import numpy as np

from incidents.search import PARTIAL_BELOW, PARTIAL_LIMIT, SearchDocument, SearchQuery
from incidents.search.documents import HEADINGS, SECTIONS, label_keys
from incidents.search.evaluate import LITERAL_WORDS
from incidents.search.korean import Word, cover, fold, surfaces, tokens, words
from incidents.search.plan import Atom, Form, Need, Plan
from incidents.search.ranking import SECTION_WEIGHTS, Ranking
from incidents.search.service import CORRECTED_WORDS, PARTIAL_SHARE

TEXTS = SECTIONS[1:9]
FAR = 1_000_000  # a place is the section's number times this, plus the position: sections are never close
KEPT = 60  # forms whose places are kept
WHOLE_SYLLABLES = 4  # letters in a word that are so many are a match wherever words meet inside them

_WEAK_PARTICLES = frozenset("인 란 든 랑 아 야 나 쪽 뿐 씩 라 자".split())  # they end many nouns

Scores = dict[int, float]


class Record:
    """One record's terms. places: {term: where it stands}, words of labels with a mark before them; words: by section."""

    __slots__ = ("aliases", "document", "labels", "lengths", "places", "words")

    def __init__(self, document: SearchDocument) -> None:
        self.document = document
        texts = dict.fromkeys(SECTIONS, "")
        texts |= {"title": document.title, "organization": document.organization}
        texts |= {name: document.sections.get(name, "") for name in TEXTS}
        texts["sources"] = "\n".join(
            urlsplit(s).netloc.removeprefix("www.") if "://" in s else s for s in document.sources
        )
        headings = [HEADINGS[name] for name in TEXTS if document.sections.get(name)]
        texts["id"] = " ".join([document.public_id, str(document.year), *headings])
        places: dict[str, list[int]] = {}
        self.lengths: list[int] = []
        self.words: list[tuple[str, ...]] = []
        for number, section in enumerate(SECTIONS):
            for token in tokens(texts[section]):
                places.setdefault(token.term, []).append(number * FAR + token.position)
            self.lengths.append(sum(word.width for word, _, _ in words(fold(texts[section]))))
            self.words.append(tuple({word for word, _ in surfaces(texts[section])}))
        base = SECTIONS.index("labels") * FAR
        for token in tokens("\n".join(document.labels)):
            places.setdefault("#" + token.term, []).append(base + token.position)
        self.places = {term: tuple(sorted(set(found))) for term, found in places.items()}
        self.labels = frozenset(key for label in document.labels for key in label_keys(label))
        self.aliases = frozenset(key for alias in document.aliases for key in label_keys(alias, "~"))


class BruteForce:
    """A library searched record by record."""

    def __init__(self, documents: Iterable[SearchDocument]) -> None:
        self.records = [Record(document) for document in documents]
        self.ranking = Ranking()
        self.holders: dict[str, list[int]] = {}
        self.labelled_rows: dict[str, list[int]] = {}
        rows_of: dict[str, list[list[int]]] = {}
        for row, record in enumerate(self.records):
            for term in record.places:
                self.holders.setdefault(term, []).append(row)
            for key in record.labels | record.aliases:
                self.labelled_rows.setdefault(key, []).append(row)
            for section, found in enumerate(record.words):
                for word in found:
                    rows_of.setdefault(word, [[] for _ in SECTIONS])[section].append(row)
        self.words = [(marked.replace("+", ""), marked, rows) for marked, rows in rows_of.items()]
        self.text = "".join(f"{word}\n" for word, _, _ in self.words)  # every distinct word as written, a line each
        self.starts = list(accumulate((len(word) + 1 for word, _, _ in self.words), initial=0))
        self._seen: dict[tuple[tuple[tuple[str, int], ...], str | None], dict[int, list[int]]] = {}
        self.averages = []
        for section in range(len(SECTIONS)):
            lengths = [r.lengths[section] for r in self.records if r.lengths[section]]
            self.averages.append(max(1.0, sum(lengths) / max(1, len(lengths))))
        self.weights = [self._weights(record) for record in self.records]

    # Where something stands

    def places(self, form: Form, field: str | None = None) -> dict[int, list[int]]:
        """Return {row: the places where a form's terms stand at their offsets}, in one field if one is named."""
        key = (form.terms, field)
        if key not in self._seen:
            if len(self._seen) > KEPT:
                self._seen.clear()
            self._seen[key] = self._places(form, field)
        return self._seen[key]

    def _places(self, form: Form, field: str | None) -> dict[int, list[int]]:
        mark = "#" if field == "labels" else ""
        (first, base), *rest = form.terms
        section = SECTIONS.index(field) if field else None
        found = {}
        for row in self.holders.get(mark + first, ()):
            own = self.records[row].places
            others = [(own.get(mark + term, ()), offset - base) for term, offset in rest]
            here = [
                place
                for place in own[mark + first]
                if section in (None, place // FAR) and all(place + step in other for other, step in others)
            ]
            if here:
                found[row] = here
        return found

    def weight(self, row: int, places: Iterable[int]) -> float:
        """Return the weighted number of places: by section, and less in long ones."""
        weights = self.weights[row]
        return sum(weights[place // FAR] for place in places)

    def _weights(self, record: Record) -> list[float]:
        """Return what a place in each section counts. It is kept in single precision."""
        b = self.ranking.b
        weights = []
        for section, name in enumerate(SECTIONS):
            length = float(np.float32(b) * np.float32(record.lengths[section]))
            weight = float(np.float32(SECTION_WEIGHTS[name]))
            weights.append(float(np.float32(weight / (1 - b + length / self.averages[section]))))
        return weights

    def idf(self, count: int) -> float:
        return math.log1p((len(self.records) - count + 0.5) / (count + 0.5))

    # What an atom is worth

    def pooled(self, forms: Iterable[tuple[Form, float]], field: str | None = None) -> Scores:
        totals: Scores = {}
        for form, weight in forms:
            for row, places in self.places(form, field).items():
                totals[row] = totals.get(row, 0.0) + weight * self.weight(row, places)
        idf, k1 = self.idf(len(totals)), self.ranking.k1
        return {row: idf * (k1 + 1) * f / (k1 + f) for row, f in totals.items()}

    def atom(self, atom: Atom, field: str | None) -> Scores:
        scores = self.pooled(((form, form.weight) for form in (*atom.forms, *atom.alike)), field)
        if len(atom.parts) > 1:
            parts: Scores = {}
            for part in atom.parts:
                for row, score in self.pooled(((f, f.weight / part[0].weight) for f in part), field).items():
                    parts[row] = parts.get(row, 0.0) + part[0].weight * score
            scores = {row: max(scores.get(row, 0.0), parts.get(row, 0.0)) for row in {*scores, *parts}}
        return {row: score * self.ranking.light for row, score in scores.items()} if atom.is_light else scores

    def pair(self, left: Atom, right: Atom) -> Scores:
        """Return the bonus of each record in which two atoms stand within the window of one another."""
        if left.is_light or right.is_light:
            return {}
        ours, theirs = self.anywhere(left), self.anywhere(right)
        weight = self.ranking.proximity * min(self.idf(len(ours)), self.idf(len(theirs)))
        window = range(-self.ranking.window, self.ranking.window + 1)
        k1 = self.ranking.k1
        bonus = {}
        for row in ours.keys() & theirs.keys():
            near = [place for place in sorted(ours[row]) if any(place + step in theirs[row] for step in window)]
            if near:
                frequency = self.weight(row, near)
                bonus[row] = weight * (k1 + 1) * frequency / (k1 + frequency)
        return bonus

    def anywhere(self, atom: Atom, field: str | None = None) -> dict[int, set[int]]:
        """Return {row: places of an atom in any of its forms}."""
        found: dict[int, set[int]] = {}
        for form in atom.forms:
            for row, places in self.places(form, field).items():
                found.setdefault(row, set()).update(places)
        return found

    def labelled(self, plan: Plan) -> Scores:
        """Return what naming facet values is worth to each record: the best of its values."""
        said: dict[str, float] = {}
        for atom in plan.atoms:
            for form in (*atom.forms, *atom.alike):
                for term, _ in form.terms:
                    said[term] = max(said.get(term, 0.0), form.weight)
        for atom in plan.atoms:
            for form in atom.near:
                for term, _ in form.terms:
                    said[term] = max(said.get(term, 0.0), self.ranking.near_label)
        best: Scores = {}
        for key, rows in self.labelled_rows.items():
            leaves = key[1:].split(" ")
            if not set(leaves) & set(said):
                continue
            weights = [0.3 + self.idf(len(self.holders.get(leaf, ()))) for leaf in leaves]
            share = sum(w * said.get(leaf, 0.0) for leaf, w in zip(leaves, weights, strict=True)) / sum(weights)
            if share >= self.ranking.label_share - 1e-9:
                value = self.ranking.label if key[0] == "@" else self.ranking.alias
                worth = value * share * share * math.sqrt(sum(weights)) * self.idf(len(rows))
                for row in rows:
                    best[row] = max(best.get(row, 0.0), worth)
        return best

    def scores(self, plan: Plan) -> Scores:
        totals: Scores = {}

        def add(scores: Mapping[int, float], factor: float = 1.0) -> None:
            for row, score in scores.items():
                totals[row] = totals.get(row, 0.0) + factor * score

        for atom, field in zip(plan.atoms, plan.fields, strict=True):
            add(self.atom(atom, field))
            if atom.near:
                add(self.pooled((form, 1.0) for form in atom.near), self.ranking.near)
        add(self.labelled(plan))
        for need in plan.needs:
            if need.listed:
                letters: set[int] = set().union(*self.literal(need))
                add(dict.fromkeys(letters, self.idf(len(letters))), 0.5)
            elif len(plan.needs) <= LITERAL_WORDS and not self.holding(need, plan):
                inside, across = self.literal(need)
                add(dict.fromkeys(inside, self.idf(len(inside))), 0.5)
                add(dict.fromkeys(across, self.idf(len(across))), 0.25)
        for left, right in pairwise(plan.atoms):
            add(self.pair(left, right))
        return totals

    # What a clause asks for

    def holding(self, need: Need, plan: Plan) -> set[int]:
        """Return the rows that hold what a clause asks for, in any of its forms."""
        field = need.clause.field
        atoms = [plan.atoms[index] for index in need.atoms]
        rows = set().union(*self.literal(need)) if need.listed else set(self.places(need.own, field))
        if len(atoms) == 1:
            rows.update(*(self.places(form, field) for form in atoms[0].forms))
        elif any(len(atom.forms) > 1 for atom in atoms):
            rows |= self.following(atoms, field)
        if field is None and not need.clause.is_phrase:
            for form in (need.own, *atoms[0].forms):
                rows.update(self.labelled_rows.get("@" + " ".join(term for term, _ in form.terms), ()))
        return rows

    def following(self, atoms: Sequence[Atom], field: str | None) -> set[int]:
        """Return the rows in which atoms stand one after another, each next one within the width of the one before."""
        places = [self.anywhere(atom, field) for atom in atoms]
        rows = set()
        for row in set(places[0]).intersection(*places[1:]):
            reached = set(places[0][row])
            for before, found in zip(atoms, places[1:], strict=False):
                width = max(form.width for form in before.forms)
                reached = {
                    min(after) for place in reached if (after := [p for p in found[row] if 0 < p - place <= width])
                }
            if reached:
                rows.add(row)
        return rows

    def literal(self, need: Need) -> tuple[set[int], set[int]]:
        """Return (rows with a clause's letters as a word or inside one, rows where they only straddle two words)."""
        if need.clause.is_phrase or len(need.clause.words) > LITERAL_WORDS:
            return set(), set()
        field = need.clause.field
        whole: set[int] | None = None
        loose: set[int] | None = None
        for word in need.clause.words:
            inside: set[int] = set()
            across: set[int] = set()
            for needle in filter(None, (need.listed,) if need.listed else (word.surface, word.stem)):
                if len(needle) > 1:
                    a, b = self.letters(needle, field)
                    inside |= a
                    across |= b
            if len(word.surface) < 2 or len(need.clause.words) > 1:
                inside |= set(self.places(_form_of(word), field))
            whole = inside if whole is None else whole & inside
            loose = inside | across if loose is None else loose & (inside | across)
        return whole or set(), (loose or set()) - (whole or set())

    def letters(self, needle: str, field: str | None) -> tuple[set[int], set[int]]:
        inside: set[int] = set()
        across: set[int] = set()
        at = self.text.find(needle)
        while at >= 0:
            word, marked, rows = self.words[bisect_right(self.starts, at) - 1]
            wanted = rows if field is None else [rows[SECTIONS.index(field)]]
            (inside if _is_whole(needle, word, marked) else across).update(*wanted)
            at = self.text.find(needle, self.text.index("\n", at))  # on in the next word
        return inside, across - inside

    # The answer

    def full(self, plan: Plan) -> set[int]:
        """Return the rows with every word that must be found and none that is excluded."""
        wanted = [need for need in plan.needs if need.is_required]
        if not wanted and not plan.excluded:
            return set()
        rows = set(range(len(self.records)))
        for need in wanted:
            found = self.holding(need, plan)
            is_ending = all(word.kind == "ending" for word in need.clause.words)
            if len(wanted) <= LITERAL_WORDS and (not found or is_ending):
                found |= self.literal(need)[0]
            rows &= found
        return self.allowed(rows, plan)

    def allowed(self, rows: set[int], plan: Plan) -> set[int]:
        for need in plan.excluded:
            shunned = self.literal(need) if need.listed else [self.places(need.own, need.clause.field)]
            rows = rows - set().union(*shunned)
        return rows

    def ordered(self, rows: Iterable[int], scores: Scores) -> list[int]:
        def place(row: int) -> tuple[float, int, int]:
            document = self.records[row].document
            return -round(scores.get(row, 0.0), 6), -document.sort_date, document.id

        return sorted(rows, key=place)

    def is_unknown(self, need: Need, plan: Plan) -> bool:
        """Return whether no record holds a clause's words or letters, or only the noun of a doubtful one."""
        holding = self.holding(need, plan)
        if need.clause.is_phrase:
            return not holding
        if len(need.clause.words) > 1 or need.listed:
            return not holding and not any(self.literal(need))
        (word,) = need.clause.words
        if (holding and not word.is_doubtful) or any(self.letters(word.surface, None)):
            return False
        is_sure = word.surface[len(word.stem) :] not in _WEAK_PARTICLES
        return not (word.stem and is_sure and not word.is_doubtful and any(self.letters(word.stem, None)))

    def answer(self, query: SearchQuery, plan: Plan, *, is_corrected: bool) -> Answer:
        return Answer(self, query, plan, is_corrected=is_corrected)

    def with_feedback(self, plan: Plan, scores: Scores) -> Scores:
        """Return scores with what the best records have in common added."""
        ranking = self.ranking
        best = self.ordered(scores, scores)[: ranking.feedback_documents]
        mass = max(sum(scores[row] for row in best), 1e-9)
        weights: dict[str, float] = {}
        for row in best:
            record = self.records[row]
            marks = len(record.labels) + len(record.aliases)  # a document's length counts them too
            length = float(sum(map(len, record.places.values())) + marks) or 1.0
            for term, places in record.places.items():
                weights[term] = weights.get(term, 0.0) + scores[row] / mass * len(places) / length
        known = {term for atom in plan.atoms for form in atom.forms for term, _ in form.terms}
        common = [
            (weight * self.idf(count), term)
            for term, weight in weights.items()
            if term not in known
            and term[0] not in "#@~"
            and 1 < (count := len(self.holders[term])) < len(self.records) * 0.2
        ]
        ranked = sorted(common, reverse=True)[: ranking.feedback_terms]
        extra: Scores = {}
        for weight, term in ranked:
            for row, score in self.pooled([(Form(((term, 0),), 1), 1.0)]).items():
                extra[row] = extra.get(row, 0.0) + weight / ranked[0][0] * score
        peak, top = max(extra.values(), default=0.0), max(scores.values(), default=0.0)
        if not peak:
            return scores
        return {
            row: scores.get(row, 0.0) + ranking.feedback * top * extra.get(row, 0.0) / peak for row in {*scores, *extra}
        }


class Answer:
    """What one query must find. full: primary keys of the records with every word, in order."""

    def __init__(self, scan: BruteForce, query: SearchQuery, plan: Plan, *, is_corrected: bool) -> None:
        self.scan = scan
        self.plan = plan
        self.scores = {row: score for row, score in scan.scores(plan).items() if score}
        self.rows = scan.ordered(scan.full(plan), self.scores)
        named = None if is_corrected else self._named(query)
        if named is not None:
            self.rows = [named, *(row for row in self.rows if row != named)]
        self.has_unknown = (
            not is_corrected
            and len(query.clauses) <= CORRECTED_WORDS
            and any(scan.is_unknown(need, plan) for need in plan.needs if need.is_required)
        )
        self.full = [scan.records[row].document.id for row in self.rows]

    def after(self, full_count: int) -> list[int]:
        """Return the primary keys of what follows `full_count` full matches: those with some words, or its letters."""
        scan, plan, full = self.scan, self.plan, set(self.rows)
        inside: set[int] = set()
        if len(plan.needs) == 1:
            inside = scan.allowed(set().union(*scan.literal(plan.needs[0])) - full, plan)
        kept: list[int] = []
        if full_count < PARTIAL_BELOW:
            scores = scan.with_feedback(plan, self.scores) if len(plan.atoms) > 1 else self.scores
            kept = scan.ordered(scan.allowed(set(self.scores) - full, plan), scores)[:PARTIAL_LIMIT]
            if self.has_unknown and kept:
                least = PARTIAL_SHARE * scores[kept[0]]
                kept = [row for row in kept if scores[row] >= least]
        rest = scan.ordered(inside - set(kept), {})
        return [scan.records[row].document.id for row in (*kept, *rest)]

    def _named(self, query: SearchQuery) -> int | None:
        """Return the row of the record that a query names by its ID or by a source's address."""
        for row, record in enumerate(self.scan.records):
            document = record.document
            if query.public_id is not None:
                if document.public_id == query.public_id:
                    return row
            elif query.url is not None and any(_same_address(query.url, source) for source in document.sources):
                return row
        return None


def _form_of(word: Word) -> Form:
    leaves = cover(word)
    return Form(leaves, leaves[-1][1] + 1 if leaves else 1)


def _is_whole(needle: str, word: str, marked: str) -> bool:
    """Return whether letters in a word are one or stand inside one, and don't only straddle two.

    `+` in a marked word stands where two content words meet.
    """
    if len(needle) >= WHOLE_SYLLABLES:
        return True
    borders = set()
    passed = 0
    for sign in marked:
        if sign == "+":
            borders.add(passed)
        else:
            passed += 1
    ends = {0, len(word), *borders}
    start = word.find(needle)
    while start >= 0:
        stop = start + len(needle)
        if not any(start < border < stop for border in borders) or (start in ends and stop in ends):
            return True
        start = word.find(needle, start + 1)
    return False


def _same_address(one: str, other: str) -> bool:
    def bare(text: str) -> str:
        return text.strip().split("://", 1)[-1].removeprefix("www.").partition("#")[0].rstrip("/")

    return "://" in other and bare(one) == bare(other)
