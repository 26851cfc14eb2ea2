"""Finished pages: a client that has the present answer is told so, and others get it from memory, before any rendering.

What a public address answers depends on the library's revision, the program, and the few things of a request that
views look at. A tag hashes just these, so it is known after one small query; a publish raises the revision, and no
tag made before it is ever asked for again. Nothing is invalidated by time, and no reader waits for a publish.

Kept are only answers that are the same for everybody who asks in the same way: 200 to GET, without a session, a
CSRF token, a cookie of their own or a header that forbids it. Everything else passes through untouched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import get_str_from_wsgi
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, parse_cookie
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import parse_etags, parse_http_date_safe

from incidents.api.middleware import DOCS
from incidents.compression import ENCODINGS, SMALLEST, accepted_encoding, compress, decompress
from incidents.context_processors import THEMES
from incidents.entity_tags import answer_key, program_fingerprint
from incidents.errors import SearchUnavailable
from incidents.indexing import fresh_backend
from incidents.models import LibraryState
from incidents.page_store import FileStore, PageStore, RedisStore, SharedStore, StoredAnswer
from incidents.search import get_search_backend

# Editing, what answers by itself, and what is about this process. The API makes its tags in conditional.py.
LEFT_ALONE: Final = ("/admin/", "/api/", "/mcp", "/healthz", "/readyz", "/metrics", "/static/")
# What views may look at; an answer that varies by anything else is not kept.
HTMX: Final = ("HX-Request", "HX-History-Restore-Request", "HX-Boosted", "HX-Target")
VARY: Final = ("Accept", "Accept-Encoding", "Cookie", *HTMX)
KNOWN_VARY: Final = frozenset(name.lower() for name in VARY)
HTMX_KEYS: Final = tuple(f"HTTP_{name.upper().replace('-', '_')}" for name in HTMX)
SUFFIXES: Final = {"br": "-br", "gzip": "-gz", "identity": ""}
MEMORY_BYTES: Final = 24 * 1024 * 1024
LARGEST: Final = 2 * 1024 * 1024  # bytes of a body; larger ones are exports and whole volumes, read once

KEPT: Final = "kb.kept"  # in a request's environment: under what its answer is kept

Handler = Callable[[HttpRequest], HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Kept:
    """Under what an answer is kept: the program and revision, the hash of what it depends on, its encoding, its origin."""

    epoch: str
    key: str
    encoding: str
    origin: str

    @classmethod
    def of(cls, revision: int, parts: tuple[str, ...], meta: dict[str, Any]) -> Kept:
        """Return it for what views see of a request at a revision."""
        return cls(
            f"{program_fingerprint()[:8]}-{revision}",
            answer_key(str(revision), *parts),
            accepted_encoding(meta.get("HTTP_ACCEPT_ENCODING", "")),
            parts[0],
        )


class PageCacheMiddleware:
    """Stands inside security and static files, outside everything that makes a page."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self.store = PageStore(_shared_store(), MEMORY_BYTES)
        program_fingerprint()  # at the start, not in the first request

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        meta = request.META
        try:
            origin = f"{request.scheme}://{request.get_host()}"
        except DisallowedHost:
            return self.get_response(request)  # refused further inside, with the page that says so
        parts = what_views_see(meta, origin)
        revision = present_revision(meta) if parts is not None else None
        if parts is None or revision is None:
            return self.get_response(request)
        kept = Kept.of(revision, parts, meta)
        if has_already(meta, kept.key):
            meta[KEPT] = kept
            return _not_modified(meta["HTTP_IF_NONE_MATCH"], kept.key)
        answer = self._stored(kept.epoch, kept.key, kept.encoding)
        if answer is None:
            response = self.get_response(request)
            if (
                not isinstance(response, HttpResponse)
                or not _may_be_kept(request, response)
                or present_revision(meta) != revision
            ):
                return response
            answer = _finished(response, kept.key, kept.encoding)
            self.store.put(kept.epoch, kept.key + SUFFIXES[kept.encoding], answer)
        meta[KEPT] = kept
        return _answered(request, answer)

    def _stored(self, epoch: str, key: str, encoding: str) -> StoredAnswer | None:
        """Return the answer in the encoding, made from another encoding's where only that is stored."""
        found = self.store.get(epoch, key + SUFFIXES[encoding])
        if found is not None:
            return found
        for other in ENCODINGS:
            if other != encoding and (kept := self.store.get(epoch, key + SUFFIXES[other])) is not None:
                response = HttpResponse(decompress(kept.body, dict(kept.headers).get("Content-Encoding", "identity")))
                for name, value in kept.headers:
                    if name not in {"Content-Encoding", "Content-Length", "ETag"}:
                        response.headers[name] = value
                answer = _finished(response, key, encoding)
                self.store.put(epoch, key + SUFFIXES[encoding], answer)
                return answer
        return None


def _shared_store() -> SharedStore | None:
    if settings.CACHE_URL:
        return RedisStore()
    limit: int = settings.PAGE_CACHE_BYTES
    return FileStore(settings.DATA_DIR / "cache" / "pages", limit) if limit else None


