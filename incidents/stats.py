"""The library in figures: frozen numbers for charts and tables, each with the listing that it counts.

No drawing here. Every mark's `query` is the query string of the listing that shows exactly the records of its `count`;
a listing takes values of one facet as alternatives, so no figure counts records with two values of one facet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np
from django.utils.translation import gettext

from incidents.catalogue import UNKNOWN_DURATION, Catalogue, Column, IntArray, Selection, Value
from incidents.durations import duration_text
from incidents.facets import FACETS_BY_NAME
from incidents.listing_params import encode_query
from incidents.models import DetectionMethod, format_public_id
from incidents.term_labels import term_label

Pairs = tuple[tuple[str, str], ...]

SEPARATE_YEARS: Final = 16  # the latest ones; those before share a mark
HEAT_STEPS: Final = 5
HEAT_POWER: Final = 0.7  # lifts the many small counts apart, where the largest is some ten times the median
FEWEST_TOGETHER: Final = 5  # a pair seen less often says nothing
LIFT: Final = 1.3
PAIRS_SHOWN: Final = 12
FACTORS_SHOWN: Final = 15
# Bounds of the durations' table in minutes: steps that a person thinks in. The last is open.
DURATION_BOUNDS: Final = (0, 10, 60, 360, 1440, 10_080, 43_200)


@dataclass(frozen=True)
class Mark:
    """A count with its label and the query of the listing it opens."""

    label: str
    count: int
    query: str


@dataclass(frozen=True)
class Term(Mark):
    """A count of one vocabulary term; `share` is its part of the figure's total in percent."""

    value: str
    share: int


@dataclass(frozen=True)
class YearMark(Mark):
    """Records of one year, or of all years up to `last` where `first` differs."""

    first: int
    last: int


@dataclass(frozen=True)
class YearFigure:
    """Records by year, oldest first. Every record has a year: `total` is the denominator."""

    total: int
    marks: tuple[YearMark, ...]


@dataclass(frozen=True)
class DurationRecord:
    """One record in the distribution: a brick."""

    public_id: str
    minutes: int


@dataclass(frozen=True)
class DurationFigure:
    """Durations in minutes of the `known` records, shortest first. No mean: a few long ones would pull it."""

    total: int
    known: int
    records: tuple[DurationRecord, ...]
    bins: tuple[Mark, ...]
    lower_quartile: int
    median: int
    upper_quartile: int

    @property
    def unknown(self) -> int:
        return self.total - self.known


@dataclass(frozen=True)
class Cell(Mark):
    """A cell of a heat map; `step` is 0 for no records, then 1 to 5. `is_unknown` stands outside the scale."""

    step: int
    is_unknown: bool = False


@dataclass(frozen=True)
class HeatRow:
    """A row: its own mark, its group in the vocabulary, its cells in the order of the columns."""

    head: Mark
    group: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class HeatStep:
    """The counts that one step of the scale covers, both ends included."""

    step: int
    lowest: int
    highest: int


@dataclass(frozen=True)
class HeatFigure:
    """A table of two facets. `known` counts the records that state the column's facet."""

    total: int
    known: int
    columns: tuple[Mark, ...]
    rows: tuple[HeatRow, ...]
    steps: tuple[HeatStep, ...]

    @property
    def unknown(self) -> int:
        return self.total - self.known


@dataclass(frozen=True)
class TermFigure:
    """The most frequent terms of a facet, most frequent first. `known` counts the records that have any."""

    total: int
    known: int
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class TogetherMark(Mark):
    """Two terms of different facets on the same records; `lift` is how often as often as if they were independent."""

    first: str
    second: str
    lift: float


@dataclass(frozen=True)
class TogetherFigure:
    """Pairs of terms that stand together more often than chance would have it."""

    total: int
    marks: tuple[TogetherMark, ...]


@dataclass(frozen=True)
class LibraryFigures:
    """Everything that the statistics page shows."""

    years: YearFigure
    durations: DurationFigure
    cause_component: HeatFigure
    cause_detection: HeatFigure
    factors: TermFigure
    together: TogetherFigure


def library_figures(catalogue: Catalogue) -> LibraryFigures:
    """Return all figures of the whole library."""
    everything = catalogue.everything()
    return LibraryFigures(
        years=year_figure(everything),
        durations=duration_figure(everything),
        cause_component=cause_component_figure(everything),
        cause_detection=cause_detection_figure(everything),
        factors=term_figure(everything, "factor", FACTORS_SHOWN),
        together=together_figure(everything),
    )


def known_counts(selection: Selection) -> tuple[int, int]:
    """Return how many records state how they were noticed, and how many their duration."""
    catalogue = selection.catalogue
    unknown = {
        value.pk
        for value in catalogue.vocabularies["detection"].by_pk.values()
        if value.slug == DetectionMethod.UNKNOWN
    }
    silent = catalogue.columns["detection"].mask(len(catalogue), unknown)
    with_duration = selection.mask & (catalogue.keys.durations != UNKNOWN_DURATION)
    return selection.count - int(np.count_nonzero(silent & selection.mask)), int(np.count_nonzero(with_duration))


