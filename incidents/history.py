"""A record's versions: what each said, and what changed from one to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from incidents.models import (
    TERM_MODELS,
    Incident,
    IncidentCause,
    IncidentComponent,
    IncidentFactor,
    IncidentVersion,
    Organization,
    RelatedIncident,
    SlugRedirect,
    Source,
    StatusChange,
    Term,
    VocabularyKind,
    parse_public_id,
)
from incidents.pins import Pin, Resolution, resolve
from incidents.record_merge import changed_fields
from incidents.record_words import FIELD_LABELS, value_text
from incidents.records import RecordData, RecordError, parse_record
from incidents.states import PUBLIC
from incidents.word_diff import Part, diff_words


@dataclass(frozen=True)
class FieldChange:
    """A field that differs, with its texts word by word."""

    field: str
    label: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class HistoryEntry:
    """A version, with what it changed; or, without one, a change of state. `label` says what happened."""

    at: datetime
    label: str
    reason: str
    version: IncidentVersion | None = None
    changes: tuple[FieldChange, ...] = ()
    status_change: StatusChange | None = None

    @property
    def changed_labels(self) -> tuple[str, ...]:
        return tuple(change.label for change in self.changes)


def read_version(version: IncidentVersion) -> RecordData | None:
    """Return what a version said; None where its text follows rules of another time."""
    try:
        return parse_record(version.text.encode(), f"{version.incident.public_id}.md")
    except RecordError:
        return None


def compare(before: IncidentVersion | None, after: IncidentVersion) -> tuple[FieldChange, ...]:
    """Return the fields in which two versions differ, in the record's order; all of them against None."""
    if before is None:
        return ()
    old, new = read_version(before), read_version(after)
    if old is None or new is None:
        parts = diff_words(before.text, after.text)
        return (FieldChange("", _("기록"), parts),) if before.text != after.text else ()
    return compare_records(without_hidden(old), without_hidden(new))


def without_hidden(record: RecordData) -> RecordData:
    """Return what readers may see of a version: relations to records that aren't public are left out."""
    if not record.related:
        return record
    numbers = {one.id: parse_public_id(one.id) for one in record.related}
    wanted = [number for number in numbers.values() if number is not None]
    public = set(Incident.objects.filter(number__in=wanted, status__in=PUBLIC).values_list("number", flat=True))
    return replace(record, related=tuple(one for one in record.related if numbers[one.id] in public))


def compare_records(old: RecordData, new: RecordData) -> tuple[FieldChange, ...]:
    """Return the fields in which two records differ, in the record's order."""
    return tuple(
        FieldChange(
            name,
            _(FIELD_LABELS[name]),
            diff_words(value_text(name, getattr(old, name)), value_text(name, getattr(new, name))),
        )
        for name in changed_fields(old, new)
    )


def history_of(incident: Incident) -> tuple[HistoryEntry, ...]:
    """Return everything that readers may know of a public record's life, the latest first."""
    versions = list(incident.versions.order_by("number"))
    entries = []
    before: IncidentVersion | None = None
    for version in versions:
        version.incident = incident
        label = _("판 %(number)s 게시") % {"number": version.number} if before is None else _version_label(version)
        entries.append(HistoryEntry(version.created_at, label, version.reason, version, compare(before, version)))
        before = version
    entries += [_entry_of(change) for change in public_changes(incident.status_changes.all())]
    return tuple(sorted(entries, key=lambda entry: entry.at, reverse=True))


def _version_label(version: IncidentVersion) -> str:
    return _("판 %(number)s") % {"number": version.number}


def public_changes(changes: QuerySet[StatusChange]) -> QuerySet[StatusChange]:
    """Return the changes of state that readers saw: between public states, or into one but by first publishing."""
    return changes.filter(after__in=PUBLIC).exclude(move="publish").select_related("incident", "merged_into")


def _entry_of(change: StatusChange) -> HistoryEntry:
    label = {
        "withdraw": _("철회"),
        "reinstate": _("다시 게시"),
        "merge": _("병합"),
        "repoint": _("병합된 곳이 바뀜"),
        "unmerge": _("병합 되돌림"),
        "bring_withdrawn": _("철회된 기록으로 들어옴"),
        "bring_merged": _("병합된 기록으로 들어옴"),
    }.get(change.move, change.get_after_display())
    if change.merged_into and change.move in {"merge", "repoint"}:
        label = f"{label}: {change.merged_into.public_id}"
    return HistoryEntry(change.created_at, label, change.reason, status_change=change)


@dataclass(frozen=True)
class Correction:
    """A change of a public record after its first publishing, with the record it belongs to."""

    incident: Incident
    entry: HistoryEntry


