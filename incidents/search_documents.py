"""Incident → SearchDocument: what of a record is searchable, as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import islice
from typing import Any, Final

from incidents.markdown_html import plain_text
from incidents.models import (
    Incident,
    IncidentCause,
    IncidentComponent,
    IncidentFactor,
    Source,
)
from incidents.querysets import IncidentQuerySet
from incidents.search import RecordText, SearchDocument

BATCH: Final = 500
TEXT_FIELDS = ("symptom", "trigger", "cause", "detection", "lesson")
LIST_FIELDS = ("contributing_factors", "actions", "follow_ups")
SECTION_LABELS = {
    name: str(Incident._meta.get_field(name).verbose_name)  # type: ignore[union-attr]
    for name in ("title", *TEXT_FIELDS, *LIST_FIELDS)
}


def row_texts(incidents: IncidentQuerySet) -> Iterator[RecordText]:
    """Yield what rows are cut from, in one query."""
    names = (*TEXT_FIELDS, *LIST_FIELDS)
    for pk, revision, title, *texts in incidents.values_list("pk", "revision", "title", *names):
        yield RecordText(pk, revision, title, _sections(dict(zip(names, texts, strict=True))))


def search_document(incident: Incident) -> SearchDocument:
    """Return one record's document; the record should come with for_records(), which holds all that is read here."""
    tags = [tag for tags in (incident.cause_tags, incident.component_tags, incident.factor_tags) for tag in tags.all()]
    terms = [(tag.term.label, tag.term.aliases) for tag in tags]
    return _document(incident, terms, [(s.url, s.title, s.publisher) for s in incident.sources.all()])


def _document(
    incident: Incident, terms: Iterable[tuple[str, list[str]]], sources: Iterable[tuple[str, str, str]]
) -> SearchDocument:
    """Return a document. terms: (label, aliases); sources: (address, title, publisher)."""
    labels, aliases = [], []
    for label, others in terms:
        labels.append(label)
        aliases.extend(others)
    method = incident.detection_method
    if method is not None and method.slug != method.UNKNOWN:
        labels.append(method.label)
        aliases.extend(method.aliases)
    organization = incident.organization
    return SearchDocument(
        id=incident.pk,
        public_id=incident.public_id,
        title=incident.title,
        organization=" ".join((organization.name, *organization.aliases)) if organization else "",
        labels=tuple(labels),
        aliases=tuple(aliases),
        sections=_sections(vars(incident)),
        sources=tuple(text for source in sources for text in source if text),
        year=incident.year or 0,
        sort_date=incident.started_at.toordinal()
        if incident.started_at
        else date(incident.year or 1, 1, 1).toordinal(),
        revision=incident.revision,
    )


def iterate_documents(incidents: IncidentQuerySet) -> Iterator[SearchDocument]:
    """Yield the documents of many records in bounded memory: as search_document() makes them, three times as fast.

    Tags and sources are read as rows of values: prefetching makes a manager and a queryset a record and relation.
    """
    found = incidents.select_related("organization", "detection_method").iterator(chunk_size=BATCH)
    while batch := list(islice(found, BATCH)):
        pks = [incident.pk for incident in batch]
        terms: dict[int, list[tuple[str, list[str]]]] = {pk: [] for pk in pks}
        for tags in (IncidentCause, IncidentComponent, IncidentFactor):
            rows = tags.objects.filter(incident__in=pks).order_by("incident_id", "position")
            for pk, label, aliases in rows.values_list("incident_id", "term__label", "term__aliases"):
                terms[pk].append((label, aliases))
        sources: dict[int, list[tuple[str, str, str]]] = {pk: [] for pk in pks}
        cited = Source.objects.filter(incident__in=pks).order_by("incident_id", "position")
        for pk, url, title, publisher in cited.values_list("incident_id", "url", "title", "publisher"):
            sources[pk].append((url, title, publisher))
        for incident in batch:
            yield _document(incident, terms[incident.pk], sources[incident.pk])


def _sections(values: Mapping[str, Any]) -> dict[str, str]:
    texts = {name: plain_text(values[name]) for name in TEXT_FIELDS}
    lists = {name: "\n".join(map(plain_text, values[name])) for name in LIST_FIELDS}
    return texts | lists
