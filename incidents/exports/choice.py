"""Which records an export holds, and what it says about itself: filter, total, time, licence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from django.conf import settings
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

from incidents.api.reading import read_since, read_states
from incidents.api.record_listing import updated_since
from incidents.listing import build_listing
from incidents.models import Incident, LibraryState

BATCH: Final = 200  # records in memory at a time
LICENSE: Final = "CC-BY-4.0"
LICENSE_URL: Final = "https://creativecommons.org/licenses/by/4.0/"
SCHEMA_VERSION: Final = 1  # of every export's columns and fields; grows by additions alone
EXTRA: Final = frozenset({"include", "updated_since"})
NOT_CHOOSING: Final = ("page", "page_size", "view", "group", "sort", "cursor", "fields", "exclude", "html")


@dataclass(frozen=True)
class ExportChoice:
    """The primary keys to write, in order, and what they are: `query` as an address says it, `changed_at` the library's."""

    pks: Sequence[int]
    query: str
    states: frozenset[str]
    revision: int
    changed_at: datetime | None

    @property
    def total(self) -> int:
        return len(self.pks)

    def incidents(self) -> Iterator[Incident]:
        """Yield the records whole, in batches, so that memory stays small.

        A record that is withdrawn while the export runs is written as what it is then: the total stays true.
        """
        keys = iter(self.pks)
        while batch := list(islice(keys, BATCH)):
            found = Incident.objects.public().for_records().filter(pk__in=batch)
            by_pk = {incident.pk: incident for incident in found}
            yield from (by_pk[pk] for pk in batch if pk in by_pk)


def read_choice(data: MultiValueDict[str, str]) -> ExportChoice:
    """Return what the parameters choose, by ascending number, or by relevance where words were searched.

    Only full matches are exported. Raises BadParameter as the listing does, also for parameters that choose nothing.
    """
    listed = QueryDict(mutable=True)
    for name in data:
        listed.setlist(name, data.getlist(name))
    since, states = read_since(listed), read_states(listed)
    if not (listed.get("q") or "").strip():
        listed["sort"] = "id"
    listed["page_size"] = "100"
    revision = LibraryState.objects.current_revision()
    changed_at = LibraryState.objects.changed_at()
    listing = build_listing(listed, extra=EXTRA, narrow=updated_since(since) if since is not None else None)
    pks = listing.all_pks()
    if states:
        # Withdrawn and merged records stand in no facet and no index; they come whole, or since the time asked for.
        hidden = Incident.objects.filter(status__in=states).order_by("number")
        if since is not None:
            hidden = hidden.filter(updated_at__gte=since)
        pks = _by_number([*pks, *hidden.values_list("pk", flat=True)])
    query = listing.params.changed(sort="id", page_size=20, view="list", group="").query(
        sort=listing.params.default_sort
    )
    pairs = [query] if query else []
    if since is not None:
        pairs.append(f"updated_since={since.strftime('%Y-%m-%dT%H:%M:%SZ')}")
    if states:
        pairs.append(f"include={','.join(sorted(states))}")
    return ExportChoice(pks, "&".join(pairs), states, revision, changed_at)


def manifest(choice: ExportChoice) -> dict[str, object]:
    """Return what an export says about itself, as plain values."""
    return {
        "library": settings.BASE_URL,
        "schema_version": SCHEMA_VERSION,
        "filter": choice.query,
        "states": ["published", *sorted(choice.states)],
        "total": choice.total,
        "revision": choice.revision,
        "updated_at": choice.changed_at.strftime("%Y-%m-%dT%H:%M:%SZ") if choice.changed_at else None,
        "license": LICENSE,
        "license_url": LICENSE_URL,
    }


def manifest_lines(choice: ExportChoice) -> list[str]:
    """Return the same as lines of Markdown."""
    return ["# 사고 사례 라이브러리", "", *(f"- {name}: {value}" for name, value in manifest(choice).items())]


def _by_number(pks: Sequence[int]) -> list[int]:
    wanted = set(pks)
    ordered = Incident.objects.order_by("number").values_list("pk", flat=True).iterator(chunk_size=5000)
    return [pk for pk in ordered if pk in wanted]
