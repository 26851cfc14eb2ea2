"""The ranking's numbers, which docs/decisions/search-ranking.md weighs one by one."""

from __future__ import annotations

from dataclasses import dataclass, field

SECTION_WEIGHTS = {
    "title": 4.0, "symptom": 1.6, "trigger": 1.2, "cause": 1.2, "contributing_factors": 1.0, "detection": 0.8,
    "actions": 1.0, "follow_ups": 0.8, "lesson": 0.6, "organization": 2.0, "labels": 1.0, "sources": 0.6, "id": 1.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranking's numbers; docs/decisions says what each one gains."""

    k1: float = 3.0
    b: float = 0.6
    weights: dict[str, float] = field(default_factory=lambda: dict(SECTION_WEIGHTS))
    light: float = 0.25
    near: float = 0.3
    label: float = 1.0
    alias: float = 0.3
    near_label: float = 1.0
    label_share: float = 0.6
    proximity: float = 0.5
    window: int = 6
    feedback_documents: int = 8
    feedback_terms: int = 30
    feedback: float = 0.4
