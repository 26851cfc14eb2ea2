"""For crawlers, browsers and agents: sitemap, robots.txt, OpenSearch, llms.txt."""

from __future__ import annotations

import json
from xml.sax.saxutils import escape

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from incidents.api.endpoints.lookup import suggestion_url
from incidents.api.middleware import open_to_all
from incidents.catalogue import get_catalogue
from incidents.conditional import conditional
from incidents.errors import NotFound
from incidents.listing_params import clean_query
from incidents.models import LibraryState
from incidents.sitemap import sitemap_index, sitemap_part, sitemap_parts
from incidents.suggestions import suggest

XML = "application/xml; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


@require_safe
def sitemap(request: HttpRequest, part: int = 0) -> HttpResponseBase:
    """All permanent addresses with their true times; past what one file may hold, an index of files."""

    def make() -> HttpResponse:
        parts = sitemap_parts()
        if part > parts:
            raise NotFound(
                _("사이트맵의 이 부분은 없습니다: %(part)d. /sitemap.xml 에서 시작하십시오.") % {"part": part}
            )
        body = sitemap_index(parts) if parts > 1 and not part else sitemap_part(max(1, part))
        return HttpResponse(body, content_type=XML)

    return conditional(request, "sitemap", make, last_modified=LibraryState.objects.changed_at)


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """What crawlers need not read: choices of the listing are endless and hold nothing that isn't elsewhere."""
    lines = [
        "User-agent: *",
        "Disallow: /admin/",
        "Disallow: /incidents/?",
        "Disallow: /incidents.json?",
        "Disallow: /incidents.md?",
        "Disallow: /feed/?",
        "Disallow: /match/",
        "Disallow: /api/v1/export/",
        f"Sitemap: {settings.BASE_URL}/sitemap.xml",
        "",
    ]
    return HttpResponse("\n".join(lines), content_type=TEXT)


@require_safe
def opensearch(request: HttpRequest) -> HttpResponse:
    """How a browser searches here (OpenSearch 1.1)."""
    base = escape(settings.BASE_URL, {'"': "&quot;"})
    body = f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>사고 사례</ShortName>
<Description>공개된 사고 보고서의 구조화된 한국어 사례를 찾습니다</Description>
<InputEncoding>UTF-8</InputEncoding>
<OutputEncoding>UTF-8</OutputEncoding>
<Language>ko</Language>
<Url type="text/html" method="get" template="{base}/incidents/?q={{searchTerms}}"/>
<Url type="application/x-suggestions+json" method="get" template="{base}/opensearch/suggest/?q={{searchTerms}}"/>
<Url type="application/json" method="get" template="{base}/api/v1/incidents/?q={{searchTerms}}"/>
<Url type="application/atom+xml" method="get" template="{base}/feed/?q={{searchTerms}}"/>
<Url type="application/opensearchdescription+xml" rel="self" template="{base}/opensearch.xml"/>
</OpenSearchDescription>
"""
    return HttpResponse(body, content_type="application/opensearchdescription+xml; charset=utf-8")


@require_safe
def opensearch_suggest(request: HttpRequest) -> HttpResponse:
    """Completions in the shape that browsers take: words, texts, descriptions, addresses."""
    typed = clean_query(request.GET.get("q", ""))[:200]
    found = suggest(typed) if typed else []
    body = [typed, [one.text for one in found], ["" for _ in found], [suggestion_url(one) for one in found]]
    response = HttpResponse(json.dumps(body, ensure_ascii=False), content_type="application/x-suggestions+json")
    open_to_all(response)
    return response


@require_safe
def llms(request: HttpRequest) -> HttpResponseBase:
    """What a language model needs to know to read the library, as llmstxt.org proposes it."""

    def make() -> HttpResponse:
        with translation.override("ko"):
            body = render_to_string("llms.txt", {"count": len(get_catalogue()), "base_url": settings.BASE_URL})
        return HttpResponse(body, content_type="text/markdown; charset=utf-8")

    return conditional(request, "llms", make, last_modified=LibraryState.objects.changed_at)
