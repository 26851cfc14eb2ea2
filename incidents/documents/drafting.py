"""A foreign document → a draft for an editor: everything that was read, and an account of how. Pure text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from incidents.documents.account import LeftOver, Placement
from incidents.documents.cleaning import Dropped
from incidents.documents.mapping import Mapped, map_document
from incidents.documents.reading import DocumentRefused, read_text
from incidents.documents.suggesting import (
    DetectionSuggestion,
    Suggestion,
    TaxonomyLike,
    labels,
    suggest_detection,
    suggest_terms,
)
from incidents.documents.times import FoundTime
from incidents.documents.vocabulary import DROPPED_ROLES, FIELD_LABELS, FIELDS, LIST_FIELDS, TEXT_FIELDS

# What no document says and an editor is asked for.
ASKED: Final[Mapping[str, str]] = {
    "organization": "조직",
    "causes": "원인 분류",
    "components": "구성 요소",
    "sources": "출처",
}
TIME_LABELS: Final[Mapping[str, str]] = {
    "started_at": "시작",
    "detected_at": "감지",
    "mitigated_at": "완화",
    "resolved_at": "복구",
}
_TARGETS: Final[Mapping[str, str]] = {
    **FIELD_LABELS,
    "left_over": "자리 없음(편집자 메모)",
    "remains": "편집자 메모",
    "empty": "비어 있음",
    **{role: f"뺌({name})" for role, name in DROPPED_ROLES.items()},
}
_KINDS: Final[Mapping[str, str]] = {"causes": "원인 분류", "components": "구성 요소", "factors": "기여 요인 분류"}


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """What a foreign document gives for a record. Text is Markdown in NFC with LF.

    Times are UTC or None; `zone_flag` says that a zone was guessed and must be checked. `missing` names our fields for
    which the document says nothing. `left_over` are sections without a field, `remains` what is left of sections that
    have one; `editor_note` holds the text of both. `dropped` is text in neither: people, tool commands, template
    remains. `suggestions` and `detection` are proposals.
    """

    filename: str
    title: str
    year: int | None
    started_at: FoundTime | None
    detected_at: FoundTime | None
    mitigated_at: FoundTime | None
    resolved_at: FoundTime | None
    zone_flag: bool
    symptom: str
    trigger: str
    cause: str
    contributing_factors: tuple[str, ...]
    detection: str
    actions: tuple[str, ...]
    follow_ups: tuple[str, ...]
    lesson: str
    detection_method: str
    missing: tuple[str, ...]
    left_over: tuple[LeftOver, ...]
    remains: tuple[LeftOver, ...]
    dropped: tuple[Dropped, ...]
    suggestions: tuple[Suggestion, ...]
    detection_suggestion: DetectionSuggestion
    placements: tuple[Placement, ...]
    source_lines: tuple[str, ...]
    remarks: tuple[str, ...]
    editor_note: str

    @property
    def times(self) -> Mapping[str, FoundTime]:
        """The times that were found, by our field."""
        found = {name: getattr(self, name) for name in TIME_LABELS}
        return {name: moment for name, moment in found.items() if moment is not None}

    @property
    def texts(self) -> Mapping[str, str]:
        """The text of each filled field; items of a list are joined by blank lines."""
        return {name: text for name in FIELDS if (text := _as_text(getattr(self, name)))}

    @property
    def asked(self) -> tuple[str, ...]:
        """Fields that an editor must fill because no document says them (our names)."""
        without_time = () if self.started_at else ("started_at",)
        return (*ASKED, *(() if self.year else ("year",)), *without_time)

    def report(self) -> tuple[str, ...]:
        """The mapping as lines for an editor (Korean): title, times, each section's place, what is missing or left."""
        return tuple(_report(self))


