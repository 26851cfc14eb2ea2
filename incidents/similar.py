"""Which records are like a given one, each with the reason: the vocabulary that both share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np

from incidents.catalogue import Catalogue, Value

# A shared component says most about what one could learn from the other; who it happened to says least.
WEIGHTS: Final[Mapping[str, float]] = {"component": 1.0, "cause": 0.8, "factor": 0.6, "organization": 0.3}
MAIN_BONUS = 1.5  # both name it as the main one
MINIMUM_SHARED = 2  # one shared term alone makes no likeness


@dataclass(frozen=True)
class Similar:
    """A record like the one asked about: `shared` has the common values by facet, the telling ones first."""

    pk: int
    score: float
    shared: Mapping[str, tuple[Value, ...]]


def similar_records(
    catalogue: Catalogue, pk: int, *, limit: int = 6, exclude: frozenset[int] = frozenset()
) -> tuple[Similar, ...]:
    """Return the records most like a published one, best first; empty where it isn't published.

    A shared term weighs by its rarity, ln(records / records with it), so that two records that share `etcd` are nearer
    than two that share `software-bug`. Ties go to the later record.
    """
    rows = catalogue.rows_of([pk])
    if not len(rows):
        return ()
    row, size = int(rows[0]), len(catalogue)
    scores = np.zeros(size)
    shared_terms = np.zeros(size, dtype=np.int64)
    ours: dict[str, list[int]] = {}
    for name, weight in WEIGHTS.items():
        column = catalogue.columns[name]
        ours[name] = column.terms_of(row)
        main = column.first(size)
        for place, term in enumerate(ours[name]):
            having = column.rows[column.terms == term]
            gain = np.full(len(having), weight * log(1 + size / len(having)))
            if place == 0:
                gain[main[having] == term] *= MAIN_BONUS
            scores[having] += gain
            shared_terms[having] += 1
    hidden = [row, *catalogue.rows_of(sorted(exclude)).tolist()]
    scores[hidden] = 0
    scores[shared_terms < MINIMUM_SHARED] = 0
    # Only what can be among the best is sorted: the whole library would take ten times as long as the rest.
    least = np.partition(scores, -limit)[-limit] if size > limit else 0.0
    likely = np.flatnonzero((scores >= least) & (scores > 0))
    best = likely[np.lexsort((-catalogue.keys.numbers[likely], -scores[likely]))][:limit]
    return tuple(
        Similar(int(catalogue.keys.pks[other]), float(scores[other]), _shared(catalogue, int(other), ours))
        for other in best
        if scores[other] > 0
    )


def _shared(catalogue: Catalogue, row: int, ours: Mapping[str, list[int]]) -> dict[str, tuple[Value, ...]]:
    shared = {}
    for name, terms in ours.items():
        column = catalogue.columns[name]
        theirs = set(column.terms_of(row))
        by_pk = catalogue.vocabularies[name].by_pk
        if values := tuple(by_pk[term] for term in terms if term in theirs):
            shared[name] = values
    return shared
