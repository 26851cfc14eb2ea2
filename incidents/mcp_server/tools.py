"""What the tools do, without the protocol: plain questions to the library, answered within their budgets.

Every failure that a caller can mend is a ToolFailure whose message says how: the nearest IDs, the slugs that there are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from html import unescape
from typing import Final

from django.db import DatabaseError
from django.http import QueryDict
from django.utils.html import strip_tags

from incidents.api.endpoints.vocabulary import vocabulary_terms
from incidents.api.reading import parse_instant
from incidents.api.representation import check_url, incident_url, instant
from incidents.catalogue import get_catalogue
from incidents.checks import evidence_of, find_check
from incidents.errors import UserError
from incidents.facets import FACETS_BY_NAME
from incidents.listing import build_listing
from incidents.listing_params import encode_query
from incidents.log_words import MAX_BYTES
from incidents.mcp_server.answers import (
    Change,
    ChangesAnswer,
    CheckAnswer,
    CheckIncident,
    FetchAnswer,
    RecordMetadata,
    SearchAnswer,
    SearchHit,
    SymptomAnswer,
    SymptomHit,
    VocabularyAnswer,
    VocabularyEntry,
)
from incidents.mcp_server.budget import FETCH_TOKENS, SEARCH_TOKENS, cost, tokens
from incidents.models import Check, Incident, VocabularyKind, format_public_id, parse_public_id
from incidents.pins import SECTION_FIELDS, parse_pin, statements_of
from incidents.record_data import public_text, record_data
from incidents.record_text import SECTION_LABELS
from incidents.search_misses import note_if_missed
from incidents.symptom_match import match_symptom as find_matches

MAX_HITS: Final = 20
MAX_CHANGES: Final = 50
SECTION_NAMES: Final = {anchor: SECTION_LABELS[field] for anchor, field in SECTION_FIELDS.items()}
# What is left out first where a record is longer than the budget.
DISPENSABLE: Final = ("follow-ups", "factors", "detection", "trigger", "actions", "lesson", "symptom", "cause")


class ToolFailure(Exception):
    """A failure that the caller can mend; the message says how."""


def search(
    query: str,
    component: Sequence[str] = (),
    cause: Sequence[str] = (),
    factor: Sequence[str] = (),
    year_from: int | None = None,
    year_to: int | None = None,
    page: int = 1,
    limit: int = 10,
) -> SearchAnswer:
    """Return the records that match every word and filter, best first."""
    pairs = [("q", query), ("page", str(page)), ("page_size", str(max(1, min(limit, MAX_HITS))))]
    for name, slugs in (("component", component), ("cause", cause), ("factor", factor)):
        pairs += [(name, _known_slug(name, slug)) for slug in slugs]
    pairs += [(name, str(year)) for name, year in (("year_from", year_from), ("year_to", year_to)) if year is not None]
    listing = build_listing(QueryDict(encode_query(pairs)))
    note_if_missed(listing)
    hits = [
        SearchHit(
            id=row.incident.public_id,
            title=row.incident.title,
            url=incident_url(row.incident.public_id),
            organization=row.incident.organization.name if row.incident.organization else "",
            year=row.incident.year,
        )
        for row in listing.rows
    ]
    answer = SearchAnswer(
        results=hits,
        count=listing.count,
        partial_count=listing.partial_count,
        searched=listing.interpretation.query if listing.interpretation.kind == "corrected" else "",
        next_page=listing.page + 1 if listing.page < listing.page_count else None,
    )
    while len(answer.results) > 1 and cost(answer) > SEARCH_TOKENS:
        answer.results.pop()
    left = SEARCH_TOKENS - cost(answer)
    for hit, row in zip(answer.results, listing.rows, strict=False):
        snippet = _plain(row.snippet.html) if row.snippet else ""
        if tokens(snippet) > left:
            break
        hit.snippet = snippet
        left -= tokens(snippet)
    return answer


def fetch(id: str, sections: Sequence[str] = ()) -> FetchAnswer:
    """Return one record with its statements numbered, whole or some sections of it."""
    incident = _find(id)
    record = record_data(incident)
    found = {name: statements_of(record, name) for name in SECTION_FIELDS}
    present = [name for name, statements in found.items() if statements]
    wanted = [_known_section(name) for name in sections] or list(present)
    kept = [name for name in present if name in wanted]
    omitted: list[str] = []
    metadata = RecordMetadata(
        status=incident.status,
        merged_into=incident.merged_into.public_id if incident.merged_into else None,
        status_reason=None if incident.is_published else incident.status_reason or None,
        version=incident.version,
        organization=record.organization,
        year=incident.year,
        started_at=incident.time_text("started"),
        resolved_at=incident.time_text("resolved"),
        duration_minutes=incident.duration_minutes,
        causes=list(record.causes),
        components=list(record.components),
        factors=list(record.factors),
        detection_method=record.detection_method or None,
        checks=sorted(citation.check_item.code for citation in incident.citations.all()),
        sources=[source.url for source in record.sources][:10],
        sections=present,
        updated_at=instant(incident.updated_at),
    )
    answer = FetchAnswer(
        id=incident.public_id, title=incident.title, text="", url=incident_url(incident.public_id), metadata=metadata
    )
    for name in (None, *DISPENSABLE):
        if name in kept:
            kept.remove(name)
            omitted.append(name)
        answer.text = _record_text(incident, kept, found)
        metadata.omitted_sections = sorted(omitted, key=list(SECTION_FIELDS).index)
        if cost(answer) <= FETCH_TOKENS or len(kept) == 1:
            break
    if cost(answer) > FETCH_TOKENS:
        answer.text = _cut(answer.text, FETCH_TOKENS - cost(answer) + tokens(answer.text))
    return answer


def match_symptom(text: str, limit: int = 5) -> SymptomAnswer:
    """Return the records that look like an error line, an alert or a log excerpt."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise ToolFailure(f"text is longer than {MAX_BYTES // 1024} kB: send the failing lines and those around them.")
    result = find_matches(text, max(1, min(limit, MAX_HITS)))
    answer = SymptomAnswer(
        results=[
            SymptomHit(
                id=match.incident.public_id,
                title=match.incident.title,
                url=f"{incident_url(match.incident.public_id)}#{match.anchor}",
                pin=match.pin,
                statement=match.statement[:400],
                noticed=match.detection[:200],
                first_action=match.first_action[:200],
                shared_words=list(match.words),
                score=match.score,
            )
            for match in result.matches
        ],
        words=list(result.words),
    )
    while len(answer.results) > 1 and cost(answer) > SEARCH_TOKENS:
        answer.results.pop()
    return answer


def incidents_for_check(code: str) -> CheckAnswer:
    """Return a check and the incidents that are the reason for it."""
    try:
        check = find_check(code)
    except UserError:
        codes = list(Check.objects.values_list("code", flat=True))
        near = get_close_matches(code.upper(), codes, n=3, cutoff=0.5) or codes[:3]
        raise ToolFailure(
            f"No check {code[:40]!r}. Nearest: {', '.join(near)}. Checks run from {codes[0]} to {codes[-1]}."
            if codes
            else "There are no checks."
        ) from None
    return CheckAnswer(
        code=check.code,
        title=check.title,
        url=check_url(check.code),
        severity=check.severity,
        components=[tag.term.slug for tag in check.component_tags.all()],
        risk=check.risk,
        look=check.look,
        criterion=check.criterion,
        incidents=[
            CheckIncident(
                id=citation.incident.public_id,
                title=citation.incident.title,
                url=incident_url(citation.incident.public_id),
                status=citation.incident.status,
                why=citation.why,
            )
            for citation in evidence_of(check)
        ],
    )


def list_vocabulary(kind: str) -> VocabularyAnswer:
    """Return the values of one vocabulary with the number of records."""
    kinds = [one.value for one in VocabularyKind]
    if kind not in kinds:
        raise ToolFailure(f"No vocabulary {kind[:40]!r}. There are: {', '.join(kinds)}.")
    terms = vocabulary_terms(VocabularyKind(kind))
    if kind == VocabularyKind.ORGANIZATION.value:
        terms = sorted(terms, key=lambda term: (-term.count, term.slug))[:100]
    return VocabularyAnswer(
        kind=kind, values=[VocabularyEntry(slug=term.slug, label=term.label, count=term.count) for term in terms]
    )


def changed_since(since: str, limit: int = 20) -> ChangesAnswer:
    """Return the public records that changed at or after a time, withdrawn and merged ones too, the latest first."""
    try:
        at = parse_instant(since.strip())
    except ValueError:
        raise ToolFailure(
            f"since is no date or time: {since[:40]!r}. Write 2026-11-29 or 2026-11-29T09:00:00Z."
        ) from None
    changed = Incident.objects.public().select_related("merged_into").filter(updated_at__gte=at)
    latest = changed.order_by("-updated_at", "-number")[: max(1, min(limit, MAX_CHANGES))]
    answer = ChangesAnswer(
        since=instant(at) or "",
        count=changed.count(),
        changes=[
            Change(
                id=incident.public_id,
                title=incident.title,
                url=incident_url(incident.public_id),
                status=incident.status,
                version=incident.version,
                changed_at=instant(incident.updated_at) or "",
                reason=_reason(incident),
                merged_into=incident.merged_into.public_id if incident.merged_into else None,
            )
            for incident in latest
        ],
    )
    while len(answer.changes) > 1 and cost(answer) > SEARCH_TOKENS:
        answer.changes.pop()
    return answer


def record_resource(public_id: str) -> str:
    """Return a record as its permanent address gives it in Markdown."""
    return public_text(_find(public_id))


def explain(error: Exception) -> str:
    """Return what a caller is told about an error: nothing of the machine, something to do."""
    if isinstance(error, ToolFailure):
        return str(error)
    if isinstance(error, UserError):
        details = "; ".join(f"{name}: {text}" for name, text in error.fields.items())
        return f"{error.message} ({details})" if details else error.message
    if isinstance(error, DatabaseError):
        return "The library's database isn't ready: run `manage.py migrate` and `manage.py import_library PATH`, then try again."
    return "The library could not answer because of a fault of its own; it was logged. Try again, or ask differently."


def _find(text: str) -> Incident:
    pin = parse_pin(text)
    number = parse_public_id(pin.id) if pin else None
    incident = Incident.objects.public().for_records().filter(number=number).first() if number is not None else None
    if incident is None:
        raise ToolFailure(
            f"No record {text[:40]!r}. Nearest IDs: {', '.join(_nearest(text, number))}. Use search to find records."
        )
    found: Incident = incident
    return found


def _nearest(text: str, number: int | None) -> list[str]:
    """Return three IDs that may be meant: those that look most alike, else those of the nearest numbers."""
    numbers = list(Incident.objects.public().order_by("number").values_list("number", flat=True))
    ids = [format_public_id(one) for one in numbers]
    asked = format_public_id(number) if number is not None else text.upper()[:40]
    near = get_close_matches(asked, ids, n=3, cutoff=0.6)
    if not near:
        digits = re.sub(r"\D", "", text)[:9]
        goal = number if number is not None else int(digits) if digits else 0
        near = [format_public_id(one) for one in sorted(numbers, key=lambda one: abs(one - goal))[:3]]
    return near or ["none yet"]


def _known_slug(facet: str, slug: str) -> str:
    vocabulary = get_catalogue().vocabularies[facet]
    value = vocabulary.find(slug.strip())
    if value is not None:
        return value.slug
    names = {
        name: one.slug for one in vocabulary.by_slug.values() for name in (one.slug, one.label, one.label_en) if name
    }
    near = list(dict.fromkeys(names[name] for name in get_close_matches(slug, names, n=5, cutoff=0.5)))
    kind = FACETS_BY_NAME[facet].kind
    allowed = f"Nearest: {', '.join(near)}. " if near else f"Some of them: {', '.join(list(vocabulary.by_slug)[:12])}. "
    raise ToolFailure(
        f"No {facet} {slug[:60]!r}. {allowed}list_vocabulary(kind={kind.value if kind else ''!r}) gives all."
    )


def _known_section(name: str) -> str:
    fields = {field: anchor for anchor, field in SECTION_FIELDS.items()}
    anchor = fields.get(name, name)
    if anchor not in SECTION_FIELDS:
        raise ToolFailure(f"No section {name[:40]!r}. Sections: {', '.join(SECTION_FIELDS)}.")
    return anchor


def _record_text(incident: Incident, sections: Sequence[str], found: dict[str, tuple[str, ...]]) -> str:
    lines = []
    if not incident.is_published:
        where = f" → {incident.merged_into.public_id}" if incident.merged_into else ""
        lines.append(f"[{incident.status}{where}] {incident.status_reason}".strip())
    for name in sections:
        lines.append(f"## {SECTION_NAMES[name]}")
        lines += [f"[{name}-{number}] {statement}" for number, statement in enumerate(found[name], start=1)]
    return "\n".join(lines)


def _cut(text: str, budget: int) -> str:
    """Return the text's beginning that the budget allows, cut at a line's end."""
    lines = text.split("\n")
    while len(lines) > 1 and tokens("\n".join(lines)) > budget - 20:
        lines.pop()
    kept = "\n".join(lines)
    while tokens(kept) > max(40, budget - 20):
        kept = kept[: len(kept) * 9 // 10]
    return f"{kept}\n[… cut to the budget]"


def _reason(incident: Incident) -> str:
    if not incident.is_published:
        return incident.status_reason[:200]
    last = incident.versions.order_by("-number").first()
    return last.reason[:200] if last else ""


def _plain(html: str) -> str:
    return unescape(strip_tags(html))
