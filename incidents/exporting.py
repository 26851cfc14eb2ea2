"""The library's tables → a folder of files, from which an import makes the same library again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from incidents.checks_file import format_checks
from incidents.errors import UserError
from incidents.library_files import CHECKS_FILE, RECORDS_FOLDER, TAXONOMY_FILE
from incidents.models import Incident
from incidents.record_data import record_text, with_record_parts
from incidents.states import PUBLIC
from incidents.taxonomy_file import format_taxonomy
from incidents.vocabulary_data import checks_data, taxonomy_data

CHUNK: Final = 500


@dataclass(frozen=True)
class ExportReport:
    """What was written; `strangers` are record files in the folder that this library doesn't have."""

    records: int
    strangers: tuple[str, ...]


def export_library(path: Path, *, with_drafts: bool = False, step: Callable[[], object] | None = None) -> ExportReport:
    """Write the taxonomy, the checks and every public record (drafts too when asked) as files under `path`.

    Each file is written beside its place and moved there, so that a stop half-way leaves no half file. Files that the
    library doesn't have are left alone and reported. Raises UserError where the folder can't be written.
    """
    try:
        records = path / RECORDS_FOLDER
        records.mkdir(parents=True, exist_ok=True)
        _write(path / TAXONOMY_FILE, format_taxonomy(taxonomy_data()))
        _write(path / CHECKS_FILE, format_checks(checks_data()))
        written = set()
        for name, text in record_files(with_drafts=with_drafts):
            _write(records / name, text)
            written.add(name)
            if step is not None:
                step()
        strangers = sorted(file.name for file in records.glob("*.md") if file.name not in written)
    except OSError as error:
        raise UserError(f"쓸 수 없습니다: {error.filename} ({error.strerror}). 자리와 권한을 확인하십시오.") from error
    return ExportReport(len(written), tuple(strangers))


def record_files(*, with_drafts: bool = False) -> Iterator[tuple[str, str]]:
    """Yield (file name, text) of each record by number, in bounded memory."""
    incidents = Incident.objects.all() if with_drafts else Incident.objects.filter(status__in=PUBLIC)
    for incident in with_record_parts(incidents.order_by("number")).iterator(chunk_size=CHUNK):
        yield f"{incident.public_id}.md", record_text(incident)


def _write(file: Path, text: str) -> None:
    """Write a file unless it already holds just this."""
    data = text.encode("utf-8")
    if file.exists() and file.read_bytes() == data:
        return
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_bytes(data)
    beside.replace(file)
