"""Pages of the vocabulary: components, causes, factors, detection methods, organizations, years."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from incidents.catalogue import get_catalogue
from incidents.errors import NotFound
from incidents.facets import FACETS_BY_KIND
from incidents.lenses import first_actions
from incidents.listing import build_listing
from incidents.listing_params import encode_query
from incidents.models import Component, SlugRedirect, VocabularyKind
from incidents.stats import duration_figure, year_figure
from incidents.vocabulary_pages import companions, find_term, index_groups, term_listing, year_entries


@require_safe
def vocabulary_index(request: HttpRequest, kind: str) -> HttpResponse:
    """All terms of one vocabulary with their counts."""
    vocabulary = VocabularyKind(kind)
    return render(
        request,
        "incidents/vocabulary_index.html",
        {"kind": vocabulary, "title": vocabulary.label, "groups": index_groups(vocabulary)},
    )


@require_safe
def vocabulary_detail(request: HttpRequest, kind: str, slug: str) -> HttpResponse:
    """One term: what it means, figures, companions, its checks and its records. A former slug leads to today's."""
    vocabulary = VocabularyKind(kind)
    term = find_term(vocabulary, slug)
    if isinstance(term, SlugRedirect):
        return HttpResponsePermanentRedirect(reverse("incidents:vocabulary_detail", args=[kind, term.new_slug]))
    facet = FACETS_BY_KIND[vocabulary]
    listing = term_listing(vocabulary, term.slug, request.GET.get("page", ""))
    own = ((facet.name, term.slug),)
    context = {
        "kind": vocabulary,
        "term": term,
        "facet": facet,
        "listing": listing,
        "companions": companions(listing, facet.name),
        "years": year_figure(listing.selection, own) if listing.count else None,
        "durations": duration_figure(listing.selection, own) if listing.count else None,
        "first_actions": first_actions(listing.incidents),
        "checks": term.checks.order_by("code") if isinstance(term, Component) else (),
        "canonical_url": settings.BASE_URL + term.get_absolute_url(),
    }
    return render(request, "incidents/vocabulary_detail.html", context)


@require_safe
def year_index(request: HttpRequest) -> HttpResponse:
    """All years that have records."""
    return render(request, "incidents/year_index.html", {"years": year_entries(get_catalogue())})


@require_safe
def year_detail(request: HttpRequest, year: int) -> HttpResponse:
    """One year: its figures and its records."""
    years = [int(entry.slug) for entry in year_entries(get_catalogue())]
    if year not in years:
        message = _("이 해의 기록은 없습니다: %(year)s. 기록이 있는 해에서 고르십시오.") % {"year": year}
        raise NotFound(message, fields={"year": str(year)})
    place = years.index(year)
    data = QueryDict(
        encode_query([("year_from", str(year)), ("year_to", str(year)), ("page", request.GET.get("page", ""))])
    )
    listing = build_listing(data)
    context = {
        "year": year,
        "listing": listing,
        "companions": companions(listing, ""),
        "next_year": years[place - 1] if place else None,
        "previous_year": years[place + 1] if place + 1 < len(years) else None,
        "canonical_url": settings.BASE_URL + reverse("incidents:year_detail", args=[year]),
    }
    return render(request, "incidents/year_detail.html", context)
