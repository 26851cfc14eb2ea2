"""What helps while writing: preview, checklist, doubles, kept text, earlier versions, proposals."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from incidents.lifecycle import commit_version
from incidents.models import Factor, Incident, Proposal, UnsavedText
from incidents.roles import EDITOR, REVIEWER
from tests.admin.forms import change_url, errors_of, form_values, open_form, save_form
from tests.conftest import PASSWORD
from tests.factories import make_draft, make_incident

pytestmark = pytest.mark.django_db

ADD = "/admin/incidents/incident/add/"
ASSIST = "/admin/incidents/incident/assist/"


def desk_of(name: str, role: str | None = None) -> Client:
    user = User.objects.create_user(name, password=PASSWORD, is_staff=True, is_superuser=role is None)
    if role is not None:
        user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


def reload(incident: Incident) -> Incident:
    return Incident.objects.get(pk=incident.pk)


def test_a_text_is_rendered_as_on_the_site() -> None:
    desk = desk_of("root")
    address = "/admin/incidents/incident/render/"
    text = desk.post(address, {"kind": "text", "text": "**멈췄다**\n\n<script>alert(1)</script>"}).json()["html"]
    assert "<strong>멈췄다</strong>" in text
    assert "<script" not in text
    items = desk.post(address, {"kind": "items", "text": "하나\n둘\n  이어짐"}).json()["html"]
    assert items.count("<li>") == 2
    assert desk.get(address).status_code == 405
    assert Client().post(address, {"kind": "text", "text": "x"}).status_code == 302


def test_the_checklist_says_what_is_missing_before_anything_is_saved() -> None:
    desk = desk_of("root")
    values = form_values(desk.get(ADD), "incident_form")
    answer = desk.post(
        ASSIST, {**values, "object_id": "", "title": "짧은 제목", "symptom": "멈췄습니다. GPU가 꺼졌다."}
    ).json()
    assert [gap["field"] for gap in answer["gaps"]] == [
        "organization", "year", "causes", "components", "detection_method", "sources", "cause", "actions", "lesson",
    ]  # fmt: skip
    assert [hint["field"] for hint in answer["hints"]] == ["title", "symptom", "symptom", "started_at"]
    assert Incident.objects.count() == 0
    assert UnsavedText.objects.count() == 0


@pytest.mark.parametrize(
    "url",
    [
        "https://status.example.org/posts/1",
        "http://www.status.example.org/posts/1/?utm_source=mail&fbclid=x#top",
        "https://web.archive.org/web/20240304000000/https://status.example.org/posts/1",
    ],
)
def test_the_same_source_shows_the_record_that_has_it(url: str) -> None:
    known = make_incident()
    desk = desk_of("root")
    values = form_values(desk.get(ADD), "incident_form")
    changes = {"object_id": "", "sources-0-title": "보고서", "sources-0-url": url}
    doubles = desk.post(ASSIST, {**values, **changes}).json()["doubles"]
    assert [(one["id"], one["certain"]) for one in doubles] == [(known.public_id, True)]


def test_a_rewritten_text_shows_the_record_that_it_is_like() -> None:
    known = make_incident()
    make_incident(
        title="DNS 설정이 틀려 로그인이 막혔다",
        symptom="로그인이 막혔다.",
        cause="이름이 틀렸다.",
        sources=[{"title": "가", "url": "https://b.example/"}],
    )
    desk = desk_of("root")
    values = form_values(desk.get(ADD), "incident_form")
    changes = {
        "object_id": "",
        "title": "배치 서버 디스크가 가득 차 야간 정산이 두 시간 멈췄다",
        "symptom": known.symptom,
    }
    doubles = desk.post(ASSIST, {**values, **changes}).json()["doubles"]
    assert [(one["id"], one["certain"]) for one in doubles] == [(known.public_id, False)]


def test_what_was_typed_is_kept_and_can_be_brought_back() -> None:
    desk, draft = desk_of("root"), make_draft()
    values = open_form(desk, draft)
    typed = {**values, "lesson": "아직 저장하지 않은 교훈", "started_at": "어제쯤", "cause_tags-1-position": "7"}
    desk.post(ASSIST, {**typed, "object_id": str(draft.pk), "keep": "yes"})
    page = desk.get(change_url(draft)).content.decode()
    assert "저장하지 않은 글이 있습니다" in page
    assert "아직 저장하지 않은 교훈" not in page

    recovered = desk.get(change_url(draft) + "?recover=1")
    assert "간직해 둔 글을 되살렸습니다" in " ".join(errors_of(recovered))
    again = form_values(recovered, "incident_form")
    assert (again["lesson"], again["started_at"]) == ("아직 저장하지 않은 교훈", "어제쯤")
    assert reload(draft).lesson != "아직 저장하지 않은 교훈"

    assert save_form(desk, draft, again, started_at="2024").status_code == 302
    assert reload(draft).lesson == "아직 저장하지 않은 교훈"
    assert UnsavedText.objects.count() == 0


def test_a_new_record_that_was_never_saved_can_be_brought_back() -> None:
    desk = desk_of("root")
    values = form_values(desk.get(ADD), "incident_form")
    desk.post(ASSIST, {**values, "title": "쓰다 만 제목", "object_id": "", "keep": "yes"})
    again = form_values(desk.get(ADD + "?recover=1"), "incident_form")
    assert again["title"] == "쓰다 만 제목"
    desk.post(ADD, again)
    assert [one.title for one in Incident.objects.all()] == ["쓰다 만 제목"]
    assert UnsavedText.objects.count() == 0


def test_kept_text_belongs_to_who_typed_it_and_can_be_dropped() -> None:
    anna, bora, draft = desk_of("anna"), desk_of("bora"), make_draft()
    anna.post(ASSIST, {**open_form(anna, draft), "lesson": "안나의 글", "object_id": str(draft.pk), "keep": "yes"})
    assert "저장하지 않은 글이 있습니다" not in bora.get(change_url(draft)).content.decode()
    assert form_values(bora.get(change_url(draft) + "?recover=1"), "incident_form")["lesson"] == draft.lesson
    anna.post("/admin/incidents/incident/forget/", {"object_id": str(draft.pk)})
    assert "저장하지 않은 글이 있습니다" not in anna.get(change_url(draft)).content.decode()


def test_kept_text_over_which_somebody_saved_is_merged_not_forced() -> None:
    anna, bora, incident = desk_of("anna"), desk_of("bora"), make_incident()
    typed = {**open_form(anna, incident), "lesson": "안나가 쓰던 교훈이다."}
    anna.post(ASSIST, {**typed, "object_id": str(incident.pk), "keep": "yes"})
    save_form(bora, incident, open_form(bora, incident), title="보라의 제목")
    again = form_values(anna.get(change_url(incident) + "?recover=1"), "incident_form")
    answer = save_form(anna, incident, again)
    assert answer.status_code == 409
    save_form(anna, incident, form_values(answer, "incident_form"))
    assert (reload(incident).title, reload(incident).lesson) == ("보라의 제목", "안나가 쓰던 교훈이다.")


def test_an_earlier_version_is_restored_as_a_new_one() -> None:
    incident = make_incident(causes=("dns-error", "bad-deploy"), lesson="처음 교훈이다.")
    desk = desk_of("root")
    changes = {"lesson": "나중 교훈이다.", "cause_tags-0-DELETE": "on", "sources-0-title": "새 이름"}
    save_form(desk, incident, open_form(desk, incident), **changes)
    restored = desk.get(change_url(incident) + "?restore=1")
    assert "판 1 의 내용을 옮겨 두었습니다" in " ".join(errors_of(restored))
    assert save_form(desk, incident, form_values(restored, "incident_form")).status_code == 302
    versions = list(incident.versions.order_by("number"))
    assert [version.reason for version in versions][1:] == [
        "고친 항목: 원인 분류, 출처, 교훈",
        "판 1 의 내용으로 되돌림",
    ]
    assert versions[2].text == versions[0].text
    for nonsense in ("9", "x", "99999999999"):
        assert desk.get(change_url(incident) + f"?restore={nonsense}").status_code == 200


def test_an_editor_proposes_a_correction_and_a_reviewer_takes_it_over() -> None:
    incident = make_incident()
    editor, reviewer = desk_of("editor", EDITOR), desk_of("reviewer", REVIEWER)
    page = editor.get(change_url(incident) + "?propose=1")
    values = {**form_values(page, "incident_form"), "lesson": "제안한 교훈이다.", "change_reason": "더 또렷하게"}
    help_ = editor.post(ASSIST, {**values, "object_id": str(incident.pk), "lesson": ""}).json()
    assert [gap["field"] for gap in help_["gaps"]] == ["lesson"]
    assert editor.post(change_url(incident) + "?propose=1", values).status_code == 302
    assert reload(incident).version == 1
    proposal = Proposal.objects.get()
    assert (proposal.fields, proposal.reason, proposal.state) == ("교훈", "더 또렷하게", "waiting")

    address = f"{change_url(incident)}?proposal={proposal.pk}"
    reviewer.post(address, form_values(reviewer.get(address), "incident_form"))
    assert (reload(incident).lesson, reload(incident).version) == ("제안한 교훈이다.", 2)
    assert incident.versions.get(number=2).reason == "더 또렷하게"
    proposal.refresh_from_db()
    assert (proposal.state, proposal.handled_by.username) == ("accepted", "reviewer")  # type: ignore[union-attr]


def test_a_faulty_proposal_is_shown_again_and_a_draft_needs_none() -> None:
    incident, draft, editor = make_incident(), make_draft(), desk_of("editor", EDITOR)
    page = editor.get(change_url(incident) + "?propose=1")
    answer = editor.post(
        change_url(incident) + "?propose=1", {**form_values(page, "incident_form"), "started_at": "어제"}
    )
    assert answer.status_code == 200
    assert "날짜나 시각이 아닙니다" in " ".join(errors_of(answer))
    assert Proposal.objects.count() == 0
    assert save_form(editor, draft, open_form(editor, draft), lesson="그냥 고친 교훈이다.").status_code == 302


def test_a_draft_is_previewed_as_its_page_by_editors_alone() -> None:
    draft = make_draft(title="아직 아무도 못 보는 초안")
    address = f"/admin/incidents/incident/{draft.pk}/site/"
    answer = desk_of("editor", EDITOR).get(address)
    assert answer.status_code == 200
    assert "아직 아무도 못 보는 초안" in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    reader = Client()
    assert reader.get(address).status_code == 302
    assert reader.get(draft.get_absolute_url()).status_code == 404
    assert desk_of("editor2", EDITOR).get("/admin/incidents/incident/999/site/").status_code == 404


def test_versions_restore_even_where_a_term_is_gone() -> None:
    incident = make_incident(factors=("monitoring-gap",))
    saved = reload(incident)
    saved.factor_tags.all().delete()
    commit_version(saved, author=None, reason="뺌")
    Factor.objects.all().delete()
    restored = desk_of("root").get(change_url(incident) + "?restore=1")
    assert restored.status_code == 200
    assert json.loads(form_values(restored, "incident_form")["base_state"])["factors"] == []
