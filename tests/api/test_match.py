"""Pasted errors: what is set aside, what is found, and that nothing is kept."""

from __future__ import annotations

import pytest

from incidents.log_words import MAX_BYTES, log_words
from tests.factories import make_incident


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "2024-03-02T15:10:00.123Z node-17.prod.example.com kubelet[4711]: OOMKilled",
            {"kubelet", "OOMKilled", "OOM", "Killed"},
        ),
        ("E0302 15:10:00.123456 4711 reflector.go:123] etcdserver: mvcc", {"etcdserver", "etcd", "mvcc"}),
        ("dial tcp 10.0.0.10:53 -> fe80::1:2:3: no route", {"dial", "route"}),
        ("req 123e4567-e89b-12d3-a456-426614174000 sha 0xdeadbeef 9f86d081884c7d65", {"req", "sha"}),
        ("pod web-7d9f8b6c5d-x2x9z used 2048Mi of 99%", {"pod", "web"}),
        ("https://host.example.com/a/b?c=d alice@example.com", set()),
        ("인증서가 만료되어 503 오류", {"인증서가", "만료되어", "오류"}),
        ("ERROR error INFO 12:30:45 the of", set()),
    ],
)
def test_what_differs_between_machines_and_minutes_is_set_aside(line, words):
    assert set(log_words(line)) == words


@pytest.fixture
def certificate(db):
    make_incident(title="디스크가 찼다", symptom="배치가 멈췄다.", organization="가")
    make_incident(title="배포가 틀렸다", symptom="화면이 비었다.", organization="나")
    return make_incident(
        title="인증서 만료로 로그인이 멈췄다",
        symptom="사용자가 로그인하지 못했다. 로그에는 `x509: certificate has expired` 가 쌓였다.",
        detection="고객의 전화로 알았다.",
        actions=["인증서를 새로 발급했다.", "경보를 걸었다."],
        organization="다",
    )


def test_a_log_line_finds_the_sentence_how_it_was_noticed_and_the_first_action(client, certificate):
    log = "2024-03-02T15:10:00Z api-3.example.com nginx[88]: x509: certificate has expired or is not yet valid"
    response = client.post("/api/v1/match/", {"text": log}, content_type="application/json")
    assert response.status_code == 200
    answer = response.json()
    assert [match["id"] for match in answer["results"]] == [certificate.public_id]
    (match,) = answer["results"]
    assert match["pin"] == f"{certificate.public_id}@1#symptom-2"
    assert match["statement"] == "로그에는 x509: certificate has expired 가 쌓였다."
    assert (match["detection"], match["first_action"]) == ("고객의 전화로 알았다.", "인증서를 새로 발급했다.")
    assert "certificate" in match["matched_terms"]
    assert response.headers["Cache-Control"] == "no-store"


def test_plain_text_is_taken_too(client, certificate):
    response = client.post("/api/v1/match/", "certificate expired", content_type="text/plain")
    assert [match["id"] for match in response.json()["results"]] == [certificate.public_id]


def test_what_no_record_knows_finds_nothing_and_says_so(client, certificate):
    answer = client.post("/api/v1/match/", {"text": "zzqx 1234"}, content_type="application/json").json()
    assert answer == {"terms": [], "count": 0, "results": []}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        ("{", "application/json", 400, "invalid_request"),
        ("{}", "application/json", 400, "bad_parameter"),
        ('{"text": ""}', "application/json", 400, "bad_parameter"),
        ('{"text": "a", "limit": 0}', "application/json", 400, "bad_parameter"),
        ('{"text": "a", "nope": 1}', "application/json", 400, "bad_parameter"),
        (b"\xff\xfe", "text/plain", 400, "invalid_request"),
        ("a" * (MAX_BYTES + 1), "text/plain", 413, "payload_too_large"),
        ("a" * (7 * MAX_BYTES), "text/plain", 413, "payload_too_large"),
    ],
)
def test_a_body_that_cannot_be_taken_is_told(client, body, content_type, status, code):
    response = client.post("/api/v1/match/", body, content_type=content_type)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_the_page_does_the_same_and_keeps_nothing(client, certificate):
    page = client.post("/match/", {"text": "x509: certificate has expired"})
    text = page.content.decode()
    assert page.status_code == 200
    assert f"{certificate.public_id}@1#symptom-2" in text
    assert "인증서를 새로 발급했다." in text
    assert page.headers["Cache-Control"] == "no-store"
    assert not page.cookies
    assert "x509" not in client.get("/match/").content.decode()


@pytest.mark.django_db
def test_the_page_says_when_nothing_was_pasted_or_too_much(client):
    assert "붙여 넣은 글이 없습니다" in client.post("/match/", {"text": "  "}).content.decode()
    assert client.post("/match/", {"text": "가" * MAX_BYTES}).status_code == 413
