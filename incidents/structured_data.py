"""What a page says to machines that read pages: schema.org as JSON-LD. Pure dictionaries.

A record is a `Report` about `DefinedTerm`s of the library's vocabularies; a list is a `CollectionPage`; the whole
library is a `Dataset` on a `WebSite` that can be searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

from incidents.markdown_html import plain_text

Json = dict[str, Any]

CONTEXT = "https://schema.org"
DESCRIPTION_LENGTH = 300


def library_name() -> str:
    """Return the library's name in the interface's language."""
    return gettext("사고 사례 라이브러리")


def website(base_url: str) -> Json:
    """Return the site with its search."""
    return {
        "@context": CONTEXT,
        "@type": "WebSite",
        "@id": f"{base_url}/#website",
        "url": f"{base_url}/",
        "name": library_name(),
        "inLanguage": "ko",
        "potentialAction": {
            "@type": "SearchAction",
            "target": {"@type": "EntryPoint", "urlTemplate": f"{base_url}/incidents/?q={{search_term_string}}"},
            "query-input": "required name=search_term_string",
        },
    }


def dataset(base_url: str, count: int) -> Json:
    """Return the library as data that can be taken away."""
    return {
        "@context": CONTEXT,
        "@type": "Dataset",
        "@id": f"{base_url}/#dataset",
        "url": f"{base_url}/",
        "name": library_name(),
        "description": gettext("공개된 사고 보고서 %(count)s건을 증상, 원인, 감지, 조치로 나눠 적은 한국어 기록")
        % {"count": count},
        "inLanguage": "ko",
        "isAccessibleForFree": True,
        "creator": {"@type": "Organization", "name": library_name(), "url": f"{base_url}/"},
        "distribution": [
            {
                "@type": "DataDownload",
                "encodingFormat": kind,
                "contentUrl": f"{base_url}/api/v1/export/library.{extension}",
            }
            for extension, kind in (("ndjson", "application/x-ndjson"), ("csv", "text/csv"))
        ],
    }


def breadcrumbs(trail: Sequence[tuple[str, str]]) -> Json:
    """Return the way to a page: (name, absolute address) from the first page on."""
    return {
        "@context": CONTEXT,
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": place, "name": name, "item": address}
            for place, (name, address) in enumerate(trail, start=1)
        ],
    }


def collection(base_url: str, url: str, name: str, entries: Sequence[tuple[str, str]], total: int) -> Json:
    """Return a list of records; `entries` are (title, path) of those on the page, `total` is the whole list's number."""
    return {
        "@context": CONTEXT,
        "@type": "CollectionPage",
        "url": url,
        "name": name,
        "inLanguage": "ko",
        "isPartOf": {"@id": f"{base_url}/#website"},
        "mainEntity": {
            "@type": "ItemList",
            "numberOfItems": total,
            "itemListElement": [
                {
                    "@type": "ListItem",
                    "position": place,
                    "name": title,
                    "url": base_url + path,
                }
                for place, (title, path) in enumerate(entries, start=1)
            ],
        },
    }


def report(base_url: str, incident: Any) -> Json:
    """Return a record as a report that rests on others. `incident` needs its tags and sources prefetched."""
    url = base_url + incident.get_absolute_url()
    terms = [
        ("causes", gettext("원인"), incident.cause_tags),
        ("components", gettext("구성 요소"), incident.component_tags),
        ("factors", gettext("기여 요인"), incident.factor_tags),
    ]
    found: Json = {
        "@context": CONTEXT,
        "@type": "Report",
        "@id": url,
        "url": url,
        "identifier": incident.public_id,
        "reportNumber": incident.public_id,
        "version": str(incident.version),
        "headline": incident.title[:110],
        "name": incident.title,
        "description": description_of(incident),
        "inLanguage": "ko",
        "isAccessibleForFree": True,
        "isPartOf": {"@id": f"{base_url}/#dataset"},
        "publisher": {"@type": "Organization", "name": library_name(), "url": f"{base_url}/"},
        "about": [
            {
                "@type": "DefinedTerm",
                "name": tag.term.label,
                "termCode": tag.term.slug,
                "url": base_url + tag.term.get_absolute_url(),
                "inDefinedTermSet": {"@type": "DefinedTermSet", "name": set_name, "url": f"{base_url}/{kind}/"},
            }
            for kind, set_name, tags in terms
            for tag in tags.all()
        ],
        "isBasedOn": [
            {"@type": "CreativeWork", "name": source.title, "url": source.url}
            | ({"publisher": {"@type": "Organization", "name": source.publisher}} if source.publisher else {})
            | ({"datePublished": source.published} if source.published else {})
            for source in incident.sources.all()
        ],
    }
    if incident.organization:
        found["mentions"] = [{"@type": "Organization", "name": incident.organization.name}]
    if incident.published_at:
        found["datePublished"] = incident.published_at.isoformat()
    if incident.updated_at:
        found["dateModified"] = incident.updated_at.isoformat()
    return found


def description_of(incident: Any) -> str:
    """Return the beginning of the symptom in plain words."""
    words = " ".join(plain_text(incident.symptom).split())
    return words if len(words) <= DESCRIPTION_LENGTH else words[: DESCRIPTION_LENGTH - 1].rstrip() + "…"
