"""What a citation stands for today: `IL-0421`, or a statement pinned to a version, `IL-0421@3#detection-2`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from django.db.models import Q

from incidents.api.problems import printable
from incidents.api.representation import incident_url, instant
from incidents.api.schemas import CitationOut
from incidents.models import Incident, IncidentVersion, Status, format_public_id, parse_public_id
from incidents.pins import Pin, find_statement, parse_pin, resolve
from incidents.record_data import content_text, record_data
from incidents.records import RecordData, parse_record

MAX_IDS: Final = 200
MAX_SHOWN: Final = 200  # characters of an ID that is given back

Versions = Mapping[tuple[int, int], str]


def resolve_citations(asked: Sequence[str]) -> list[CitationOut]:
    """Return one answer for each ID asked, in order, in a constant number of queries."""
    pins = [parse_pin(text) for text in asked]
    numbers = [parse_public_id(pin.id) if pin else None for pin in pins]
    wanted = {number for number in numbers if number is not None}
    known = Incident.objects.public().for_records().filter(number__in=wanted)
    by_number = {incident.number: incident for incident in known}
    versions = _versions(
        {
            (number, pin.version)
            for pin, number in zip(pins, numbers, strict=True)
            if pin and pin.version and number in by_number
        }
    )
    return [
        _citation(text, pin, number, by_number.get(number) if number is not None else None, versions)
        for text, pin, number in zip(asked, pins, numbers, strict=True)
    ]


def _versions(pairs: Collection[tuple[int | None, int]]) -> dict[tuple[int, int], str]:
    """Return {(record's number, version): text} of the versions that there are."""
    if not pairs:
        return {}
    condition = Q()
    for number, version in pairs:
        condition |= Q(incident__number=number, number=version)
    rows = IncidentVersion.objects.filter(condition).values_list("incident__number", "number", "text")
    return {(number, version): text for number, version, text in rows}


def _citation(
    text: str, pin: Pin | None, number: int | None, incident: Incident | None, versions: Versions
) -> CitationOut:
    requested = printable(text)[:MAX_SHOWN]
    if incident is None or pin is None:
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
    pinned = _pinned(pin, incident, versions)
    anchor = pinned.pop("anchor", "")
    url = incident_url(incident.public_id)
    return CitationOut(
        requested=requested,
        id=incident.public_id,
        status=incident.status,  # type: ignore[arg-type]  # public() keeps just these
        title=incident.title,
        url=f"{url}#{anchor}" if anchor else url,
        version=incident.version,
        merged_into=incident.merged_into.public_id if incident.merged_into else None,
        status_reason=None if incident.is_published else incident.status_reason or None,
        updated_at=instant(incident.updated_at),
        **pinned,
    )


def _pinned(pin: Pin, incident: Incident, versions: Versions) -> dict[str, Any]:
    """Return the fields of a pin, and the anchor where its statement stands now; nothing for a bare ID."""
    if pin.version is None and pin.section is None:
        return {}
    fields: dict[str, Any] = {"pinned_version": pin.version, "pinned_anchor": pin.anchor or None}
    then = _record_then(pin, incident, versions)
    if then is None:
        return {**fields, "statement_status": "unknown"}
    if pin.section is None:
        is_same = versions.get((incident.number, pin.version or 0)) == content_text(incident)
        return {**fields, "statement_status": _while_public(incident, "unchanged" if is_same else "reworded")}
    text = find_statement(then, pin.section, pin.number)
    found = resolve(then, record_data(incident), pin.section, pin.number)
    if text is None or found is None:
        return {**fields, "statement_status": "unknown"}
    return {
        **fields,
        "statement_status": _while_public(incident, found.status),
        "statement": text,
        "statement_now": found.current or None,
        "anchor": found.anchor,
    }


def _record_then(pin: Pin, incident: Incident, versions: Versions) -> RecordData | None:
    """Return what the record said in the pinned version, today's where none was named; None where there was none."""
    if pin.version is None:
        return record_data(incident)
    text = versions.get((incident.number, pin.version))
    return parse_record(text.encode(), f"{incident.public_id}.md") if text is not None else None


def _while_public(incident: Incident, status: str) -> str:
    """What a withdrawn record says is withdrawn with it."""
    return "withdrawn" if incident.status == Status.WITHDRAWN else status
