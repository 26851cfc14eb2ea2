"""The permanent addresses of the library with the time of their last change, as sitemaps (sitemaps.org 0.9)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote
from xml.sax.saxutils import escape

from django.conf import settings
from django.db.models import Max

from incidents.facets import FACETS_BY_KIND
from incidents.models import TERM_MODELS, Check, Incident, LibraryState, Organization, Status, VocabularyKind

PART: Final = 40_000  # addresses a file; the protocol allows 50,000 and 50 MB
NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
PAGES: Final = (
    "/",
    "/incidents/",
    "/years/",
    "/checks/",
    "/checks/table/",
    "/stats/",
    "/feeds/",
    "/about/",
    "/api/v1/docs/",
)


def sitemap_parts() -> int:
    """Return how many files the addresses need, at least 1."""
    return max(1, -(-sum(1 for _ in addresses()) // PART))


def sitemap_index(parts: int) -> str:
    """Return the index of the files."""
    changed = _time(LibraryState.objects.changed_at())
    entries = "".join(
        f"<sitemap><loc>{escape(settings.BASE_URL)}/sitemap-{part}.xml</loc>{changed}</sitemap>\n"
        for part in range(1, parts + 1)
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{NAMESPACE}">\n{entries}</sitemapindex>\n'


def sitemap_part(part: int) -> str:
    """Return one file, counted from 1."""
    lines = []
    for place, (path, changed_at) in enumerate(addresses()):
        if (part - 1) * PART <= place < part * PART:
            lines.append(f"<url><loc>{escape(settings.BASE_URL + quote(path))}</loc>{_time(changed_at)}</url>\n")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{NAMESPACE}">\n{"".join(lines)}</urlset>\n'


def addresses() -> Iterator[tuple[str, datetime | None]]:
    """Yield (path, last change): the pages, the vocabulary with records, years, checks, then every published record."""
    changed_at = LibraryState.objects.changed_at()
    for path in PAGES:
        yield path, changed_at
    published = Incident.objects.filter(status=Status.PUBLISHED)
    for kind in VocabularyKind:
        yield f"/{kind.value}/", changed_at
        column = FACETS_BY_KIND[kind].column
        latest = dict(published.exclude(**{column: None}).order_by().values_list(column).annotate(Max("updated_at")))
        terms: Any = Organization if kind == VocabularyKind.ORGANIZATION else TERM_MODELS[kind]
        for pk, slug in terms.objects.order_by("slug").values_list("pk", "slug"):
            if pk in latest:
                yield f"/{kind.value}/{slug}/", latest[pk]
    years = published.order_by("year").values_list("year").annotate(Max("updated_at"))
    for year, latest_in_year in years:
        yield f"/years/{year}/", latest_in_year
    for code in Check.objects.order_by("code").values_list("code", flat=True):
        yield f"/checks/{code}/", changed_at
    rows = published.order_by("number").values_list("number", "updated_at").iterator(chunk_size=5000)
    for number, updated_at in rows:
        yield f"/incidents/IL-{number:04d}/", updated_at


def _time(at: datetime | None) -> str:
    return f"<lastmod>{at.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%SZ')}</lastmod>" if at else ""
