"""The desk: what waits, what readers report, what searches missed, and who may look."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from lxml import html

from incidents.lifecycle import move
from incidents.mcp_server.tools import search
from incidents.models import Check, Citation, Incident, Report, SearchMiss, Source, SourceCheck, Status
from incidents.search_misses import clean_query, gather_misses, note_miss
from incidents.worklists import WORKLISTS
from tests.admin.forms import errors_of, form_values
from tests.factories import make_draft, make_incident

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client: Client, superuser: User) -> Client:
    client.force_login(superuser)
    return client


def worklists(client: Client) -> dict[str, list[str]]:
    """Return the titles of each worklist that isn't empty, by its name."""
    document = html.fromstring(client.get("/admin/desk/").content.decode())
    found = {}
    for section in document.xpath("//section[starts-with(@aria-labelledby, 'list-')]"):
        titles = [link.text_content() for link in section.xpath(".//li/a")]
        if titles:
            found[section.get("aria-labelledby").removeprefix("list-")] = titles
    return found


def test_each_record_stands_in_the_lists_that_it_belongs_to(desk: Client, superuser: User) -> None:
    whole: dict[str, Any] = {
        "trigger": "배포가 촉발했다.",
        "detection": "경보가 울렸다.",
        "contributing_factors": ["경보가 없었다."],
        "follow_ups": ["경보를 달았다."],
        "started_at": None,
        "factors": ("monitoring-gap",),
    }
    waiting = make_incident(status="in_review", title="기다리는 초안")
    returned = make_incident(status="in_review", title="돌아온 초안")
    move(returned, Status.DRAFT, author=superuser, reason="감지가 없습니다")
    make_draft(title="쓰는 초안")
    thin = make_incident(title="짧은 기록", **whole)
    long = make_incident(
        title="긴 기록",
        symptom="길다. " * 200,
        sources=[{"title": "가", "url": "https://a.example/1", "archived_url": "https://archive.example/1"}],
        **whole,
    )
    check = Check.objects.create(
        code="KC-001", title="점검", area="분야", severity="low", risk="가", look="나", criterion="다"
    )
    Citation.objects.create(check_item=check, incident=long, why="까닭")
    assert waiting.status == "in_review"
    assert worklists(desk) == {
        "in-review": ["IL-0001 기다리는 초안"],
        "returned": ["IL-0002 돌아온 초안"],
        "drafts": ["IL-0003 쓰는 초안"],
        "unarchived": ["IL-0004 야간 정산 지연 안내"],
        "missing": ["IL-0005 긴 기록", "IL-0004 짧은 기록"],
        "thin": ["IL-0004 짧은 기록"],
        "uncited": ["IL-0004 짧은 기록"],
    }
    assert thin.pk != long.pk
    Citation.objects.all().delete()
    move(thin, Status.WITHDRAWN, author=superuser, reason="시험")
    assert worklists(desk)["used-once"] == [
        "용량·한도 고갈 (capacity-exhaustion)",
        "작업 큐·크론 (job-queue)",
        "모니터링 사각 (monitoring-gap)",
    ]


def test_a_dead_source_stands_on_the_desk_with_its_proposed_copy(desk: Client) -> None:
    incident = make_incident()
    source = Source.objects.get(incident=incident)
    SourceCheck.objects.create(
        source=source,
        url=source.url,
        state="dead",
        http_status=404,
        failures=2,
        proposed_archive="https://web.archive.org/x",
        checked_at=timezone.now(),
    )
    assert worklists(desk)["dead-sources"] == ["IL-0001 야간 정산 지연 안내"]
    source.url = "https://status.example.org/moved"
    source.save()
    assert "dead-sources" not in worklists(desk)


def test_every_worklist_opens_and_an_unknown_one_is_404(desk: Client) -> None:
    make_draft(title="쓰는 초안")
    for worklist in WORKLISTS:
        assert desk.get(f"/admin/desk/{worklist.name}/").status_code == 200, worklist.name
    assert "쓰는 초안" in desk.get("/admin/desk/drafts/?p=99").content.decode()
    assert desk.get("/admin/desk/nonsense/").status_code == 404


def test_the_desk_is_closed_to_readers(client: Client) -> None:
    assert client.get("/admin/desk/").status_code == 302
    assert client.get("/admin/desk/drafts/").status_code == 302


def test_a_search_that_finds_nothing_is_counted_each_time_and_only_as_text(desk: Client) -> None:
    make_incident()
    reader = Client()
    for query in ("없는말", " 없는말 ", "정산", "me@example.org 없음", "010-1234-5678 없음"):
        assert reader.get("/incidents/", {"q": query}).status_code == 200
    reader.get("/incidents/", {"q": "없는말", "component": "job-queue"})
    assert worklists(desk)["misses"] == ["없는말"]
    assert [(miss.query, miss.count) for miss in SearchMiss.objects.all()] == [("없는말", 2)]
    assert gather_misses() == 0
    note_miss("없는말")
    assert gather_misses() == 1
    assert SearchMiss.objects.get().count == 3