def corrections(page: int, size: int) -> tuple[list[Correction], int]:
    """Return a page (from 1) of all corrections, the latest first, and how many there are in all."""
    edits = IncidentVersion.objects.filter(number__gt=1, incident__status__in=PUBLIC)
    moves = public_changes(StatusChange.objects.filter(incident__status__in=PUBLIC))
    total = edits.count() + moves.count()
    last = page * size
    newest_edits = list(edits.select_related("incident").order_by("-created_at", "-pk")[:last])
    newest_moves = list(moves.order_by("-created_at", "-pk")[:last])
    both: list[IncidentVersion | StatusChange] = [*newest_edits]
    both += newest_moves
    both.sort(key=lambda one: one.created_at, reverse=True)
    merged = both[last - size : last]
    return [Correction(one.incident, _correction_entry(one)) for one in merged], total


def _correction_entry(one: IncidentVersion | StatusChange) -> HistoryEntry:
    if isinstance(one, StatusChange):
        return _entry_of(one)
    before = IncidentVersion.objects.filter(incident=one.incident, number__lt=one.number).order_by("-number").first()
    if before is not None:
        before.incident = one.incident
    return HistoryEntry(one.created_at, _version_label(one), one.reason, one, compare(before, one))


def resolve_pin(incident: Incident, pin: Pin) -> Resolution | None:
    """Return what a pinned statement of a public record says today; None where that version never said such a thing.

    A pin without a version means the present one. The record's own state is the caller's to tell.
    """
    if pin.section is None:
        return None
    latest = _version(incident, incident.version)
    pinned = latest if pin.version is None else _version(incident, pin.version)
    if latest is None or pinned is None:
        return None
    return resolve(pinned, latest, pin.section, pin.number)


def _version(incident: Incident, number: int) -> RecordData | None:
    version = incident.versions.filter(number=number).first()
    if version is None:
        return None
    version.incident = incident
    return read_version(version)


# An earlier version as a page shows it


def as_incident(record: RecordData, current: Incident) -> Incident:
    """Return an incident that says what `record` says, to be shown and never saved.

    Its ID and state are those of `current`. Terms and records that are gone are left out.
    """
    incident = Incident(
        pk=current.pk,
        number=current.number,
        title=record.title,
        organization=Organization.objects.filter(name=record.organization).first()
        or Organization(name=record.organization, slug="-"),
        year=record.year,
        detection_method=_terms(VocabularyKind.DETECTION_METHOD, [record.detection_method]).get(
            record.detection_method
        ),
        symptom=record.symptom,
        trigger=record.trigger,
        cause=record.cause,
        contributing_factors=list(record.contributing_factors),
        detection=record.detection,
        actions=list(record.actions),
        follow_ups=list(record.follow_ups),
        lesson=record.lesson,
        status=current.status,
        status_reason=current.status_reason,
        status_changed_at=current.status_changed_at,
        merged_into=current.merged_into,
        version=current.version,
        published_at=current.published_at,
        updated_at=current.updated_at,
    )
    for name in ("started", "detected", "mitigated", "resolved"):
        moment = getattr(record, f"{name}_at")
        setattr(incident, f"{name}_at", moment.value if moment else None)
        setattr(incident, f"{name}_precision", moment.precision if moment else "")
    for relation, through, kind, slugs in (
        ("cause_tags", IncidentCause, VocabularyKind.CAUSE, record.causes),
        ("component_tags", IncidentComponent, VocabularyKind.COMPONENT, record.components),
        ("factor_tags", IncidentFactor, VocabularyKind.FACTOR, record.factors),
    ):
        terms = _terms(kind, slugs)
        _prefetch(incident, relation, through, [through(term=terms[slug]) for slug in slugs if slug in terms])
    sources = [
        Source(
            title=source.title,
            url=source.url,
            publisher=source.publisher,
            published=source.published,
            archived_url=source.archived_url,
        )
        for source in record.sources
    ]
    _prefetch(incident, "sources", Source, sources)
    others = {
        other.number: other
        for other in Incident.objects.filter(number__in=[parse_public_id(one.id) for one in record.related])
    }
    related = [
        RelatedIncident(other=others[number], relation=one.relation, note=one.note)
        for one in record.related
        if (number := parse_public_id(one.id)) in others and number is not None
    ]
    _prefetch(incident, "relations", RelatedIncident, related)
    return incident


def _terms(kind: VocabularyKind, slugs: Iterable[str]) -> dict[str, Any]:
    """Return today's terms by the slugs that a text uses, former slugs too."""
    wanted = [slug for slug in slugs if slug]
    redirects = dict(SlugRedirect.objects.filter(kind=kind, old_slug__in=wanted).values_list("old_slug", "new_slug"))
    model: type[Term] = TERM_MODELS[kind]
    found = {term.slug: term for term in model._default_manager.filter(slug__in={*wanted, *redirects.values()})}
    return {slug: found[target] for slug in wanted if (target := redirects.get(slug, slug)) in found}


def _prefetch(incident: Incident, relation: str, model: type[Model], rows: list[Any]) -> None:
    """Let `incident.<relation>.all()` give these rows without asking the database."""
    queryset = model._default_manager.none()
    queryset._result_cache = rows
    cache: dict[str, Any] = incident.__dict__.setdefault("_prefetched_objects_cache", {})
    cache[relation] = queryset
