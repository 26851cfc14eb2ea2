"""The one ruler: every duration of the site is drawn on the same log scale, so that two records compare by eye.

Pure geometry. A place is a fraction from 0.0 (one minute) to 1.0 (thirty days); whoever draws turns it into
percentages of the width, so that nothing scales with the window.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from math import log
from typing import Final, Protocol

MAXIMUM: Final = 30 * 24 * 60  # minutes
KOREA: Final = timezone(timedelta(hours=9), "KST")  # no summer time since 1988, and older times are too rare to differ


@dataclass(frozen=True)
class Tick:
    """A mark of the scale: `minutes`, its `place`, and whether a narrow screen leaves its label out."""

    minutes: int
    place: float
    is_minor: bool

    @property
    def percent(self) -> str:
        return percent(self.place)

    @property
    def anchor(self) -> str:
        return anchor(self.place)


def place(minutes: float) -> float:
    """Return ln(minutes) / ln(43 200), clamped to 0–1."""
    return min(1.0, max(0.0, log(max(1.0, minutes)) / log(MAXIMUM)))


def percent(fraction: float) -> str:
    """Return `32.47%` for 0.3247: what SVG takes as a length."""
    return f"{fraction * 100:.2f}%"


def anchor(fraction: float) -> str:
    """Return the text-anchor that keeps a label inside the ruler."""
    return "start" if fraction < 0.02 else "end" if fraction > 0.98 else "middle"


TICKS: Final = tuple(
    Tick(minutes, place(minutes), minutes in (10, 6 * 60))
    for minutes in (1, 10, 60, 6 * 60, 24 * 60, 7 * 24 * 60, MAXIMUM)
)


@dataclass(frozen=True)
class Span:
    """A stretch of the timeline. `kind` is `unseen` (nobody knew), `seen` (known, felt) or `after` (no longer felt)."""

    kind: str
    start: float
    length: float

    @property
    def x(self) -> str:
        return percent(self.start)

    @property
    def width(self) -> str:
        return percent(self.length)


@dataclass(frozen=True)
class Step:
    """A numbered moment of the timeline; `elapsed` is in minutes after the start, None at the start itself."""

    number: int
    name: str
    at: datetime
    elapsed: int | None
    place: float
    row: int

    @property
    def x(self) -> str:
        return percent(self.place)

    @property
    def anchor(self) -> str:
        return anchor(self.place)

    @property
    def korean(self) -> datetime:
        """The same moment in Korea."""
        return self.at.astimezone(KOREA)


@dataclass(frozen=True)
class Timeline:
    """When an incident began, was noticed, stopped being felt and ended, as far as known to the minute."""

    spans: tuple[Span, ...]
    steps: tuple[Step, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(span.kind for span in self.spans)


class HasTimes(Protocol):
    """Four times in UTC, each with `minute`, `day`, `year` or nothing as its precision."""

    started_at: datetime | None
    started_precision: str
    detected_at: datetime | None
    detected_precision: str
    mitigated_at: datetime | None
    mitigated_precision: str
    resolved_at: datetime | None
    resolved_precision: str


def build_timeline(times: HasTimes) -> Timeline | None:
    """Return the timeline, or None unless the start and one more time are known to the minute.

    Times before the start stand at 0. Without a time of detection the first stretch counts as seen; without one of
    mitigation the seen stretch runs to the end.
    """
    known = {
        name: at.astimezone(UTC)
        for name in ("started", "detected", "mitigated", "resolved")
        if (at := getattr(times, f"{name}_at")) is not None and getattr(times, f"{name}_precision") == "minute"
    }
    start = known.get("started")
    if start is None or len(known) < 2:
        return None
    steps: list[Step] = []
    last_on_row = [-1.0, -1.0]
    for number, (name, at) in enumerate(known.items(), start=1):
        elapsed = round((at - start).total_seconds() / 60)
        where = 0.0 if name == "started" else place(elapsed)
        row = 0 if where - last_on_row[0] > 0.025 else 1  # two numbers that would touch stand one above the other
        last_on_row[row] = where
        steps.append(Step(number, name, at, None if name == "started" else elapsed, where, row))
    places = {step.name: step.place for step in steps}
    end = max(places.values())
    detected = places.get("detected", 0.0)
    mitigated = max(detected, places.get("mitigated", end))
    spans = (
        Span("unseen", 0.0, detected),
        Span("seen", detected, mitigated - detected),
        Span("after", mitigated, end - mitigated),
    )
    return Timeline(tuple(span for span in spans if span.length > 0), tuple(steps))
