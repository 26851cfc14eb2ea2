"""Finished pages before Django: what the page cache has answered once is answered again without a request being made.

The same key, the same revision and the same headers as behind it (`page_cache`), kept as they went out; only the
request's ID is new. Everything that was never answered here, or that a reader's own choices are in, goes on to Django.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, Final

from django.conf import settings

from incidents.edge import observe_kept
from incidents.page_cache import KEPT, MEMORY_BYTES, Kept, has_already, present_revision, what_views_see
from incidents.request_context import request_id

Headers = list[tuple[str, str]]
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
# What the origin is read from, by Django itself the first time.
ORIGIN_KEYS: Final = (
    "wsgi.url_scheme", "HTTP_X_FORWARDED_PROTO", "HTTP_HOST", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PORT", "SERVER_NAME", "SERVER_PORT",
)  # fmt: skip
MOST_ORIGINS: Final = 64
LONGEST_TAG: Final = 200  # characters of If-None-Match; browsers send one tag
NOT_MODIFIED_BYTES: Final = 600  # of headers


class PageFront:
    """A WSGI application in front of Django's."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self._answers: OrderedDict[tuple[str, ...], tuple[str, Headers, bytes]] = OrderedDict()
        self._origins: dict[tuple[Any, ...], str] = {}
        self._epoch = ""
        self._size = 0
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        started = perf_counter()
        origin_key = tuple(environ.get(name) for name in ORIGIN_KEYS)
        answer = self._known(environ, self._origins.get(origin_key))
        if answer is None:
            return self._ask(environ, start_response, origin_key)
        status, headers, body = answer
        known = request_id(environ.get("HTTP_X_REQUEST_ID", "") if settings.IS_BEHIND_PROXY else "")
        start_response(status, [*headers, ("X-Request-ID", known)])
        observe_kept(environ, int(status[:3]), perf_counter() - started, known)
        return [body]

    def _known(self, environ: dict[str, Any], origin: str | None) -> tuple[str, Headers, bytes] | None:
        if origin is None or environ["REQUEST_METHOD"] != "GET" or "HTTP_IF_MODIFIED_SINCE" in environ:
            return None
        parts = what_views_see(environ, origin)
        revision = present_revision(environ) if parts is not None else None
        if parts is None or revision is None:
            return None
        kept = Kept.of(revision, parts, environ)
        tag = environ["HTTP_IF_NONE_MATCH"] if has_already(environ, kept.key) else ""
        with self._lock:
            if kept.epoch != self._epoch:
                return None
            name = (kept.key, kept.encoding, tag)
            answer = self._answers.get(name)
            if answer is not None:
                self._answers.move_to_end(name)
            return answer

    def _ask(
        self, environ: dict[str, Any], start_response: Callable[..., Any], origin_key: tuple[Any, ...]
    ) -> Iterable[bytes]:
        sent: list[tuple[str, Headers]] = []

        def starting(status: str, headers: Headers, *rest: Any) -> Any:
            sent.append((status, headers))
            return start_response(status, headers, *rest)

        response = self.application(environ, starting)
        kept: Kept | None = environ.get(KEPT)
        if kept is not None and sent and environ["REQUEST_METHOD"] == "GET" and "HTTP_IF_MODIFIED_SINCE" not in environ:
            if len(self._origins) < MOST_ORIGINS:
                self._origins[origin_key] = kept.origin
            self._keep(environ, kept, *sent[0], getattr(response, "content", b""))
        return response

    def _keep(self, environ: dict[str, Any], kept: Kept, status: str, headers: Headers, body: bytes) -> None:
        """Keep an answer as it went out; the body is the one that the page cache holds, so it takes no memory again."""
        if not status.startswith(("200", "304")) or any(name == "Set-Cookie" for name, _ in headers):
            return
        tag = environ.get("HTTP_IF_NONE_MATCH", "") if status.startswith("304") else ""
        if len(tag) > LONGEST_TAG:
            return
        answer = (status, [(name, value) for name, value in headers if name != "X-Request-ID"], body)
        with self._lock:
            if kept.epoch != self._epoch:
                self._answers.clear()
                self._size = 0
                self._epoch = kept.epoch
            if (kept.key, kept.encoding, tag) in self._answers:
                return
            self._answers[kept.key, kept.encoding, tag] = answer
            self._size += len(body) + NOT_MODIFIED_BYTES
            while self._size > MEMORY_BYTES:
                _, (_, _, oldest) = self._answers.popitem(last=False)
                self._size -= len(oldest) + NOT_MODIFIED_BYTES
