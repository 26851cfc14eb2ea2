"""Rows → the models of schemas.py: the one way in which an incident, a term or a check becomes JSON.

API, twins, exports and agents all print what stands here, so that they can't differ.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from django.conf import settings
from django.urls import reverse

from incidents.api.schemas import (
    CheckOut,
    CitedIncidentOut,
    CitingCheck,
    ListedRecordOut,
    Model,
    OrganizationRef,
    RecordOut,
    RelatedOut,
    SnippetOut,
    SourceOut,
    TermRef,
)
from incidents.checks import evidence_of
from incidents.listing import Row
from incidents.markdown_html import render_item, render_text
from incidents.models import Check, Incident
from incidents.states import PUBLIC

TEXT_FIELDS: Final = ("symptom", "trigger", "cause", "detection", "lesson")
LIST_FIELDS: Final = ("contributing_factors", "actions", "follow_ups")
API_ROOT: Final = "/api/v1/"
API_NAME: Final = "사고 사례 라이브러리 API"
API_VERSION: Final = "1.1.0"  # raised with every change of the schema; docs/api.md tells what changed


def absolute(path: str) -> str:
    """Return the public address of a path of this library."""
    return f"{settings.BASE_URL}{path}"


def incident_url(public_id: str) -> str:
    """Return the permanent address of a record's page."""
    return absolute(f"/incidents/{public_id}/")


def incident_api_url(public_id: str) -> str:
    """Return the address of a record's JSON."""
    return absolute(f"{API_ROOT}incidents/{public_id}/")


def listing_url(name: str, value: str) -> str:
    """Return the address of the API's listing of one facet value."""
    return absolute(f"{API_ROOT}incidents/?{name}={quote(value)}")


def instant(at: datetime | None) -> str | None:
    """Return `2026-11-29T09:00:00Z`, cut to the second, or None."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at is not None else None


def term_ref(term: Any) -> TermRef:
    """Return a vocabulary term (any of the models of terms) with its Korean label."""
    return TermRef(slug=term.slug, label=term.label)


def organization_ref(incident: Incident) -> OrganizationRef | None:
    organization = incident.organization
    return OrganizationRef(slug=organization.slug, name=organization.name) if organization else None


def record_out(incident: Incident, *, html: bool = False) -> RecordOut:
    """Return a public record; it should come with `for_records()`, which holds all that is read here."""
    return RecordOut(**_record_values(incident, html=html))


def listed_out(row: Row, *, html: bool = False) -> ListedRecordOut:
    """Return a record as a listing shows it."""
    snippet = SnippetOut(field=row.snippet.field, html=row.snippet.html) if row.snippet else None
    values = _record_values(row.incident, html=html)
    return ListedRecordOut(**values, match="partial" if row.match == "partial" else "all", snippet=snippet)


def _record_values(incident: Incident, *, html: bool) -> dict[str, Any]:
    is_published = incident.is_published
    method = incident.detection_method
    public_id = incident.public_id
    citations = sorted(incident.citations.all(), key=lambda citation: citation.check_item.code)
    status_at = None if is_published else incident.moment("status")
    values: dict[str, Any] = {
        "id": public_id,
        "status": incident.status,
        "status_reason": None if is_published else incident.status_reason or None,
        "status_at": str(status_at) if status_at else None,
        "merged_into": incident.merged_into.public_id if incident.merged_into else None,
        "title": incident.title,
        "organization": organization_ref(incident),
        "year": incident.year,
        "started_at": incident.time_text("started"),
        "detected_at": incident.time_text("detected"),
        "mitigated_at": incident.time_text("mitigated"),
        "resolved_at": incident.time_text("resolved"),
        "duration_minutes": incident.duration_minutes,
        "minutes_to_detect": incident.minutes_to_detect,
        "minutes_to_mitigate": incident.minutes_to_mitigate,
        "causes": [term_ref(tag.term) for tag in incident.cause_tags.all()],
        "components": [term_ref(tag.term) for tag in incident.component_tags.all()],
        "factors": [term_ref(tag.term) for tag in incident.factor_tags.all()],
        "detection_method": method.slug if method else None,
        "detection_method_label": method.label if method else None,
        "sources": [
            SourceOut(
                title=source.title,
                url=source.url,
                publisher=source.publisher,
                published=source.published or None,
                archived_url=source.archived_url or None,
            )
            for source in incident.sources.all()
        ],
        "related": [
            RelatedOut(
                id=tie.other.public_id,
                relation=tie.relation,  # type: ignore[arg-type]  # the column's choices are the literal's
                note=tie.note,
                url=incident_url(tie.other.public_id),
            )
            for tie in incident.relations.all()
            if tie.other.status in PUBLIC
        ],
        "checks": [citation.check_item.code for citation in citations],
        "cited_by": [
            CitingCheck(
                code=citation.check_item.code,
                title=citation.check_item.title,
                why=citation.why,
                url=check_url(citation.check_item.code),
            )
            for citation in citations
        ],
        "version": incident.version,
        "published_at": instant(incident.published_at),
        "updated_at": instant(incident.updated_at),
        "url": incident_url(public_id),
        "api_url": incident_api_url(public_id),
    }
    for name in TEXT_FIELDS:
        values[name] = getattr(incident, name)
        if html:
            values[f"{name}_html"] = str(render_text(values[name])) if values[name] else ""
    for name in LIST_FIELDS:
        values[name] = list(getattr(incident, name))
        if html:
            values[f"{name}_html"] = [str(render_item(item)) for item in values[name]]
    return values


def check_url(code: str) -> str:
    """Return the permanent address of a check's page."""
    return absolute(f"/checks/{code}/")


def check_out(check: Check) -> CheckOut:
    """Return a check with the public records that it cites, in the editor's order."""
    cited = [
        CitedIncidentOut(
            id=citation.incident.public_id,
            title=citation.incident.title,
            status=citation.incident.status,  # type: ignore[arg-type]  # one of PUBLIC, by the condition below
            merged_into=citation.incident.merged_into.public_id if citation.incident.merged_into else None,
            why=citation.why,
            version=citation.incident.version,
            url=incident_url(citation.incident.public_id),
        )
        for citation in evidence_of(check)
    ]
    return CheckOut(
        code=check.code,
        title=check.title,
        area=check.area,
        severity=check.severity,  # type: ignore[arg-type]  # the column's choices are the literal's
        components=[term_ref(tag.term) for tag in check.component_tags.all()],
        factors=[term_ref(tag.term) for tag in check.factor_tags.all()],
        risk=check.risk,
        look=check.look,
        criterion=check.criterion,
        incident_count=sum(citation.status == "published" for citation in cited),
        incidents=cited,
        url=check_url(check.code),
        incidents_url=listing_url("check", check.code),
    )


def to_json(model: Model, *, only: frozenset[str] | None = None) -> bytes:
    """Return a model as UTF-8 JSON; `only` keeps some of its fields. Optional fields that weren't set are left out."""
    return model.model_dump_json(exclude_unset=True, include=set(only) if only is not None else None).encode()


def api_path(name: str, *args: str) -> str:
    """Return the path of an operation by its URL name."""
    return reverse(f"api-v1:{name}", args=args)
