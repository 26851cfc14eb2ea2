"""The edge of the API: what holds for every answer under /api/ and /mcp, whoever made it.

Open to any origin, the same for everybody (cookies are not looked at), HEAD wherever there is GET, errors as
problem+json even where no operation was reached, and a limit to how fast one client may ask.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from incidents.api.problems import MEDIA_TYPE, status_problem, user_problem
from incidents.api.throttle import client_of, take
from incidents.errors import TooManyRequests

logger = logging.getLogger(__name__)

PREFIXES: Final = ("/api/", "/mcp")
DOCS: Final = "/api/v1/docs/"  # a page for people, in the theme that they chose
# Twins and feeds: pages for programs, kept and answered with the pages, and open as the API is, errors and 304 too.
TWIN: Final = re.compile(r"/incidents(?:/[^/]+)?\.(?:json|md)|/(?:[a-z]+/[^/]+/)?feed/(?:changed/)?|/llms\.txt")
EXPOSED: Final = (
    "ETag, Last-Modified, Link, Location, Retry-After, RateLimit, RateLimit-Policy, RateLimit-Limit, "
    "RateLimit-Remaining, RateLimit-Reset, Content-Disposition, Content-Language, Content-Location, X-Total-Count, "
    "X-Export-Filter, X-Library-Revision, "
    "Mcp-Session-Id, Mcp-Protocol-Version"
)
ALLOWED_HEADERS: Final = (
    "Accept, Accept-Language, Content-Type, If-None-Match, If-Modified-Since, Last-Event-ID, Mcp-Method, Mcp-Name, "
    "Mcp-Protocol-Version, Mcp-Session-Id, Range"
)
METHODS: Final = "GET, HEAD, POST, OPTIONS"
READS: Final = "GET, HEAD, OPTIONS"


class ApiMiddleware:
    """Stands outside all other middleware, so that their answers get the API's headers too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(PREFIXES) or request.path_info == DOCS:
            response = self.get_response(request)
            return open_to_all(response) if TWIN.fullmatch(request.path_info) else response
        return open_to_all(self._answer(request))

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        request.META.pop("HTTP_COOKIE", None)
        if request.method == "OPTIONS":
            return _preflight()
        limit: int = settings.API_RATE
        allowance = take(client_of(request), limit) if limit else None
        if allowance is not None and not allowance.is_allowed:
            error = TooManyRequests(
                f"요청이 너무 잦습니다. {allowance.retry_after}초 뒤에 다시 보내십시오. "
                "여러 기록이 필요하면 /api/v1/export/ 에서 한 번에 내려받을 수 있습니다.",
                retry_after=allowance.retry_after,
            )
            response: HttpResponseBase = user_problem(request, error)
        else:
            response = self._ask(request)
        if allowance is not None:
            allowance.write(response)  # type: ignore[arg-type]  # any response takes headers
        return response

    def _ask(self, request: HttpRequest) -> HttpResponseBase:
        is_head = request.method == "HEAD"
        if is_head:
            request.method = "GET"
        response = self.get_response(request)
        if response.status_code >= 400 and not _is_ours(response) and not request.path_info.startswith("/mcp"):
            allow = response.headers.get("Allow")
            response = status_problem(request, response.status_code)
            if allow is not None:
                response["Allow"] = READS if "GET" in allow else "POST, OPTIONS"
        _forget_cookies(response)
        return _without_body(response) if is_head else response


def open_to_all(response: HttpResponseBase) -> HttpResponseBase:
    """Let scripts of any origin read the answer and its headers. No credentials are ever involved."""
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Expose-Headers"] = EXPOSED
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _preflight() -> HttpResponse:
    response = HttpResponse(status=204)
    response["Allow"] = METHODS
    response["Access-Control-Allow-Methods"] = METHODS
    response["Access-Control-Allow-Headers"] = ALLOWED_HEADERS
    response["Access-Control-Max-Age"] = "86400"
    return response


def _is_ours(response: HttpResponseBase) -> bool:
    return response.headers.get("Content-Type", "").startswith(MEDIA_TYPE)


def _forget_cookies(response: HttpResponseBase) -> None:
    """Cookies were not looked at, so answers don't vary by them; `*` for every reader is what caches need to know."""
    names = [name.strip() for name in response.headers.get("Vary", "").split(",")]
    kept = [name for name in names if name and name.lower() not in {"cookie", "accept-language"}]
    if kept:
        response["Vary"] = ", ".join(kept)
    elif "Vary" in response.headers:
        del response["Vary"]


def _without_body(response: HttpResponseBase) -> HttpResponseBase:
    """Return the answer to HEAD: the headers of GET. A stream that was never begun has nothing to be closed."""
    bare = HttpResponse(status=response.status_code)
    for name, value in response.headers.items():
        bare[name] = value
    if not response.streaming and "Content-Length" not in response.headers:
        bare["Content-Length"] = str(len(response.content))  # type: ignore[attr-defined]  # not streaming: has content
    return bare
