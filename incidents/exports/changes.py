"""What changed, newest first: a row for every version and every change of state that readers saw."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from heapq import merge
from typing import Final

from incidents.exports.csv_file import BOM, row_bytes, safe_cell
from incidents.models import IncidentVersion, Status, StatusChange, format_public_id
from incidents.states import PUBLIC

COLUMNS: Final = ("changed_at", "id", "change", "version", "status", "merged_into", "reason", "url")
CHUNK: Final = 1_000
# Changes of state that say more than the version made beside them.
STATE_CHANGES: Final = (Status.WITHDRAWN, Status.MERGED)

Row = tuple[datetime, int, tuple[str, ...]]


def changes_chunks(base_url: str, since: datetime | None = None) -> Iterator[bytes]:
    """Yield the CSV: the mark, the header, then a row for each change at or after `since`, newest first."""
    yield BOM + row_bytes(COLUMNS)
    for _, number, cells in merge(_versions(since), _states(since), key=lambda row: row[:2], reverse=True):
        public_id = format_public_id(number)
        at, change, version, status, merged_into, reason = cells
        row = [at, public_id, change, version, status, merged_into, reason, f"{base_url}/incidents/{public_id}/"]
        yield row_bytes([safe_cell(cell) for cell in row])


def _versions(since: datetime | None) -> Iterator[Row]:
    versions = IncidentVersion.objects.filter(incident__status__in=PUBLIC)
    if since is not None:
        versions = versions.filter(created_at__gte=since)
    rows = versions.order_by("-created_at", "-incident__number", "-number").values_list(
        "created_at", "incident__number", "number", "reason"
    )
    for at, number, version, reason in rows.iterator(chunk_size=CHUNK):
        change = "published" if version == 1 else "revised"
        yield at, number, (_time(at), change, str(version), "", "", reason)


def _states(since: datetime | None) -> Iterator[Row]:
    changes = StatusChange.objects.filter(incident__status__in=PUBLIC, after__in=PUBLIC, before__in=PUBLIC)
    if since is not None:
        changes = changes.filter(created_at__gte=since)
    rows = changes.order_by("-created_at", "-incident__number", "-pk").values_list(
        "created_at", "incident__number", "after", "merged_into__number", "reason"
    )
    for at, number, after, survivor, reason in rows.iterator(chunk_size=CHUNK):
        change = after if after in STATE_CHANGES else "reinstated"
        merged_into = format_public_id(survivor) if survivor is not None else ""
        yield at, number, (_time(at), change, "", after, merged_into, reason)


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
