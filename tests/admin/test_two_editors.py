"""Two people at one record: the second is told, both texts can be seen, and none is lost."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from lxml import html

from incidents.lifecycle import commit_version
from incidents.models import Cause, Incident, IncidentCause
from tests.admin.forms import form_values, open_form, save_form
from tests.conftest import PASSWORD
from tests.factories import make_incident, make_term

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna(superuser: User) -> Client:
    client = Client()
    client.force_login(superuser)
    return client


@pytest.fixture
def bora(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("bora", "bora@example.org", PASSWORD))
    return client


def merge_texts(response: object) -> list[str]:
    document = html.fromstring(response.content.decode())  # type: ignore[attr-defined]
    return [part.text_content() for part in document.xpath("//*[@class='merge__text']")]


def saved(incident: Incident) -> Incident:
    return Incident.objects.get(pk=incident.pk)


def test_changes_of_different_fields_both_stay(anna: Client, bora: Client) -> None:
    incident = make_incident()
    first, second = open_form(anna, incident), open_form(bora, incident)
    assert save_form(anna, incident, first, lesson="안나가 고친 교훈이다.").status_code == 302
    response = save_form(bora, incident, second, title="보라가 고친 제목")
    assert response.status_code == 409
    assert "다른 사람이 먼저 저장했습니다" in response.content.decode()
    assert merge_texts(response) == ["안나가 고친 교훈이다."]
    assert saved(incident).title != "보라가 고친 제목"

    again = form_values(response, "incident_form")
    assert (again["title"], again["lesson"]) == ("보라가 고친 제목", "안나가 고친 교훈이다.")
    assert save_form(bora, incident, again).status_code == 302
    assert (saved(incident).title, saved(incident).lesson) == ("보라가 고친 제목", "안나가 고친 교훈이다.")
    assert saved(incident).version == 3


def test_changes_of_one_field_are_shown_side_by_side(anna: Client, bora: Client) -> None:
    incident = make_incident()
    first, second = open_form(anna, incident), open_form(bora, incident)
    save_form(anna, incident, first, lesson="안나의 교훈이다.")
    response = save_form(bora, incident, second, lesson="보라의 교훈이다.")
    assert merge_texts(response) == ["안나의 교훈이다.", "보라의 교훈이다."]
    again = form_values(response, "incident_form")
    assert again["lesson"] == "보라의 교훈이다."
    assert save_form(bora, incident, again, lesson="안나와 보라의 교훈이다.").status_code == 302
    assert saved(incident).lesson == "안나와 보라의 교훈이다."
    assert [version.text.splitlines()[-1] for version in incident.versions.all()][1:] == [
        "안나의 교훈이다.",
        "안나와 보라의 교훈이다.",
    ]


def test_the_same_change_twice_is_no_conflict(anna: Client, bora: Client) -> None:
    incident = make_incident()
    first, second = open_form(anna, incident), open_form(bora, incident)
    save_form(anna, incident, first, lesson="같은 교훈이다.")
    assert save_form(bora, incident, second, lesson="같은 교훈이다.").status_code == 302
    assert saved(incident).version == 2


def test_a_row_that_another_deleted_and_one_that_another_added_come_together(anna: Client, bora: Client) -> None:
    incident = make_incident(causes=("dns-error", "bad-deploy"))
    capacity, power = make_term(Cause, "capacity-exhaustion"), make_term(Cause, "power-cooling")
    first, second = open_form(anna, incident), open_form(bora, incident)
    save_form(anna, incident, first, **{"cause_tags-0-DELETE": "on", "cause_tags-2-term": str(capacity.pk)})
    response = save_form(bora, incident, second, **{"cause_tags-1-term": str(power.pk)})
    assert response.status_code == 409
    assert merge_texts(response) == ["bad-deploy\ncapacity-exhaustion", "dns-error\npower-cooling"]
    again = form_values(response, "incident_form")
    terms = [again[f"cause_tags-{index}-term"] for index in range(int(again["cause_tags-TOTAL_FORMS"]))]
    dns = Cause.objects.get(slug="dns-error")
    assert sorted(filter(None, terms)) == sorted(str(term.pk) for term in (dns, capacity, power))
    assert save_form(bora, incident, again).status_code == 302
    slugs = {tag.term.slug for tag in IncidentCause.objects.filter(incident=incident)}
    assert slugs == {"dns-error", "capacity-exhaustion", "power-cooling"}


def test_lists_that_only_another_changed_are_taken_over(anna: Client, bora: Client) -> None:
    incident = make_incident(causes=("dns-error",))
    power = make_term(Cause, "power-cooling")
    first, second = open_form(anna, incident), open_form(bora, incident)
    save_form(anna, incident, first, **{"cause_tags-0-DELETE": "on", "cause_tags-1-term": str(power.pk)})
    response = save_form(bora, incident, second, title="보라가 고친 제목")
    again = form_values(response, "incident_form")
    assert again["cause_tags-0-term"] == str(power.pk)
    save_form(bora, incident, again)
    assert [tag.term.slug for tag in saved(incident).cause_tags.all()] == ["power-cooling"]


def test_a_change_past_the_admin_is_noticed_too(bora: Client) -> None:
    incident = make_incident()
    second = open_form(bora, incident)
    other = saved(incident)
    other.lesson = "파일에서 들어온 교훈이다."
    other.save()
    commit_version(other, author=None, reason="가져옴")
    response = save_form(bora, incident, second, title="보라가 고친 제목")
    assert (response.status_code, merge_texts(response)) == (409, ["파일에서 들어온 교훈이다."])


def test_faults_of_the_form_come_first_and_the_conflict_after(anna: Client, bora: Client) -> None:
    incident = make_incident()
    first, second = open_form(anna, incident), open_form(bora, incident)
    save_form(anna, incident, first, lesson="안나의 교훈이다.")
    response = save_form(bora, incident, second, started_at="어제")
    assert response.status_code == 200
    again = {**form_values(response, "incident_form"), "started_at": "2024-03-02"}
    assert merge_texts(save_form(bora, incident, again)) == ["안나의 교훈이다."]
