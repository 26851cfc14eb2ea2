"""Feeds and the page that lists them."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_safe

from incidents.atom import MEDIA_TYPE, atom
from incidents.conditional import conditional
from incidents.facets import FACETS_BY_KIND
from incidents.feeds import Feed, FeedKind, citation_feed, listing_feed
from incidents.listing_params import encode_query
from incidents.models import LibraryState, SlugRedirect, VocabularyKind
from incidents.vocabulary_pages import find_term, index_groups


@require_safe
def feed(request: HttpRequest, kind: str = FeedKind.NEW.value) -> HttpResponseBase:
    """New or changed records of any listing; with `id=` the changes of just these records."""

    def make() -> Feed:
        if request.GET.getlist("id"):
            query = encode_query([("id", text) for text in request.GET.getlist("id") if text.strip()])
            return citation_feed(request.GET.getlist("id"), request.path, query)
        return listing_feed(request.GET, FeedKind(kind), request.path)

    return _answer(request, make)


@require_safe
def vocabulary_feed(
    request: HttpRequest, kind: str, slug: str, feed_kind: str = FeedKind.NEW.value
) -> HttpResponseBase:
    """New or changed records of one term. A former slug leads to today's."""
    vocabulary = VocabularyKind(kind)
    term = find_term(vocabulary, slug)
    if isinstance(term, SlugRedirect):
        moved = reverse(request.resolver_match.view_name, args=[kind, term.new_slug])  # type: ignore[union-attr]
        return HttpResponsePermanentRedirect(moved)
    data = QueryDict(encode_query([(FACETS_BY_KIND[vocabulary].name, term.slug)]))
    return _answer(request, lambda: listing_feed(data, FeedKind(feed_kind), request.path))


@require_safe
def year_feed(request: HttpRequest, year: int) -> HttpResponseBase:
    """New records of one year."""
    data = QueryDict(encode_query([("year_from", str(year)), ("year_to", str(year))]))
    return _answer(request, lambda: listing_feed(data, FeedKind.NEW, request.path))


@require_safe
def feed_list(request: HttpRequest) -> HttpResponse:
    """What feeds there are and how to make one's own."""
    context = {
        "vocabularies": [
            (kind, index_groups(kind))
            for kind in (VocabularyKind.COMPONENT, VocabularyKind.CAUSE, VocabularyKind.FACTOR)
        ],
        "canonical_url": settings.BASE_URL + reverse("incidents:feeds"),
    }
    return render(request, "incidents/feed_list.html", context)


def _answer(request: HttpRequest, make: Callable[[], Feed]) -> HttpResponseBase:
    """Return the feed as Atom, in Korean whatever the reader's interface is, or 304."""

    def written() -> HttpResponse:
        with translation.override("ko"):
            return HttpResponse(atom(make()), content_type=MEDIA_TYPE)

    response = conditional(request, "atom", written, last_modified=LibraryState.objects.changed_at)
    response["X-Robots-Tag"] = "noindex"
    return response
