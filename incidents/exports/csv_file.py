"""CSV for spreadsheets: UTF-8 with a byte order mark, a row a record, list values on lines of their own in a cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Final

from incidents.api.representation import record_out
from incidents.api.schemas import RecordOut
from incidents.exports.choice import ExportChoice

BOM: Final = b"\xef\xbb\xbf"  # without it Excel takes UTF-8 for the system's code page
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")  # OWASP, CSV Injection
SEPARATOR: Final = "; "  # between slugs and labels; texts of lists are separated by a line break

COLUMNS: Final = (
    "id", "status", "status_reason", "status_at", "merged_into", "title", "organization", "organization_slug", "year",
    "started_at", "detected_at", "mitigated_at", "resolved_at", "duration_minutes", "minutes_to_detect",
    "minutes_to_mitigate", "causes", "cause_labels", "components", "component_labels", "factors", "factor_labels",
    "detection_method", "detection_method_label", "symptom", "trigger", "cause", "contributing_factors", "detection",
    "actions", "follow_ups", "lesson", "source_titles", "source_urls", "source_publishers", "source_published",
    "source_archived_urls", "related", "checks", "version", "published_at", "updated_at", "url",
)  # fmt: skip


def csv_chunks(choice: ExportChoice) -> Iterator[bytes]:
    """Yield the file piece by piece: the mark and the header, then a row for each record. Lines end in CR LF (RFC 4180)."""
    yield BOM + row_bytes(COLUMNS)
    for incident in choice.incidents():
        yield row_bytes([safe_cell(value) for value in record_row(record_out(incident))])


def row_bytes(values: tuple[str, ...] | list[str]) -> bytes:
    """Return one row as bytes."""
    out = io.StringIO()
    csv.writer(out).writerow(values)
    return out.getvalue().encode("utf-8")


def safe_cell(text: str) -> str:
    """Return the text so that no spreadsheet takes it for a formula: an apostrophe goes before a sign that starts one."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def record_row(record: RecordOut) -> list[str]:
    """Return the bare texts of a record's cells, in the order of COLUMNS."""
    values: dict[str, object] = {
        **{name: getattr(record, name) for name in COLUMNS if name in RecordOut.model_fields},
        "organization": record.organization.name if record.organization else None,
        "organization_slug": record.organization.slug if record.organization else None,
        "causes": SEPARATOR.join(term.slug for term in record.causes),
        "cause_labels": SEPARATOR.join(term.label for term in record.causes),
        "components": SEPARATOR.join(term.slug for term in record.components),
        "component_labels": SEPARATOR.join(term.label for term in record.components),
        "factors": SEPARATOR.join(term.slug for term in record.factors),
        "factor_labels": SEPARATOR.join(term.label for term in record.factors),
        "contributing_factors": "\n".join(record.contributing_factors),
        "actions": "\n".join(record.actions),
        "follow_ups": "\n".join(record.follow_ups),
        "source_titles": "\n".join(source.title for source in record.sources),
        "source_urls": "\n".join(source.url for source in record.sources),
        "source_publishers": "\n".join(source.publisher for source in record.sources),
        "source_published": "\n".join(source.published or "" for source in record.sources).strip("\n"),
        "source_archived_urls": "\n".join(source.archived_url or "" for source in record.sources).strip("\n"),
        "related": SEPARATOR.join(f"{tie.relation}:{tie.id}" for tie in record.related),
        "checks": SEPARATOR.join(record.checks),
    }
    return ["" if values[name] is None else str(values[name]) for name in COLUMNS]
