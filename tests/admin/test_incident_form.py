"""Saving a record in the admin: what changes, what readers get, and what the form refuses."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from incidents.models import Cause, Component, Incident, IncidentVersion, Status
from incidents.record_data import record_text
from tests.admin.forms import change_url, errors_of, form_values, open_form, save_form
from tests.factories import make_draft, make_incident, make_term

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client: Client, superuser: User) -> Client:
    client.force_login(superuser)
    return client


def reload(incident: Incident) -> Incident:
    return Incident.objects.get(pk=incident.pk)


def test_saving_an_untouched_form_changes_nothing(desk: Client) -> None:
    incident = make_incident(
        symptom="    들여 쓴 코드\n\n첫 줄  \n둘째 줄\n\n- 목록\n  - 안쪽",
        actions=[
            "한 줄",
            "두 줄\n이어짐",
            "- 목록처럼 시작함",
            "코드:\n\n```\nls -l\n\n  x\n```",
            "2024. 3. 2. 에 고쳤다.",
        ],
        started_at=None,
    )
    before = record_text(reload(incident))
    response = save_form(desk, incident, open_form(desk, incident))
    assert response.status_code == 302
    assert record_text(reload(incident)) == before
    assert reload(incident).version == 1


def test_changing_one_field_makes_a_version_and_changes_that_line_alone(desk: Client) -> None:
    incident = make_incident()
    before = record_text(reload(incident)).splitlines()
    save_form(desk, incident, open_form(desk, incident), lesson="로그는 따로 둔다.", change_reason="교훈을 줄였다")
    after = record_text(reload(incident)).splitlines()
    assert [line for line in after if line not in before] == ["로그는 따로 둔다."]
    assert len(after) == len(before)
    assert list(incident.versions.values_list("number", "reason")) == [(1, ""), (2, "교훈을 줄였다")]
    assert reload(incident).version == 2


def test_a_change_without_a_reason_names_the_fields(desk: Client) -> None:
    incident = make_incident()
    save_form(desk, incident, open_form(desk, incident), lesson="새 교훈이다.", title="새 제목")
    assert IncidentVersion.objects.get(incident=incident, number=2).reason == "고친 항목: 제목, 교훈"


def test_a_draft_has_no_versions_but_every_saved_state_is_kept(desk: Client) -> None:
    draft = make_draft()
    for text in ("하나.", "둘."):
        save_form(desk, draft, open_form(desk, draft), lesson=text)
    assert reload(draft).version == 0
    assert [edit.text.splitlines()[-1] for edit in draft.edits.order_by("number")] == ["하나.", "둘."]


def test_terms_change_order_and_number_in_one_save(desk: Client) -> None:
    incident = make_incident(causes=("power-cooling", "config-error"), components=("etcd", "dns"))
    dns = make_term(Cause, "dns-error")
    values = open_form(desk, incident)
    changes: dict[str, Any] = {
        "cause_tags-0-DELETE": "on",
        "cause_tags-2-term": str(dns.pk),
        "component_tags-0-position": "2",
        "component_tags-1-position": "1",
        "sources-1-title": "나중 보고서",
        "sources-1-url": "https://status.example.org/posts/2",
    }
    assert save_form(desk, incident, values, **changes).status_code == 302
    saved = reload(incident)
    assert [tag.term.slug for tag in saved.cause_tags.all()] == ["config-error", "dns-error"]
    assert [tag.term.slug for tag in saved.component_tags.all()] == ["dns", "etcd"]
    assert [source.title for source in saved.sources.all()] == ["야간 정산 지연 안내", "나중 보고서"]
    assert saved.version == 2


def test_changed_terms_count_at_once(desk: Client) -> None:
    incident = make_incident(causes=("power-cooling",))
    values = open_form(desk, incident)
    dns = make_term(Cause, "dns-error")
    assert [
        desk.get("/incidents/", {"cause": slug}).context["listing"].count for slug in ("power-cooling", "dns-error")
    ] == [1, 0]
    save_form(desk, incident, values, **{"cause_tags-0-term": str(dns.pk)})
    assert [
        desk.get("/incidents/", {"cause": slug}).context["listing"].count for slug in ("power-cooling", "dns-error")
    ] == [0, 1]


@pytest.mark.parametrize(
    "field", ["title", "year", "symptom", "cause", "actions", "lesson", "organization", "detection_method"]
)
def test_a_published_record_keeps_what_publishing_needs(desk: Client, field: str) -> None:
    incident = make_incident()
    response = save_form(desk, incident, open_form(desk, incident), **{field: ""})
    assert response.status_code == 200
    assert errors_of(response) == ["게시된 기록에서는 비울 수 없습니다. 채우거나 기록을 철회하십시오."]
    assert reload(incident).version == 1


def test_a_published_record_keeps_a_cause_and_a_source(desk: Client) -> None:
    incident = make_incident()
    response = save_form(
        desk, incident, open_form(desk, incident), **{"cause_tags-0-DELETE": "on", "sources-0-DELETE": "on"}
    )
    assert errors_of(response) == [
        "게시된 기록에는 원인 분류 하나 이상이 있어야 합니다.",
        "게시된 기록에는 출처 하나 이상이 있어야 합니다.",
    ]


def test_a_draft_may_be_saved_half_written(desk: Client) -> None:
    response = desk.get("/admin/incidents/incident/add/")
    values = form_values(response, "incident_form")
    assert desk.post("/admin/incidents/incident/add/", {**values, "title": "아직 쓰는 중"}).status_code == 302
    draft = Incident.objects.get()
    assert (draft.title, draft.status, draft.public_id) == ("아직 쓰는 중", Status.DRAFT, "IL-0001")


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("2024-03-02T15:10:00Z", "started_at: 2024-03-02T15:10:00Z"),
        ("2024-03-03 00:10 KST", "started_at: 2024-03-02T15:10:00Z"),
        ("2024-03-03T00:10+0900", "started_at: 2024-03-02T15:10:00Z"),
        ("2024-03-02 15:10 UTC", "started_at: 2024-03-02T15:10:00Z"),
        ("2024-03-02", "started_at: 2024-03-02"),
        ("2024", "started_at: 2024"),
    ],
)
def test_times_are_kept_as_far_as_they_are_known(desk: Client, typed: str, written: str) -> None:
    draft = make_draft()
    assert save_form(desk, draft, open_form(desk, draft), started_at=typed).status_code == 302
    assert written in record_text(reload(draft)).splitlines()
    assert open_form(desk, draft)["started_at"] == written.removeprefix("started_at: ")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"started_at": "2024-03-02 15:10"}, "시간대가 없습니다"),
        ({"started_at": "어제"}, "날짜나 시각이 아닙니다"),
        ({"started_at": "2024-03-02", "resolved_at": "2024-03-01"}, "앞섭니다"),
        ({"symptom": "위\n\n## 원인\n아래"}, "3번째 줄: 글 안에는 제목 줄을 쓸 수 없습니다"),
        ({"actions": "하나\n```\n열린 코드"}, "코드 블록이 닫히지 않았습니다"),
        ({"symptom": "터미널\x0b에서 붙인 글"}, "보이지 않는 제어 문자가 있습니다(U+000B)"),
        ({"sources-0-url": "javascript:alert(1)"}, "http:// 나 https:// 로 시작해야 합니다"),
        ({"sources-0-published": "2024년 3월"}, "날짜나 시각이 아닙니다"),
        ({"year": "99999"}, "2100"),
        ({"cause_tags-1-term": "999999"}, "올바르게 선택해 주세요"),
    ],
)
def test_what_no_file_can_hold_is_refused_at_its_field(desk: Client, changes: dict[str, str], words: str) -> None:
    incident = make_incident()
    response = save_form(desk, incident, open_form(desk, incident), **changes)
    assert response.status_code == 200
    assert words in " ".join(errors_of(response))
    assert reload(incident).version == 1


def test_the_same_term_twice_is_refused(desk: Client) -> None:
    incident = make_incident()
    values = open_form(desk, incident)
    response = save_form(desk, incident, values, **{"component_tags-1-term": values["component_tags-0-term"]})
    assert response.status_code == 200
    assert errors_of(response)


def test_a_title_of_spreadsheet_signs_is_stored_on_one_line(desk: Client) -> None:
    incident = make_incident()
    save_form(desk, incident, open_form(desk, incident), title="\t=1+1 \r 둘째")
    assert reload(incident).title == "=1+1   둘째"


def test_the_list_finds_a_record_by_its_number_and_its_title(desk: Client) -> None:
    first, second = make_incident(title="디스크가 찼다"), make_incident(title="이름을 찾지 못했다")
    for query, found in (("IL-0001", first), ("il-2", second), ("2", second), ("디스크", first)):
        response = desk.get("/admin/incidents/incident/", {"q": query})
        assert [row.pk for row in response.context["cl"].result_list] == [found.pk], query


def test_the_list_narrows_by_status_and_component(desk: Client) -> None:
    draft, public = make_draft(components=("etcd",)), make_incident(components=("etcd",))
    make_incident(components=("dns",))
    etcd = Component.objects.get(slug="etcd")
    by_component = desk.get("/admin/incidents/incident/", {"components__id__exact": etcd.pk})
    assert {row.pk for row in by_component.context["cl"].result_list} == {draft.pk, public.pk}
    by_status = desk.get("/admin/incidents/incident/", {"status__exact": "draft"})
    assert [row.pk for row in by_status.context["cl"].result_list] == [draft.pk]


def test_every_admin_page_opens_without_a_foreign_script_or_style(desk: Client) -> None:
    incident = make_incident()
    for path in (
        "/admin/",
        "/admin/incidents/incident/",
        "/admin/incidents/incident/add/",
        change_url(incident),
        f"/admin/incidents/incident/{incident.pk}/history/",
        f"/admin/incidents/incident/{incident.pk}/delete/",
        f"/admin/incidents/incident/{incident.pk}/move/withdraw/",
        "/admin/incidents/cause/",
        "/admin/incidents/organization/",
        "/admin/incidents/check/add/",
    ):
        response = desk.get(path)
        assert response.status_code == 200, path
        body = response.content.decode()
        assert "<style" not in body and " style=" not in body and "onclick=" not in body, path
