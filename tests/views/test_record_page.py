"""The record's page in every state: full, bare, odd, withdrawn, merged; and its text as it was written."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from lxml import html as lxml_html

from incidents.models import Incident, RelatedIncident, Status
from tests.factories import hours_in, make_incident

pytestmark = pytest.mark.django_db


def page(client: Client, incident: Incident) -> Any:
    response = client.get(incident.get_absolute_url())
    assert response.status_code == 200
    return lxml_html.fromstring(response.content)


def words(element: Any) -> str:
    return " ".join(element.text_content().split())


def headings(tree: Any) -> list[str]:
    return [words(heading).rstrip(" #") for heading in tree.xpath("//h2[contains(@class, 'record__name')]")]


def facts(tree: Any) -> dict[str, str]:
    return {words(row.find("dt")): words(row.find("dd")) for row in tree.xpath("//dl[@class='facts']/div")}


def test_bare_record_has_no_empty_heading_and_says_what_is_not_known(client: Client) -> None:
    tree = page(client, make_incident(detection_method="unknown", symptom="멈췄다.", cause="결함.", lesson="시험하라."))
    assert headings(tree) == ["증상", "원인", "구성 요소", "조치", "교훈", "출처", "인용하기"]
    assert facts(tree) == {
        "조직": "누리상회",
        "일어난 때": "2024년",
        "지속 시간": "공개되지 않음",
        "감지 방법": "공개되지 않음",
        "감지까지": "공개되지 않음",
    }
    assert tree.xpath("//figure[@class='timeline']") == []


def test_contents_name_each_section_with_its_statements(client: Client) -> None:
    tree = page(
        client, make_incident(factors=["monitoring-gap"], detection="경보가 울렸다. 껐다.", follow_ups=["고쳤다."])
    )
    links = {words(link)[:-1].strip(): words(link)[-1] for link in tree.xpath("//a[@class='toc__link'][span[2]]")}
    assert links == {
        "증상": "1",
        "원인": "2",
        "구성 요소": "1",
        "기여 요인": "1",
        "감지": "2",
        "조치": "1",
        "후속 조치": "1",
        "교훈": "1",
        "출처": "1",
    }


@pytest.mark.parametrize(
    ("precision", "shown"), [("year", "2024년"), ("day", "2024년 3월 2일"), ("minute", "2024년 3월 2일 15:10 UTC")]
)
def test_start_is_as_precise_as_it_is_known(client: Client, precision: str, shown: str) -> None:
    tree = page(client, make_incident(started_at=hours_in(0), started_precision=precision))
    assert facts(tree)["일어난 때"] == shown


def test_times_known_to_the_minute_are_drawn(client: Client) -> None:
    tree = page(
        client,
        make_incident(
            started_at=hours_in(0),
            started_precision="minute",
            detected_at=hours_in(0.5),
            detected_precision="minute",
            resolved_at=hours_in(2),
            resolved_precision="minute",
        ),
    )
    assert facts(tree)["지속 시간"] == "2시간"
    assert facts(tree)["감지까지"] == "30분"
    steps = [words(step) for step in tree.xpath("//li[@class='timeline__step']")]
    assert steps == [
        "1 시작 2024-03-02 15:10 UTC 한국 03-03 00:10",
        "2 감지 +30분 2024-03-02 15:40 UTC 한국 03-03 00:40",
        "3 해소 +2시간 2024-03-02 17:10 UTC 한국 03-03 02:10",
    ]


def test_markdown_is_rendered_and_nothing_else(client: Client) -> None:
    incident = make_incident(
        symptom="두 가지가 멈췄다:\n- 로그인\n- 결제\n\n`/proc/<pid>` 와 <host>:<port>, 10~20분, 30~40분이 보였다.",
        cause="원인은 **재시도 폭주(retry storm)**였다.\n\n<script>alert(1)</script> [가](javascript:alert(1))",
        actions=["`etcd` 를 껐다.\n\n| 명령 | 뜻 |\n|---|---|\n| `ps aux | grep x` | 가 |"],
    )
    tree = page(client, incident)
    symptom = tree.get_element_by_id("symptom")
    assert [words(item) for item in symptom.xpath(".//div//ul/li")] == ["로그인", "결제"]
    assert "<host>:<port>" in words(symptom)
    assert "10~20분, 30~40분" in words(symptom)
    cause = tree.get_element_by_id("cause")
    assert [words(strong) for strong in cause.iter("strong")] == ["재시도 폭주(retry storm)"]
    assert tree.xpath("//main//script | //a[starts-with(@href, 'javascript')]") == []
    assert "<script>alert(1)</script>" in words(cause)
    rows = [[words(cell) for cell in row] for row in tree.get_element_by_id("actions-1").iter("tr")]
    assert rows == [["명령", "뜻"], ["ps aux | grep x", "가"]]


def test_every_statement_has_an_address_of_its_own(client: Client) -> None:
    tree = page(client, make_incident(symptom="하나다. 둘이다.\n- 셋\n\n넷이다.", actions=["가", "나"]))
    numbers = [
        link.get("href") for link in tree.xpath("//*[@id='symptom' or @id='actions']//a[contains(@class, '__no')]")
    ]
    assert numbers == ["#symptom-1", "#symptom-2", "#symptom-3", "#symptom-4", "#actions-1", "#actions-2"]
    assert all(tree.get_element_by_id(number[1:]) is not None for number in numbers)


def test_source_without_a_web_address_is_no_link(client: Client) -> None:
    incident = make_incident()
    incident.sources.update(url="javascript:alert(1)")
    source = page(client, incident).xpath("//p[@class='source']")[0]
    assert source.xpath(".//a") == []
    assert "야간 정산 지연 안내" in words(source)


def test_withdrawn_record_says_so_first_and_folds_its_text(client: Client) -> None:
    incident = make_incident(status=Status.WITHDRAWN, reason="출처가 보고서를 내렸다.")
    tree = page(client, incident)
    banner = tree.xpath("//div[contains(@class, 'banner--withdrawn')]")[0]
    assert words(banner).startswith("철회된 기록입니다 출처가 보고서를 내렸다.")
    assert tree.get_element_by_id("symptom").xpath("ancestor::details[not(@open)]")
    assert tree.xpath("//*[@id='cite']") == []
    assert "noindex" in client.get(incident.get_absolute_url())["X-Robots-Tag"]


def test_merged_record_leads_on(client: Client) -> None:
    survivor = make_incident(title="남은 기록의 제목은 이렇게 적혀 있고 서른 자를 넘는다")
    merged = make_incident(status=Status.MERGED, merged_into=survivor)
    tree = page(client, merged)
    banner = tree.xpath("//div[contains(@class, 'banner--merged')]")[0]
    assert f"병합된 기록입니다: {survivor.public_id}" in words(banner)
    assert banner.xpath(".//a/@href") == [survivor.get_absolute_url()]


def test_relation_names_its_kind_and_reason(client: Client) -> None:
    one, other = make_incident(), make_incident()
    RelatedIncident.objects.create(incident=one, other=other, relation="repeat-of", note="같은 UPS 문제")
    item = page(client, one).xpath("//*[@id='related']//li")[0]
    assert words(item).startswith(f"되풀이 {other.public_id}")
    assert "같은 UPS 문제" in words(item)


def test_similar_record_says_what_is_shared(client: Client) -> None:
    one = make_incident(components=["etcd"], factors=["retry-storm"])
    make_incident(components=["etcd"], factors=["retry-storm"], causes=["dns-error"], organization="다른 곳")
    reasons = [words(item) for item in page(client, one).xpath("//*[@id='similar']//li[@class='near__reason']")]
    assert "같은 구성 요소 etcd" in reasons
    assert "같은 기여 요인 재시도 폭주" in reasons


def test_one_odd_record_leaves_its_neighbours_alone(client: Client) -> None:
    make_incident()
    odd = make_incident(
        title="가" * 90,
        year=1961,
        detection_method="unknown",
        sources=[{"title": f"출처 {n}", "url": f"https://example.org/{n}"} for n in range(5)],
    )
    for path in (
        "/",
        "/incidents/",
        "/incidents/?view=full",
        "/stats/",
        "/years/1961/",
        odd.get_absolute_url(),
        "/feed/",
    ):
        assert client.get(path).status_code == 200, path
    assert len(page(client, odd).xpath("//p[@class='source']")) == 5
