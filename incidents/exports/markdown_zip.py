"""A ZIP of the library's own files: importing it into an empty library gives the same library."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from incidents.checks_file import format_checks
from incidents.exports.choice import ExportChoice, manifest_lines
from incidents.models import Incident, format_public_id
from incidents.record_data import record_data
from incidents.records import format_record
from incidents.taxonomy_file import format_taxonomy
from incidents.vocabulary_data import checks_data, taxonomy_data

FOLDER: Final = "library"
FIRST_TIME: Final = (1980, 1, 1, 0, 0, 0)  # the earliest that a ZIP can say


class _Pipe(io.RawIOBase):
    """Where the archive is written: what was written since the last time can be taken away."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._place = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self._pieces.append(piece)
        self._place += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._place

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def markdown_zip_chunks(choice: ExportChoice) -> Iterator[bytes]:
    """Yield the archive piece by piece: README, taxonomy, checks, then each record's file.

    A part of the library is whole in itself: citations of checks and relations that lead out of it are left out.
    """
    pipe = _Pipe()
    inside = _ids(choice)
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "README.md", "\n".join(manifest_lines(choice)) + "\n")
        _add(archive, "taxonomy.yaml", format_taxonomy(taxonomy_data()))
        checks = [replace(c, incidents=tuple(one for one in c.incidents if one.id in inside)) for c in checks_data()]
        _add(archive, "checks.yaml", format_checks(checks))
        yield pipe.take()
        for incident in choice.incidents():
            record = record_data(incident)
            ties = tuple(tie for tie in record.related if tie.id in inside)
            text = format_record(replace(record, related=ties))
            _add(archive, f"incidents/{incident.public_id}.md", text, incident)
            yield pipe.take()
    yield pipe.take()


def _ids(choice: ExportChoice) -> frozenset[str]:
    wanted = set(choice.pks)
    rows = Incident.objects.values_list("pk", "number").iterator(chunk_size=5000)
    return frozenset(format_public_id(number) for pk, number in rows if pk in wanted)


def _add(archive: zipfile.ZipFile, name: str, text: str, incident: Incident | None = None) -> None:
    at = incident.updated_at if incident is not None else None
    when = (at.year, at.month, at.day, at.hour, at.minute, at.second) if at is not None else FIRST_TIME
    entry = zipfile.ZipInfo(f"{FOLDER}/{name}", when)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, text.encode())
