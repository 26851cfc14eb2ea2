"""Incident rows → RecordData: the one way from tables to a record's text, for export, twins, versions and API."""

from __future__ import annotations

from dataclasses import replace

from django.db.models import Prefetch, QuerySet

from incidents.models import (
    Incident,
    IncidentCause,
    IncidentComponent,
    IncidentFactor,
    RelatedIncident,
    Status,
    format_public_id,
)
from incidents.records import RecordData, RelatedData, SourceData, content_of, format_record
from incidents.states import PUBLIC


def with_record_parts(incidents: QuerySet[Incident]) -> QuerySet[Incident]:
    """Return the incidents with all that `record_data` reads, in a constant number of queries."""
    return incidents.select_related("organization", "detection_method", "merged_into").prefetch_related(
        Prefetch("cause_tags", queryset=IncidentCause.objects.select_related("term")),
        Prefetch("component_tags", queryset=IncidentComponent.objects.select_related("term")),
        Prefetch("factor_tags", queryset=IncidentFactor.objects.select_related("term")),
        "sources",
        Prefetch("relations", queryset=RelatedIncident.objects.select_related("other")),
    )


def record_data(incident: Incident) -> RecordData:
    """Return the record that an incident's rows hold. What `with_record_parts` has fetched isn't asked for again."""
    is_published = incident.status == Status.PUBLISHED
    return RecordData(
        id=incident.public_id,
        title=incident.title,
        organization=incident.organization.name if incident.organization else "",
        year=incident.year,
        started_at=incident.moment("started"),
        detected_at=incident.moment("detected"),
        mitigated_at=incident.moment("mitigated"),
        resolved_at=incident.moment("resolved"),
        causes=tuple(tag.term.slug for tag in incident.cause_tags.all()),
        components=tuple(tag.term.slug for tag in incident.component_tags.all()),
        factors=tuple(tag.term.slug for tag in incident.factor_tags.all()),
        detection_method=incident.detection_method.slug if incident.detection_method else "",
        status=incident.status,
        sources=tuple(
            SourceData(source.title, source.url, source.publisher, source.published, source.archived_url)
            for source in incident.sources.all()
        ),
        related=tuple(
            RelatedData(relation.other.public_id, relation.relation, relation.note)
            for relation in incident.relations.all()
        ),
        symptom=incident.symptom,
        trigger=incident.trigger,
        cause=incident.cause,
        contributing_factors=tuple(incident.contributing_factors),
        detection=incident.detection,
        actions=tuple(incident.actions),
        follow_ups=tuple(incident.follow_ups),
        lesson=incident.lesson,
        status_at=None if is_published else incident.moment("status"),
        status_reason="" if is_published else incident.status_reason,
        merged_into=format_public_id(incident.merged_into.number) if incident.merged_into else "",
    )


def record_text(incident: Incident) -> str:
    """Return the incident as a file of the library's format, its state included."""
    return format_record(record_data(incident))


def public_text(incident: Incident) -> str:
    """Return the file of a record as readers get it: without relations to records that they may not see."""
    hidden = {relation.other.public_id for relation in incident.relations.all() if relation.other.status not in PUBLIC}
    record = record_data(incident)
    return format_record(replace(record, related=tuple(one for one in record.related if one.id not in hidden)))


def content_text(incident: Incident) -> str:
    """Return the text of a version: what the record says, whatever its state.

    A record that is withdrawn and put back says what it said before, so its state makes no new version.
    """
    return content_of(record_data(incident))
