"""One field of many records side by side: first actions, follow-ups, how it was noticed."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from incidents.lenses import LENSES, lens_rows
from incidents.listing import build_listing


@require_safe
def lens(request: HttpRequest, name: str) -> HttpResponse:
    """The statements of one field over a listing, which the listing's own parameters narrow."""
    chosen = LENSES[name]
    url = reverse(f"incidents:{name.replace('-', '_')}")
    listing = build_listing(request.GET)
    context = {
        "lens": chosen,
        "listing": listing,
        "rows": lens_rows(chosen, listing.incidents),
        "lens_url": url,
        "canonical_url": settings.BASE_URL + url,
    }
    response = render(request, "incidents/lens.html", context)
    if listing.params.has_choices or listing.page > 1:
        response["X-Robots-Tag"] = "noindex, follow"
    return response
