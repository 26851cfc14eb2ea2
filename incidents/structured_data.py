"""JSON-LD (schema.org) of the pages, as plain dictionaries: what search engines and catalogues read. No HTML here."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from django.conf import settings

from incidents.markdown_html import plain_text
from incidents.models import Incident, VocabularyKind

CONTEXT: Final = "https://schema.org"
LICENSE_URL: Final = "https://creativecommons.org/licenses/by/4.0/"
NAME: Final = "사고 사례 라이브러리"
ABOUT: Final = "공개된 사고 보고서를 증상, 촉발, 원인, 기여 요인, 감지, 조치, 후속 조치, 교훈으로 나눠 적은 한국어 라이브러리"
SET_NAMES: Final = {kind: f"{NAME}: {kind.label}" for kind in VocabularyKind}

JsonLd = dict[str, Any]


def _url(path: str) -> str:
    return f"{settings.BASE_URL}{path}"


def _day(at: datetime | None) -> str | None:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at is not None else None


def _known(values: JsonLd) -> JsonLd:
    """Leave out what isn't known: an empty value would be a statement."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def publisher() -> JsonLd:
    return {"@type": "Organization", "name": NAME, "url": _url("/")}


def website() -> JsonLd:
    """Return the site with its search."""
    return {
        "@context": CONTEXT,
        "@type": "WebSite",
        "@id": _url("/#website"),
        "url": _url("/"),
        "name": NAME,
        "description": ABOUT,
        "inLanguage": "ko",
        "publisher": publisher(),
        "potentialAction": {
            "@type": "SearchAction",
            "target": {"@type": "EntryPoint", "urlTemplate": _url("/incidents/?q={search_term_string}")},
            "query-input": "required name=search_term_string",
        },
    }


def dataset(count: int, changed_at: datetime | None) -> JsonLd:
    """Return the library as a data set that can be taken away."""
    forms = (
        ("library.ndjson", "application/x-ndjson"),
        ("library.csv", "text/csv"),
        ("library.zip", "application/zip"),
        ("library.sqlite", "application/vnd.sqlite3"),
    )
    return _known(
        {
            "@context": CONTEXT,
            "@type": "Dataset",
            "@id": _url("/#dataset"),
            "name": NAME,
            "description": f"{ABOUT}. 기록 {count}건.",
            "url": _url("/"),
            "inLanguage": "ko",
            "license": LICENSE_URL,
            "isAccessibleForFree": True,
            "creator": publisher(),
            "dateModified": _day(changed_at),
            "distribution": [
                {"@type": "DataDownload", "encodingFormat": media_type, "contentUrl": _url(f"/api/v1/export/{name}")}
                for name, media_type in forms
            ],
        }
    )


def breadcrumbs(steps: Iterable[tuple[str, str]]) -> JsonLd:
    """Return the way to a page: (name, path) from the first page on."""
    return {
        "@context": CONTEXT,
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": place, "name": name, "item": _url(path)}
            for place, (name, path) in enumerate(steps, start=1)
        ],
    }


def term(one: Any, kind: VocabularyKind) -> JsonLd:
    """Return a vocabulary term as a `DefinedTerm` of its set."""
    return _known(
        {
            "@type": "DefinedTerm",
            "@id": _url(one.get_absolute_url()),
            "name": one.label,
            "termCode": one.slug,
            "description": getattr(one, "about", ""),
            "inDefinedTermSet": {"@type": "DefinedTermSet", "name": str(SET_NAMES[kind]), "url": _url(f"/{kind.value}/")},
        }
    )


def report(incident: Incident) -> JsonLd:
    """Return a record as a `Report` about its terms, based on its sources; it should come with `for_records()`."""
    url = _url(incident.get_absolute_url())
    tags = (
        (incident.cause_tags, VocabularyKind.CAUSE),
        (incident.component_tags, VocabularyKind.COMPONENT),
        (incident.factor_tags, VocabularyKind.FACTOR),
    )
    organization = incident.organization
    return _known(
        {
            "@context": CONTEXT,
            "@type": "Report",
            "@id": url,
            "url": url,
            "identifier": incident.public_id,
            "reportNumber": incident.public_id,
            "headline": incident.title,
            "name": incident.title,
            "abstract": " ".join(plain_text(incident.symptom).split()),
            "inLanguage": "ko",
            "version": str(incident.version),
            "datePublished": _day(incident.published_at),
            "dateModified": _day(incident.updated_at),
            "temporalCoverage": incident.time_text("started") or (str(incident.year) if incident.year else None),
            "license": LICENSE_URL,
            "publisher": publisher(),
            "isPartOf": {"@type": "Dataset", "@id": _url("/#dataset"), "name": NAME},
            "mentions": {"@type": "Organization", "name": organization.name} if organization else None,
            "about": [term(tag.term, kind) for manager, kind in tags for tag in manager.all()],
            "isBasedOn": [
                _known(
                    {
                        "@type": "CreativeWork",
                        "name": source.title,
                        "url": source.url,
                        "publisher": {"@type": "Organization", "name": source.publisher} if source.publisher else None,
                        "datePublished": source.published or None,
                        "archivedAt": source.archived_url or None,
                    }
                )
                for source in incident.sources.all()
            ],
            "encoding": [
                {"@type": "MediaObject", "encodingFormat": "text/markdown", "contentUrl": f"{url.rstrip('/')}.md"},
                {"@type": "MediaObject", "encodingFormat": "application/json", "contentUrl": f"{url.rstrip('/')}.json"},
            ],
        }
    )


def collection(name: str, path: str, count: int, records: Iterable[Incident], about: JsonLd | None = None) -> JsonLd:
    """Return a page that lists records: how many there are, and those that it shows."""
    return _known(
        {
            "@context": CONTEXT,
            "@type": "CollectionPage",
            "@id": _url(path),
            "url": _url(path),
            "name": name,
            "inLanguage": "ko",
            "isPartOf": {"@type": "WebSite", "@id": _url("/#website")},
            "about": about,
            "mainEntity": {
                "@type": "ItemList",
                "numberOfItems": count,
                "itemListElement": [
                    {
                        "@type": "ListItem",
                        "position": place,
                        "name": incident.title,
                        "url": _url(incident.get_absolute_url()),
                    }
                    for place, incident in enumerate(records, start=1)
                ],
            },
        }
    )
