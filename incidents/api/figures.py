"""The library counted: the numbers of the plots, each with the listing that it counts."""

from __future__ import annotations

from typing import Final

import numpy as np

from incidents.api.schemas import DurationFigure, Figure, FigureBar, FigurePair, FiguresOut
from incidents.catalogue import UNKNOWN_DURATION, Catalogue, get_catalogue
from incidents.listing_params import encode_query
from incidents.models import DetectionMethod

# Bounds of the durations' bins in minutes: steps that a person thinks in, on a log scale.
DURATION_BOUNDS: Final = (0, 10, 30, 60, 180, 360, 720, 1440, 4320, 10080, 43200)


def figures() -> FiguresOut:
    """Return the figures of the library as it stands."""
    catalogue = get_catalogue()
    return FiguresOut(
        total=len(catalogue),
        years=_years(catalogue),
        causes=_facet(catalogue, "cause"),
        components=_facet(catalogue, "component"),
        factors=_facet(catalogue, "factor"),
        detections=_facet(catalogue, "detection"),
        organizations=_facet(catalogue, "organization"),
        durations=_durations(catalogue),
        cause_component=_pairs(catalogue, "cause", "component"),
        cause_detection=_pairs(catalogue, "cause", "detection"),
    )


def _years(catalogue: Catalogue) -> Figure:
    counts = sorted(catalogue.everything().year_counts().items())
    bars = [
        FigureBar(value=str(y), label=str(y), count=n, query=encode_query([("year_from", str(y)), ("year_to", str(y))]))
        for y, n in counts
    ]
    return Figure(total=len(catalogue), known=len(catalogue), bars=bars)


def _facet(catalogue: Catalogue, name: str) -> Figure:
    column, vocabulary = catalogue.columns[name], catalogue.vocabularies[name]
    mask = catalogue.everything().mask
    bars = [
        FigureBar(value=value.slug, label=value.label, count=count, query=encode_query([(name, value.slug)]))
        for value, count in sorted(
            ((vocabulary.by_pk[pk], count) for pk, count in column.count(mask).items()),
            key=lambda item: (-item[1], item[0].position, item[0].slug),
        )
    ]
    stated = {pk for pk, value in vocabulary.by_pk.items() if value.slug != DetectionMethod.UNKNOWN}
    known = int(np.count_nonzero(column.mask(len(catalogue), stated))) if stated else 0
    return Figure(total=len(catalogue), known=known, bars=bars)


def _durations(catalogue: Catalogue) -> DurationFigure:
    durations = catalogue.keys.durations
    known = np.sort(durations[durations != UNKNOWN_DURATION])
    bars = []
    for place, lower in enumerate(DURATION_BOUNDS):
        upper = DURATION_BOUNDS[place + 1] - 1 if place + 1 < len(DURATION_BOUNDS) else None
        count = int(np.count_nonzero((known >= lower) & (known <= upper if upper is not None else True)))
        pairs = [("duration_from", str(lower))] + ([("duration_to", str(upper))] if upper is not None else [])
        label = f"{lower}–{upper}분" if upper is not None else f"{lower}분부터"
        bars.append(FigureBar(value=str(lower), label=label, count=count, query=encode_query(pairs)))
    quartiles = [int(known[int((len(known) - 1) * share)]) for share in (0.25, 0.5, 0.75)] if len(known) else [None] * 3
    return DurationFigure(
        total=len(catalogue),
        known=len(known),
        bars=bars,
        lower_quartile=quartiles[0],
        median=quartiles[1],
        upper_quartile=quartiles[2],
    )


def _pairs(catalogue: Catalogue, first: str, second: str) -> list[FigurePair]:
    found = catalogue.columns[first].pairs(catalogue.columns[second], catalogue.everything().mask)
    ours, theirs = catalogue.vocabularies[first].by_pk, catalogue.vocabularies[second].by_pk
    pairs = [
        FigurePair(
            first=ours[a].slug,
            second=theirs[b].slug,
            count=count,
            query=encode_query([(first, ours[a].slug), (second, theirs[b].slug)]),
        )
        for (a, b), count in found.items()
    ]
    return sorted(pairs, key=lambda pair: (-pair.count, pair.first, pair.second))
