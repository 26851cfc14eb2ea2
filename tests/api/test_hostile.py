"""What people and machines type: no 5xx anywhere, and page and API find the same."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from tests.factories import make_incident

pytestmark = pytest.mark.django_db

QUERIES = [
    "-", "-가", '"', '""', "(", ")", "((((", "(title:", ":", "http:", "AND", "OR", "NOT", "AND AND", "^2", "~", "[a TO",
    "{", "\\", "%", "+", "'", '17" 모니', "🔥", "*", "가*", "' OR 1=1 --", "{{7*7}}", '"연결 풀 고갈"', "TCP/IP", '"고갈',
    "it is not on", "NOT IN", "the", "IL-9999", "정산",
]  # fmt: skip
BLANKS = [" ", "\u200b", "\u3164", "\u3000"]
BROKEN = ["%00", "가%00나", "%ED%A0%80", "%C0%AF", "%ff"]


@pytest.fixture(autouse=True)
def two_records():
    return make_incident(symptom="연결 풀 고갈로 주문이 멈췄다. IT 팀이 `NO` 라고 답했다."), make_incident()


def page_ids(response):
    return re.findall(r'href="/incidents/(IL-\d+)/', response.content.decode().split('id="results"', 1)[1])


@pytest.mark.parametrize("query", QUERIES)
def test_page_and_api_answer_alike(client, query):
    page = client.get("/incidents/", {"q": query})
    api = client.get("/api/v1/incidents/", {"q": query})
    assert (page.status_code, api.status_code) == (200, 200)
    listed = [record["id"] for record in api.json()["results"]]
    assert list(dict.fromkeys(page_ids(page)))[: len(listed)] == listed
    count = api.json()["count"]
    assert (
        f"{count}건" if count else "0건"
    ) in page.content.decode() or "모두 맞는 기록이 없습니다" in page.content.decode()
    for path in ("/api/v1/suggest/", "/feed/", "/incidents.md", "/incidents.json", "/api/v1/export/library.ndjson"):
        assert client.get(path, {"q": query}).status_code == 200


@pytest.mark.parametrize("query", BLANKS)
def test_nothing_but_blanks_is_no_query(client, query):
    assert client.get("/api/v1/incidents/", {"q": query}).json()["count"] == 2
    page = client.get("/incidents/", {"q": query}).content.decode()
    assert "2건 중 1~2번째" in page
    assert re.search(r'<input[^>]*id="q"[^>]*value=""', page)


@pytest.mark.parametrize("raw", BROKEN)
@pytest.mark.parametrize(
    "path",
    ["/incidents/?q={}", "/incidents/?component={}", "/api/v1/incidents/?q={}", "/api/v1/incidents/?component={}",
     "/api/v1/suggest/?q={}", "/feed/?q={}", "/incidents.md?q={}", "/opensearch/suggest/?q={}", "/api/v1/incidents/?page={}",
     "/api/v1/export/library.csv?q={}", "/api/v1/incidents/IL-0001{}/", "/incidents/IL-0001{}/", "/api/v1/causes/{}/",
     "/checks/{}/", "/feed/?id={}", "/api/v1/incidents/?fields={}", "/api/v1/incidents/?{}=1"],
)  # fmt: skip
def test_broken_bytes_are_never_a_fault(client, path, raw):
    assert client.get(path.format(raw)).status_code in {200, 400, 404}
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("form", ["IL-{0:04d}", "il-{0:04d}", "IL\u2011{0:04d}", "ＩＬ－{0:04d}", " IL-{0:04d} "])
def test_an_id_finds_its_record_first(client, two_records, form):
    number = two_records[0].number
    results = client.get("/api/v1/incidents/", {"q": form.format(number)}).json()["results"]
    assert results[0]["id"] == two_records[0].public_id


def test_every_address_of_a_record_answers_however_bare_it_is(client):
    bare = make_incident(symptom="멈춤", cause="고장", actions=["고침"], lesson="봄", factors=[])
    paths = ["{}/", "{}.md", "{}.json"]
    for path in [f"/incidents/{path.format(bare.public_id)}" for path in paths] + [
        f"/api/v1/incidents/{bare.public_id}/", f"/api/v1/incidents/{bare.public_id}/related/", "/feed/", "/stats/",
        "/api/v1/stats/", "/api/v1/export/library.csv", f"/organizations/{quote('누리상회')}/", "/years/2024/",
    ]:  # fmt: skip
        assert (client.get(path).status_code, path) == (200, path)
