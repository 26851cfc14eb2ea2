"""A folder of files → the library's tables: everything checked first, then all of it or nothing, and repeatable.

Reading and checking of files is library_check.py; here only the differences to what the tables hold are found and
written. Records are taken in batches, so that memory is bounded by their IDs and relations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from incidents.checks_file import CheckData, canonical_check
from incidents.errors import UserError
from incidents.faults import Fault, RecordError
from incidents.library_check import CheckedLibrary, check_folder
from incidents.library_files import find_library
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
    format_public_id,
    parse_public_id,
)
from incidents.record_data import content_of, record_text, with_record_parts
from incidents.records import Moment, RecordData, format_record
from incidents.revisions import mark_changed, mark_library_changed
from incidents.states import PUBLIC, is_legal
from incidents.table_statistics import refresh_table_statistics
from incidents.taxonomy_file import TaxonomyData, canonical_term
from incidents.vocabulary_data import KINDS, check_data, taxonomy_data, term_data

BATCH: Final = 500
LARGE_SHARE: Final = 0.1  # of the published records: more overwritten or withdrawn at once asks for a flag
LARGE_MINIMUM: Final = 20  # in a smaller library a tenth is a record or two, and no mistake of a folder
REASON: Final = "파일에서 가져옴"
MOMENTS: Final = ("started", "detected", "mitigated", "resolved")
TEXTS: Final = ("title", "symptom", "trigger", "cause", "detection", "lesson")
LISTS: Final = ("contributing_factors", "actions", "follow_ups")

Step = Callable[[], object]


@dataclass
class ImportReport:
    """What an import does, or would do: IDs by what happens to them; terms and checks as counts."""

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    taken_back: list[str] = field(default_factory=list)  # those of `changed` that leave the listing
    overwritten: list[str] = field(default_factory=list)  # those of `changed` that were published
    terms_changed: int = 0
    checks_changed: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.created or self.changed or self.terms_changed or self.checks_changed)


def import_library(
    path: Path,
    *,
    dry_run: bool = False,
    allow_large_change: bool = False,
    author: User | None = None,
    step: Step | None = None,
) -> ImportReport:
    """Read a library folder or one file of it into the tables, and return what happened.

    With `dry_run` nothing is written, and the report is the same. `step` is called twice for each record, once checked
    and once written, for a progress bar. Raises RecordError with every fault by file and line, UserError where there is
    nothing to read or where more than a tenth of the published library would be overwritten without
    `allow_large_change`. After an error the tables are as they were.
    """
    known_ids = {format_public_id(number) for number in Incident.objects.values_list("number", flat=True)}
    folder = find_library(path)
    with closing(
        check_folder(folder, taxonomy=taxonomy_data(), known_ids=known_ids, on_file=step, scratch=settings.DATA_DIR)
    ) as library:
        report = _compare(library, known_ids)
        if not allow_large_change:
            _refuse_large_change(report)
        if not dry_run and not report.is_empty:
            with transaction.atomic():
                _Writer(report, author).write(library, step)
                if len(report.created) + len(report.changed) > BATCH // 2:
                    refresh_table_statistics()
    return report


def _refuse_large_change(report: ImportReport) -> None:
    published = Incident.objects.filter(status=Status.PUBLISHED).count()
    touched = len(report.overwritten)
    if touched > LARGE_MINIMUM and touched > published * LARGE_SHARE:
        raise UserError(
            f"게시된 기록 {published}건 가운데 {touched}건을 덮어쓰거나 물리게 됩니다. 폴더가 맞는지 확인하고, "
            "그대로 하려면 --allow-large-change 를 붙이십시오."
        )


# Finding the differences


def _batches(records: Iterable[RecordData]) -> Iterator[list[RecordData]]:
    iterator = iter(records)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _number(public_id: str) -> int:
    number = parse_public_id(public_id)
    if number is None:
        raise ValueError(f"{public_id} is no ID, though the file's check let it through")
    return number


def _existing(batch: Iterable[RecordData]) -> dict[str, Incident]:
    numbers = [_number(record.id) for record in batch]
    return {i.public_id: i for i in with_record_parts(Incident.objects.filter(number__in=numbers))}


def _compare(library: CheckedLibrary, known_ids: Collection[str]) -> ImportReport:
    """Return what is new and what differs. What has no row is new whatever it says, and isn't read once more."""
    names = {file.stem: library.folder.name(file) for file in library.folder.record_files}
    report = ImportReport(created=[name for name in names if name not in known_ids])
    faults: list[Fault] = []
    for batch in _batches(library.records(known_ids)):
        existing = _existing(batch)
        for record in batch:
            incident = existing.get(record.id)
            if incident is None:  # a draft that was deleted meanwhile
                report.created.append(record.id)
            elif format_record(record) == record_text(incident):
                report.unchanged += 1
            elif not is_legal(incident.status, record.status):
                before, after = Status(incident.status).label, Status(record.status).label
                faults.append(
                    Fault(
                        names[record.id],
                        1,
                        f"status: {before} 상태의 기록은 이렇게 바꿀 수 없습니다: {after}. status 를 고치십시오.",
                    )
                )
            else:
                report.changed.append(record.id)
                if incident.is_published:
                    report.overwritten.append(record.id)
                    if record.status != Status.PUBLISHED:
                        report.taken_back.append(record.id)
    if faults:
        raise RecordError(faults)
    report.terms_changed = len(_changed_terms(library.taxonomy))
    report.checks_changed = len(_changed_checks(library.checks))
    return report


