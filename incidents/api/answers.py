"""Models → HTTP answers: JSON that a client may keep, with its links."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from incidents.api.schemas import Model
from incidents.conditional import conditional
from incidents.models import LibraryState

JSON = "application/json"


def json_answer(body: bytes, links: Mapping[str, str | None] | None = None) -> HttpResponse:
    """Return a JSON answer; `links` maps a relation to its address, None where there is none."""
    response = HttpResponse(body, content_type=JSON)
    if header := link_header(links or {}):
        response["Link"] = header
    return response


def link_header(links: Mapping[str, str | None]) -> str:
    """Return the value of a `Link` header (RFC 8288)."""
    return ", ".join(f'<{address}>; rel="{relation}"' for relation, address in links.items() if address)


def kept(request: HttpRequest, make: Callable[[], HttpResponseBase], representation: str = "json") -> HttpResponseBase:
    """Return the answer that `make` returns, or 304, with what a client needs to keep it."""
    return conditional(request, representation, make, last_modified=LibraryState.objects.changed_at)


def kept_model(
    request: HttpRequest, make: Callable[[], Model], links: Mapping[str, str] | None = None
) -> HttpResponseBase:
    """Return a whole model as JSON, or 304."""
    return kept(request, lambda: json_answer(make().model_dump_json(exclude_unset=True).encode(), links))
