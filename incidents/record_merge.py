"""Three states of one record (as it was opened, as somebody submits it, as it is saved now) → what to keep. Pure.

A field that only one side changed takes that side's value; one that both changed differently is a conflict, which a
person decides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any

from incidents.records import Moment, RecordData, RelatedData, SourceData, canonical_record

CONTENT_FIELDS: tuple[str, ...] = tuple(
    field.name
    for field in fields(RecordData)
    if field.name not in {"id", "status", "status_at", "status_reason", "merged_into"}
)
"""What an editor writes: every field but the record's ID and state."""


@dataclass(frozen=True)
class Conflict:
    """A field that both sides changed, with the three values as RecordData has them."""

    field: str
    base: Any  # the type of that field of RecordData
    theirs: Any
    ours: Any


@dataclass(frozen=True)
class Merge:
    """`taken` are the fields whose saved value is newer than what the editor opened and who left it as it was."""

    taken: tuple[str, ...]
    conflicts: tuple[Conflict, ...]

    @property
    def is_clean(self) -> bool:
        return not self.taken and not self.conflicts


def merge_record(base: RecordData | None, theirs: RecordData, ours: RecordData) -> Merge:
    """Return how `ours` (submitted) goes together with `theirs` (saved now), both begun from `base`.

    Where the beginning isn't known, every difference is a conflict.
    """
    theirs, ours = canonical_record(theirs), canonical_record(ours)
    base = canonical_record(base) if base is not None else None
    taken: list[str] = []
    conflicts: list[Conflict] = []
    for name in CONTENT_FIELDS:
        now, submitted = getattr(theirs, name), getattr(ours, name)
        if now == submitted:
            continue
        if base is None:
            conflicts.append(Conflict(name, None, now, submitted))
            continue
        begun = getattr(base, name)
        if now == begun:
            continue
        if submitted == begun:
            taken.append(name)
        else:
            conflicts.append(Conflict(name, begun, now, submitted))
    return Merge(tuple(taken), tuple(conflicts))


def changed_fields(before: RecordData, after: RecordData) -> tuple[str, ...]:
    """Return the content fields in which two states differ, in the record's order."""
    before, after = canonical_record(before), canonical_record(after)
    return tuple(name for name in CONTENT_FIELDS if getattr(before, name) != getattr(after, name))


def dump_record(record: RecordData) -> str:
    """Return a record as JSON, whatever state it is in, for a form to carry along."""

    def plain(value: Any) -> Any:  # what JSON knows
        return value.isoformat() if isinstance(value, datetime) else value

    return json.dumps(asdict(canonical_record(record)), ensure_ascii=False, default=plain)


def load_record(text: str) -> RecordData | None:
    """Return the record that `dump_record` wrote; None where the text is something else."""
    try:
        values = json.loads(text)
        if not isinstance(values, Mapping):
            return None
        moments = {
            name: Moment(datetime.fromisoformat(values[name]["value"]), values[name]["precision"])
            for name in ("started_at", "detected_at", "mitigated_at", "resolved_at", "status_at")
            if values.get(name)
        }
        lists = {
            name: tuple(values[name])
            for name in ("causes", "components", "factors", "contributing_factors", "actions", "follow_ups")
        }
        record = RecordData(
            **{
                **values,
                **dict.fromkeys(("started_at", "detected_at", "mitigated_at", "resolved_at", "status_at")),
                **moments,
                **lists,
                "sources": tuple(SourceData(**source) for source in values["sources"]),
                "related": tuple(RelatedData(**related) for related in values["related"]),
            }
        )
        return replace(canonical_record(record), id=record.id)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
