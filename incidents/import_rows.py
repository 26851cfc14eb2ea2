"""What an import's parts have in common: its report, what differs between files and tables, rows in bulk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, TypeVar

from django.db import connection
from django.db.models import Model

from incidents.checks_file import CheckData, canonical_check
from incidents.models import TERM_MODELS, Check, Incident, parse_public_id
from incidents.record_data import with_record_parts
from incidents.records import RecordData
from incidents.taxonomy_file import TaxonomyData, canonical_term
from incidents.vocabulary_data import KINDS, check_data, term_data

BATCH: Final = 500

_Given = TypeVar("_Given")


@dataclass
class ImportReport:
    """What an import does, or would do: IDs by what happens to them; terms and checks as counts."""

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    taken_back: list[str] = field(default_factory=list)  # those of `changed` that leave the listing
    overwritten: list[str] = field(default_factory=list)  # those of `changed` that were published
    terms_changed: int = 0
    checks_changed: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.created or self.changed or self.terms_changed or self.checks_changed)


def batches(records: Iterable[_Given]) -> Iterator[list[_Given]]:
    """Yield BATCH of them at a time."""
    iterator = iter(records)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def number_of(public_id: str) -> int:
    """Return the number of an ID that was checked."""
    number = parse_public_id(public_id)
    if number is None:
        raise ValueError(f"{public_id} is no ID, though the file's check let it through")
    return number


def existing(batch: Iterable[RecordData]) -> dict[str, Incident]:
    """Return {ID: its incident with all parts} of those records that have a row."""
    numbers = [number_of(record.id) for record in batch]
    return {i.public_id: i for i in with_record_parts(Incident.objects.filter(number__in=numbers))}


def changed_terms(taxonomy: TaxonomyData | None) -> list[tuple[str, int, Any]]:
    """Return (vocabulary, position, TermData) of every term that is new or differs."""
    if taxonomy is None:
        return []
    changed = []
    for name, terms in taxonomy.vocabularies():
        known = {term.slug: term for term in TERM_MODELS[KINDS[name]].objects.all()}  # type: ignore[attr-defined]
        for position, term in enumerate(terms):
            row = known.get(term.slug)
            if row is None or row.position != position or canonical_term(term_data(row)) != term:
                changed.append((name, position, term))
    return changed


def changed_checks(checks: tuple[CheckData, ...] | None) -> list[tuple[int, CheckData]]:
    """Return (position, CheckData) of every check that is new or differs."""
    if checks is None:
        return []
    known = {
        check.code: check
        for check in Check.objects.prefetch_related("component_tags__term", "factor_tags__term", "citations__incident")
    }
    return [
        (position, check)
        for position, check in enumerate(checks)
        if check.code not in known
        or known[check.code].position != position
        or canonical_check(check_data(known[check.code])) != check
    ]


def insert_rows(model: type[Model], columns: Sequence[str], rows: Sequence[Sequence[int | str]]) -> None:
    """Insert rows of numbers and texts into a model's table, which has no other columns than a key of its own.

    Most of an import's rows are tags, three numbers each: making an object of each took longer than writing it.
    """
    if not rows:
        return
    quote = connection.ops.quote_name
    names = ", ".join(map(quote, columns))
    marks = ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks})", rows)  # noqa: S608  # names of ours
