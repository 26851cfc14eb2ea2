"""Figures as geometry: bricks and columns as SVG takes them. Pure; x in percent of the width, y in pixels.

One brick is one record. Text keeps its size whatever the width, because nothing is scaled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from incidents.ruler import percent, place
from incidents.stats import DurationFigure, YearFigure

BRICKS_PER_ROW: Final = 5
ROW_HEIGHT: Final = 7  # px, the gap included
LABEL_HEIGHT: Final = 24
VALUE_HEIGHT: Final = 20
MOST_ROWS: Final = 24  # a library of thousands gets rows that stand for more records, and the note says how many
COLUMN_SHARE: Final = 0.78  # of a column's slot that is bricks
BREAK_SHARE: Final = 0.4  # of a slot that is left out where early years stand together
DURATION_COLUMNS: Final = 60
BRICK_HEIGHT: Final = 7.5


@dataclass(frozen=True)
class YearColumn:
    """A column of bricks: full rows of five and a topmost row that may have fewer."""

    label: str
    short: str
    count: int
    query: str
    hit_x: str
    hit_width: str
    x: str
    width: str
    middle: str
    top: float
    height: float
    full_top: float
    full_height: float
    partial_width: str
    has_partial: bool

    @property
    def value_y(self) -> float:
        return self.top - 6


@dataclass(frozen=True)
class YearChart:
    """The columns by year. `records_per_brick` is 1 until the library outgrows the page."""

    height: float
    base: float
    columns: tuple[YearColumn, ...]
    axis_from: str
    break_to: str
    has_break: bool
    records_per_brick: int

    @property
    def label_y(self) -> float:
        return self.base + 18


def year_chart(figure: YearFigure) -> YearChart | None:
    """Return the columns of a figure; None where it has no records."""
    if not figure.marks:
        return None
    has_break = figure.marks[0].first != figure.marks[0].last
    slots = len(figure.marks) + (BREAK_SHARE if has_break else 0)
    largest = max(mark.count for mark in figure.marks)
    per_brick = max(1, -(-largest // (BRICKS_PER_ROW * MOST_ROWS)))
    rows = -(-largest // (BRICKS_PER_ROW * per_brick))
    base = VALUE_HEIGHT + rows * ROW_HEIGHT
    columns = []
    for number, mark in enumerate(figure.marks):
        slot = number + (BREAK_SHARE if has_break and number else 0)
        bricks = -(-mark.count // per_brick)
        full, over = divmod(bricks, BRICKS_PER_ROW)
        height = (full + (1 if over else 0)) * ROW_HEIGHT
        start = (slot + (1 - COLUMN_SHARE) / 2) / slots
        short = f"’{mark.last % 100:02d}"
        columns.append(
            YearColumn(
                label=mark.label,
                short=f"–{short}" if mark.first != mark.last else short,
                count=mark.count,
                query=mark.query,
                hit_x=percent(slot / slots),
                hit_width=percent(1 / slots),
                x=percent(start),
                width=percent(COLUMN_SHARE / slots),
                middle=percent(start + COLUMN_SHARE / slots / 2),
                top=base - height,
                height=height,
                full_top=height - full * ROW_HEIGHT,
                full_height=full * ROW_HEIGHT,
                partial_width=percent(over / BRICKS_PER_ROW),
                has_partial=bool(over),
            )
        )
    return YearChart(
        height=base + LABEL_HEIGHT,
        base=base,
        columns=tuple(columns),
        axis_from=percent((1 + BREAK_SHARE * 0.8) / slots) if has_break else "0%",
        break_to=percent((1 + BREAK_SHARE * 0.2) / slots),
        has_break=has_break,
        records_per_brick=per_brick,
    )


@dataclass(frozen=True)
class Brick:
    """One record on the ruler."""

    public_id: str
    minutes: int
    x: str
    y: float


@dataclass(frozen=True)
class DurationChart:
    """The distribution as a stack of bricks on the ruler; the band is the middle half."""

    height: float
    base: float
    bricks: tuple[Brick, ...]
    brick_width: str
    brick_height: float
    half_x: str
    half_width: str
    median_x: str
    median_anchor: str

    @property
    def plot_height(self) -> float:
        return self.base - 18

    @property
    def tick_y(self) -> float:
        return self.base + 6

    @property
    def label_y(self) -> float:
        return self.base + 20


def duration_chart(figure: DurationFigure) -> DurationChart | None:
    """Return the stack of a figure; None where no duration is known."""
    if not figure.records:
        return None
    stacks: dict[int, int] = {}
    placed: list[tuple[str, int, int, int]] = []
    for record in figure.records:
        column = min(DURATION_COLUMNS - 1, int(place(record.minutes) * DURATION_COLUMNS))
        stacks[column] = level = stacks.get(column, 0) + 1
        placed.append((record.public_id, record.minutes, column, level))
    tallest = max(stacks.values())
    step = min(BRICK_HEIGHT, 160 / tallest)
    base = 22 + tallest * step
    bricks = tuple(
        Brick(public_id, minutes, percent(column / DURATION_COLUMNS), round(base - level * step, 2))
        for public_id, minutes, column, level in placed
    )
    low, middle, high = (place(value) for value in (figure.lower_quartile, figure.median, figure.upper_quartile))
    return DurationChart(
        height=base + 26,
        base=round(base, 2),
        bricks=bricks,
        brick_width=percent(0.84 / DURATION_COLUMNS),
        brick_height=round(step - 1, 2),
        half_x=percent(low),
        half_width=percent(high - low),
        median_x=percent(middle),
        median_anchor="start" if middle < 0.15 else "end" if middle > 0.85 else "middle",
    )
