"""The one ruler and the words of durations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from incidents.durations import duration_text
from incidents.ruler import TICKS, Timeline, build_timeline, percent, place

START = datetime(2024, 1, 24, 7, 20, tzinfo=UTC)


@dataclass
class Times:
    started_at: datetime | None = START
    started_precision: str = "minute"
    detected_at: datetime | None = None
    detected_precision: str = ""
    mitigated_at: datetime | None = None
    mitigated_precision: str = ""
    resolved_at: datetime | None = None
    resolved_precision: str = ""


def times(**minutes: int) -> Timeline | None:
    known = Times()
    for name, after in minutes.items():
        setattr(known, f"{name}_at", START + timedelta(minutes=after))
        setattr(known, f"{name}_precision", "minute")
    return build_timeline(known)


def shape(timeline: Timeline | None) -> list[tuple[str, str, str]]:
    assert timeline is not None
    return [(span.kind, span.x, span.width) for span in timeline.spans]


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (0, "1분 안"),
        (1, "1분"),
        (41, "41분"),
        (60, "1시간"),
        (190, "3시간 10분"),
        (2959, "49시간 19분"),
        (4320, "3일"),
        (4442, "3일 2시간"),
        (4369, "3일 1시간"),
        (525_600, "365일"),
    ],
)
def test_durations_are_said_in_two_units_at_most(minutes: int, text: str) -> None:
    assert duration_text(minutes) == text


@pytest.mark.parametrize(
    ("minutes", "where"),
    [(0, "0.00%"), (1, "0.00%"), (10, "21.57%"), (60, "38.36%"), (43_200, "100.00%"), (99_999, "100.00%")],
)
def test_places_are_logarithmic_from_a_minute_to_thirty_days(minutes: int, where: str) -> None:
    assert percent(place(minutes)) == where


def test_labels_of_the_ends_stay_inside() -> None:
    assert [tick.anchor for tick in TICKS] == ["start", *["middle"] * 5, "end"]


def test_timeline_has_three_stretches() -> None:
    timeline = times(detected=32, mitigated=208, resolved=2959)
    assert shape(timeline) == [
        ("unseen", "0.00%", "32.47%"),
        ("seen", "32.47%", "17.54%"),
        ("after", "50.01%", "24.88%"),
    ]
    assert timeline is not None
    assert [(step.number, step.name, step.elapsed) for step in timeline.steps] == [
        (1, "started", None),
        (2, "detected", 32),
        (3, "mitigated", 208),
        (4, "resolved", 2959),
    ]
    assert f"{timeline.steps[0].korean:%Y-%m-%d %H:%M}" == "2024-01-24 16:20"


def test_timeline_without_detection_or_mitigation_is_all_seen() -> None:
    assert shape(times(resolved=60)) == [("seen", "0.00%", "38.36%")]


def test_timeline_that_ends_with_detection_is_unseen() -> None:
    assert shape(times(detected=60)) == [("unseen", "0.00%", "38.36%")]


def test_detection_before_the_start_stands_at_the_start() -> None:
    timeline = times(detected=-30, resolved=60)
    assert shape(timeline) == [("seen", "0.00%", "38.36%")]
    assert timeline is not None
    assert [(step.x, step.elapsed) for step in timeline.steps] == [("0.00%", None), ("0.00%", -30), ("38.36%", 60)]
    assert [step.row for step in timeline.steps] == [0, 1, 0]


@pytest.mark.parametrize(
    "known",
    [
        Times(),
        Times(started_at=None, started_precision="", resolved_at=START, resolved_precision="minute"),
        Times(resolved_at=START + timedelta(days=2), resolved_precision="day"),
        Times(started_precision="day", resolved_at=START + timedelta(hours=2), resolved_precision="minute"),
    ],
)
def test_no_timeline_is_drawn_from_less_than_two_minutes(known: Times) -> None:
    assert build_timeline(known) is None
