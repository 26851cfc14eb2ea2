"""Hints while a record is written: the house's style, never a condition. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from incidents.record_text import LIST_SECTIONS, SECTION_LABELS
from incidents.records import RecordData

TITLE_LENGTHS = (30, 70)  # characters; docs/format.md

_POLITE = re.compile(r"(?:습니다|입니다|됩니다|세요|십시오)(?=[.\s]|$)")
_ATTACHED = re.compile(r"(?<![\w`/.-])[A-Za-z][A-Za-z0-9.+-]*(?:[은는이가을를와과의에로]|에서|으로)(?=[\s.,)]|$)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_VAGUE_TIME = re.compile(r"(?:새벽|오전|오후|저녁|밤)\s*[0-9]{1,2}시")


@dataclass(frozen=True)
class Hint:
    """Something an editor may want to look at again: the field's name and a Korean sentence."""

    field: str
    message: str


def style_hints(record: RecordData) -> tuple[Hint, ...]:
    """Return the hints for a record in any state, in the order of its fields; none for what isn't written yet."""
    return tuple(_hints(record))


def _hints(record: RecordData) -> Iterator[Hint]:
    least, most = TITLE_LENGTHS
    length = len(record.title)
    if record.title and not least <= length <= most:
        yield Hint("title", f"제목이 {length}자입니다. {least}~{most}자의 한 문장이 읽기 좋습니다.")
    for name in SECTION_LABELS:
        value = getattr(record, name)
        text = _CODE.sub(" ", "\n".join(value) if name in LIST_SECTIONS else value)
        if polite := _POLITE.search(text):
            yield Hint(name, f"기록은 ‘-다’ 로 끝맺습니다: …{polite[0]}")
        if attached := _ATTACHED.search(text):
            yield Hint(name, f"영문 뒤의 조사는 띄어 씁니다: {attached[0]}")
        if vague := _VAGUE_TIME.search(text):
            yield Hint(name, f"어느 시간대인지 적었는지 확인하십시오: {vague[0]}")
    if record.sources and not any(source.archived_url for source in record.sources):
        yield Hint("sources", "보관된 사본이 없습니다. 원문이 사라질 때를 대비해 하나 적어 두십시오.")
    if record.started_at is None and record.title:
        yield Hint("started_at", "시작한 때가 없습니다. 보고서에 있으면 아는 만큼 적으십시오.")
