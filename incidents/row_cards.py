"""What a row of a list shows of its record, from the catalogue alone: no query, however many rows were never shown."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import get_language

from incidents.catalogue import UNKNOWN_DURATION, Catalogue, Value
from incidents.models import DetectionMethod, format_public_id
from incidents.term_labels import term_label


@dataclass(frozen=True, slots=True)
class RowCard:
    """A record's line: labels in the interface's language, "" where none is published; minutes None likewise."""

    public_id: str
    url: str
    year: int
    organization: str
    cause: str
    component: str
    detection: str
    minutes: int | None


def row_card(catalogue: Catalogue, row: int) -> RowCard:
    """Return the card of a row of the catalogue."""
    keys = catalogue.keys
    public_id = format_public_id(int(keys.numbers[row]))
    minutes = int(keys.durations[row])
    detection = _main_value(catalogue, "detection", row)
    return RowCard(
        public_id=public_id,
        url=reverse("incidents:incident_detail", args=[public_id]),
        year=int(keys.years[row]),
        organization=_label(_main_value(catalogue, "organization", row)),
        cause=_label(_main_value(catalogue, "cause", row)),
        component=_label(_main_value(catalogue, "component", row)),
        detection=_label(detection) if detection and detection.slug != DetectionMethod.UNKNOWN else "",
        minutes=None if minutes == UNKNOWN_DURATION else minutes,
    )


def _main_value(catalogue: Catalogue, facet: str, row: int) -> Value | None:
    term = int(catalogue.columns[facet].first(len(catalogue))[row])
    return catalogue.vocabularies[facet].by_pk.get(term)


def _label(value: Value | None) -> str:
    return term_label(value.label, value.label_en, value.slug, get_language()) if value else ""
