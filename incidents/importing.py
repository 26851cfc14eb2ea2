"""A folder of files → the library's tables: everything checked first, then all of it or nothing, and repeatable.

Reading and checking of files is library_check.py, writing import_writing.py; here the differences to what the tables
hold are found, and what may be done is decided. Records are taken in batches, so that memory is bounded by their IDs and relations.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from incidents.errors import UserError
from incidents.faults import Fault, RecordError
from incidents.import_rows import BATCH, ImportReport, batches, changed_checks, changed_terms, existing
from incidents.import_writing import Step, Writer
from incidents.library_check import CheckedLibrary, check_folder
from incidents.library_files import find_library
from incidents.models import Incident, Status, format_public_id
from incidents.record_data import record_text
from incidents.records import format_record
from incidents.states import is_legal
from incidents.table_statistics import refresh_table_statistics
from incidents.vocabulary_data import taxonomy_data

__all__ = ["ImportReport", "import_library"]

LARGE_SHARE: Final = 0.1  # of the published records: more overwritten or withdrawn at once asks for a flag
LARGE_MINIMUM: Final = 20  # in a smaller library a tenth is a record or two, and no mistake of a folder


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
                Writer(report, author).write(library, step)
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


def _compare(library: CheckedLibrary, known_ids: Collection[str]) -> ImportReport:
    """Return what is new and what differs. What has no row is new whatever it says, and isn't read once more."""
    names = {file.stem: library.folder.name(file) for file in library.folder.record_files}
    report = ImportReport(created=[name for name in names if name not in known_ids])
    faults: list[Fault] = []
    for batch in batches(library.records(known_ids)):
        rows = existing(batch)
        for record in batch:
            incident = rows.get(record.id)
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
    report.terms_changed = len(changed_terms(library.taxonomy))
    report.checks_changed = len(changed_checks(library.checks))
    return report
