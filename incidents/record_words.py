"""Names of a record's fields and their values as plain words: for diffs, merges, reasons and logs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incidents.item_lines import write_items
from incidents.records import RelatedData, SourceData

FIELD_LABELS: dict[str, str] = {
    "title": "제목",
    "organization": "조직",
    "year": "연도",
    "started_at": "시작",
    "detected_at": "감지",
    "mitigated_at": "완화",
    "resolved_at": "해소",
    "causes": "원인 분류",
    "components": "구성 요소",
    "factors": "기여 요인 분류",
    "detection_method": "감지 방법",
    "sources": "출처",
    "related": "관련 기록",
    "symptom": "증상",
    "trigger": "촉발",
    "cause": "원인",
    "contributing_factors": "기여 요인",
    "detection": "감지 경위",
    "actions": "조치",
    "follow_ups": "후속 조치",
    "lesson": "교훈",
}

RELATION_LABELS: dict[str, str] = {
    "same-event": "같은 사건",
    "repeat-of": "되풀이",
    "follow-on": "뒤이음",
    "similar": "비슷함",
}


def labels(names: Sequence[str]) -> str:
    """Return the fields' names, joined by commas."""
    return ", ".join(FIELD_LABELS[name] for name in names)


def value_text(name: str, value: Any) -> str:
    """Return a field's value (as RecordData has it) as text, a part a line; empty where there is none."""
    if value is None:
        return ""
    if name in {"contributing_factors", "actions", "follow_ups"}:
        return write_items(value)
    if name == "sources":
        return "\n".join(map(_source_text, value))
    if name == "related":
        return "\n".join(map(_related_text, value))
    if isinstance(value, tuple):
        return "\n".join(map(str, value))
    return str(value)


def _source_text(source: SourceData) -> str:
    parts = [source.title, source.publisher, source.published, source.url, source.archived_url]
    return " | ".join(part for part in parts if part)


def _related_text(related: RelatedData) -> str:
    note = f" ({related.note})" if related.note else ""
    return f"{related.id} {RELATION_LABELS.get(related.relation, related.relation)}{note}"