def year_figure(selection: Selection, base: Pairs = ()) -> YearFigure:
    """Return the records by year; years without records between others stand there with 0."""
    catalogue = selection.catalogue
    years, counts = np.unique(catalogue.keys.years[selection.mask], return_counts=True)
    by_year = dict(zip(years.tolist(), counts.tolist(), strict=True))
    if not by_year:
        return YearFigure(0, ())
    first, last = min(by_year), max(by_year)
    cut = max(first, last - SEPARATE_YEARS + 1)
    marks: list[YearMark] = []
    if first == cut - 1:
        cut = first  # one early year needs no mark for several
    early = sum(count for year, count in by_year.items() if year < cut)
    if early:
        label = gettext("%(first)s–%(last)s년") % {"first": first, "last": cut - 1}
        marks.append(YearMark(label, early, encode_query([*base, ("year_to", str(cut - 1))]), first, cut - 1))
    for year in range(cut, last + 1):
        query = encode_query([*base, ("year_from", str(year)), ("year_to", str(year))])
        marks.append(YearMark(gettext("%(year)s년") % {"year": year}, by_year.get(year, 0), query, year, year))
    return YearFigure(selection.count, tuple(marks))


def duration_figure(selection: Selection, base: Pairs = ()) -> DurationFigure:
    """Return the durations of the records whose start and end are known to the minute."""
    keys = selection.catalogue.keys
    rows = np.flatnonzero(selection.mask & (keys.durations != UNKNOWN_DURATION))
    rows = rows[np.argsort(keys.durations[rows], kind="stable")]
    minutes = keys.durations[rows]
    records = tuple(
        DurationRecord(format_public_id(number), length)
        for number, length in zip(keys.numbers[rows].tolist(), minutes.tolist(), strict=True)
    )
    quartiles = (
        [int(value) for value in np.quantile(minutes, (0.25, 0.5, 0.75), method="lower")] if len(rows) else [0] * 3
    )
    return DurationFigure(selection.count, len(rows), records, _duration_bins(minutes, base), *quartiles)


def _duration_bins(minutes: IntArray, base: Pairs) -> tuple[Mark, ...]:
    bins = []
    for lower, beyond in zip(DURATION_BOUNDS, (*DURATION_BOUNDS[1:], None), strict=True):
        within = (minutes >= lower) & (minutes < beyond if beyond is not None else True)
        pairs = [("duration_from", str(lower))] if lower else []
        if beyond is not None:
            pairs.append(("duration_to", str(beyond - 1)))
        names = {"lower": duration_text(lower), "upper": duration_text(beyond or 0)}
        if not lower:
            label = gettext("%(upper)s 못 되게") % names
        elif beyond is None:
            label = gettext("%(lower)s 넘게") % names
        else:
            label = gettext("%(lower)s부터 %(upper)s 못 되게") % names
        bins.append(Mark(label, int(np.count_nonzero(within)), encode_query([*base, *pairs])))
    return tuple(bins)


def cause_component_figure(selection: Selection) -> HeatFigure:
    """Return causes against the groups of components. A record counts once in each cell that it belongs to."""
    catalogue = selection.catalogue
    components = sorted(catalogue.vocabularies["component"].by_pk.values(), key=lambda value: value.position)
    groups: dict[str, list[Value]] = {}
    for value in components:
        groups.setdefault(value.group, []).append(value)
    number = {value.pk: place for place, values in enumerate(groups.values()) for value in values}
    column = catalogue.columns["component"]
    grouped = np.unique(
        np.stack([column.rows, np.array([number[pk] for pk in column.terms.tolist()], np.int64)]), axis=1
    )
    by_group = Column(grouped[0], grouped[1])
    counts = by_group.count(selection.mask)
    heads = [
        (place, group_label(group), [("component", value.slug) for value in values])
        for place, (group, values) in enumerate(groups.items())
        if counts.get(place)
    ]
    return _heat_figure(selection, by_group, [(place, label, pairs, False) for place, label, pairs in heads])


def cause_detection_figure(selection: Selection) -> HeatFigure:
    """Return causes against how the incident was noticed; what isn't published is a column outside the scale."""
    catalogue = selection.catalogue
    column = catalogue.columns["detection"]
    counts = column.count(selection.mask)
    methods = [value for value in catalogue.vocabularies["detection"].by_pk.values() if counts.get(value.pk)]
    methods.sort(key=lambda value: (value.slug == DetectionMethod.UNKNOWN, value.position))
    heads = [
        (value.pk, label_of(value), [("detection", value.slug)], value.slug == DetectionMethod.UNKNOWN)
        for value in methods
    ]
    return _heat_figure(selection, column, heads)


