"""What editors say of words takes effect with the next search, and says clearly why it can't be taken."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from lxml import html

from incidents.models import LibraryState, SearchTerm, TermRelation
from incidents.models.search_term import MAX_GROUPS, MAX_TERMS
from incidents.roles import EDITOR, REVIEWER
from tests.admin.forms import errors_of, form_values
from tests.factories import make_incident

pytestmark = pytest.mark.django_db

LIST = "/admin/incidents/searchterm/"
ADD = f"{LIST}add/"


@pytest.fixture
def desk(client: Client, superuser: User) -> Client:
    client.force_login(superuser)
    return client


def save(desk: Client, *terms: str, at: str = ADD, **values: Any) -> Any:
    """Send the form with these words, one a line."""
    return desk.post(at, {**form_values(desk.get(at)), "terms": "\n".join(terms), **values})


def found(q: str) -> list[str]:
    """Return the IDs that a reader's search shows as full matches."""
    return [
        row["id"] for row in Client().get("/api/v1/incidents/", {"q": q}).json()["results"] if row["match"] == "all"
    ]


def test_a_saved_synonym_finds_at_once_and_no_more_once_it_is_switched_off(desk: Client) -> None:
    incident = make_incident(symptom="전광판이 꺼졌다.")
    known = make_incident(symptom="사이니지가 깜박였다.")
    reader = Client()
    address = "/incidents/?q=사이니지"
    before = reader.get(address)
    assert found("사이니지") == [known.public_id]
    assert save(desk, "사이니지", "전광판").status_code == 302
    after = reader.get(address)
    assert found("사이니지") == [known.public_id, incident.public_id]
    assert found("전광판") == [incident.public_id, known.public_id]
    assert after["ETag"] != before["ETag"]
    assert reader.get(address, headers={"If-None-Match": before["ETag"]}).status_code == 200
    assert reader.get(address, headers={"If-None-Match": after["ETag"]}).status_code == 304
    term = SearchTerm.objects.get()
    change = f"{LIST}{term.pk}/change/"
    values = form_values(desk.get(change))
    del values["is_active"]
    assert desk.post(change, values).status_code == 302
    assert found("사이니지") == [known.public_id]
    assert desk.post(f"{LIST}{term.pk}/delete/", {"post": "yes"}).status_code == 302
    assert found("사이니지") == [known.public_id]


def test_who_and_when_are_kept(desk: Client, superuser: User) -> None:
    save(desk, "사이니지", "전광판", note="현장에서 쓰는 말")
    term = SearchTerm.objects.get()
    assert (term.terms, term.relation, term.note, term.changed_by) == (
        ["사이니지", "전광판"],
        TermRelation.SAME,
        "현장에서 쓰는 말",
        superuser,
    )
    shown = html.fromstring(desk.get(LIST, {"q": "전광"}).content.decode())
    assert shown.xpath("//th[contains(@class, 'field-__str__')]//text()") == ["사이니지 = 전광판"]


@pytest.mark.parametrize(
    ("relation", "line"),
    [
        ("same", "사이니지 = 전광판 = 옥외 광고판"),
        ("alike", "사이니지 ~ 전광판 ~ 옥외 광고판"),
        ("near", "사이니지 > 전광판, 옥외 광고판"),
        ("apart", "사이니지 ≠ 전광판 ≠ 옥외 광고판"),
    ],
)
def test_a_group_is_written_as_in_the_file_that_ships(relation: str, line: str) -> None:
    assert str(SearchTerm(terms=["사이니지", "전광판", "옥외 광고판"], relation=relation)) == line


@pytest.mark.parametrize(
    ("terms", "values", "message"),
    [
        ([], {}, "말을 적으십시오. 한 줄에 하나씩 적습니다."),
        (["사이니지"], {}, "말이 하나뿐입니다. 이을 말을 한 줄에 하나씩 둘 이상 적으십시오."),
        (["사이니지", "사이니지 "], {}, "말이 하나뿐입니다. 이을 말을 한 줄에 하나씩 둘 이상 적으십시오."),
        (["Signage", "ｓｉｇｎａｇｅ"], {}, "같은 말이 두 번 있습니다: ｓｉｇｎａｇｅ"),
        (["사이니지", "!!"], {}, "찾을 수 있는 글자가 없습니다: !!"),
        (["사이니지", "가" * 61], {}, f"말이 너무 깁니다. 60자까지 적을 수 있습니다: {'가' * 30}…"),
        ([f"말{n}" for n in range(MAX_TERMS + 1)], {}, "한 묶음에는 말을 20개까지 적을 수 있습니다. 지금은 21개입니다."),
        (["젠드라 서버"], {"relation": "word"}, "한 낱말은 한글 두 자 이상을 띄지 않고 적습니다: 젠드라 서버"),
        (["zendra"], {"relation": "word"}, "한 낱말은 한글 두 자 이상을 띄지 않고 적습니다: zendra"),
        (["K8S", "쿠버네티스"], {}, "프로그램에 이미 실려 있는 묶음입니다: 쿠버네티스 = kubernetes = k8s = 쿠베네티스"),
        (["현수막", "배너"], {}, "이미 있는 묶음입니다: 배너 = 현수막 = banner"),
        (["사이니지", "전광판"], {"relation": "synonym"}, "올바르게 선택해 주세요. synonym 이/가 선택가능항목에 없습니다."),
    ],
)  # fmt: skip
def test_what_says_nothing_new_is_refused(desk: Client, terms: list[str], values: dict[str, str], message: str) -> None:
    SearchTerm.objects.create(terms=["배너", "현수막", "banner"])
    revision = LibraryState.objects.current_revision()
    answer = save(desk, *terms, **values)
    assert answer.status_code == 200
    assert errors_of(answer) == [message]
    assert SearchTerm.objects.count() == 1
    assert LibraryState.objects.current_revision() == revision


