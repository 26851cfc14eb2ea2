"""The form of a record: what an editor writes, and what it says as a RecordData before anything is saved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from incidents.admin.fields import ItemsField, MarkdownField, MomentField
from incidents.admin.generic import AnyModelForm
from incidents.admin.inlines import OrderedFormSet
from incidents.models import Incident, IncidentCause, IncidentComponent, IncidentFactor, RelatedIncident, Source, Status
from incidents.record_merge import Merge
from incidents.record_text import REQUIRED_SECTIONS
from incidents.records import MAX_REASON_CHARS, RecordData, RelatedData, SourceData
from incidents.style_hints import TITLE_LENGTHS

MOMENTS = ("started", "detected", "mitigated", "resolved")
REQUIRED_WHEN_PUBLISHED = ("title", "organization", "year", "detection_method", *REQUIRED_SECTIONS)


class IncidentForm(AnyModelForm):
    """A record's own fields. `base_state` is the record as it was when the form was opened, as JSON."""

    started_at = MomentField(
        label="시작", help_text="UTC 시각, +09:00 이나 KST 를 붙인 시각, 날짜, 연도 가운데 아는 만큼."
    )
    detected_at = MomentField(label="감지", help_text="운영자가 알게 된 때.")
    mitigated_at = MomentField(label="완화", help_text="사용자가 더는 느끼지 못하게 된 때.")
    resolved_at = MomentField(label="해소", help_text="끝난 때.")
    symptom = MarkdownField(label="증상", rows=7, help_text="사용자와 운영자가 본 것: 서비스, 범위, 때와 수치.")
    trigger = MarkdownField(label="촉발", rows=4, help_text="무엇이 불을 붙였는지. 보고서가 밝힌 때에만.")
    cause = MarkdownField(label="원인", rows=7, help_text="왜 무너졌는지: 얼개.")
    contributing_factors = ItemsField(label="기여 요인")
    detection = MarkdownField(label="감지 경위", rows=4, help_text="언제 어떻게 알았는지, 무엇이 알아채지 못했는지.")
    actions = ItemsField(label="조치", rows=7)
    follow_ups = ItemsField(label="후속 조치")
    lesson = MarkdownField(label="교훈", rows=4, help_text="이런 시스템을 굴리는 사람에게 남는 것.")
    change_reason = forms.CharField(
        label="고친 까닭",
        required=False,
        max_length=MAX_REASON_CHARS,
        widget=forms.TextInput(attrs={"size": 80}),
        help_text="게시된 기록을 고치면 새 판이 되고, 이 까닭이 모두에게 보입니다. 비우면 바뀐 항목을 적습니다.",
    )
    base_state = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)

    class Meta:
        model = Incident
        fields = (
            "title",
            "organization",
            "year",
            "detection_method",
            "started_at",
            "detected_at",
            "mitigated_at",
            "resolved_at",
            "symptom",
            "trigger",
            "cause",
            "contributing_factors",
            "detection",
            "actions",
            "follow_ups",
            "lesson",
            "editor_note",
        )
        widgets = {
            "title": forms.TextInput(attrs={"size": 100, "data-lengths": ",".join(map(str, TITLE_LENGTHS))}),
            "editor_note": forms.Textarea(attrs={"rows": 4, "cols": 80}),
        }

    moments: dict[str, Any]
    merge: Merge | None = None  # set where others saved meanwhile: the form is then shown again before it is saved
    notice: str = ""  # set where a form is filled in by something else than its reader: it is shown, not saved

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.moments = {}
        for name in MOMENTS:
            self.initial[f"{name}_at"] = self.instance.moment(name)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if cleaned is None:
            return None
        if self.merge is not None:
            self.add_error(
                None,
                "양식을 연 뒤에 다른 사람이 이 기록을 고쳐 저장했습니다. 아직 저장하지 않았습니다. "
                "아래에서 둘을 견주어 보고, 필요하면 고친 다음 다시 저장하십시오.",
            )
        if self.notice:
            self.add_error(None, self.notice)
        for name in MOMENTS:
            moment = self.moments[name] = cleaned.get(f"{name}_at")
            if f"{name}_at" in cleaned:
                cleaned[f"{name}_at"] = moment.value if moment else None
                setattr(self.instance, f"{name}_precision", moment.precision if moment else "")
        if self.instance.status == Status.PUBLISHED:
            for name in REQUIRED_WHEN_PUBLISHED:
                if name in cleaned and not cleaned[name]:
                    self.add_error(name, "게시된 기록에서는 비울 수 없습니다. 채우거나 기록을 철회하십시오.")
        return cleaned


def submitted_record(form: IncidentForm, formsets: Iterable[Any]) -> RecordData:
    """Return the record that a form with its formsets would save, in the state that it has now.

    Both must have been validated. What is faulty counts as absent, so that a half-written form has a record too.
    """
    values = form.cleaned_data
    rows: dict[Any, list[dict[str, Any]]] = {
        formset.model: [row.cleaned_data for row in formset.kept_forms()]
        for formset in formsets
        if isinstance(formset, OrderedFormSet)
    }

    def slugs(model: type) -> tuple[str, ...]:
        return tuple(row["term"].slug for row in rows.get(model, []) if row.get("term"))

    def label(name: str, attribute: str) -> str:
        chosen = values.get(name)
        return getattr(chosen, attribute) if chosen else ""

    return RecordData(
        id=form.instance.public_id or "IL-0000",
        title=values.get("title", ""),
        organization=label("organization", "name"),
        year=values.get("year"),
        started_at=form.moments.get("started"),
        detected_at=form.moments.get("detected"),
        mitigated_at=form.moments.get("mitigated"),
        resolved_at=form.moments.get("resolved"),
        causes=slugs(IncidentCause),
        components=slugs(IncidentComponent),
        factors=slugs(IncidentFactor),
        detection_method=label("detection_method", "slug"),
        status=form.instance.status,
        sources=tuple(
            SourceData(*(row.get(name, "") for name in ("title", "url", "publisher", "published", "archived_url")))
            for row in rows.get(Source, [])
        ),
        related=tuple(
            RelatedData(row["other"].public_id, row.get("relation", ""), row.get("note", ""))
            for row in rows.get(RelatedIncident, [])
            if row.get("other")
        ),
        symptom=values.get("symptom", ""),
        trigger=values.get("trigger", ""),
        cause=values.get("cause", ""),
        contributing_factors=tuple(values.get("contributing_factors", ())),
        detection=values.get("detection", ""),
        actions=tuple(values.get("actions", ())),
        follow_ups=tuple(values.get("follow_ups", ())),
        lesson=values.get("lesson", ""),
    )
