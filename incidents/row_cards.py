"""What a row of a list shows of its record, from the catalogue alone: no query, however many rows were never shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.urls import reverse
from django.utils.translation import get_language

from incidents.catalogue import UNKNOWN_DURATION, Catalogue, IntArray
from incidents.models import DetectionMethod, format_public_id

NO_ID: Final = format_public_id(0)


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


def row_cards(catalogue: Catalogue, rows: IntArray) -> list[RowCard]:
    """Return the cards of some rows of the catalogue, in their order."""
    keys = catalogue.keys
    language = get_language()
    address = reverse("incidents:incident_detail", args=[NO_ID])  # one for all: they differ in the ID alone

    def labels(facet: str, unknown: str = "") -> list[str]:
        vocabulary = catalogue.vocabularies[facet]
        names = vocabulary.labels(language)
        terms = catalogue.columns[facet].first(len(catalogue))[rows].tolist()
        hidden = vocabulary.by_slug.get(unknown)
        return [names.get(term, "") if hidden is None or term != hidden.pk else "" for term in terms]

    columns = zip(
        keys.numbers[rows].tolist(),
        keys.years[rows].tolist(),
        keys.durations[rows].tolist(),
        labels("organization"),
        labels("cause"),
        labels("component"),
        labels("detection", DetectionMethod.UNKNOWN),
        strict=True,
    )
    cards = []
    for number, year, minutes, organization, cause, component, detection in columns:
        public_id = format_public_id(number)
        cards.append(
            RowCard(
                public_id=public_id,
                url=address.replace(NO_ID, public_id),
                year=year,
                organization=organization,
                cause=cause,
                component=component,
                detection=detection,
                minutes=None if minutes == UNKNOWN_DURATION else minutes,
            )
        )
    return cards
