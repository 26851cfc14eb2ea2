"""The edge: headers, proxies, limits, error pages, logs and figures."""

from __future__ import annotations

import json
import logging
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client, RequestFactory
from pytest_django.fixtures import Settings

from incidents import metrics
from incidents.api.throttle import forget_clients
from incidents.edge import client_address
from incidents.indexing import sync_index
from incidents.log_format import JsonFormatter, RequestIdFilter
from incidents.models import Incident
from tests.conftest import PASSWORD
from tests.factories import make_incident


@pytest.fixture(autouse=True)
def rested_clients() -> Iterator[None]:
    forget_clients()
    yield
    forget_clients()


@pytest.fixture
def library(own_database: Path) -> Path:
    with transaction.atomic():
        make_incident()
        User.objects.create_superuser("admin", "admin@example.org", PASSWORD)
    sync_index()
    return own_database


def signed_in(**kwargs: object) -> Client:
    client = Client(**kwargs)  # type: ignore[arg-type]
    client.force_login(User.objects.get())
    return client


# Headers

PAGES = [
    "/",
    "/incidents/",
    "/incidents/?q=정산",
    "/incidents/IL-0001/",
    "/stats/",
    "/about/",
    "/api/v1/docs/",
    "/none/",
]


@pytest.mark.parametrize("address", [*PAGES, "/admin/login/"])
def test_every_page_carries_the_policies(library: Path, address: str) -> None:
    response = Client().get(address)
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "frame-ancestors 'none'" in policy
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "strict-origin-when-cross-origin"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in response["Permissions-Policy"]


INLINE = re.compile(
    r"<script(?![^>]*\bsrc=)(?![^>]*type=\"(?:application/(?:ld\+)?json)\")|\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|<style",
    re.I,
)


@pytest.mark.parametrize(
    "address",
    [
        *PAGES,
        "/admin/",
        "/admin/desk/",
        "/admin/two-factor/",
        "/admin/incidents/incident/",
        "/admin/incidents/incident/add/",
        "/admin/incidents/incident/1/change/",
        "/admin/incidents/check/add/",
        "/admin/auth/user/",
        "/admin/password_change/",
    ],
)
def test_no_page_needs_what_the_policy_forbids(library: Path, address: str) -> None:
    response = signed_in().get(address)
    assert response.status_code in {200, 404}
    assert INLINE.findall(response.content.decode()) == []


def test_tls_brings_its_headers(library: Path, settings: Settings) -> None:
    settings.SECURE_HSTS_SECONDS = 31536000
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    assert Client().get("/incidents/").status_code == 301
    assert Client().get("/healthz").status_code == 200
    assert "max-age=31536000" in Client().get("/incidents/", secure=True)["Strict-Transport-Security"]


def test_forged_proxy_headers_are_not_believed(library: Path, settings: Settings) -> None:
    forged = {
        "HTTP_X_FORWARDED_FOR": "203.0.113.9",
        "HTTP_X_FORWARDED_HOST": "evil.example",
        "HTTP_X_FORWARDED_PROTO": "https",
        "HTTP_X_REQUEST_ID": "forged-request-id",
    }
    response = Client().get("/incidents/", **forged)  # type: ignore[arg-type]
    assert "evil.example" not in response.content.decode()
    assert response["X-Request-ID"] != "forged-request-id"
    settings.IS_BEHIND_PROXY = True
    assert Client().get("/incidents/", **forged)["X-Request-ID"] == "forged-request-id"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("1.1.1.1, 198.51.100.7", "198.51.100.7"),  # the first ones are what the client claims
        ("2001:db8::1", "2001:db8::1"),
        ("unknown", "192.0.2.1"),
        ("", "192.0.2.1"),
        ("<script>", "192.0.2.1"),
    ],
)
def test_client_address_is_what_the_proxy_saw(forwarded: str, expected: str) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == expected


@pytest.mark.parametrize(
    "way", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "https:evil.example"]
)
def test_no_form_leads_elsewhere(library: Path, way: str) -> None:
    assert Client().post("/theme/", {"theme": "dark", "next": way})["Location"] == "/"
    assert Client().post("/language/", {"language": "en"}, HTTP_REFERER=way)["Location"] == "/"
    response = Client().post(f"/admin/login/?next={way}", {"username": "admin", "password": PASSWORD, "next": way})
    assert response["Location"] == "/admin/"


# Error pages


def test_unknown_host_is_refused_without_a_page(library: Path) -> None:
    response = Client().get("/incidents/", HTTP_HOST="evil.example")
    assert response.status_code == 400
    assert "evil" not in response.content.decode()


@pytest.mark.parametrize(
    ("address", "method", "status"),
    [("/none/", "get", 404), ("/theme/", "get", 405), ("/incidents/", "post", 405), ("/stats/", "delete", 405)],
)
def test_each_error_is_a_page_with_ways_on(library: Path, address: str, method: str, status: int) -> None:
    response = getattr(Client(), method)(address)
    assert response.status_code == status
    page = response.content.decode()
    assert str(status) in page
    assert 'href="/incidents/"' in page
    assert (status == 405) == bool(response.headers.get("Allow"))


def test_too_large_a_body_is_a_page(library: Path) -> None:
    response = Client().post("/theme/", {"theme": "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)})
    assert response.status_code == 413
    assert "8 MB" in response.content.decode()


def test_too_many_fields_are_a_page(library: Path) -> None:
    response = Client().post("/theme/", {f"f{number}": "x" for number in range(3_000)})
    assert response.status_code == 400
    assert "칸이 너무 많습니다" in response.content.decode()


def test_missing_csrf_token_is_a_page(library: Path) -> None:
    response = Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "a", "password": "b"})
    assert response.status_code == 403
    assert "새로 고친 뒤" in response.content.decode()


