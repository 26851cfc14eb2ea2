"""The library's own health: what is wrong with what it holds, and what could be better.

Faults are promises broken (a record that can't be found, a version that is missing); notices are work for editors
(a source without an archived copy). Nothing of the library is changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from django.db import connection
from django.db.models import Max

from incidents.errors import SearchUnavailable
from incidents.faults import RecordError
from incidents.indexing import sync_index
from incidents.lifecycle import record_gaps
from incidents.models import (
    Check,
    Citation,
    Incident,
    IncidentVersion,
    LibraryState,
    RelatedIncident,
    Source,
    Status,
    format_public_id,
)
from incidents.record_data import record_data, with_record_parts
from incidents.records import content_of, format_record, parse_record
from incidents.search import Health, get_search_backend
from incidents.states import PUBLIC

CHUNK = 500
ATTEMPTS = 5  # at comparing the index with a library that is being edited
# Not followed by a letter of an ID that goes on; particles may follow directly (IL-0421은).
MENTION = re.compile(r"(?<![A-Za-z0-9-])IL-([0-9]{4,9})(?![0-9])")


@dataclass(frozen=True)
class Finding:
    """Something found. `subject` names where: a record, a check, or a part of the library."""

    severity: Literal["fault", "notice"]
    subject: str
    message: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.message}"


def examine(*, step: Callable[[], object] | None = None) -> Iterator[Finding]:
    """Yield everything found, part by part. `step` is called once for each public record."""
    yield from _database()
    yield from _numbers()
    yield from _index()
    yield from _records(step)
    yield from _references()
    yield from _sources()


def _fault(subject: str, message: str) -> Finding:
    return Finding("fault", subject, message)


def _database() -> Iterator[Finding]:
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA integrity_check(5)")
        for (line,) in cursor.fetchall():
            if line != "ok":
                yield _fault("database", f"데이터베이스 파일이 상했습니다({line}). restore 로 백업에서 되살리십시오.")
        cursor.execute("PRAGMA foreign_key_check")
        for table, row, parent, _ in cursor.fetchall()[:5]:
            yield _fault("database", f"{table} 표의 {row}번 행이 {parent} 표에 없는 것을 가리킵니다.")


def _numbers() -> Iterator[Finding]:
    state = LibraryState.objects.get(pk=LibraryState.SINGLE)
    highest = Incident.objects.aggregate(highest=Max("number"))["highest"] or 0
    if state.next_number <= highest:
        yield _fault(
            "numbers",
            f"다음 번호({state.next_number})가 이미 쓰인 번호({highest}) 뒤가 아닙니다. 새 기록을 만들 수 없습니다.",
        )
    latest = Incident.objects.aggregate(latest=Max("revision"))["latest"] or 0
    if latest > state.revision:
        yield _fault("revision", f"기록의 revision({latest})이 라이브러리의 revision({state.revision})보다 큽니다.")


def _index() -> Iterator[Finding]:
    """Compare what the index holds with the published records, by their revisions.

    An index that is only behind catches up first, as it does for any reader; what edits change meanwhile is looked at
    again.
    """
    heal = "rebuild_index 로 다시 만드십시오."
    backend = get_search_backend()
    health = backend.health()
    findings: list[Finding] = []
    for _ in range(ATTEMPTS):
        if not health.ok:
            yield _fault("index", f"{health.message} {heal}")
            return
        try:
            sync_index()
        except (SearchUnavailable, OSError) as error:
            yield _fault("index", f"색인을 따라오게 하지 못했습니다({error}). 남은 공간과 권한을 확인하고 {heal}")
            return
        health = backend.health()
        findings = list(_differences(health, heal))
        if LibraryState.objects.current_revision() == health.revision:
            break
    yield from findings


def _differences(health: Health, heal: str) -> Iterator[Finding]:
    published = dict(Incident.objects.filter(status=Status.PUBLISHED).values_list("pk", "revision"))
    names = dict(Incident.objects.values_list("pk", "number"))
    for pk in sorted(published.keys() - health.revisions.keys()):
        yield _fault("index", f"게시된 기록이 색인에 없습니다: {format_public_id(names[pk])}. {heal}")
    for pk in sorted(health.revisions.keys() - published.keys()):
        name = format_public_id(names[pk]) if pk in names else f"pk {pk}"
        yield _fault("index", f"게시되지 않은 기록이 색인에 있습니다: {name}. {heal}")
    for pk in sorted(published.keys() & health.revisions.keys()):
        if published[pk] != health.revisions[pk]:
            yield _fault("index", f"색인의 기록이 오래되었습니다: {format_public_id(names[pk])}. {heal}")


def _records(step: Callable[[], object] | None) -> Iterator[Finding]:
    """Look at each public record: complete, readable as a file, and the same as its last version."""
    for incident in with_record_parts(Incident.objects.filter(status__in=PUBLIC).order_by("number")).iterator(
        chunk_size=CHUNK
    ):
        record = record_data(incident)
        if incident.status == Status.PUBLISHED:
            for gap in record_gaps(record):
                yield _fault(incident.public_id, gap.message)
        text = format_record(record)
        try:
            if format_record(parse_record(text.encode(), f"{incident.public_id}.md")) != text:
                yield _fault(incident.public_id, "파일로 썼다가 읽으면 달라집니다. 편집 화면에서 다시 저장하십시오.")
        except RecordError as error:
            yield _fault(incident.public_id, f"파일로 쓰면 다시 읽지 못합니다: {error.faults[0].message}")
        numbers = list(incident.versions.order_by("number").values_list("number", flat=True))
        if numbers != list(range(1, incident.version + 1)):
            yield _fault(incident.public_id, f"판이 이어지지 않습니다(지금 판 {incident.version}, 있는 판 {numbers}).")
        else:
            last = IncidentVersion.objects.get(incident=incident, number=incident.version)
            if last.text != content_of(record):
                yield _fault(incident.public_id, f"지금 내용이 마지막 판({incident.version})과 다릅니다.")
        if step is not None:
            step()


def _references() -> Iterator[Finding]:
    """Look at everything that names a record: citations, relations, merges, IDs within texts."""
    statuses = dict(Incident.objects.values_list("number", "status"))
    for citation in Citation.objects.select_related("check_item", "incident"):
        status = citation.incident.status
        if status not in PUBLIC:
            yield _fault(
                citation.check_item.code,
                f"공개되지 않은 기록을 인용합니다: {citation.incident.public_id} ({Status(status).label}).",
            )
        elif status != Status.PUBLISHED:
            yield Finding(
                "notice",
                citation.check_item.code,
                f"{Status(status).label}된 기록을 인용합니다: {citation.incident.public_id}.",
            )
    for check in Check.objects.filter(citations__isnull=True):
        yield Finding("notice", check.code, "인용한 기록이 없습니다.")
    for merged in Incident.objects.filter(status=Status.MERGED).exclude(merged_into__status=Status.PUBLISHED):
        yield _fault(merged.public_id, "합쳐진 기록이 게시되어 있지 않습니다.")
    for tie in RelatedIncident.objects.filter(incident__status__in=PUBLIC).select_related("incident", "other"):
        if tie.other.status not in PUBLIC:
            yield Finding(
                "notice", tie.incident.public_id, f"공개되지 않은 기록과 이어져 있습니다: {tie.other.public_id}."
            )
    for incident in Incident.objects.filter(status__in=PUBLIC).order_by("number").iterator(chunk_size=CHUNK):
        texts = "\n".join(
            (
                incident.symptom,
                incident.trigger,
                incident.cause,
                incident.detection,
                incident.lesson,
                *incident.contributing_factors,
                *incident.actions,
                *incident.follow_ups,
            )
        )
        for number in sorted({int(number) for number in MENTION.findall(texts)}):
            if statuses.get(number) not in PUBLIC:
                yield _fault(incident.public_id, f"본문이 없는 기록을 가리킵니다: {format_public_id(number)}.")


def _sources() -> Iterator[Finding]:
    public = Source.objects.filter(incident__status=Status.PUBLISHED)
    without = public.filter(archived_url="").count()
    if without:
        yield Finding("notice", "sources", f"보관된 사본이 없는 출처: {without}개 / {public.count()}개.")
