"""Figures as bricks: what stands where."""

from __future__ import annotations

from itertools import pairwise

import pytest

from incidents.charts import duration_chart, year_chart
from incidents.stats import DurationFigure, DurationRecord, YearFigure, YearMark, heat_step


def years(*counts: int, early: int = 0) -> YearFigure:
    marks = [YearMark("–2010", early, "year_to=2010", 1969, 2010)] if early else []
    marks += [YearMark(f"{2011 + n}", count, "", 2011 + n, 2011 + n) for n, count in enumerate(counts)]
    return YearFigure(sum(counts) + early, tuple(marks))


def test_five_bricks_make_a_row() -> None:
    chart = year_chart(years(12, 5, 0))
    assert chart is not None
    assert [(column.height, column.partial_width, column.has_partial) for column in chart.columns] == [
        (21, "40.00%", True),
        (7, "0.00%", False),
        (0, "0.00%", False),
    ]
    assert chart.records_per_brick == 1


def test_early_years_stand_behind_a_break() -> None:
    chart = year_chart(years(1, 1, early=9))
    assert chart is not None
    assert chart.has_break
    assert [column.short for column in chart.columns] == ["–’10", "’11", "’12"]


def test_a_brick_stands_for_more_where_the_library_is_large() -> None:
    chart = year_chart(years(100_000))
    assert chart is not None
    assert chart.records_per_brick == 834
    assert chart.height < 300


def test_no_records_no_chart() -> None:
    assert year_chart(YearFigure(0, ())) is None
    assert duration_chart(DurationFigure(3, 0, (), (), 0, 0, 0)) is None


def test_bricks_of_like_durations_stack() -> None:
    records = tuple(DurationRecord(f"IL-{n:04d}", minutes) for n, minutes in enumerate([60, 60, 61, 5000], start=1))
    chart = duration_chart(DurationFigure(4, 4, records, (), 60, 60, 61))
    assert chart is not None
    assert len({brick.x for brick in chart.bricks[:3]}) == 1
    assert all(upper.y > lower.y for upper, lower in pairwise(chart.bricks[:3]))
    assert chart.bricks[3].x != chart.bricks[0].x


@pytest.mark.parametrize(
    ("count", "step"), [(0, 0), (1, 1), (5, 1), (6, 2), (15, 2), (16, 3), (28, 4), (42, 4), (43, 5), (58, 5)]
)
def test_heat_steps_lift_small_counts(count: int, step: int) -> None:
    assert heat_step(count, 58) == step
