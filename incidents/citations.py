"""What a citation stands for today: `IL-0421`, or a statement pinned to a version, `IL-0421@3#detection-2`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from incidents.api.problems import printable
from incidents.api.representation import incident_url, instant
from incidents.api.schemas import CitationOut
from incidents.models import Incident, format_public_id, parse_public_id

MAX_IDS: Final = 200
MAX_SHOWN: Final = 200  # characters of an ID that is given back


def resolve_citations(asked: Sequence[str]) -> list[CitationOut]:
    """Return one answer for each ID asked, in order, in one query for all of them."""
    numbers = [parse_public_id(_public_id(text)) for text in asked]
    wanted = {number for number in numbers if number is not None}
    known = Incident.objects.public().select_related("merged_into").filter(number__in=wanted)  # type: ignore[attr-defined]
    by_number = {incident.number: incident for incident in known}
    return [
        _citation(text, number, by_number.get(number) if number is not None else None)
        for text, number in zip(asked, numbers, strict=True)
    ]


def _public_id(text: str) -> str:
    return text.partition("@")[0].partition("#")[0]


def _citation(text: str, number: int | None, incident: Incident | None) -> CitationOut:
    requested = printable(text)[:MAX_SHOWN]
    if incident is None:
        return CitationOut(
            requested=requested,
            id=format_public_id(number) if number is not None else None,
            status="unknown",
            title=None,
            url=None,
            version=None,
            merged_into=None,
            status_reason=None,
            updated_at=None,
        )
    return CitationOut(
        requested=requested,
        id=incident.public_id,
        status=incident.status,  # type: ignore[arg-type]  # public() keeps just these
        title=incident.title,
        url=incident_url(incident.public_id),
        version=incident.version,
        merged_into=incident.merged_into.public_id if incident.merged_into else None,
        status_reason=incident.status_reason or None if not incident.is_published else None,
        updated_at=instant(incident.updated_at),
    )
