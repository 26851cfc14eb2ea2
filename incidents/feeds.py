"""What feeds hold: new or changed records of the library, of any listing, or of a set of IDs.

A feed of new records has an entry a record, by the time of its first publication; a feed of changes has an entry a
version and a change of state, so that a reader who follows it learns of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Final

import numpy as np
from django.conf import settings
from django.utils.datastructures import MultiValueDict
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from incidents.errors import BadParameter, NotFound
from incidents.listing import Listing, build_listing
from incidents.markdown_html import render_item, render_text
from incidents.models import Incident, LibraryState, Status, format_public_id, parse_public_id
from incidents.querysets import IncidentQuerySet

ENTRIES: Final = 50
MAX_IDS: Final = 200
STATE_WORDS: Final = {Status.WITHDRAWN.value: "철회", Status.MERGED.value: "병합"}


class FeedKind(StrEnum):
    """Which records come first: those published last, or those changed last."""

    NEW = "new"
    CHANGED = "changed"


@dataclass(frozen=True)
class FeedEntry:
    """An entry: `id` is its IRI, never given to another. `content` is HTML, `categories` are (term, label)."""

    id: str
    title: str
    url: str
    published_at: datetime
    updated_at: datetime
    author: str
    summary: str
    content: SafeString
    categories: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Feed:
    """A feed: `url` is its own address, `page_url` the page that shows the same records."""

    title: str
    subtitle: str
    url: str
    page_url: str
    updated_at: datetime | None
    entries: tuple[FeedEntry, ...]


def listing_feed(data: MultiValueDict[str, str], kind: FeedKind, path: str) -> Feed:
    """Return the feed of a listing's full matches. Raises as build_listing does."""
    listed = data.copy()
    for name in ("page", "page_size", "sort", "view", "group"):
        listed.pop(name, None)
    listing = build_listing(listed)
    incidents = _latest_of(listing, kind)
    query = listing.choices_query
    words = ", ".join(chip.value for chip in listing.chips)
    return _feed(words, kind, _address(path, query), _address("/incidents/", query), incidents)


def citation_feed(asked: Sequence[str], path: str, query: str) -> Feed:
    """Return the feed of changes of the records of some IDs, withdrawn and merged ones too.

    Raises BadParameter for too many IDs, NotFound for those that no record ever had: they can't come to be wrong later.
    """
    asked = [text for text in asked if text.strip()]
    if len(asked) > MAX_IDS:
        message = f"번호는 {MAX_IDS}개까지 적을 수 있습니다: {len(asked)}개. 나누어 적으십시오."
        raise BadParameter(message, fields={"id": message}, names_nothing=False)
    numbers = {parse_public_id(text): text for text in asked}
    known = Incident.objects.public().filter(number__in=[n for n in numbers if n is not None])
    found = set(known.values_list("number", flat=True))
    if unknown := [text for number, text in numbers.items() if number not in found]:
        message = f"알 수 없는 번호입니다: {', '.join(unknown)[:200]}. 번호를 고치거나 빼십시오."
        raise NotFound(message, fields={"id": message})
    words = ", ".join(format_public_id(number) for number in sorted(found))
    return _feed(
        words,
        FeedKind.CHANGED,
        _address(path, query),
        settings.BASE_URL + "/incidents/",
        _latest(known, FeedKind.CHANGED),
    )


def _latest_of(listing: Listing, kind: FeedKind) -> list[Incident]:
    """Return the listing's newest or last changed records, reading whole rows of these alone."""
    published = Incident.objects.published()
    if not listing.params.has_choices:
        return _latest(published, kind)
    if kind == FeedKind.NEW:
        published_at = listing.catalogue.keys.published
        rows = listing.catalogue.rows_of(listing.all_pks())
        newest = rows[np.lexsort((-listing.catalogue.keys.numbers[rows], -published_at[rows]))][:ENTRIES]
        return _latest(published.filter(pk__in=listing.selection.pks(newest)), kind)
    wanted = set(listing.all_pks())
    latest = published.order_by("-updated_at", "-number").values_list("pk", flat=True).iterator(chunk_size=1000)
    return _latest(published.filter(pk__in=list(islice((pk for pk in latest if pk in wanted), ENTRIES))), kind)


def _latest(incidents: IncidentQuerySet, kind: FeedKind) -> list[Incident]:
    order = "published_at" if kind == FeedKind.NEW else "updated_at"
    return list(incidents.for_records().order_by(f"-{order}", "-number")[:ENTRIES])


def _address(path: str, query: str) -> str:
    return f"{settings.BASE_URL}{path}{f'?{query}' if query else ''}"


def _feed(words: str, kind: FeedKind, url: str, page_url: str, incidents: list[Incident]) -> Feed:
    what = "새 기록" if kind == FeedKind.NEW else "바뀐 기록"
    entries = tuple(_entry(incident, kind) for incident in incidents)
    return Feed(
        title=f"사고 사례 라이브러리: {words or '모두'}, {what}",
        subtitle="공개된 사고 보고서를 증상, 원인, 감지, 조치로 나눠 적은 한국어 라이브러리",
        url=url,
        page_url=page_url,
        updated_at=max((entry.updated_at for entry in entries), default=LibraryState.objects.changed_at()),
        entries=entries,
    )


def _entry(incident: Incident, kind: FeedKind) -> FeedEntry:
    url = settings.BASE_URL + incident.get_absolute_url()
    published_at = incident.published_at or incident.created_at
    updated_at = incident.updated_at or published_at
    state = STATE_WORDS.get(incident.status, "")
    version = f"@{incident.version}{f'-{incident.status}' if state else ''}"
    prefix = f"[{state}] " if state else ""
    return FeedEntry(
        id=url if kind == FeedKind.NEW else f"{url}#{incident.public_id}{version}",
        title=f"{prefix}{incident.public_id} {incident.title}",
        url=url,
        published_at=published_at,
        updated_at=published_at if kind == FeedKind.NEW else updated_at,
        author=incident.organization.name if incident.organization else "",
        summary=incident.title,
        content=_content(incident, state),
        categories=tuple(
            (tag.term.slug, tag.term.label)
            for tags in (incident.cause_tags, incident.component_tags, incident.factor_tags)
            for tag in tags.all()
        ),
    )


def _content(incident: Incident, state: str) -> SafeString:
    parts = []
    if state:
        where = f" → {incident.merged_into.public_id}" if incident.merged_into else ""
        parts.append(format_html("<p><strong>{}된 기록입니다{}.</strong> {}</p>", state, where, incident.status_reason))
    parts.append(format_html("<h3>증상</h3>{}", render_text(incident.symptom)))
    if incident.actions:
        items = format_html_join("", "<li>{}</li>", ((render_item(item),) for item in incident.actions))
        parts.append(format_html("<h3>조치</h3><ul>{}</ul>", items))
    parts.append(format_html("<h3>교훈</h3>{}", render_text(incident.lesson)))
    return mark_safe("".join(parts))  # each part was made by format_html