def test_locked_database_is_told_and_nothing_is_lost(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in()
    before = Incident.objects.get().title
    connection.close()
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.1)
    other = sqlite3.connect(library, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        response = client.post("/admin/incidents/incident/1/change/", {"title": "바뀌지 않을 제목"})
        assert response.status_code == 503
        assert "바뀐 것은 없습니다" in response.content.decode()
        assert response["Retry-After"] == "10"
        assert Client().get("/incidents/").status_code == 200  # readers don't notice
    finally:
        other.execute("ROLLBACK")
        other.close()
        connection.close()
    assert Incident.objects.get().title == before


def test_damaged_database_is_told(library: Path) -> None:
    connection.close()
    for suffix in ("-wal", "-shm"):
        library.with_name(library.name + suffix).unlink(missing_ok=True)
    library.write_bytes(b"nothing of a database" * 1000)
    client = Client(raise_request_exception=False)
    assert client.get("/readyz").json() == {"status": "unready", "problems": ["database"]}
    assert client.get("/incidents/").status_code in {500, 503}


# Limits


def test_forms_are_taken_at_a_measured_pace(library: Path, settings: Settings) -> None:
    settings.FORM_RATE = 5
    answers = [Client().post("/theme/", {"theme": "dark"}) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [302] * 5 + [429]
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60
    assert "자주 보냈습니다" in answers[-1].content.decode()
    assert Client().post("/theme/", {"theme": "dark"}, REMOTE_ADDR="198.51.100.1").status_code == 302
    assert Client().get("/incidents/").status_code == 200
    assert signed_in().post("/theme/", {"theme": "dark"}).status_code == 302  # editors at work are not counted


def test_many_accounts_from_one_address_are_slowed(library: Path, settings: Settings) -> None:
    settings.FORM_RATE = 5
    data = {"password": "wrong", "next": "/admin/"}
    answers = [Client().post("/admin/login/", {**data, "username": f"user{n}"}).status_code for n in range(6)]
    assert answers == [200] * 5 + [429]


def test_wrong_passwords_lock_an_account_for_that_address(library: Path, settings: Settings) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    answers = [Client().post("/admin/login/", {"username": "admin", "password": f"wrong{n}"}) for n in range(4)]
    assert answers[-1].status_code == 429
    assert "15분 뒤에" in answers[-1].content.decode()
    right = {"username": "admin", "password": PASSWORD}
    assert Client().post("/admin/login/", right).status_code == 429
    assert Client().post("/admin/login/", right, REMOTE_ADDR="198.51.100.1").status_code == 302


# Health, figures, logs


def test_health_and_readiness(library: Path) -> None:
    assert Client().get("/healthz").json() == {"status": "ok"}
    assert Client().get("/readyz").json() == {"status": "ok", "problems": []}
    assert Client().get("/readyz")["Cache-Control"] == "no-store"


def test_figures_need_their_secret(
    library: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Client().get("/metrics").status_code == 404
    monkeypatch.setenv(metrics.FOLDER, str(tmp_path / "metrics"))
    settings.METRICS_TOKEN = "a-secret-of-the-scraper"
    metrics.get_metrics.cache_clear()
    try:
        assert Client().get("/incidents/IL-0001/").status_code == 200
        assert Client().get("/metrics").status_code == 404
        assert Client().get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 404
        response = Client().get("/metrics", headers={"Authorization": "Bearer a-secret-of-the-scraper"})
    finally:
        metrics.get_metrics.cache_clear()
    text = response.content.decode()
    assert "\nlibrary_published_records 1\n" in text
    assert 'library_requests_total{method="GET",status="200",view="incidents:incident_detail"}' in text
    assert response["Cache-Control"] == "no-store"


def test_log_lines_hold_the_request_but_not_what_was_typed(
    library: Path, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.LOG_REQUESTS = True
    with caplog.at_level(logging.INFO):
        response = Client().get(
            "/incidents/?q=비밀스러운말", headers={"Authorization": "Bearer hidden", "Cookie": "a=b"}
        )
        Client().post("/admin/login/", {"username": "admin", "password": "hidden-password"})
    lines = [record for record in caplog.records if record.name == "incidents.requests"]
    assert [(line.status, line.path) for line in lines] == [(200, "/incidents/"), (200, "/admin/login/")]  # type: ignore[attr-defined]
    for record in caplog.records:
        RequestIdFilter().filter(record)
        entry = json.loads(JsonFormatter().format(record))
        assert "비밀" not in json.dumps(entry, ensure_ascii=False)
        assert "hidden" not in json.dumps(entry)
    assert re.fullmatch("[0-9a-f]{16}", response["X-Request-ID"])


def test_log_line_can_not_be_forged(library: Path, settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.LOG_REQUESTS = True
    with caplog.at_level(logging.INFO):
        Client().get("/none%0A2030-01-01 ERROR forged/")
    (line,) = [record for record in caplog.records if record.name == "incidents.requests"]
    assert "\n" not in line.getMessage()


def test_bug_is_logged_with_its_request_and_told_without_its_cause(
    library: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("the cause of it")

    monkeypatch.setattr("incidents.views.site.get_catalogue", broken)
    response = Client(raise_request_exception=False).get("/about/")
    assert response.status_code == 500
    assert "the cause of it" not in response.content.decode()
    assert "우리 쪽 잘못" in response.content.decode()
    assert any("the cause of it" in str(record.exc_info) for record in caplog.records)
