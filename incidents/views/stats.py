"""The library in figures."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from incidents.catalogue import get_catalogue
from incidents.stats import library_figures


@require_safe
def stats(request: HttpRequest) -> HttpResponse:
    """Plots and tables, every mark a link to the listing that it counts."""
    catalogue = get_catalogue()
    context = {
        "figures": library_figures(catalogue),
        "count": len(catalogue),
        "canonical_url": settings.BASE_URL + reverse("incidents:stats"),
    }
    return render(request, "incidents/stats.html", context)