def _heat_figure(
    selection: Selection, column: Column, heads: Sequence[tuple[int, str, list[tuple[str, str]], bool]]
) -> HeatFigure:
    """Return causes against the given columns: (term in `column`, label, parameters, whether it means unknown)."""
    catalogue, mask = selection.catalogue, selection.mask
    causes = catalogue.columns["cause"]
    cause_counts, head_counts = causes.count(mask), column.count(mask)
    together = causes.pairs(column, mask)
    unknown = {term for term, _, _, is_unknown in heads if is_unknown}
    largest = max((count for (_, term), count in together.items() if term not in unknown), default=0)
    rows = []
    for value in sorted(catalogue.vocabularies["cause"].by_pk.values(), key=lambda value: value.position):
        if not cause_counts.get(value.pk):
            continue
        own = [("cause", value.slug)]
        cells = []
        for term, label, pairs, is_unknown in heads:
            count = together.get((value.pk, term), 0)
            step = 0 if is_unknown else heat_step(count, largest)
            cells.append(Cell(f"{label_of(value)}, {label}", count, encode_query([*own, *pairs]), step, is_unknown))
        head = Mark(label_of(value), cause_counts[value.pk], encode_query(own))
        rows.append(HeatRow(head, group_label(value.group), tuple(cells)))
    columns = tuple(Mark(label, head_counts.get(term, 0), encode_query(pairs)) for term, label, pairs, _ in heads)
    without = sum(head_counts.get(term, 0) for term in unknown)
    return HeatFigure(selection.count, selection.count - without, columns, tuple(rows), _heat_steps(largest))


def heat_step(count: int, largest: int) -> int:
    """Return ⌈5 (count / largest)^0.7⌉: 0 for none, 5 for the largest."""
    return min(HEAT_STEPS, ceil(HEAT_STEPS * (count / largest) ** HEAT_POWER - 1e-9)) if count and largest else 0


def _heat_steps(largest: int) -> tuple[HeatStep, ...]:
    covered: dict[int, list[int]] = {}
    for count in range(1, largest + 1):
        covered.setdefault(heat_step(count, largest), []).append(count)
    return tuple(HeatStep(step, counts[0], counts[-1]) for step, counts in covered.items())


def term_figure(selection: Selection, facet_name: str, limit: int, base: Pairs = ()) -> TermFigure:
    """Return the most frequent terms of a facet over a selection."""
    column = selection.catalogue.columns[facet_name]
    counts = column.count(selection.mask)
    total = selection.count
    terms = tuple(
        Term(
            label_of(value),
            count,
            encode_query([*base, (facet_name, value.slug)]),
            value.slug,
            round(100 * count / total),
        )
        for value, count in _ranked(selection.catalogue, facet_name, counts.items())[:limit]
    )
    known = len(np.unique(column.rows[selection.mask[column.rows]]))
    return TermFigure(total, known, terms)


def _ranked(catalogue: Catalogue, name: str, counts: Iterable[tuple[int, int]]) -> list[tuple[Value, int]]:
    by_pk = catalogue.vocabularies[name].by_pk
    return sorted(
        ((by_pk[pk], count) for pk, count in counts), key=lambda item: (-item[1], item[0].position, item[0].slug)
    )


def together_figure(selection: Selection) -> TogetherFigure:
    """Return the pairs of terms of two facets that stand together clearly more often than independent ones would."""
    catalogue, mask, total = selection.catalogue, selection.mask, selection.count
    marks: list[TogetherMark] = []
    for one, other in (("component", "cause"), ("component", "factor"), ("cause", "factor")):
        ours, theirs = catalogue.columns[one], catalogue.columns[other]
        our_counts, their_counts = ours.count(mask), theirs.count(mask)
        our_values, their_values = catalogue.vocabularies[one].by_pk, catalogue.vocabularies[other].by_pk
        for (left, right), count in ours.pairs(theirs, mask).items():
            lift = count * total / (our_counts[left] * their_counts[right])
            if count < FEWEST_TOGETHER or lift < LIFT:
                continue
            first, second = our_values[left], their_values[right]
            query = encode_query([(one, first.slug), (other, second.slug)])
            label = f"{FACETS_BY_NAME[one].label} {label_of(first)}, {FACETS_BY_NAME[other].label} {label_of(second)}"
            marks.append(TogetherMark(label, count, query, label_of(first), label_of(second), round(lift, 1)))
    marks.sort(key=lambda mark: (-mark.count, -mark.lift, mark.label))
    return TogetherFigure(total, tuple(marks[:PAIRS_SHOWN]))


def label_of(value: Value) -> str:
    """Return a term's label in the interface's language."""
    return term_label(value.label, value.label_en, value.slug)


def group_label(group: str) -> str:
    """Return the name of a vocabulary's group in the interface's language; Korean where it isn't translated."""
    return gettext(group) if group else ""
