"""Twins: every record and every listing as JSON and as Markdown, beside its page."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_safe

from incidents.api.answers import json_answer, link_header
from incidents.api.record_listing import listing_answer
from incidents.api.representation import incident_api_url, incident_url, record_out, to_json
from incidents.conditional import conditional
from incidents.listing import build_listing
from incidents.listing_markdown import listing_markdown
from incidents.models import LibraryState
from incidents.record_data import public_text
from incidents.record_lookup import find_incident

MARKDOWN = "text/markdown; charset=utf-8"


def prefers_markdown(request: HttpRequest) -> bool:
    """Return whether the client asks for Markdown before HTML, as programs that read for people do."""
    accept = request.headers.get("Accept", "")
    if "text/markdown" not in accept:
        return False
    return request.get_preferred_type(["text/html", "text/markdown"]) == "text/markdown"


@require_safe
def incident_json(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """The record as the API answers it."""

    def make() -> HttpResponseBase:
        incident = find_incident(public_id)
        if public_id != incident.public_id:
            return HttpResponseRedirect(reverse("incidents:incident_json", args=[incident.public_id]))
        links = {"canonical": incident_url(incident.public_id), "self": incident_api_url(incident.public_id)}
        return json_answer(to_json(record_out(incident)), links)

    return _twin(request, "json", make)


@require_safe
def incident_markdown(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """The record in the library's own file format."""

    def make() -> HttpResponseBase:
        incident = find_incident(public_id)
        if public_id != incident.public_id:
            return HttpResponseRedirect(reverse("incidents:incident_markdown", args=[incident.public_id]))
        response = HttpResponse(public_text(incident), content_type=MARKDOWN)
        response["Link"] = link_header({"canonical": incident_url(incident.public_id)})
        return response

    return _twin(request, "markdown", make)


@require_safe
def incident_list_json(request: HttpRequest) -> HttpResponseBase:
    """The listing as the API answers it; like a page it ignores parameters that it doesn't know."""
    return _twin(request, "json", lambda: listing_answer(request, is_strict=False))


@require_safe
def incident_list_markdown(request: HttpRequest) -> HttpResponseBase:
    """The listing as a Markdown document with a link to each record's own."""

    def make() -> HttpResponse:
        return HttpResponse(listing_markdown(build_listing(request.GET)), content_type=MARKDOWN)

    return _twin(request, "markdown", make)


def _twin(request: HttpRequest, representation: str, make: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    with translation.override("ko"):
        response = conditional(request, representation, make, last_modified=LibraryState.objects.changed_at)
    response["X-Robots-Tag"] = "noindex"
    return response
