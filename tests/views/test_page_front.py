"""Before Django: an answer that went out once goes out again, to the byte, until the library or the reader differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_started
from django.db import close_old_connections, connection
from django.test.utils import CaptureQueriesContext

from incidents.page_front import PageFront
from tests.factories import make_incident

pytestmark = pytest.mark.django_db


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


class Site:
    """The library as a WSGI server asks it; `requests` counts those that reached Django."""

    def __init__(self) -> None:
        self.requests = 0
        self._django = WSGIHandler()
        self._front = PageFront(self._through)

    def _through(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        self.requests += 1
        return self._django(environ, start_response)

    def ask(self, path: str, query: str = "", **extra: str) -> Answer:
        seen: list[Any] = []
        environ = {
            "REQUEST_METHOD": "GET",
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": "localhost",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(),
            "wsgi.errors": BytesIO(),
        } | extra
        body = b"".join(self._front(environ, lambda status, headers, *_: seen.append((status, headers))))
        status, headers = seen[-1]
        return Answer(int(status[:3]), dict(headers), body)


@pytest.fixture
def site(db: None) -> Iterator[Site]:
    make_incident(number=3, title="인증서가 만료됐다")
    request_started.disconnect(close_old_connections)  # the connection is the test's, with its transaction
    yield Site()
    request_started.connect(close_old_connections)


def without_id(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    return answer.status, {n: v for n, v in answer.headers.items() if n != "X-Request-ID"}, answer.body


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/incidents/", ""),
        ("/incidents/", "q=%EC%9D%B8%EC%A6%9D%EC%84%9C"),
        ("/incidents/IL-0003/", ""),
        ("/incidents/IL-0003.md", ""),
        ("/feed/", ""),
    ],
)
def test_the_second_answer_is_the_first(site: Site, path: str, query: str) -> None:
    first = site.ask(path, query)
    asked = site.requests
    with CaptureQueriesContext(connection) as captured:
        second = site.ask(path, query)
    assert site.requests == asked
    assert without_id(second) == without_id(first)
    assert first.status == 200
    assert second.headers["X-Request-ID"] != first.headers["X-Request-ID"]
    assert [q["sql"] for q in captured.captured_queries] == ["SELECT revision FROM incidents_librarystate WHERE id = 1"]


def test_who_has_it_is_told_so(site: Site) -> None:
    tag = site.ask("/incidents/").headers["ETag"]
    first = site.ask("/incidents/", HTTP_IF_NONE_MATCH=tag)
    asked = site.requests
    second = site.ask("/incidents/", HTTP_IF_NONE_MATCH=tag)
    assert (second.status, second.body, second.headers["ETag"]) == (304, b"", tag)
    assert without_id(second) == without_id(first)
    assert site.requests == asked
    other = site.ask("/incidents/", HTTP_IF_NONE_MATCH='"other"')
    assert other.status == 200


def test_a_change_is_seen_at_once(site: Site) -> None:
    before = site.ask("/incidents/")
    make_incident(number=4, title="디스크가 찼다")
    after = site.ask("/incidents/", HTTP_IF_NONE_MATCH=before.headers["ETag"])
    assert (after.status, "디스크가 찼다" in after.body.decode()) == (200, True)


@pytest.mark.parametrize(
    "extra",
    [
        {"HTTP_COOKIE": "theme=dark"},
        {"HTTP_COOKIE": f"{settings.LANGUAGE_COOKIE_NAME}=en"},
        {"HTTP_ACCEPT": "text/markdown"},
        {"HTTP_ACCEPT_ENCODING": "gzip"},
        {"HTTP_HX_REQUEST": "true"},
    ],
)
def test_another_wish_is_another_answer(site: Site, extra: dict[str, str]) -> None:
    plain = site.ask("/incidents/")
    wished = site.ask("/incidents/", **extra)
    assert wished.body != plain.body
    assert without_id(site.ask("/incidents/", **extra)) == without_id(wished)
    assert without_id(site.ask("/incidents/")) == without_id(plain)


@pytest.mark.parametrize(
    "extra",
    [
        {"HTTP_COOKIE": "sessionid=0123456789abcdef0123456789abcdef"},
        {"HTTP_AUTHORIZATION": "Basic YTpi"},
        {"REQUEST_METHOD": "HEAD"},
        {"HTTP_IF_MODIFIED_SINCE": "Mon, 01 Jan 2024 00:00:00 GMT"},
    ],
)
def test_what_may_differ_for_one_person_goes_on_to_django(site: Site, extra: dict[str, str]) -> None:
    site.ask("/incidents/")
    asked = site.requests
    for _ in range(2):
        site.ask("/incidents/", **extra)
    assert site.requests == asked + 2


def test_a_foreign_host_is_refused_though_its_page_is_known(site: Site) -> None:
    site.ask("/incidents/")
    assert site.ask("/incidents/", HTTP_HOST="evil.example").status == 400
    assert site.ask("/incidents/", HTTP_HOST="evil.example").status == 400
    assert site.ask("/incidents/").status == 200