def test_a_search_of_the_api_or_an_agent_is_counted_alike() -> None:
    make_incident()
    reader = Client()
    first = reader.get("/api/v1/incidents/", {"q": "없는말"})
    reader.get("/api/v1/incidents/", {"q": "없는말", "component": "job-queue"})
    reader.get("/api/v1/incidents/", {"q": "없는말", "updated_since": "2020-01-01"})
    assert (
        reader.get("/api/v1/incidents/", {"q": "없는말"}, headers={"If-None-Match": first["ETag"]}).status_code == 304
    )
    reader.get("/incidents.json", {"q": "없는말"})
    search("없는말")
    search("정산")
    assert gather_misses() == 3
    assert [(miss.query, miss.count) for miss in SearchMiss.objects.all()] == [("없는말", 3)]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  ETCD   Quorum ", "etcd quorum"),
        ("두\n줄\x00", "두 줄"),
        ("a@b.kr", ""),
        ("전화 02 123 4567 8", ""),
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("가" * 300, "가" * 200),
        ("\ud800", ""),
    ],
)
def test_a_missed_query_is_kept_without_what_may_name_a_person(typed: str, kept: str) -> None:
    assert clean_query(typed) == kept


# Right of reply


def test_a_reader_reports_and_sees_what_became_of_it(desk: Client) -> None:
    incident = make_incident()
    reader = Client()
    address = "/incidents/IL-0001/report/"
    page = reader.get(address)
    assert page.status_code == 200
    values = {
        **form_values(page),
        "text": "두 시간이 아니라 세 시간이었습니다.",
        "field": "symptom",
        "evidence_url": "https://a.example/x",
    }
    sent = reader.post(address, values)
    status = sent["Location"]
    answer = reader.get(status)
    assert "두 시간이 아니라 세 시간이었습니다." in answer.content.decode()
    assert "편집자가 아직 답하지 않았습니다" in answer.content.decode()
    assert (answer["Referrer-Policy"], "no-store" in answer["Cache-Control"]) == ("no-referrer", True)

    report = Report.objects.get()
    assert (report.incident, report.version, report.field) == (incident, 1, "symptom")
    assert worklists(desk)["reports"] == ["IL-0001: 두 시간이 아니라 세 시간이었습니다."]
    change = f"/admin/incidents/report/{report.pk}/change/"
    form = form_values(desk.get(change), "report_form")
    assert errors_of(desk.post(change, {**form, "state": "accepted"})) == [
        "어떻게 했는지 답을 적으십시오. 보낸 사람이 봅니다."
    ]
    desk.post(change, {**form, "state": "accepted", "answer": "판 2 에서 고쳤습니다."})
    assert "판 2 에서 고쳤습니다." in reader.get(status).content.decode()
    assert "reports" not in worklists(desk)


@pytest.mark.parametrize(
    "changes",
    [{"text": ""}, {"text": "가" * 5_001}, {"evidence_url": "javascript:alert(1)"}, {"field": "nonsense"}],
)
def test_a_faulty_report_is_shown_again_with_what_was_typed(client: Client, changes: dict[str, str]) -> None:
    make_incident()
    answer = client.post("/incidents/IL-0001/report/", {"text": "고칠 점", "sender": "보낸이", **changes})
    assert answer.status_code == 400
    assert "보낸이" in answer.content.decode()
    assert Report.objects.count() == 0


def test_reports_of_one_client_are_limited_and_a_machine_is_not_heard(client: Client) -> None:
    make_incident()
    address = "/incidents/IL-0001/report/"
    client.post(address, {"text": "기계", "website": "https://spam.example"}, REMOTE_ADDR="203.0.113.7")
    assert Report.objects.count() == 0
    answers = [client.post(address, {"text": "고칠 점"}, REMOTE_ADDR="203.0.113.7") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [302] * 5 + [429]
    assert int(answers[-1]["Retry-After"]) <= 3601
    assert client.post(address, {"text": "고칠 점"}, REMOTE_ADDR="203.0.113.8").status_code == 302


@pytest.mark.parametrize("address", ["/incidents/IL-0002/report/", "/incidents/IL-9999/report/", "/reports/nonsense/"])
def test_there_is_nothing_to_report_on_what_no_reader_sees(client: Client, address: str) -> None:
    make_incident()
    make_draft()
    assert client.get(address).status_code == 404
    assert Incident.objects.count() == 2
