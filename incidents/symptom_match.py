"""Which incidents look like a pasted error: ranked by the words they share, each with the sentence that says it best."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np

from incidents.catalogue import get_catalogue
from incidents.indexing import fresh_backend
from incidents.log_words import log_words
from incidents.markdown_html import plain_text, statements
from incidents.models import Incident
from incidents.pins import SECTION_FIELDS
from incidents.search import SearchBackend, parse_query

KEPT_WORDS: Final = 25  # the rarest words of the pasted text that records know
COMMON_SHARE: Final = 0.3  # a word in more of the records than this says nothing
TELLING_SHARE: Final = 0.05  # one word alone is enough where so few records have it
MARKED: Final = re.compile(r"<mark>(.*?)</mark>", re.DOTALL)
# Where a symptom is most likely described in the words of a log, first.
SEARCHED: Final = ("symptom", "detection", "cause", "trigger", "factors", "actions", "follow-ups", "lesson")


@dataclass(frozen=True)
class SymptomMatch:
    """A record that looks like the text: `score` is the share of the telling words that it has, from 0 to 1.

    `section` and `number` say where `statement` (plain text) stands: `#cause-2`.
    """

    incident: Incident
    score: float
    words: tuple[str, ...]
    section: str
    number: int
    statement: str
    detection: str
    first_action: str

    @property
    def anchor(self) -> str:
        return f"{self.section}-{self.number}"

    @property
    def pin(self) -> str:
        """`IL-0252@1#cause-2`."""
        return f"{self.incident.public_id}@{self.incident.version}#{self.anchor}"


@dataclass(frozen=True)
class MatchResult:
    """What was looked for, and what was found, best first."""

    words: tuple[str, ...]
    matches: tuple[SymptomMatch, ...]


def match_symptom(text: str, limit: int = 5) -> MatchResult:
    """Return the incidents that look most like a pasted text. Nothing of it is kept. Raises SearchUnavailable."""
    backend = fresh_backend()
    catalogue = get_catalogue()
    size = len(catalogue)
    found = []  # (weight: the squared rarity, so that one rare word outweighs two frequent ones, word, rows)
    for word in log_words(text):
        result = backend.search(parse_query(word))
        rows = catalogue.rows_of(result.full) if result.interpretation.kind == "exact" else ()
        if 0 < len(rows) <= max(1, size * COMMON_SHARE):
            found.append((log(1 + size / len(rows)) ** 2, word, rows))
    found.sort(key=lambda one: -one[0])
    found = found[:KEPT_WORDS]
    scores = np.zeros(size)
    shared = np.zeros(size, dtype=np.int64)
    telling = np.zeros(size, dtype=np.bool_)
    for weight, _, rows in found:
        scores[rows] += weight
        shared[rows] += 1
        telling[rows] |= len(rows) <= max(1, size * TELLING_SHARE)
    scores[(shared < 2) & ~telling] = 0
    best = [int(row) for row in np.lexsort((-catalogue.keys.numbers, -scores))[:limit] if scores[row] > 0]
    by_pk = Incident.objects.published().for_records().in_bulk(catalogue.keys.pks[best].tolist())
    total = sum(weight for weight, _, _ in found)
    matches = []
    for row in best:
        incident = by_pk.get(int(catalogue.keys.pks[row]))
        if incident is not None:
            words = [(weight, word) for weight, word, rows in found if row in rows]
            matches.append(_match(backend, incident, words, float(scores[row]) / total))
    return MatchResult(tuple(word for _, word, _ in found), tuple(matches))


def _match(backend: SearchBackend, incident: Incident, words: list[tuple[float, str]], score: float) -> SymptomMatch:
    query = parse_query(" ".join(word for _, word in words))
    weights = {word.casefold(): weight for weight, word in words}
    least = min(weights.values())
    best, place = 0.0, ("symptom", 1, next(iter(statements(incident.symptom)), incident.symptom))
    for section, number, source in _statements(incident):
        marked = {hit.casefold() for hit in MARKED.findall(str(backend.mark(query, plain_text(source))))}
        weight = sum(weights.get(hit, least) for hit in marked)
        if weight > best:
            best, place = weight, (section, number, source)
    section, number, source = place
    return SymptomMatch(
        incident=incident,
        score=round(score, 3),
        words=tuple(word for _, word in words),
        section=section,
        number=number,
        statement=" ".join(plain_text(source).split()),
        detection=" ".join(plain_text(incident.detection).split()),
        first_action=" ".join(plain_text(incident.actions[0]).split()) if incident.actions else "",
    )


def _statements(incident: Incident) -> Iterator[tuple[str, int, str]]:
    """Yield (section, number, source) of every statement, as their anchors count them."""
    for section in SEARCHED:
        value = getattr(incident, SECTION_FIELDS[section])
        for number, source in enumerate(value if isinstance(value, list) else statements(value), start=1):
            yield section, number, source
