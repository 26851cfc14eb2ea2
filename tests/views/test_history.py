"""What readers see of a record's life: its versions, what changed, and the log of all corrections."""

from __future__ import annotations

import pytest
from django.test import Client
from lxml import html

from incidents.history import resolve_pin
from incidents.lifecycle import commit_version, move
from incidents.models import Incident, Status
from incidents.pins import parse_pin
from tests.factories import make_draft, make_incident

pytestmark = pytest.mark.django_db


def correct(incident: Incident, reason: str, **fields: object) -> None:
    saved = Incident.objects.get(pk=incident.pk)
    for name, value in fields.items():
        setattr(saved, name, value)
    saved.save()
    commit_version(saved, author=None, reason=reason)


def page(client: Client, address: str) -> html.HtmlElement:
    response = client.get(address)
    assert response.status_code == 200, address
    document: html.HtmlElement = html.fromstring(response.content.decode())
    return document


def texts(document: html.HtmlElement, path: str) -> list[str]:
    return [" ".join(part.text_content().split()) for part in document.xpath(path)]


def test_history_shows_each_version_with_its_reason_and_changed_words(client: Client) -> None:
    incident = make_incident(lesson="로그와 데이터는 볼륨을 나눈다.")
    correct(incident, "볼륨을 디스크로 바로잡음", lesson="로그와 데이터는 디스크를 나눈다.")
    document = page(client, "/incidents/IL-0001/history/")
    assert texts(document, "//section//h2") == ["판 2", "판 1 게시"]
    assert texts(document, "//*[@class='history__reason']") == ["볼륨을 디스크로 바로잡음"]
    assert texts(document, "//del") == ["[지움] 볼륨을"]
    assert texts(document, "//ins") == ["[더함] 디스크를"]
    assert document.xpath("//section//h2/a/@href") == ["/incidents/IL-0001/v/2/", "/incidents/IL-0001/v/1/"]


def test_a_version_keeps_its_address_and_says_what_changed_since(client: Client) -> None:
    incident = make_incident(lesson="처음 교훈이다.")
    correct(incident, "교훈 고침", lesson="나중 교훈이다.")
    document = page(client, "/incidents/IL-0001/v/1/")
    assert "처음 교훈이다." in document.text_content()
    assert "지난 판을 보고 있습니다: 판 1" in document.text_content()
    assert "바뀐 항목: 교훈" in document.text_content()
    assert document.xpath("//link[@rel='canonical']/@href")[0].endswith("/incidents/IL-0001/")
    compare = document.xpath("//a[contains(@href, 'from=1')]/@href")[0]
    assert texts(page(client, compare), "//section[1]//dt") == ["교훈"]
    assert "지난 판을 보고 있습니다" not in page(client, "/incidents/IL-0001/v/2/").text_content()


@pytest.mark.parametrize(
    "address",
    [
        "/incidents/IL-0001/v/9/",
        "/incidents/IL-0001/v/0/",
        "/incidents/IL-0001/v/x/",
        "/incidents/IL-0001/v/99999999999999999999/",
        "/incidents/IL-0001/history/?from=9",
        "/incidents/IL-9999/history/",
        "/incidents/IL-0002/history/",
        "/incidents/IL-0002/v/1/",
        "/corrections/?page=2",
        "/corrections/?page=x",
    ],
)
def test_what_is_not_there_is_404(client: Client, address: str) -> None:
    make_incident()
    make_draft()  # IL-0002
    assert client.get(address).status_code == 404


def test_an_id_in_another_form_leads_to_the_history(client: Client) -> None:
    make_incident()
    assert client.get("/incidents/il-1/history/")["Location"] == "/incidents/IL-0001/history/"


def test_withdrawal_and_merge_are_in_history_and_log_but_drafts_are_not(client: Client) -> None:
    first, second = make_incident(title="첫째 기록"), make_incident(title="둘째 기록")
    make_draft(title="아무도 못 볼 초안")
    correct(second, "제목 고침", title="둘째 기록, 고침")
    move(first, Status.MERGED, author=None, reason="같은 사건이다", merged_into=second)
    assert texts(page(client, "/incidents/IL-0001/history/"), "//section//h2") == ["병합: IL-0002", "판 1 게시"]
    log = page(client, "/corrections/")
    assert texts(log, "//section//h2") == ["IL-0001", "IL-0002"]
    assert texts(log, "//*[@class='history__what']") == ["병합: IL-0002", "판 2 바뀐 항목: 제목"]
    assert "초안" not in log.text_content()
    move(second, Status.WITHDRAWN, author=None, reason="출처가 틀렸다")
    assert texts(page(client, "/corrections/"), "//*[@class='history__what']")[0] == "철회"


def test_pins_resolve_against_the_present_version() -> None:
    incident = make_incident(symptom="결제가 두 시간 멈췄다. 로그인도 막혔다.")
    correct(incident, "고침", symptom="결제가 세 시간 멈췄다.")
    saved = Incident.objects.get(pk=incident.pk)

    def status(text: str) -> str | None:
        pin = parse_pin(text)
        found = resolve_pin(saved, pin) if pin else None
        return found.status if found else None

    assert status("IL-0001@1#symptom-1") == "reworded"
    assert status("IL-0001@1#symptom-2") == "withdrawn"
    assert status("IL-0001@2#symptom-1") == "unchanged"
    assert status("IL-0001#symptom-1") == "unchanged"
    assert status("IL-0001@9#symptom-1") is None
