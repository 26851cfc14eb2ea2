"""Rows for tests: a small vocabulary, and incidents with just what a test names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from incidents.lifecycle import move
from incidents.models import (
    Cause,
    Component,
    DetectionMethod,
    Factor,
    Incident,
    IncidentCause,
    IncidentComponent,
    IncidentFactor,
    Organization,
    Source,
    Status,
    Term,
)

LABELS = {
    "dns-error": "DNS 오류",
    "bad-deploy": "배포·변경 오류",
    "operator-error": "운영자 조작 실수",
    "config-error": "설정 오류",
    "capacity-exhaustion": "용량·한도 고갈",
    "power-cooling": "전력·냉각 장애",
    "job-queue": "작업 큐·크론",
    "etcd": "etcd",
    "dns": "DNS",
    "k8s-control-plane": "쿠버네티스 컨트롤 플레인",
    "monitoring-gap": "모니터링 사각",
    "retry-storm": "재시도 폭주",
    "alert": "모니터링 경보",
    "job-failure": "작업 실패",
    "unknown": "공개되지 않음",
}


def make_term(model: type[Term], slug: str, **fields: Any) -> Any:
    """Return the term of a slug, made when it isn't there."""
    defaults = {"label": LABELS.get(slug, slug), **fields}
    term, _ = model.objects.get_or_create(slug=slug, defaults=defaults)  # type: ignore[attr-defined]
    return term


def make_draft(
    *,
    causes: Sequence[str] = ("capacity-exhaustion",),
    components: Sequence[str] = ("job-queue",),
    factors: Sequence[str] = (),
    organization: str = "누리상회",
    detection_method: str = "job-failure",
    sources: Sequence[dict[str, str]] | None = None,
    **fields: Any,
) -> Incident:
    """Return a draft that lacks nothing for publishing, but for what `fields` blanks out."""
    defaults: dict[str, Any] = {
        "title": "시험용 배치 서버의 디스크가 가득 차 야간 정산 작업이 두 시간 멈췄다",
        "year": 2024,
        "symptom": "야간 정산 작업이 두 시간 멈췄고 가맹점 화면에는 전날 금액이 남아 있었다.",
        "cause": "작업 로그가 데이터와 같은 볼륨에 쌓였다. 볼륨이 차자 작업이 중간 파일을 쓰지 못하고 기다렸다.",
        "actions": ["오래된 로그를 지우고 작업을 처음부터 다시 돌렸다."],
        "lesson": "로그와 데이터는 볼륨을 나누고, 남은 공간에는 경보를 건다.",
    }
    incident = Incident.objects.create(
        **{
            **defaults,
            "organization": Organization.objects.get_or_create(name=organization)[0] if organization else None,
            "detection_method": make_term(DetectionMethod, detection_method) if detection_method else None,
            **fields,
        }
    )
    for through, model, slugs in (
        (IncidentCause, Cause, causes),
        (IncidentComponent, Component, components),
        (IncidentFactor, Factor, factors),
    ):
        for position, slug in enumerate(slugs):
            through.objects.create(incident=incident, term=make_term(model, slug), position=position)
    given = (
        [{"title": "야간 정산 지연 안내", "url": "https://status.example.org/posts/1"}] if sources is None else sources
    )
    for position, source in enumerate(given):
        Source.objects.create(incident=incident, position=position, **source)
    return incident


def make_incident(
    *, status: str = Status.PUBLISHED, reason: str = "", merged_into: Incident | None = None, **fields: Any
) -> Incident:
    """Return an incident that was published and, where another status is asked for, moved on to it."""
    incident = make_draft(**fields)
    if status in (Status.DRAFT, Status.IN_REVIEW):
        if status == Status.IN_REVIEW:
            move(incident, Status.IN_REVIEW, author=None)
        return incident
    move(incident, Status.PUBLISHED, author=None)
    if status != Status.PUBLISHED:
        move(incident, status, author=None, reason=reason or "시험", merged_into=merged_into)
    return Incident.objects.get(pk=incident.pk)


def hours_in(hours: float) -> datetime:
    """Return a time some hours after 2024-03-02 15:10 UTC, for started_at and its like."""
    return datetime(2024, 3, 2, 15, 10, tzinfo=UTC) + timedelta(hours=hours)