def what_views_see(meta: dict[str, Any], origin: str) -> tuple[str, ...] | None:
    """Return everything of a request that its answer may depend on; None where the answer is one person's.

    `meta` is the WSGI environment, `origin` the scheme and host that the request was made to.
    """
    path = meta.get("PATH_INFO", "")
    if settings.DEBUG or meta["REQUEST_METHOD"] not in {"GET", "HEAD"} or _is_left_alone(path):
        return None
    if "HTTP_AUTHORIZATION" in meta:
        return None
    language, theme = settings.LANGUAGE_CODE, ""
    if "HTTP_COOKIE" in meta:
        cookies = parse_cookie(get_str_from_wsgi(meta, "HTTP_COOKIE", ""))
        if settings.SESSION_COOKIE_NAME in cookies or settings.CSRF_COOKIE_NAME in cookies or "messages" in cookies:
            return None
        asked = cookies.get(settings.LANGUAGE_COOKIE_NAME, "")
        language = asked if asked in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
        theme = cookies.get("theme", "")
        theme = theme if theme in THEMES else ""
    accept = meta.get("HTTP_ACCEPT", "")
    return (
        origin,
        path,
        meta.get("QUERY_STRING", ""),
        language,
        theme,
        # What browsers and scripts say where any page will do; every other wish is a representation of its own.
        "" if accept in {"", "*/*"} or accept.startswith("text/html,") else accept,
        *(meta.get(name, "") for name in HTMX_KEYS),
        _listing_before(meta.get("HTTP_REFERER", ""), origin.partition("://")[2]),
        # A record says on which day it was read, for those who cite it.
        datetime.now(UTC).date().isoformat() if path.startswith("/incidents/") else "",
    )


def _is_left_alone(path: str) -> bool:
    return path.startswith(LEFT_ALONE) and path != DOCS  # a page for people among the API's addresses


def _listing_before(referer: str, host: str) -> str:
    """Return the query of this library's page that the reader came from: a record leads on through that listing."""
    if not referer or "?" not in referer:
        return ""
    try:
        parts = urlsplit(referer)
    except ValueError:
        return ""
    return f"{parts.path}?{parts.query}" if parts.netloc == host else ""


def present_revision(meta: dict[str, Any]) -> int | None:
    """Return the revision that an answer is made from now; None where it can't be told, or the index can't follow."""
    try:
        revision = LibraryState.objects.current_revision()
        if _searches(meta) and get_search_backend().revision() != revision and fresh_backend().revision() != revision:
            return None
    except (DatabaseError, SearchUnavailable, LibraryState.DoesNotExist):
        return None
    return revision


def _searches(meta: dict[str, Any]) -> bool:
    """Return whether the answer may come from the search index, which can be a moment behind the database."""
    asked = meta.get("QUERY_STRING", "") + meta.get("HTTP_REFERER", "")
    return "q=" in asked or "q%3D" in asked or "q%3d" in asked or meta.get("PATH_INFO") == "/patterns/"


def has_already(meta: dict[str, Any], key: str) -> bool:
    """Return whether the client holds this answer, in whatever encoding."""
    header = meta.get("HTTP_IF_NONE_MATCH", "")
    return (
        bool(header)
        and key in header
        and any(tag.removeprefix("W/").startswith(f'"{key}') for tag in parse_etags(header))
    )


def _not_modified(header: str, key: str) -> HttpResponse:
    tag = next(tag.removeprefix("W/") for tag in parse_etags(header) if tag.removeprefix("W/").startswith(f'"{key}'))
    response = HttpResponse(status=304)
    del response.headers["Content-Type"]
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "public, no-cache"
    response.headers["Vary"] = ", ".join(VARY)
    return response


def _may_be_kept(request: HttpRequest, response: HttpResponse) -> bool:
    if response.status_code != 200 or response.streaming or response.cookies:
        return False
    if (
        request.META.get("CSRF_COOKIE_NEEDS_UPDATE")
        or "CSRF_COOKIE" in request.META
        or "Content-Encoding" in response.headers
    ):
        return False
    control = response.headers.get("Cache-Control", "").lower()
    if "no-store" in control or "private" in control:
        return False
    vary = {name.strip().lower() for name in response.headers.get("Vary", "").split(",")} - {""}
    return vary <= KNOWN_VARY and len(response.content) <= LARGEST


def _finished(response: HttpResponse, key: str, encoding: str) -> StoredAnswer:
    """Return the answer as it will be sent from now on: compressed, tagged, with what caches need to know."""
    body = response.content
    is_compressed = encoding != "identity" and len(body) >= SMALLEST
    if is_compressed:
        body = compress(body, encoding)
        response.headers["Content-Encoding"] = encoding
    response.headers["ETag"] = f'"{key}{SUFFIXES[encoding] if is_compressed else ""}"'
    response.headers["Content-Length"] = str(len(body))
    response.headers.setdefault("Cache-Control", "public, no-cache")
    patch_vary_headers(response, VARY)
    return StoredAnswer(tuple(response.headers.items()), body)


def _answered(request: HttpRequest, answer: StoredAnswer) -> HttpResponseBase:
    response = HttpResponse(b"" if request.method == "HEAD" else answer.body)
    for name, value in answer.headers:
        response.headers[name] = value
    if "HTTP_IF_MODIFIED_SINCE" in request.META and "Last-Modified" in response.headers:
        changed_at = parse_http_date_safe(response.headers["Last-Modified"])
        return get_conditional_response(request, response.headers["ETag"], changed_at, response) or response
    return response
