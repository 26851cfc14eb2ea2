"""Records that may tell of the same incident as the one being written: the same source, or much the same text."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db.models import Q

from incidents.errors import UserError
from incidents.indexing import fresh_backend
from incidents.markdown_html import plain_text
from incidents.models import Incident, Source
from incidents.records import RecordData
from incidents.search import parse_query
from incidents.source_urls import canonical_url, search_piece

logger = logging.getLogger(__name__)

CANDIDATES: Final = 20  # of the best partial matches of the title
# Share of common trigrams of the shorter text. Of all pairs of the 400 bundled records the highest has 0.234.
SIMILAR: Final = 0.35
SAME_TIME: Final = timedelta(hours=3)
MAX_ROWS: Final = 500


@dataclass(frozen=True)
class Double:
    """A record that may be the same, with the reason in Korean. `is_certain` where both name the same report."""

    incident: Incident
    reason: str
    is_certain: bool


def find_doubles(record: RecordData, *, exclude: int | None = None) -> tuple[Double, ...]:
    """Return records like this one, drafts too, the certain ones first; at most ten.

    `exclude` is the primary key of the record itself. A search that can't answer just now costs the guesses, not the
    certain ones.
    """
    found: dict[int, Double] = {}
    for double in (*_same_sources(record), *_same_time(record), *_similar_texts(record)):
        if double.incident.pk != exclude:
            found.setdefault(double.incident.pk, double)
    return tuple(found.values())[:10]


def records_with_source(url: str) -> tuple[Incident, ...]:
    """Return the records that rest on this address, however either is written."""
    wanted = canonical_url(url)
    if not wanted:
        return ()
    piece = search_piece(wanted)
    rows = Source.objects.filter(Q(url__icontains=piece) | Q(archived_url__icontains=piece)).select_related("incident")
    return tuple(
        {
            row.incident.pk: row.incident
            for row in rows.order_by("incident_id")[:MAX_ROWS]
            if wanted in (canonical_url(row.url), canonical_url(row.archived_url))
        }.values()
    )


def _same_sources(record: RecordData) -> Iterable[Double]:
    for source in record.sources:
        for incident in records_with_source(source.url):
            yield Double(incident, f"같은 출처: {source.url}", is_certain=True)


def _same_time(record: RecordData) -> Iterable[Double]:
    if record.started_at is None or record.started_at.precision != "minute" or not record.organization:
        return
    at = record.started_at.value
    near = Incident.objects.filter(
        organization__name__iexact=record.organization,
        started_precision="minute",
        started_at__range=(at - SAME_TIME, at + SAME_TIME),
    )
    for incident in near[:5]:
        yield Double(incident, "같은 조직에서 같은 때에 시작했습니다.", is_certain=False)


def _similar_texts(record: RecordData) -> Iterable[Double]:
    ours = _trigrams(record.title, record.symptom, record.cause)
    if len(ours) < 30 or not record.title:
        return
    try:
        result = fresh_backend().search(parse_query(record.title))
        pks = [*result.full[:CANDIDATES].tolist(), *result.partial[:CANDIDATES].tolist()]
    except UserError as error:
        logger.info("no search for similar records: %s", error)
        pks = []
    nearby = Incident.objects.filter(organization__name__iexact=record.organization, year=record.year)
    candidates = {one.pk: one for one in Incident.objects.filter(pk__in=pks)}
    if record.organization:
        candidates |= {one.pk: one for one in nearby[:CANDIDATES]}
    scored = []
    for incident in candidates.values():
        theirs = _trigrams(incident.title, incident.symptom, incident.cause)
        share = len(ours & theirs) / (min(len(ours), len(theirs)) or 1)
        if share >= SIMILAR:
            scored.append((share, incident))
    for share, incident in sorted(scored, key=lambda pair: pair[0], reverse=True):
        yield Double(incident, f"글이 {share:.0%} 겹칩니다.", is_certain=False)


def _trigrams(*texts: str) -> set[str]:
    letters = re.sub(r"\W+", "", unicodedata.normalize("NFKC", " ".join(map(plain_text, texts))).casefold())
    return {letters[index : index + 3] for index in range(len(letters) - 2)}
