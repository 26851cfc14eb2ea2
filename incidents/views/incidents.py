"""The listing and the records."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from incidents.listing import build_listing
from incidents.models import Incident, parse_public_id
from incidents.record_lookup import find_incident
from incidents.record_page import citations_of, neighbours_of, relations_of, similar_to
from incidents.search_misses import note_if_missed
from incidents.views.twins import incident_list_markdown, incident_markdown, prefers_markdown


@require_safe
@vary_on_headers("HX-Request", "HX-History-Restore-Request", "Accept")
def incident_list(request: HttpRequest) -> HttpResponseBase:
    """The page, or only its listing when htmx asks (a history restore wants the whole page)."""
    if prefers_markdown(request):
        return incident_list_markdown(request)
    htmx = request.htmx  # type: ignore[attr-defined]  # set by HtmxMiddleware
    is_fragment = bool(htmx) and not htmx.history_restore_request and not htmx.boosted
    template = "incidents/partials/_listing.html" if is_fragment else "incidents/incident_list.html"
    listing = build_listing(request.GET)
    response = render(request, template, {"listing": listing, "jump": _jump(listing.jump)})
    if listing.params.has_choices or listing.page > 1 or listing.params.view != "list" or listing.params.group:
        response["X-Robots-Tag"] = "noindex, follow"
    if note_if_missed(listing):
        response["Cache-Control"] = "private, no-cache"  # a stored page would be counted once
    return response


@require_safe
@vary_on_headers("Accept")
def incident_detail(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """A record's page; a withdrawn or merged record's too, with a banner that says so."""
    if prefers_markdown(request):
        return incident_markdown(request, public_id)
    incident = find_incident(public_id)
    if public_id != incident.public_id:
        return HttpResponseRedirect(incident.get_absolute_url())
    came_from = request.GET.get("in") if "in" in request.GET else _listing_of_referer(request)
    related = relations_of(incident)
    context = {
        "incident": incident,
        "related": related,
        "similar": similar_to(incident, exclude=frozenset(near.incident.pk for near in related)),
        "citations": citations_of(incident),
        "neighbours": neighbours_of(incident, came_from) if came_from is not None else None,
        "canonical_url": settings.BASE_URL + incident.get_absolute_url(),
    }
    response = render(request, "incidents/incident_detail.html", context)
    if not incident.is_published:
        response["X-Robots-Tag"] = "noindex"
    return response


def _jump(public_id: str | None) -> Incident | None:
    """Return the public record that the query names, so that the page can lead straight to it."""
    number = parse_public_id(public_id) if public_id else None
    return Incident.objects.public().filter(number=number).first() if number is not None else None


def _listing_of_referer(request: HttpRequest) -> str | None:
    """Return the query of the listing that the reader came from, as the browser tells it; None from elsewhere."""
    referer = urlsplit(request.headers.get("Referer", ""))
    if referer.netloc == request.get_host() and referer.path == reverse("incidents:incident_list"):
        return referer.query
    return None
