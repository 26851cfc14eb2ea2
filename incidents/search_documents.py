"""Incident → SearchDocument: what of a record is searchable, as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from incidents.markdown_html import plain_text
from incidents.models import Incident, format_public_id
from incidents.querysets import IncidentQuerySet
from incidents.search import SearchDocument

TEXT_FIELDS = ("symptom", "trigger", "cause", "detection", "lesson")
LIST_FIELDS = ("contributing_factors", "actions", "follow_ups")
SECTION_LABELS = {
    name: str(Incident._meta.get_field(name).verbose_name)  # type: ignore[union-attr]
    for name in ("title", *TEXT_FIELDS, *LIST_FIELDS)
}


def row_documents(incidents: IncidentQuerySet) -> Iterator[SearchDocument]:
    """Yield what rows are cut from, in one query: title and texts, without what a row shows no words of."""
    names = (*TEXT_FIELDS, *LIST_FIELDS)
    for pk, number, title, revision, *texts in incidents.values_list("pk", "number", "title", "revision", *names):
        yield SearchDocument(
            id=pk,
            public_id=format_public_id(number),
            title=title,
            organization="",
            labels=(),
            sections=_sections(dict(zip(names, texts, strict=True))),
            sources=(),
            year=0,
            sort_date=0,
            revision=revision,
        )


def search_document(incident: Incident) -> SearchDocument:
    """Return one record's document; the record should come with for_records(), which holds all that is read here."""
    terms = [
        tag.term for tags in (incident.cause_tags, incident.component_tags, incident.factor_tags) for tag in tags.all()
    ]
    method = incident.detection_method
    labels = [term.label for term in terms]
    aliases = [alias for term in terms for alias in term.aliases]
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
        sources=tuple(
            text for source in incident.sources.all() for text in (source.url, source.title, source.publisher) if text
        ),
        year=incident.year or 0,
        sort_date=incident.started_at.toordinal()
        if incident.started_at
        else date(incident.year or 1, 1, 1).toordinal(),
        revision=incident.revision,
    )


def iterate_documents(incidents: IncidentQuerySet) -> Iterator[SearchDocument]:
    """Yield the documents of many records in bounded memory."""
    for incident in incidents.for_records().iterator(chunk_size=500):
        yield search_document(incident)


def _sections(values: Mapping[str, Any]) -> dict[str, str]:
    texts = {name: plain_text(values[name]) for name in TEXT_FIELDS}
    lists = {name: "\n".join(map(plain_text, values[name])) for name in LIST_FIELDS}
    return texts | lists
