"""The desk's worklists: what waits for an editor or a reviewer, each a question to the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import F, IntegerField, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Length
from django.urls import reverse

from incidents.catalogue import get_catalogue
from incidents.models import (
    Cause,
    Component,
    DetectionMethod,
    Factor,
    Incident,
    LinkState,
    Proposal,
    ProposalState,
    Report,
    ReportState,
    SearchMiss,
    Source,
    Status,
    StatusChange,
    Term,
)

THIN_CHARS: Final = 450  # all texts of a record together; the bundled records' fifth percentile is about twice that
SHOWN: Final = 8  # of each list on the desk itself


@dataclass(frozen=True)
class Task:
    """A line of a worklist: what it is about, where one does it, and why it is there."""

    title: str
    url: str
    note: str


@dataclass(frozen=True)
class Worklist:
    """A list of tasks. `rows` is what is counted and cut into pages; `task` turns a row into a line."""

    name: str
    label: str
    about: str
    rows: Callable[[], Any]
    task: Callable[[Any], Task]

    def count(self) -> int:
        rows = self.rows()
        return int(rows.count()) if isinstance(rows, QuerySet) else len(rows)

    def tasks(self, start: int = 0, stop: int | None = SHOWN) -> tuple[Task, ...]:
        """Return the tasks from `start` up to `stop`."""
        return tuple(map(self.task, self.rows()[start:stop]))


def _change_url(incident_id: int) -> str:
    return reverse("admin:incidents_incident_change", args=[incident_id])


def _incident_task(note: Callable[[Any], str]) -> Callable[[Incident], Task]:
    return lambda incident: Task(str(incident), _change_url(incident.pk), note(incident))


def _last_move(field: str) -> Subquery:
    return Subquery(StatusChange.objects.filter(incident=OuterRef("pk")).values(field)[:1])


def _published() -> QuerySet[Incident]:
    return Incident.objects.filter(status=Status.PUBLISHED)


def _in_review() -> QuerySet[Incident]:
    return Incident.objects.filter(status=Status.IN_REVIEW).order_by("status_changed_at", "number")


def _returned() -> QuerySet[Incident]:
    drafts = Incident.objects.filter(status=Status.DRAFT).annotate(
        last_move=_last_move("move"), last_reason=_last_move("reason")
    )
    found: QuerySet[Incident] = drafts.filter(last_move="return").order_by("status_changed_at")
    return found


def _drafts() -> QuerySet[Incident]:
    drafts = Incident.objects.filter(status=Status.DRAFT).annotate(last_move=_last_move("move"))
    found: QuerySet[Incident] = drafts.filter(Q(last_move__isnull=True) | ~Q(last_move="return")).order_by("-number")
    return found


_EMPTY: Final = {
    "촉발": Q(trigger=""),
    "감지 경위": Q(detection=""),
    "기여 요인": Q(contributing_factors=[]),
    "후속 조치": Q(follow_ups=[]),
    "시작한 때": Q(started_at__isnull=True),
    "감지 방법": Q(detection_method__slug=DetectionMethod.UNKNOWN),
}


def _missing() -> QuerySet[Incident]:
    condition = Q()
    for empty in _EMPTY.values():
        condition |= empty
    return _published().filter(condition).select_related("detection_method").order_by("-number")


def _missing_note(incident: Incident) -> str:
    missing = {
        "촉발": not incident.trigger,
        "감지 경위": not incident.detection,
        "기여 요인": not incident.contributing_factors,
        "후속 조치": not incident.follow_ups,
        "시작한 때": incident.started_at is None,
        "감지 방법": incident.detection_method is not None
        and incident.detection_method.slug == DetectionMethod.UNKNOWN,
    }
    return "비어 있음: " + ", ".join(name for name, is_missing in missing.items() if is_missing)


def _thin() -> QuerySet[Incident]:
    texts = ("symptom", "trigger", "cause", "detection", "lesson")
    lists = ("contributing_factors", "actions", "follow_ups")
    length: Combinable = Length(Cast(lists[0], TextField()))
    for name in lists[1:]:
        length = length + Length(Cast(name, TextField()))
    for name in texts:
        length = length + Length(name)
    measured = _published().annotate(chars=Cast(length, IntegerField()))
    return measured.filter(chars__lt=THIN_CHARS).order_by("chars")


def _unarchived() -> QuerySet[Source]:
    sources = Source.objects.filter(incident__status=Status.PUBLISHED, archived_url="")
    # By the key that is indexed: a library's numbers follow it, and fifty thousand rows need no sorting.
    return sources.select_related("incident", "link_check").order_by("-incident_id", "position")


def _dead() -> QuerySet[Source]:
    sources = Source.objects.filter(incident__status=Status.PUBLISHED, link_check__state=LinkState.DEAD)
    return (
        sources.filter(link_check__url=F("url"))
        .select_related("incident", "link_check")
        .order_by("-link_check__failures", "incident__number")
    )


def _dead_task(source: Source) -> Task:
    check = source.link_check
    copy = (
        "보관된 사본 있음"
        if source.archived_url
        else f"제안: {check.proposed_archive}"
        if check.proposed_archive
        else "사본 없음"
    )
    return Task(
        f"{source.incident.public_id} {source.title}",
        _change_url(source.incident_id) + "#sources-group",
        f"{check.checked_at:%Y-%m-%d} {check.detail or check.http_status or ''} · {copy}",
    )


def _used_once() -> Sequence[Term]:
    """Words that one published record has, by the counts that the facets show."""
    everything = get_catalogue().everything()
    vocabularies: Iterable[tuple[str, type[Term]]] = (("cause", Cause), ("component", Component), ("factor", Factor))
    found: list[Term] = []
    for facet, model in vocabularies:
        once = [pk for pk, count in everything.counts(facet).items() if count == 1]
        found += model._default_manager.filter(pk__in=once)
    return found


def _uncited() -> QuerySet[Incident]:
    return _published().filter(citations__isnull=True).order_by("-number")


def _no_note(_row: Any) -> str:
    return ""


WORKLISTS: Final = (
    Worklist(
        "in-review",
        "검토를 기다리는 초안",
        "오래 기다린 것부터.",
        _in_review,
        _incident_task(lambda one: f"{one.status_changed_at:%Y-%m-%d} 부터"),
    ),
    Worklist(
        "returned",
        "까닭과 함께 돌아온 초안",
        "고쳐서 다시 검토를 요청합니다.",
        _returned,
        _incident_task(lambda one: one.last_reason),
    ),
    Worklist(
        "reports",
        "독자가 알린 고칠 점",
        "답을 적으면 보낸 사람이 봅니다.",
        lambda: Report.objects.filter(state=ReportState.RECEIVED).select_related("incident").order_by("created_at"),
        lambda report: Task(
            str(report), reverse("admin:incidents_report_change", args=[report.pk]), f"{report.created_at:%Y-%m-%d}"
        ),
    ),
    Worklist(
        "proposals",
        "편집자가 낸 제안",
        "게시된 기록을 고치자는 제안입니다.",
        lambda: (
            Proposal.objects.filter(state=ProposalState.WAITING)
            .select_related("incident", "author")
            .order_by("created_at")
        ),
        lambda one: Task(
            str(one), reverse("admin:incidents_proposal_change", args=[one.pk]), f"{one.author}: {one.reason}"
        ),
    ),
    Worklist("drafts", "쓰고 있는 초안", "새것부터.", _drafts, _incident_task(_no_note)),
    Worklist("dead-sources", "열리지 않는 출처", "check_sources 가 살핀 결과입니다.", _dead, _dead_task),
    Worklist(
        "unarchived",
        "보관된 사본이 없는 출처",
        "원문이 사라지기 전에 사본을 적어 둡니다.",
        _unarchived,
        lambda source: Task(
            f"{source.incident.public_id} {source.title}",
            _change_url(source.incident_id) + "#sources-group",
            source.link_check.proposed_archive if hasattr(source, "link_check") else "",
        ),
    ),
    Worklist("missing", "항목이 빈 기록", "보고서에 있는지 다시 봅니다.", _missing, _incident_task(_missing_note)),
    Worklist(
        "thin",
        "짧은 기록",
        f"글이 모두 {THIN_CHARS}자가 되지 않습니다.",
        _thin,
        _incident_task(lambda one: f"{one.chars}자"),
    ),
    Worklist(
        "uncited", "점검이 인용하지 않는 기록", "근거로 쓸 점검이 있는지 봅니다.", _uncited, _incident_task(_no_note)
    ),
    Worklist(
        "used-once",
        "한 번만 쓰인 말",
        "다른 말에 합칠 수 있는지 봅니다.",
        _used_once,
        lambda term: Task(
            f"{term.label} ({term.slug})",
            reverse(f"admin:incidents_{term._meta.model_name}_change", args=[term.pk]),
            str(term._meta.verbose_name),
        ),
    ),
    Worklist(
        "misses",
        "아무것도 찾지 못한 검색",
        "다른 이름을 어휘에 더하거나, 빠진 사고를 찾습니다. 누가 찾았는지는 적지 않습니다.",
        lambda: SearchMiss.objects.filter(is_done=False),
        lambda miss: Task(miss.query, reverse("admin:incidents_searchmiss_change", args=[miss.pk]), f"{miss.count}번"),
    ),
)

WORKLISTS_BY_NAME: Final = {worklist.name: worklist for worklist in WORKLISTS}