def read_document(data: bytes, filename: str, vocabulary: TaxonomyLike) -> DocumentDraft:
    """The draft that a document gives; `vocabulary` holds the terms that may be suggested.

    Raises `DocumentRefused` (a `UserError`) with the file's name, the reason and what to do, and nothing else.
    """
    source = read_text(data, filename)
    mapped = map_document(source)
    times = mapped.times
    texts = {"title": mapped.title, **mapped.prose, **{name: "\n".join(found) for name, found in mapped.items.items()}}
    timelines = [part.text for part in mapped.left_over]
    detection = suggest_detection((mapped.prose["detection"], "\n".join(timelines)), vocabulary)
    found = (times.started_at, times.detected_at, times.mitigated_at, times.resolved_at)
    return DocumentDraft(
        filename=source.filename,
        title=mapped.title,
        year=times.year or None,
        started_at=times.started_at,
        detected_at=times.detected_at,
        mitigated_at=times.mitigated_at,
        resolved_at=times.resolved_at,
        zone_flag=any(moment is not None and moment.zone_is_guess for moment in found),
        symptom=mapped.prose["symptom"],
        trigger=mapped.prose["trigger"],
        cause=mapped.prose["cause"],
        contributing_factors=mapped.items["contributing_factors"],
        detection=mapped.prose["detection"],
        actions=mapped.items["actions"],
        follow_ups=mapped.items["follow_ups"],
        lesson=mapped.prose["lesson"],
        detection_method=detection.slug,
        missing=mapped.missing,
        left_over=mapped.left_over,
        remains=mapped.remains,
        dropped=mapped.dropped,
        suggestions=suggest_terms(texts, vocabulary),
        detection_suggestion=detection,
        placements=mapped.placements,
        source_lines=mapped.source_lines,
        remarks=mapped.remarks,
        editor_note=_note(source.filename, mapped),
    )


def _as_text(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else "\n\n".join(value)


def _note(filename: str, mapped: Mapped) -> str:
    """The editor's note: every piece of text that has no field, under the heading it had."""
    parts = [f"가져온 문서: {filename}"]
    for title, found in (("자리를 찾지 못한 글", mapped.left_over), ("옮기고 남은 글", mapped.remains)):
        if found:
            parts.append(f"# {title}")
        previous = ""
        for part in found:
            if part.heading and part.heading != previous:
                parts.append(f"## {part.heading}")
            previous = part.heading
            parts.append(part.text)
    return "\n\n".join(parts)


def _report(draft: DocumentDraft) -> list[str]:
    lines = [f"제목: {draft.title or '(없음)'}"]
    for name, moment in draft.times.items():
        shown = moment.value.date().isoformat() if moment.precision == "day" else f"{moment.value:%Y-%m-%dT%H:%M}Z"
        guess = f" (시간대 추정: {moment.zone}. 확인해 주십시오)" if moment.zone_is_guess else ""
        lines.append(f"{TIME_LABELS[name]}: {shown}{guess} ← {moment.basis}")
    for placement in draft.placements:
        sure = "" if placement.is_sure else " (추정)"
        lines.append(f"{placement.heading or '(머리글)'} → {_TARGETS.get(placement.target, '시각')}{sure}")
    counts = [f"{FIELD_LABELS[name]} {len(getattr(draft, name))}개" for name in LIST_FIELDS if getattr(draft, name)]
    if counts:
        lines.append(f"항목: {', '.join(counts)}")
    method = draft.detection_suggestion
    lines.append(f"감지 방법(제안): {method.slug}" + (f" ← {method.basis}" if method.basis else ""))
    for kind, name in _KINDS.items():
        found = [suggestion for suggestion in draft.suggestions if suggestion.kind == kind]
        if found:
            lines.append(f"{name}(제안): {labels(found)}")
    if draft.missing:
        lines.append(f"문서에 없는 항목: {', '.join(FIELD_LABELS[name] for name in draft.missing)}")
    if draft.left_over:
        lines.append(f"자리를 찾지 못한 절: {', '.join(part.heading or '(머리글)' for part in draft.left_over)}")
    reasons = list(dict.fromkeys(part.reason for part in draft.dropped))
    if reasons:
        counted = (f"{reason} {sum(part.reason == reason for part in draft.dropped)}곳" for reason in reasons)
        lines.append(f"뺀 글: {', '.join(counted)}")
    asked = {**ASKED, "year": "연도", "started_at": "시작 시각"}
    lines.append(f"편집자가 채울 것: {', '.join(asked[name] for name in draft.asked)}")
    lines.extend(f"알림: {remark}" for remark in draft.remarks)
    return lines


__all__ = ["TEXT_FIELDS", "DocumentDraft", "DocumentRefused", "read_document"]
