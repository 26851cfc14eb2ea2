"""Who may bring a record into which state, what it needs, and what is left behind."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError
from django.test import Client
from lxml import html

from incidents.errors import Conflict, PermissionRefused, UserError
from incidents.lifecycle import move
from incidents.models import Incident, Status
from incidents.roles import EDITOR, REVIEWER
from incidents.states import MOVES
from tests.admin.forms import change_url, errors_of, form_values, open_form
from tests.conftest import PASSWORD
from tests.factories import make_draft, make_incident

pytestmark = pytest.mark.django_db


def member(role: str) -> User:
    user = User.objects.create_user(role.lower(), password=PASSWORD, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    return user


@pytest.fixture
def editor(db: None) -> User:
    return member(EDITOR)


@pytest.fixture
def reviewer(db: None) -> User:
    return member(REVIEWER)


def desk_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def move_url(incident: Incident, name: str) -> str:
    return f"/admin/incidents/incident/{incident.pk}/move/{name}/"


def buttons(client: Client, incident: Incident) -> list[str]:
    document = html.fromstring(client.get(change_url(incident)).content.decode())
    return [link.text_content().strip() for link in document.xpath("//a[contains(@class, 'move--')]")]


def state_of(incident: Incident) -> tuple[str, int]:
    saved = Incident.objects.get(pk=incident.pk)
    return saved.status, saved.version


@pytest.mark.parametrize(
    ("role", "status", "expected"),
    [
        (EDITOR, "draft", ["검토 요청"]),
        (EDITOR, "in_review", ["검토 요청 거두기"]),
        (EDITOR, "published", []),
        (EDITOR, "withdrawn", []),
        (REVIEWER, "draft", ["검토 요청", "바로 게시"]),
        (REVIEWER, "in_review", ["돌려보내기", "게시"]),
        (REVIEWER, "published", ["철회", "병합"]),
        (REVIEWER, "withdrawn", ["병합", "다시 게시"]),
        (REVIEWER, "merged", ["병합 되돌리기"]),
    ],
)
def test_buttons_are_the_moves_that_a_role_may_make(role: str, status: str, expected: list[str]) -> None:
    incident = make_incident(status=status, merged_into=make_incident() if status == "merged" else None)
    assert buttons(desk_of(member(role)), incident) == expected


def test_a_record_goes_from_draft_through_review_to_readers(editor: User, reviewer: User) -> None:
    draft = make_draft()
    desk_of(editor).post(move_url(draft, "submit"))
    assert state_of(draft) == (Status.IN_REVIEW, 0)

    page = desk_of(reviewer).post(move_url(draft, "return"), {"reason": ""})
    assert errors_of(page) == ["필수 항목입니다."] or page.status_code == 200
    assert state_of(draft) == (Status.IN_REVIEW, 0)
    desk_of(reviewer).post(move_url(draft, "return"), {"reason": "감지 경위가 빠졌습니다."})
    assert state_of(draft) == (Status.DRAFT, 0)
    assert "감지 경위가 빠졌습니다." in desk_of(editor).get(change_url(draft)).content.decode()

    desk_of(editor).post(move_url(draft, "submit"))
    desk_of(reviewer).post(move_url(draft, "publish"))
    assert state_of(draft) == (Status.PUBLISHED, 1)
    assert [(change.move, str(change.author), change.reason) for change in draft.status_changes.order_by("pk")] == [
        ("submit", "editor", ""),
        ("return", "reviewer", "감지 경위가 빠졌습니다."),
        ("submit", "editor", ""),
        ("publish", "reviewer", ""),
    ]


def test_an_incomplete_draft_is_not_published_and_the_gaps_are_named(reviewer: User) -> None:
    draft = make_draft(lesson="", causes=(), sources=[])
    desk = desk_of(reviewer)
    response = desk.post(move_url(draft, "publish"))
    assert response.status_code == 400
    assert errors_of(response) == ["게시하려면 더 채워야 합니다: 원인 분류, 출처, 교훈. 채운 뒤 다시 게시하십시오."]
    assert state_of(draft) == (Status.DRAFT, 0)


@pytest.mark.parametrize("name", ["publish", "return", "withdraw", "nonsense"])
def test_an_editor_can_not_make_a_reviewers_move_by_its_address(editor: User, name: str) -> None:
    incident = make_incident() if name == "withdraw" else make_draft()
    before = state_of(incident)
    response = desk_of(editor).post(move_url(incident, name), {"reason": "왜냐하면"}, follow=True)
    assert "지금은 할 수 없는 일입니다" in response.content.decode()
    assert state_of(incident) == before


def test_an_editor_sees_a_public_record_but_its_form_saves_nothing(editor: User) -> None:
    incident = make_incident()
    desk = desk_of(editor)
    assert desk.get(change_url(incident)).status_code == 200
    values = open_form(desk_of(User.objects.create_superuser("root", password=PASSWORD)), incident)
    assert desk.post(change_url(incident), {**values, "lesson": "몰래 고친 교훈이다."}).status_code == 403
    assert Incident.objects.get(pk=incident.pk).lesson != "몰래 고친 교훈이다."


def test_a_reader_without_staff_rights_has_no_desk(client: Client) -> None:
    client.force_login(User.objects.create_user("reader", password=PASSWORD))
    draft = make_draft()
    for address in (change_url(draft), move_url(draft, "publish"), "/admin/incidents/incident/"):
        assert client.get(address).status_code == 302, address


ILLEGAL = [
    (before, after)
    for before in Status
    for after in Status
    if before != after and not any(one.source == before and one.target == after and not one.is_import for one in MOVES)
]


@pytest.mark.parametrize(("before", "after"), ILLEGAL)
def test_an_illegal_move_is_refused_with_a_reason(before: Status, after: Status) -> None:
    survivor = make_incident()
    incident = make_incident(status=before, merged_into=survivor if before == Status.MERGED else None)
    root = User.objects.create_superuser("root", password=PASSWORD)
    with pytest.raises(Conflict, match="이 상태로는 바꿀 수 없습니다"):
        move(incident, after, author=root, reason="시험", merged_into=survivor)
    assert state_of(incident)[0] == before


@pytest.mark.parametrize(
    ("before", "after"), [("draft", "in_review"), ("published", "withdrawn"), ("published", "draft")]
)
def test_a_model_refuses_a_state_that_is_set_past_the_moves(before: str, after: str) -> None:
    incident = make_incident(status=before)
    incident.status, incident.status_reason = after, "몰래"
    with pytest.raises(ValidationError, match="바꿀 수"):
        incident.save()


@pytest.mark.parametrize(
    "one", [one for one in MOVES if one.needs_reason and not one.is_import], ids=lambda one: one.name
)
def test_a_move_that_needs_a_reason_is_refused_without_one(one: Any) -> None:
    incident = make_incident(status=one.source, merged_into=make_incident() if one.source == "merged" else None)
    root = User.objects.create_superuser("root", password=PASSWORD)
    if one.name == "return":  # without a reason it is a taking back
        assert move(incident, one.target, author=root).move == "take_back"
        return
    with pytest.raises(UserError, match="까닭을 적으십시오"):
        move(incident, one.target, author=root, merged_into=make_incident())


def test_a_person_without_the_right_is_refused_below_the_admin(editor: User) -> None:
    draft = make_draft()
    with pytest.raises(PermissionRefused, match="권한이 없습니다: 바로 게시"):
        move(draft, Status.PUBLISHED, author=editor)


def test_a_merged_record_points_to_the_survivor_through_chains(reviewer: User) -> None:
    first, second, third = make_incident(), make_incident(), make_incident()
    desk = desk_of(reviewer)
    desk.post(move_url(first, "merge"), {"reason": "같은 사건", "merged_into": second.public_id})
    desk.post(move_url(second, "merge"), {"reason": "같은 사건", "merged_into": "il-3"})
    assert [Incident.objects.get(pk=one.pk).merged_into for one in (first, second)] == [third, third]
    desk.post(move_url(second, "unmerge"), {"reason": "다른 사건이었다"})
    assert Incident.objects.get(pk=first.pk).merged_into == second


@pytest.mark.parametrize("survivor", ["IL-9999", "", "IL-0001", "IL-0002"])
def test_a_record_is_merged_only_into_another_published_one(reviewer: User, survivor: str) -> None:
    incident = make_incident()
    make_draft()  # IL-0002
    response = desk_of(reviewer).post(move_url(incident, "merge"), {"reason": "같은 사건", "merged_into": survivor})
    assert response.status_code in (200, 400)
    assert len(errors_of(response)) == 1
    assert state_of(incident) == (Status.PUBLISHED, 1)


def test_reinstating_a_record_makes_no_new_version(reviewer: User) -> None:
    incident = make_incident()
    desk = desk_of(reviewer)
    desk.post(move_url(incident, "withdraw"), {"reason": "출처가 틀렸다"})
    assert state_of(incident) == (Status.WITHDRAWN, 1)
    desk.post(move_url(incident, "reinstate"), {"reason": "출처가 확인되었다"})
    assert state_of(incident) == (Status.PUBLISHED, 1)


def test_records_are_withdrawn_in_bulk_with_one_reason(reviewer: User) -> None:
    chosen = [make_incident() for _ in range(3)]
    kept, draft = make_incident(), make_draft()
    desk = desk_of(reviewer)
    ask = desk.post(
        "/admin/incidents/incident/",
        {"action": "withdraw_selected", "_selected_action": [one.pk for one in [*chosen, draft]]},
    )
    values = form_values(ask)
    desk.post("/admin/incidents/incident/", {**values, "reason": "출처가 사라졌다"})
    assert [state_of(one)[0] for one in [*chosen, kept, draft]] == ["withdrawn"] * 3 + ["published", "draft"]
    assert {Incident.objects.get(pk=one.pk).status_reason for one in chosen} == {"출처가 사라졌다"}
    listing = desk.get("/incidents/").context["listing"]
    assert listing.count == 1


def test_deleting_withdraws_what_was_public_and_deletes_drafts(reviewer: User) -> None:
    public, draft = make_incident(), make_draft()
    desk = desk_of(reviewer)
    chosen = {"action": "delete_selected", "_selected_action": [public.pk, draft.pk]}
    assert desk.post("/admin/incidents/incident/", chosen).status_code == 200
    assert Incident.objects.count() == 2
    desk.post("/admin/incidents/incident/", {**chosen, "post": "yes"})
    assert [(one.pk, one.status) for one in Incident.objects.all()] == [(public.pk, Status.WITHDRAWN)]
    assert Incident.objects.get().status_reason == "목록에서 지움"


def test_the_delete_page_of_a_public_record_withdraws_it(reviewer: User) -> None:
    public = make_incident()
    desk = desk_of(reviewer)
    url = f"/admin/incidents/incident/{public.pk}/delete/"
    assert "지워지지 않고 철회됩니다" in desk.get(url).content.decode()
    desk.post(url, {"post": "yes"})
    assert state_of(public) == (Status.WITHDRAWN, 1)


def new_draft(desk: Client, title: str) -> Incident:
    """Begin a draft as an editor does, and return it."""
    values = form_values(desk.get("/admin/incidents/incident/add/"), "incident_form")
    assert desk.post("/admin/incidents/incident/add/", {**values, "title": title, "_save": "저장"}).status_code == 302
    return Incident.objects.latest("number")


def delete_links(desk: Client, incident: Incident) -> list[str]:
    document = html.fromstring(desk.get(change_url(incident)).content.decode())
    return [str(link.get("href")) for link in document.xpath("//a[contains(@class, 'deletelink')]")]


def test_an_editor_deletes_their_own_draft_and_is_told(editor: User) -> None:
    desk = desk_of(editor)
    draft = new_draft(desk, "쓰다가 그만둔 초안")
    url = f"/admin/incidents/incident/{draft.pk}/delete/"
    assert set(delete_links(desk, draft)) == {url}
    assert f"{draft.public_id} 쓰다가 그만둔 초안" in desk.get(url).content.decode()
    told = desk.post(url, {"post": "yes"}, follow=True).content.decode()
    assert "초안을 지웠습니다. 그 번호는 다시 쓰이지 않고" in told
    assert Incident.objects.count() == 0
    assert new_draft(desk, "다음 초안").number == draft.number + 1
    entry = LogEntry.objects.get(action_flag=DELETION)
    assert (entry.user, entry.object_repr) == (editor, f"{draft.public_id} 쓰다가 그만둔 초안")


def test_an_editor_deletes_no_draft_that_is_or_was_more_than_theirs(editor: User, reviewer: User) -> None:
    desk, other = desk_of(editor), desk_of(reviewer)
    foreign = new_draft(other, "남의 초안")
    shared = new_draft(desk, "남이 손댄 초안")
    values = form_values(other.get(change_url(shared)), "incident_form")
    assert other.post(change_url(shared), {**values, "title": "남이 고친 초안"}).status_code == 302
    handed_in = make_draft()
    LogEntry.objects.log_actions(editor.pk, [handed_in], ADDITION, single_object=True)
    move(handed_in, Status.IN_REVIEW, author=editor)
    submitted = Incident.objects.get(pk=handed_in.pk)
    returned = make_draft()
    LogEntry.objects.log_actions(editor.pk, [returned], ADDITION, single_object=True)
    move(returned, Status.IN_REVIEW, author=editor)
    move(returned, Status.DRAFT, author=reviewer, reason="출처가 없다")
    from_a_file = make_draft()
    for incident in (foreign, shared, submitted, returned, from_a_file, make_incident()):
        assert delete_links(desk, incident) == []
        assert desk.post(f"/admin/incidents/incident/{incident.pk}/delete/", {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [foreign.pk], "post": "yes"}
    desk.post("/admin/incidents/incident/", chosen)
    assert Incident.objects.count() == 6


def test_a_record_that_was_public_is_never_deleted_below_the_admin() -> None:
    make_incident()
    with pytest.raises(ProtectedError), transaction.atomic():
        Incident.objects.all().delete()
    assert Incident.objects.count() == 1
