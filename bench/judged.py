"""Judged queries and what rankings are worth on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

QUERIES = Path(__file__).parent / "data" / "queries.yaml"


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query as typed, its kind, and the grade of each relevant record (3 exactly what is asked, 1 partly)."""

    text: str
    kind: str
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Figures:
    """Averages over queries with relevant records. kinds: nDCG@10 of each kind. zero_hits: share without any result."""

    ndcg: float
    recall: float
    zero_hits: float
    kinds: Mapping[str, float]
    spurious: float


def judged_queries(path: Path = QUERIES) -> list[JudgedQuery]:
    """Return the judged queries of a file."""
    entries = yaml.safe_load(path.read_text("utf-8"))["queries"]
    return [JudgedQuery(entry["q"], entry["kind"], entry["relevant"]) for entry in entries]


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], depth: int = 10) -> float:
    """Return the normalized discounted cumulative gain: gains 2^grade - 1, discount log2(rank + 1)."""
    gained = sum((2 ** grades.get(i, 0) - 1) / math.log2(rank + 2) for rank, i in enumerate(ranking[:depth]))
    best = sorted(grades.values(), reverse=True)[:depth]
    ideal = sum((2**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(best))
    return float(gained / ideal)


def figures(queries: Sequence[JudgedQuery], rankings: Sequence[Sequence[str]]) -> Figures:
    """Return a search's figures from its rankings (public IDs, best first), one for each query.

    `spurious` is the number of results, on average, for queries to which the library rightly has no answer.
    """
    pairs = list(zip(queries, rankings, strict=True))
    answered = [(q, r) for q, r in pairs if q.grades]
    kinds: dict[str, list[float]] = {}
    for query, ranking in answered:
        kinds.setdefault(query.kind, []).append(ndcg(ranking, query.grades))
    values = [value for found in kinds.values() for value in found]
    recalls = [len(set(r[:20]) & set(q.grades)) / len(q.grades) for q, r in answered]
    unanswered = [len(r) for q, r in pairs if not q.grades]
    return Figures(
        ndcg=sum(values) / len(values),
        recall=sum(recalls) / len(recalls),
        zero_hits=sum(not r for _, r in answered) / len(answered),
        kinds={kind: sum(found) / len(found) for kind, found in kinds.items()},
        spurious=sum(unanswered) / len(unanswered) if unanswered else 0.0,
    )