def test_there_is_a_limit_of_groups(desk: Client) -> None:
    SearchTerm.objects.bulk_create(SearchTerm(terms=[f"가{n}", f"나{n}"]) for n in range(MAX_GROUPS))
    answer = save(desk, "사이니지", "전광판")
    assert errors_of(answer) == ["쓰는 묶음이 2,000개에 이르렀습니다. 쓰지 않는 것을 먼저 끄십시오."]


def test_a_group_that_ships_can_be_taken_apart_without_a_release(desk: Client) -> None:
    incident = make_incident(symptom="레지스트리가 느렸다.", trigger="없음")
    assert found("registry") == [incident.public_id]
    save(desk, "레지스트리", "registry", relation="apart")
    assert found("registry") == []
    assert found("레지스트리") == [incident.public_id]


def test_what_ships_is_listed_and_leads_to_taking_it_apart(desk: Client) -> None:
    shown = html.fromstring(desk.get(f"{LIST}shipped/", {"q": "K8s"}).content.decode())
    rows = [[cell.text_content() for cell in row.xpath("td")] for row in shown.xpath("//tbody/tr")]
    assert rows == [["같은 말", "쿠버네티스 = kubernetes = k8s = 쿠베네티스", "떼어 놓기"]]
    values = form_values(desk.get(shown.xpath("//tbody//a/@href")[0]))
    assert (values["terms"].split(), values["relation"]) == (["쿠버네티스", "kubernetes", "k8s", "쿠베네티스"], "apart")


def test_a_word_that_the_analyser_cuts_is_found_with_any_particle_and_no_other_one_is(desk: Client) -> None:
    incidents = [
        make_incident(symptom=f"결제 창구 젠드라{particle} 멈췄다.")
        for particle in ("는", "를", "도", "에서는", "라서")
    ]
    make_incident(symptom="젠을 옮긴 드라이버가 멈췄다.")
    assert save(desk, "젠드라", relation="word").status_code == 302
    assert sorted(found("젠드라")) == [incident.public_id for incident in incidents]
    assert sorted(found("젠드라를")) == [incident.public_id for incident in incidents]
    assert found("결제 -젠드라") == []


def test_a_listed_word_is_not_corrected_into_another(desk: Client) -> None:
    make_incident(symptom="인증서가 만료됐다.")
    asked = {"q": "인증셔"}
    assert Client().get("/api/v1/incidents/", asked).json()["interpretation"]["kind"] == "corrected"
    save(desk, "인증셔", relation="word")
    assert Client().get("/api/v1/incidents/", asked).json()["interpretation"]["kind"] == "exact"


@pytest.mark.parametrize(
    ("role", "can_see", "can_change"), [(EDITOR, True, False), (REVIEWER, True, True), (None, False, False)]
)
def test_editors_see_the_words_and_reviewers_change_them(
    client: Client, role: str | None, can_see: bool, can_change: bool
) -> None:
    term = SearchTerm.objects.create(terms=["사이니지", "전광판"])
    person = User.objects.create_user("someone", password="x", is_staff=True)
    if role:
        person.groups.add(Group.objects.get(name=role))
    client.force_login(person)
    change = f"{LIST}{term.pk}/change/"
    assert client.get(change).status_code == (200 if can_see else 403)
    sent = {"terms": "사이니지\n광고판", "relation": "same", "note": "", "is_active": "on"}
    assert client.post(change, sent).status_code == (302 if can_change else 403)
    assert client.get(ADD).status_code == (200 if can_change else 403)
    term.refresh_from_db()
    assert term.terms == ["사이니지", "광고판" if can_change else "전광판"]
