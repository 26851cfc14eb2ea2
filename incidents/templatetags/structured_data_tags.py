"""JSON-LD and OpenGraph in a page's head."""

from __future__ import annotations

import json
from typing import Any

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from incidents import structured_data as data

register = template.Library()

# What could end the element, or a line where JSON-LD is read as JavaScript.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def json_ld(*parts: data.Json) -> SafeString:
    """Return the parts as data blocks; no script runs from them, so the CSP lets them stand."""
    blocks = (
        f'<script type="application/ld+json">{json.dumps(part, ensure_ascii=False).translate(_ESCAPES)}</script>'
        for part in parts
    )
    return mark_safe("\n".join(blocks))  # escaped above


def _trail(*steps: tuple[str, str]) -> data.Json:
    return data.breadcrumbs([(data.library_name(), f"{settings.BASE_URL}/"), *steps])


@register.simple_tag
def home_data(count: int) -> SafeString:
    """Say what the first page is: the site and its data."""
    return json_ld(data.website(settings.BASE_URL), data.dataset(settings.BASE_URL, count))


@register.simple_tag
def record_data(incident: Any) -> SafeString:
    """Say what a record's page is."""
    step = (gettext("사례"), settings.BASE_URL + reverse("incidents:incident_list"))
    own = (incident.public_id, settings.BASE_URL + incident.get_absolute_url())
    return json_ld(data.report(settings.BASE_URL, incident), _trail(step, own))


@register.simple_tag
def collection_data(listing: Any, name: str, url: str, parent: str = "", parent_url: str = "") -> SafeString:
    """Say what a list's page is; `parent` is the index that it belongs to, its address a path."""
    steps = [(str(parent), settings.BASE_URL + parent_url)] if parent else []  # a label may be lazy
    entries = [(row.title, row.card.url) for row in listing.rows]
    page = data.collection(settings.BASE_URL, url, name, entries, listing.count)
    return json_ld(page, _trail(*steps, (name, url)))


@register.simple_tag
def open_graph(title: str, description: str, url: str, kind: str = "website") -> SafeString:
    """Return the tags by which a link to the page is previewed."""
    return format_html(
        '<meta property="og:site_name" content="{}">\n<meta property="og:type" content="{}">\n'
        '<meta property="og:title" content="{}">\n<meta property="og:description" content="{}">\n'
        '<meta property="og:url" content="{}">\n<meta property="og:locale" content="ko_KR">\n'
        '<meta name="twitter:card" content="summary">',
        data.library_name(),
        kind,
        title,
        " ".join(description.split())[: data.DESCRIPTION_LENGTH],
        url,
    )
