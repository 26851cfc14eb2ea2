"""The figures of the statistics page as JSON: the same numbers, each mark with the listing that it counts."""

from __future__ import annotations

from collections.abc import Iterable

from incidents.api.schemas import (
    DurationFigureOut,
    Figure,
    FigureMark,
    FiguresOut,
    FigureTerm,
    TableFigureOut,
    TableRow,
    TermFigureOut,
)
from incidents.catalogue import Catalogue, get_catalogue
from incidents.models import DetectionMethod
from incidents.stats import HeatFigure, Mark, library_figures, term_figure


def figures() -> FiguresOut:
    """Return the figures of the library as it stands. Terms are all there, where the page shows the most frequent."""
    catalogue = get_catalogue()
    shown = library_figures(catalogue)
    durations = shown.durations
    is_known = bool(durations.known)
    return FiguresOut(
        total=len(catalogue),
        years=Figure(total=shown.years.total, known=shown.years.total, marks=_marks(shown.years.marks)),
        durations=DurationFigureOut(
            total=durations.total,
            known=durations.known,
            marks=_marks(durations.bins),
            lower_quartile=durations.lower_quartile if is_known else None,
            median=durations.median if is_known else None,
            upper_quartile=durations.upper_quartile if is_known else None,
        ),
        causes=_terms(catalogue, "cause"),
        components=_terms(catalogue, "component"),
        factors=_terms(catalogue, "factor"),
        detections=_terms(catalogue, "detection"),
        organizations=_terms(catalogue, "organization"),
        cause_component=_table(shown.cause_component),
        cause_detection=_table(shown.cause_detection),
        together=Figure(total=shown.together.total, known=shown.together.total, marks=_marks(shown.together.marks)),
    )


def _marks(marks: Iterable[Mark]) -> list[FigureMark]:
    return [_mark(mark) for mark in marks]


def _mark(mark: Mark) -> FigureMark:
    return FigureMark(label=mark.label, count=mark.count, query=mark.query)


def _terms(catalogue: Catalogue, name: str) -> TermFigureOut:
    figure = term_figure(catalogue.everything(), name, len(catalogue.vocabularies[name].by_pk))
    silent = sum(term.count for term in figure.terms if name == "detection" and term.value == DetectionMethod.UNKNOWN)
    return TermFigureOut(
        total=figure.total,
        known=figure.known - silent,
        terms=[FigureTerm(label=t.label, count=t.count, query=t.query, slug=t.value) for t in figure.terms],
    )


def _table(figure: HeatFigure) -> TableFigureOut:
    return TableFigureOut(
        total=figure.total,
        known=figure.known,
        columns=_marks(figure.columns),
        rows=[TableRow(head=_mark(row.head), group=row.group, cells=_marks(row.cells)) for row in figure.rows],
    )
