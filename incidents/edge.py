"""The edge of everything: who asks, under which ID, and what holds for every answer whoever made it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from ipaddress import ip_address
from time import perf_counter
from typing import Any, Final

from django.conf import settings
from django.core.handlers.wsgi import get_path_info
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from incidents.metrics import get_metrics
from incidents.request_context import REQUEST_ID, request_id

logger = logging.getLogger("incidents.requests")

SLOW_SECONDS: Final = 2.0
METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS"})
OF_NOT_MODIFIED: Final = frozenset(
    {"cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary"}
)
PERMISSIONS: Final = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media", "fullscreen",
        "geolocation", "gyroscope", "hid", "idle-detection", "magnetometer", "microphone", "midi", "payment",
        "picture-in-picture", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
    )
)  # fmt: skip

Handler = Callable[[HttpRequest], HttpResponseBase]


class EdgeMiddleware:
    """Stands outside all other middleware."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = perf_counter()
        if settings.IS_BEHIND_PROXY:
            request.META["REMOTE_ADDR"] = client_address(request)
        known = request_id(request.headers.get("X-Request-ID", "") if settings.IS_BEHIND_PROXY else "")
        token = REQUEST_ID.set(known)
        try:
            response = self.get_response(request)
            seconds = perf_counter() - started
            if response.status_code == HTTPStatus.NOT_MODIFIED:
                _leave_to_the_stored(response)
            else:
                response.headers.setdefault("Permissions-Policy", PERMISSIONS)
                response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
            response.headers["X-Request-ID"] = known
            _observe(request, response.status_code, seconds)
        finally:
            REQUEST_ID.reset(token)
        return response


def _leave_to_the_stored(response: HttpResponseBase) -> None:
    """Take from a 304 what the client's stored answer says already (RFC 9110, 15.4.5): policies, types, lengths."""
    for name in list(response.headers):
        if name.lower() not in OF_NOT_MODIFIED and not name.lower().startswith(("access-control-", "ratelimit")):
            del response.headers[name]


def client_address(request: HttpRequest) -> str:
    """Return the address that the proxy in front saw: the last one it wrote, the others being what clients claim."""
    last = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
    try:
        return str(ip_address(last))
    except ValueError:
        return str(request.META.get("REMOTE_ADDR", ""))


def observe_kept(meta: dict[str, Any], status: int, seconds: float, known: str) -> None:
    """Log and count an answer that was given before Django made a request of the question; `known` is its ID."""
    if settings.LOG_REQUESTS or seconds >= SLOW_SECONDS or get_metrics():
        token = REQUEST_ID.set(known)
        try:
            _note(meta["REQUEST_METHOD"], get_path_info(meta), "kept", status, seconds)
        finally:
            REQUEST_ID.reset(token)


def _observe(request: HttpRequest, status: int, seconds: float) -> None:
    if not (settings.LOG_REQUESTS or seconds >= SLOW_SECONDS or get_metrics()):
        return
    match = request.resolver_match
    unresolved = "static" if request.path.startswith(settings.STATIC_URL) else "kept"  # kept: by the page cache
    view = (match.view_name or "other") if match else unresolved
    _note(request.method if request.method in METHODS else "other", request.path, view, status, seconds)


def _note(method: str | None, path: str, view: str, status: int, seconds: float) -> None:
    """Log the answer where that is wanted, or where it took long, and count it. Neither sees the query."""
    metrics = get_metrics()
    is_slow = seconds >= SLOW_SECONDS
    if settings.LOG_REQUESTS or is_slow:
        milliseconds = round(seconds * 1000, 1)
        logger.log(
            logging.WARNING if is_slow else logging.INFO,
            "%s %s %s %s ms",
            method,
            _printable(path),
            status,
            milliseconds,
            extra={
                "method": method,
                "path": _printable(path),
                "status": status,
                "milliseconds": milliseconds,
                "view": view,
            },
        )
    if metrics is not None:
        metrics.observe(str(method), view, status, seconds)


def _printable(path: str) -> str:
    """Return a path that can't begin a line of its own or hide what it is."""
    return "".join(char if char.isprintable() else "?" for char in path[:200])