def _changed_terms(taxonomy: TaxonomyData | None) -> list[tuple[str, int, Any]]:
    """Return (vocabulary, position, TermData) of every term that is new or differs."""
    if taxonomy is None:
        return []
    changed = []
    for name, terms in taxonomy.vocabularies():
        known = {term.slug: term for term in TERM_MODELS[KINDS[name]].objects.all()}  # type: ignore[attr-defined]
        for position, term in enumerate(terms):
            row = known.get(term.slug)
            if row is None or row.position != position or canonical_term(term_data(row)) != term:
                changed.append((name, position, term))
    return changed


def _changed_checks(checks: tuple[CheckData, ...] | None) -> list[tuple[int, CheckData]]:
    """Return (position, CheckData) of every check that is new or differs."""
    if checks is None:
        return []
    known = {
        check.code: check
        for check in Check.objects.prefetch_related("component_tags__term", "factor_tags__term", "citations__incident")
    }
    return [
        (position, check)
        for position, check in enumerate(checks)
        if check.code not in known
        or known[check.code].position != position
        or canonical_check(check_data(known[check.code])) != check
    ]


# Writing them


class _Writer:
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
        self._write_taxonomy(library.taxonomy)
        self._read_terms()
        if self.created or self.changed:
            self.revision = LibraryState.objects.next_revision()
        for batch in _batches(library.records()):
            self._create([record for record in batch if record.id in self.created])
            existing = _existing(record for record in batch if record.id in self.changed)
            for record in batch:
                if record.id in existing:
                    self._change(existing[record.id], record)
                if step is not None:
                    step()
        self._write_relations()
        self._write_ends()
        self._write_checks(library.checks)

    # The vocabulary

    def _write_taxonomy(self, taxonomy: TaxonomyData | None) -> None:
        for name, position, term in _changed_terms(taxonomy):
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

    def _create(self, records: list[RecordData]) -> None:
        """Insert new records in bulk, with their first version where they are public."""
        incidents = []
        for record in records:
            has_ended = record.status in {Status.WITHDRAWN, Status.MERGED}
            is_public = record.status in PUBLIC and not has_ended
            incident = Incident(
                number=_number(record.id),
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
            IncidentVersion(
                incident=incident, number=1, text=content_of(record), author=self.author, created_at=self.now
            )
            for incident, record in pairs
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
            model.objects.bulk_create(
                model(incident=incident, term_id=self.terms[name][slug].pk, position=position)
                for incident, record in pairs
                for position, slug in enumerate(getattr(record, name))
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
        for batch in _batches(self.related):
            numbers = {_number(r.id) for r in batch} | {_number(tie.id) for r in batch for tie in r.related}
            pks = dict(Incident.objects.filter(number__in=numbers).values_list("number", "pk"))
            RelatedIncident.objects.bulk_create(
                RelatedIncident(
                    incident_id=pks[_number(record.id)],
                    other_id=pks[_number(tie.id)],
                    relation=tie.relation,
                    note=tie.note,
                    position=position,
                )
                for record in batch
                for position, tie in enumerate(record.related)
            )
            existing = _existing(record for record in batch if record.id in self.changed)
            for record in batch:
                if record.id in existing:
                    self._finish(existing[record.id], record)

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
            incident = Incident.objects.get(number=_number(record.id))
            move(incident, Status.WITHDRAWN, author=None, reason=record.status_reason, at=record.status_at)
        for record in self.merged:
            incident = Incident.objects.get(number=_number(record.id))
            survivor = Incident.objects.get(number=_number(record.merged_into))
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
        changed = _changed_checks(checks)
        cited = {_number(citation.id) for _, check in changed for citation in check.incidents}
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
                Citation(check_item=check, incident_id=pks[_number(c.id)], why=c.why, position=place)
                for place, c in enumerate(data.incidents)
            )
            mark_changed([*before, *(pks[_number(c.id)] for c in data.incidents)])
        if changed:
            mark_library_changed()
