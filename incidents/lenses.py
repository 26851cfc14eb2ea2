"""Lenses: one field of many records side by side, each statement with the way back to its place in its record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from incidents.markdown_html import bind_particles, render_inline, render_item, statements
from incidents.models import Incident

FIRST_SHOWN: Final = 6


@dataclass(frozen=True)
class Lens:
    """A field that can be read across records. `anchor` is its section's, `attribute` the model's name for it."""

    name: str
    anchor: str
    attribute: str
    title: str | Promise
    lead: str | Promise


LENSES: Final = {
    lens.name: lens
    for lens in (
        Lens(
            "actions",
            "actions",
            "actions",
            _("첫 조치"),
            _("기록마다 맨 먼저 한 일을 나란히 놓았습니다. 구성 요소나 원인으로 좁혀 보십시오."),
        ),
        Lens(
            "follow-ups",
            "follow-ups",
            "follow_ups",
            _("후속 조치"),
            _("사고 뒤에 조직이 만들거나 바꾼 것을 나란히 놓았습니다."),
        ),
        Lens(
            "detection",
            "detection",
            "detection",
            _("감지 경위"),
            _("어떻게 알았고, 무엇이 알아채지 못했는지를 나란히 놓았습니다."),
        ),
    )
}


@dataclass(frozen=True)
class LensStatement:
    """A statement at its place: `pin` is `IL-0268#actions-1`."""

    number: int
    pin: str
    url: str
    html: SafeString


@dataclass(frozen=True)
class LensRow:
    """A record's statements under a lens; none where the report doesn't say."""

    incident: Incident
    statements: tuple[LensStatement, ...]


def lens_rows(lens: Lens, incidents: Iterable[Incident], *, most: int | None = None) -> tuple[LensRow, ...]:
    """Return the records with up to `most` statements of the field each; `actions` shows the first alone by default."""
    limit = most if most is not None else 1 if lens.name == "actions" else None
    return tuple(LensRow(incident, _statements(lens, incident)[:limit]) for incident in incidents)


def _statements(lens: Lens, incident: Incident) -> tuple[LensStatement, ...]:
    value = getattr(incident, lens.attribute)
    if isinstance(value, str):
        rendered = [render_inline(text) for text in statements(value)]
    else:
        rendered = [render_item(text) for text in value]
    return tuple(
        LensStatement(
            number,
            f"{incident.public_id}#{lens.anchor}-{number}",
            f"{incident.get_absolute_url()}#{lens.anchor}-{number}",
            bind_particles(text),
        )
        for number, text in enumerate(rendered, start=1)
    )


def first_actions(incidents: Iterable[Incident]) -> tuple[LensRow, ...]:
    """Return what was done first in the first few records that tell it."""
    return tuple(row for row in lens_rows(LENSES["actions"], incidents) if row.statements)[:FIRST_SHOWN]
