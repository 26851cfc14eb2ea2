"""Pages of the checks: all of them, one with its evidence, and the matrix of checks and components."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from incidents.checks import check_areas, check_matrix, evidence_of, find_check


@require_safe
def check_list(request: HttpRequest) -> HttpResponse:
    """All checks by area, each with the number of incidents that are its reason, and both kinds of gap."""
    context = {
        "areas": check_areas(),
        "matrix": check_matrix(),
        "canonical_url": settings.BASE_URL + reverse("incidents:check_list"),
    }
    return render(request, "incidents/check_list.html", context)


@require_safe
def check_detail(request: HttpRequest, code: str) -> HttpResponse:
    """One check: what goes wrong, how to look, when it passes, and the incidents that it cites, each with its reason."""
    check = find_check(code)
    if code != check.code:
        return HttpResponseRedirect(check.get_absolute_url())
    evidence = evidence_of(check)
    context = {
        "check": check,
        "evidence": evidence,
        "published_count": sum(citation.incident.is_published for citation in evidence),
        "canonical_url": settings.BASE_URL + check.get_absolute_url(),
    }
    return render(request, "incidents/check_detail.html", context)


@require_safe
def check_table(request: HttpRequest) -> HttpResponse:
    """The matrix of checks and components."""
    context = {"matrix": check_matrix(), "canonical_url": settings.BASE_URL + reverse("incidents:check_table")}
    return render(request, "incidents/check_table.html", context)
