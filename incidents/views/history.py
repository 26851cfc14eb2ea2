"""A record's versions, what changed between them, and the log of all corrections."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from incidents.errors import BadParameter, NotFound
from incidents.history import as_incident, compare, corrections, history_of, read_version
from incidents.models import Incident, IncidentVersion
from incidents.record_lookup import find_incident
from incidents.record_page import citations_of

CORRECTIONS_PAGE_SIZE = 50


@dataclass(frozen=True)
class VersionShown:
    """An earlier version on a page: its number, the present one's, and what changed since by field name."""

    number: int
    current: int
    changed: tuple[str, ...]
    current_url: str
    compare_url: str


@require_safe
def incident_history(request: HttpRequest, public_id: str) -> HttpResponse:
    """Every version of a public record with its reason and its changes; `from` and `to` compare any two."""
    incident = find_incident(public_id)
    if public_id != incident.public_id:
        return HttpResponseRedirect(reverse("incidents:incident_history", args=[incident.public_id]))
    compared = None
    if request.GET.get("from") or request.GET.get("to"):
        before = find_version(incident, request.GET.get("from") or "1", "from")
        after = find_version(incident, request.GET.get("to") or str(incident.version), "to")
        compared = {"before": before, "after": after, "changes": compare(before, after)}
    response = render(
        request,
        "incidents/incident_history.html",
        {
            "incident": incident,
            "entries": history_of(incident),
            "compared": compared,
            "canonical_url": settings.BASE_URL + reverse("incidents:incident_history", args=[incident.public_id]),
        },
    )
    response["X-Robots-Tag"] = "noindex, follow"
    return response


@require_safe
def incident_version(request: HttpRequest, public_id: str, number: str) -> HttpResponse:
    """The record as it stood in one version, at an address that stays."""
    incident = find_incident(public_id)
    if public_id != incident.public_id:
        return HttpResponseRedirect(reverse("incidents:incident_version", args=[incident.public_id, number]))
    version = find_version(incident, number, "version")
    record = read_version(version)
    if record is None:  # a text of older rules: still readable as it is
        return HttpResponse(version.text, content_type="text/markdown; charset=utf-8")
    latest = incident.versions.order_by("-number").first() or version
    latest.incident = incident
    shown = None
    if version.number != latest.number:
        history_url = reverse("incidents:incident_history", args=[incident.public_id])
        shown = VersionShown(
            version.number,
            latest.number,
            tuple(change.label for change in compare(version, latest)),
            incident.get_absolute_url(),
            f"{history_url}?from={version.number}&to={latest.number}",
        )
    context = {
        "incident": as_incident(record, incident),
        "version": shown,
        "related": (),
        "similar": (),
        "citations": citations_of(incident),
        "neighbours": None,
        "canonical_url": settings.BASE_URL + incident.get_absolute_url(),
    }
    response = render(request, "incidents/incident_detail.html", context)
    response["X-Robots-Tag"] = "noindex"
    return response


def find_version(incident: Incident, number: str, parameter: str) -> IncidentVersion:
    """Return a version of a record by its number. Raises NotFound or, for what is no number, BadParameter."""
    if not (number.isascii() and number.isdecimal() and len(number) <= 9):
        raise BadParameter(
            _("판의 번호가 아닙니다: %(number)s") % {"number": number[:20]},
            fields={parameter: _("1 이상의 수를 적으십시오.")},
        )
    version = incident.versions.filter(number=int(number)).first()
    if version is None:
        missing = _("없는 판입니다: %(id)s 판 %(number)d. 지금 판은 %(version)d 입니다.")
        raise NotFound(
            missing % {"id": incident.public_id, "number": int(number), "version": incident.version},
            fields={parameter: number},
        )
    version.incident = incident
    return version


@require_safe
def corrections_log(request: HttpRequest) -> HttpResponse:
    """What was corrected in the library, the latest first: each version after the first, each withdrawal and merge."""
    text = request.GET.get("page") or "1"
    if not (text.isascii() and text.isdecimal() and 1 <= len(text) <= 6 and int(text) >= 1):
        raise BadParameter(
            _("없는 페이지입니다: %(page)s") % {"page": text[:20]}, fields={"page": _("1 이상의 수를 적으십시오.")}
        )
    page = int(text)
    found, total = corrections(page, CORRECTIONS_PAGE_SIZE)
    last = max(1, -(-total // CORRECTIONS_PAGE_SIZE))
    if page > last:
        raise NotFound(
            _("없는 페이지입니다: %(page)s (마지막: %(last)s)") % {"page": page, "last": last},
            fields={"page": str(last)},
        )
    response = render(
        request,
        "incidents/corrections.html",
        {
            "corrections": found,
            "total": total,
            "page": page,
            "last": last,
            "previous": page - 1 if page > 1 else None,
            "next": page + 1 if page < last else None,
            "canonical_url": settings.BASE_URL + reverse("incidents:corrections"),
        },
    )
    if page > 1:
        response["X-Robots-Tag"] = "noindex, follow"
    return response
