"""The writing of an import: records, vocabulary and checks that differ from what the tables hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.contrib.auth.models import User
from django.utils import timezone

from incidents.checks_file import CheckData
from incidents.import_rows import ImportReport, batches, changed_checks, changed_terms, existing, insert_rows, number_of
from incidents.library_check import CheckedLibrary
from incidents.lifecycle import commit_version, move
from incidents.models import (
    TERM_MODELS,
    Check,
    CheckComponent,
    CheckFactor,
    Citation,
    Incident,
    IncidentCause,
    IncidentComponent,
    IncidentFactor,
    IncidentVersion,
    LibraryState,
    Organization,
    RelatedIncident,
    Source,
    Status,
    Term,
)
from incidents.records import Moment, RecordData
from incidents.revisions import mark_changed, mark_library_changed
from incidents.states import PUBLIC
from incidents.taxonomy_file import TaxonomyData
from incidents.vocabulary_data import KINDS

REASON: Final = "파일에서 가져옴"
MOMENTS: Final = ("started", "detected", "mitigated", "resolved")
TEXTS: Final = ("title", "symptom", "trigger", "cause", "detection", "lesson")
LISTS: Final = ("contributing_factors", "actions", "follow_ups")

Step = Callable[[], object]


class Writer:
    """One import's writing, inside one transaction."""

    def __init__(self, report: ImportReport, author: User | None) -> None:
        self.author = author
        self.created = frozenset(report.created)
        self.changed = frozenset(report.changed)
        self.now = timezone.now()
        self.revision = 0
        self.related: list[RecordData] = []
        self.withdrawn: list[RecordData] = []
        self.merged: list[RecordData] = []

    def write(self, library: CheckedLibrary, step: Step | None) -> None:
        """Write all of it; `step` is called for each record."""
        self._write_taxonomy(library.taxonomy)
        self._read_terms()
        if self.created or self.changed:
            self.revision = LibraryState.objects.next_revision()
        for batch in batches(library.records_with_texts()):
            self._create([(record, text) for record, text in batch if record.id in self.created])
            rows = existing(record for record, _ in batch if record.id in self.changed)
            for record, _ in batch:
                if record.id in rows:
                    self._change(rows[record.id], record)
                if step is not None:
                    step()
        self._write_relations()
        self._write_ends()
        self._write_checks(library.checks)

    # The vocabulary

    def _write_taxonomy(self, taxonomy: TaxonomyData | None) -> None:
        for name, position, term in changed_terms(taxonomy):
            TERM_MODELS[KINDS[name]].objects.update_or_create(  # type: ignore[attr-defined]
                slug=term.slug,
                defaults={
                    "label": term.label,
                    "label_en": term.label_en,
                    "group": term.group,
                    "about": term.about,
                    "aliases": list(term.aliases),
                    "position": position,
                },
            )

    def _read_terms(self) -> None:
        self.terms: Mapping[str, dict[str, Term]] = {
            name: {term.slug: term for term in TERM_MODELS[kind].objects.all()}  # type: ignore[attr-defined]
            for name, kind in KINDS.items()
        }
        self.organizations = {organization.name: organization for organization in Organization.objects.all()}

    def _organization(self, name: str) -> Organization | None:
        if name and name not in self.organizations:
            self.organizations[name] = Organization.objects.create(name=name)
        return self.organizations.get(name)

    # Records

    def _fill(self, incident: Incident, record: RecordData) -> None:
        for name in TEXTS:
            setattr(incident, name, getattr(record, name))
        for name in LISTS:
            setattr(incident, name, list(getattr(record, name)))
        for name in MOMENTS:
            moment: Moment | None = getattr(record, f"{name}_at")
            setattr(incident, f"{name}_at", moment.value if moment else None)
            setattr(incident, f"{name}_precision", moment.precision if moment else "")
        incident.organization = self._organization(record.organization)
        incident.year = record.year
        method = self.terms["detection_methods"].get(record.detection_method)
        incident.detection_method_id = method.pk if method else None

    def _create(self, given: list[tuple[RecordData, str]]) -> None:
        """Insert new records in bulk, with their first version where they are public."""
        incidents = []
        records = [record for record, _ in given]
        for record in records:
            has_ended = record.status in {Status.WITHDRAWN, Status.MERGED}
            is_public = record.status in PUBLIC and not has_ended
            incident = Incident(
                number=number_of(record.id),
                # Withdrawals and merges are moves, made when all records are there, in _write_ends.
                status=Status.DRAFT if has_ended else record.status,
                status_reason="" if has_ended else record.status_reason,
                version=int(is_public),
                revision=self.revision if is_public else 0,
                published_at=self.now if is_public else None,
                updated_at=self.now if is_public else None,
            )
            if has_ended:
                (self.merged if record.status == Status.MERGED else self.withdrawn).append(record)
            elif record.status_at is not None:
                incident.status_changed_at = record.status_at.value
                incident.status_precision = record.status_at.precision
            self._fill(incident, record)
            incidents.append(incident)
        Incident.objects.bulk_create(incidents)
        if incidents:
            LibraryState.objects.reserve_numbers_up_to(max(incident.number for incident in incidents))
        pairs = list(zip(incidents, records, strict=True))
        self._insert_parts(pairs)
        IncidentVersion.objects.bulk_create(
            IncidentVersion(incident=incident, number=1, text=text, author=self.author, created_at=self.now)
            for incident, (_, text) in zip(incidents, given, strict=True)
            if incident.version
        )
        self.related += [record for record in records if record.related]

    def _insert_parts(self, pairs: list[tuple[Incident, RecordData]]) -> None:
        tags: tuple[tuple[Any, str], ...] = (
            (IncidentCause, "causes"),
            (IncidentComponent, "components"),
            (IncidentFactor, "factors"),
        )
        for model, name in tags:
            pks = {slug: term.pk for slug, term in self.terms[name].items()}
            insert_rows(
                model,
                ("incident_id", "term_id", "position"),
                [
                    (incident.pk, pks[slug], position)
                    for incident, record in pairs
                    for position, slug in enumerate(getattr(record, name))
                ],
            )
        Source.objects.bulk_create(
            Source(
                incident=incident,
                position=position,
                title=source.title,
                url=source.url,
                publisher=source.publisher,
                published=source.published,
                archived_url=source.archived_url,
            )
            for incident, record in pairs
            for position, source in enumerate(record.sources)
        )

    def _change(self, incident: Incident, record: RecordData) -> None:
        """Write a record over its row. Its version and its change of state follow in _finish, after its relations."""
        self._fill(incident, record)
        incident.edit_number += 1
        incident.save()
        for parts in (
            incident.cause_tags,
            incident.component_tags,
            incident.factor_tags,
            incident.sources,
            incident.relations,
        ):
            parts.all().delete()
        self._insert_parts([(incident, record)])
        self.related.append(record)

    def _write_relations(self) -> None:
        """Insert the relations, now that every record has a row; then give the changed records their versions."""
        for batch in batches(self.related):
            numbers = {number_of(r.id) for r in batch} | {number_of(tie.id) for r in batch for tie in r.related}
            pks = dict(Incident.objects.filter(number__in=numbers).values_list("number", "pk"))
            RelatedIncident.objects.bulk_create(
                RelatedIncident(
                    incident_id=pks[number_of(record.id)],
                    other_id=pks[number_of(tie.id)],
                    relation=tie.relation,
                    note=tie.note,
                    position=position,
                )
                for record in batch
                for position, tie in enumerate(record.related)
            )
            rows = existing(record for record in batch if record.id in self.changed)
            for record in batch:
                if record.id in rows:
                    self._finish(rows[record.id], record)

    def _finish(self, incident: Incident, record: RecordData) -> None:
        if incident.status in PUBLIC and record.status == incident.status:
            commit_version(incident, author=self.author, reason=REASON, at=self.now)
            if incident.status != Status.PUBLISHED:
                self._copy_state(incident, record)
            return
        if record.status == Status.MERGED:
            self.merged.append(record)
        elif record.status != incident.status:
            move(incident, record.status, author=None, reason=record.status_reason or REASON, at=record.status_at)

    def _copy_state(self, incident: Incident, record: RecordData) -> None:
        at = record.status_at
        Incident.objects.filter(pk=incident.pk).update(
            status_reason=record.status_reason,
            status_changed_at=at.value if at else None,
            status_precision=at.precision if at else "",
        )

    def _write_ends(self) -> None:
        for record in self.withdrawn:
            incident = Incident.objects.get(number=number_of(record.id))
            move(incident, Status.WITHDRAWN, author=None, reason=record.status_reason, at=record.status_at)
        for record in self.merged:
            incident = Incident.objects.get(number=number_of(record.id))
            survivor = Incident.objects.get(number=number_of(record.merged_into))
            move(
                incident,
                Status.MERGED,
                author=None,
                reason=record.status_reason,
                merged_into=survivor,
                at=record.status_at,
            )

    # Checks

    def _write_checks(self, checks: tuple[CheckData, ...] | None) -> None:
        changed = changed_checks(checks)
        cited = {number_of(citation.id) for _, check in changed for citation in check.incidents}
        pks = dict(Incident.objects.filter(number__in=cited).values_list("number", "pk"))
        for position, data in changed:
            check, _ = Check.objects.update_or_create(
                code=data.code,
                defaults={
                    "title": data.title,
                    "area": data.area,
                    "severity": data.severity,
                    "risk": data.risk,
                    "look": data.look,
                    "criterion": data.pass_,
                    "position": position,
                },
            )
            before = list(check.citations.values_list("incident_id", flat=True))
            for manager in (check.component_tags, check.factor_tags, check.citations):
                manager.all().delete()
            tags: tuple[tuple[Any, str], ...] = ((CheckComponent, "components"), (CheckFactor, "factors"))
            for model, name in tags:
                model.objects.bulk_create(
                    model(check_item=check, term_id=self.terms[name][slug].pk, position=place)
                    for place, slug in enumerate(getattr(data, name))
                )
            Citation.objects.bulk_create(
                Citation(check_item=check, incident_id=pks[number_of(c.id)], why=c.why, position=place)
                for place, c in enumerate(data.incidents)
            )
            mark_changed([*before, *(pks[number_of(c.id)] for c in data.incidents)])
        if changed:
            mark_library_changed()
