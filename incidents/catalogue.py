"""The catalogue: every published incident's facets and sort keys in memory, one snapshot per library revision.

Counting eighty facet values over a hundred thousand records is a few additions over integer arrays, where SQL needs
a join for each facet. The database stays the truth: each request compares the library's revision with the snapshot's
and brings in just the records that changed since. Memory is some 120 bytes a record: numbers are kept as narrow as they are.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any, Self

import numpy as np
from django.db import router
from django.db.models import QuerySet
from numpy.typing import NDArray

from incidents.facets import FACETS, Facet
from incidents.models import (
    TERM_MODELS,
    Check,
    Incident,
    LibraryState,
    Organization,
    Precision,
    SlugRedirect,
    Status,
    VocabularyKind,
    is_followed_by,
)
from incidents.term_labels import term_label

IntArray = NDArray[np.signedinteger[Any]]
BoolArray = NDArray[np.bool_]

UNKNOWN_DURATION = -1
CHUNK = 1_000  # rows read at once
SORTS = ("newest", "oldest", "added", "id")


@dataclass(frozen=True)
class Value:
    """A value of a facet: what the parameter says, what a reader sees, and under which heading it stands."""

    pk: int
    slug: str
    label: str
    label_en: str
    group: str
    position: int


@dataclass(frozen=True)
class Vocabulary:
    """The values of one facet by primary key and by slug; `redirects` lead from former slugs to today's."""

    by_pk: Mapping[int, Value]
    by_slug: Mapping[str, Value]
    redirects: Mapping[str, str]

    @cached_property
    def ranks(self) -> dict[int, int]:
        """{primary key: place} in the vocabulary's own order, by which values with equal counts stand."""
        ordered = sorted(self.by_pk.values(), key=lambda value: (value.position, value.label))
        return {value.pk: place for place, value in enumerate(ordered)}

    def labels(self, language: str | None) -> Mapping[int, str]:
        """Return {primary key: name} in a language. Kept: a page asks for hundreds."""
        if language not in self._labels:
            self._labels[language] = {
                pk: term_label(value.label, value.label_en, value.slug, language) for pk, value in self.by_pk.items()
            }
        return self._labels[language]

    @cached_property
    def _labels(self) -> dict[str | None, dict[int, str]]:
        return {}

    def find(self, slug: str) -> Value | None:
        """Return the value of a slug, a former slug or a slug in another case; None where there is none."""
        for candidate in (slug, slug.lower(), slug.upper()):
            candidate = self.redirects.get(candidate, candidate)
            if candidate in self.by_slug:
                return self.by_slug[candidate]
        return None


@dataclass(frozen=True)
class Column:
    """Which rows have which term: parallel arrays of row numbers and term keys, sorted by row, in the record's order.

    A record has some ten of them, each in 6 bytes.
    """

    rows: IntArray
    terms: IntArray

    @classmethod
    def of(cls, rows: IntArray, terms: IntArray) -> Column:
        """Return the column of wider numbers."""
        return cls(_narrow(rows, np.int32), _narrow(terms, np.int16, np.int32))

    def mask(self, size: int, pks: Collection[int]) -> BoolArray:
        """Return which of `size` rows have any of the terms."""
        mask = np.zeros(size, dtype=np.bool_)
        mask[self.rows[np.isin(self.terms, np.fromiter(pks, np.int64, len(pks)))]] = True
        return mask

    def count(self, mask: BoolArray) -> dict[int, int]:
        """Return {term: rows under the mask}; a term of no row is left out."""
        return _tally(self.terms.compress(mask.take(self.rows)))  # half the time of square brackets

    def pairs(self, other: Column, mask: BoolArray) -> dict[tuple[int, int], int]:
        """Return {(term here, term there): rows under the mask that have both}."""
        ours = self._kept(mask)
        theirs = other._kept(mask)
        starts = np.searchsorted(theirs.rows, ours.rows, side="left")
        lengths = np.searchsorted(theirs.rows, ours.rows, side="right") - starts
        left = np.repeat(ours.terms, lengths)
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        right = theirs.terms[np.repeat(starts, lengths) + offsets]
        pairs, counts = np.unique(np.stack([left, right], axis=1), axis=0, return_counts=True)
        return {(int(a), int(b)): int(n) for (a, b), n in zip(pairs, counts, strict=True)}

    def first(self, size: int) -> IntArray:
        """Return each row's main term, 0 where it has none. Not to be written to: it is kept."""
        if size not in self._firsts:
            first = np.zeros(size, dtype=self.terms.dtype)
            first[self.rows[::-1]] = self.terms[::-1]
            self._firsts[size] = first
        return self._firsts[size]

    @cached_property
    def _firsts(self) -> dict[int, IntArray]:
        return {}

    def terms_of(self, row: int) -> list[int]:
        """Return one row's terms in the record's order."""
        start, end = np.searchsorted(self.rows, (row, row + 1))
        terms: list[int] = self.terms[start:end].tolist()
        return terms

    def _kept(self, mask: BoolArray) -> Column:
        kept = mask[self.rows]
        return Column(self.rows[kept], self.terms[kept])

    def replaced(self, renumber: IntArray, entries: Column) -> Column:
        """Return the column after rows moved to `renumber[row]` (-1: gone) and new entries came in."""
        moved = renumber[self.rows]
        kept = moved >= 0
        all_rows = np.concatenate([moved[kept], entries.rows])
        order = np.argsort(all_rows, kind="stable")
        return Column.of(all_rows[order], np.concatenate([self.terms[kept], entries.terms])[order])


@dataclass(frozen=True)
class Keys:
    """One entry per published incident, sorted by public number; all arrays have the same length, of 4 bytes or 8."""

    pks: IntArray
    numbers: IntArray
    years: IntArray
    happened: IntArray  # proleptic ordinal of the start day, or of the year's first day, for sorting only
    published: IntArray  # microseconds since the epoch
    durations: IntArray  # minutes; UNKNOWN_DURATION where an end isn't known to the minute
    minutes_to_detect: IntArray
    revisions: IntArray  # of each record's last public change

    def __len__(self) -> int:
        return len(self.pks)

    def take(self, order: IntArray) -> Keys:
        return Keys(*(getattr(self, name)[order] for name in self.__dataclass_fields__))

    @classmethod
    def of(cls, columns: Iterable[IntArray]) -> Keys:
        """Return the keys of wider numbers, in the order of the fields."""
        return cls(*(_narrow(column, np.int32) for column in columns))

    def joined(self, other: Keys) -> Keys:
        return Keys(*(np.concatenate([getattr(self, n), getattr(other, n)]) for n in self.__dataclass_fields__))


class Catalogue:
    """A snapshot of the published library at one revision. Never changed after it is built."""

    def __init__(
        self, revision: int, keys: Keys, columns: Mapping[str, Column], vocabularies: Mapping[str, Vocabulary]
    ) -> None:
        self.revision = revision
        self.keys = keys
        self.columns = columns
        self.vocabularies = vocabularies
        self._orders: dict[str, IntArray] = {}
        # Direct, as a search may find every record: 4 bytes for each key ever given, a fifth of a binary search's time.
        self._row_by_pk = np.full(int(keys.pks.max()) + 1 if len(keys) else 0, -1, dtype=np.int32)
        self._row_by_pk[keys.pks] = np.arange(len(keys), dtype=np.int32)

    def __len__(self) -> int:
        return len(self.keys)

    def everything(self) -> Selection:
        """Return the selection of all published incidents."""
        return Selection(self, {})

    def rows_of(self, pks: Sequence[int] | IntArray) -> IntArray:
        """Return the rows of primary keys, in their order; keys that are not published are left out."""
        wanted = np.asarray(pks, dtype=np.int64)
        if not len(self) or not len(wanted):
            return np.empty(0, dtype=np.int64)
        wanted = wanted[(wanted >= 0) & (wanted < len(self._row_by_pk))]
        rows = self._row_by_pk[wanted].astype(np.int64)
        return rows[rows >= 0]

    def order(self, sort: str) -> IntArray:
        """Return all rows in the order of `sort`, one of SORTS. Ties go to the higher number, so paging is stable."""
        if sort not in self._orders:
            keys = self.keys
            by_key = {
                "newest": (-keys.numbers, -keys.happened),
                "oldest": (keys.numbers, keys.happened),
                "added": (-keys.numbers, -keys.published),
                "id": (keys.numbers,),
            }
            self._orders[sort] = np.lexsort(by_key[sort]).astype(np.int32)
        return self._orders[sort]


class Selection:
    """The incidents that some choices leave: one mask per choice, so that a facet's own can be set aside.

    `model` lets django-filter's FilterSet take a selection in the place of a queryset.
    """

    model = Incident

    def __init__(self, catalogue: Catalogue, masks: Mapping[str, BoolArray]) -> None:
        self.catalogue = catalogue
        self._masks = dict(masks)
        self._total: BoolArray | None = None

    def all(self) -> Self:
        return self

    def narrow(self, name: str, mask: BoolArray) -> Selection:
        """Return the selection with one more choice; a choice of the same name is replaced."""
        return Selection(self.catalogue, {**self._masks, name: mask})

    def narrow_to_values(self, facet: Facet, values: Collection[Value]) -> Selection:
        """Return the incidents that have any of the values."""
        column = self.catalogue.columns[facet.name]
        return self.narrow(facet.name, column.mask(len(self.catalogue), {value.pk for value in values}))

    def narrow_to_range(self, name: str, lower: int | None, upper: int | None) -> Selection:
        """Return the incidents whose year or known duration lies within the bounds, both included."""
        values = self.catalogue.keys.years if name == "year" else self.catalogue.keys.durations
        mask = values != UNKNOWN_DURATION
        if lower is not None:
            mask = mask & (values >= lower)
        if upper is not None:
            mask = mask & (values <= upper)
        return self.narrow(name, mask)

    def narrow_to_rows(self, name: str, rows: IntArray) -> Selection:
        """Return the incidents of the given rows, as a search found them."""
        mask = np.zeros(len(self.catalogue), dtype=np.bool_)
        mask[rows] = True
        return self.narrow(name, mask)

    def without(self, name: str) -> Selection:
        """Return the selection with one choice set aside."""
        if name not in self._masks:
            return self
        return Selection(self.catalogue, {key: mask for key, mask in self._masks.items() if key != name})

    @property
    def mask(self) -> BoolArray:
        """Which rows of the catalogue are selected."""
        if self._total is None:
            total = np.ones(len(self.catalogue), dtype=np.bool_)
            for mask in self._masks.values():
                total = total & mask
            self._total = total
        return self._total

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.mask))

    def counts(self, name: str) -> dict[int, int]:
        """Return {term key: incidents} of a facet over the other choices, its own set aside."""
        return self.catalogue.columns[name].count(self.without(name).mask)

    def year_counts(self) -> dict[int, int]:
        """Return {year: incidents} over the other choices, the years chosen set aside."""
        return _tally(self.catalogue.keys.years.compress(self.without("year").mask))

    def ordered_rows(self, sort: str) -> IntArray:
        """Return the selected rows in the order of `sort`."""
        order = self.catalogue.order(sort)
        return order.compress(self.mask.take(order))

    def pks(self, rows: IntArray) -> list[int]:
        """Return the primary keys of rows, in their order."""
        pks: list[int] = self.catalogue.keys.pks[rows].tolist()
        return pks


def _tally(values: NDArray[np.integer[Any]]) -> dict[int, int]:
    """Return {value: how often it stands there} of small numbers that aren't negative; sorting them takes ten times as long."""
    counts = np.bincount(values)
    found = np.flatnonzero(counts)
    return dict(zip(found.tolist(), counts[found].tolist(), strict=True))


def _narrow(values: IntArray, *kinds: type[np.signedinteger[Any]]) -> IntArray:
    """Return whole numbers in the first of some kinds that holds them all, else as they are."""
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    for kind in kinds:
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return values.astype(kind)
    return np.ascontiguousarray(values)


_current: dict[str, Catalogue] = {}  # by database: a replica may be a moment behind the primary
_lock = threading.Lock()


def get_catalogue() -> Catalogue:
    """Return the snapshot of the library as it is now: one small query where nothing changed."""
    database = router.db_for_read(LibraryState)
    revision = LibraryState.objects.current_revision()
    catalogue = _current.get(database)
    if catalogue is not None and catalogue.revision == revision:
        return catalogue
    with _lock:
        revision = LibraryState.objects.current_revision()  # another thread may have come further meanwhile
        known = _current.get(database)
        if known is None or not is_followed_by(known.revision, revision):
            _current[database] = load_catalogue(revision)
        elif known.revision < revision:
            _current[database] = refreshed(known, revision)
        return _current[database]


def forget_catalogue() -> None:
    """Drop the snapshot of this process; the next question loads it anew."""
    _current.clear()


def load_catalogue(revision: int) -> Catalogue:
    """Read the whole published library. Records changed while reading carry a higher revision and are read again."""
    published = Incident.objects.filter(status=Status.PUBLISHED)
    keys = _read_keys(published)
    columns = {facet.name: _read_column(facet, published, keys, keys.numbers) for facet in FACETS}
    return Catalogue(revision, keys, columns, _read_vocabularies())


def refreshed(old: Catalogue, revision: int) -> Catalogue:
    """Return the snapshot at `revision`, reading only the records that changed after the old one's."""
    changed = Incident.objects.filter(revision__gt=old.revision)
    changed_pks = np.fromiter(changed.values_list("pk", flat=True), np.int64)
    published = changed.filter(status=Status.PUBLISHED)
    # What is published between two of these questions is left out here: its revision is higher, so it comes next time.
    # Taken in half it would stand twice, or lend its values to the record behind it.
    fresh = _read_keys(published)
    fresh = fresh.take(np.flatnonzero(np.isin(fresh.pks, changed_pks)))
    kept = ~np.isin(old.keys.pks, changed_pks)
    unsorted = old.keys.take(np.flatnonzero(kept)).joined(fresh)
    order = np.argsort(unsorted.numbers, kind="stable")
    keys = unsorted.take(order)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    renumber = np.full(len(old.keys), -1, dtype=np.int64)
    renumber[kept] = place[: int(np.count_nonzero(kept))]
    columns = {}
    for facet in FACETS:
        entries = _read_column(facet, published, keys, fresh.numbers)
        columns[facet.name] = old.columns[facet.name].replaced(renumber, entries)
    return Catalogue(revision, keys, columns, _read_vocabularies())


def _read_keys(incidents: QuerySet[Incident]) -> Keys:
    names = ("pk", "number", "year", "started_at", "started_precision", "detected_at", "detected_precision")
    rows = (
        incidents.order_by("number")
        .values_list(*names, "resolved_at", "resolved_precision", "published_at", "revision")
        .iterator(chunk_size=CHUNK)
    )
    parts = [np.empty((0, len(Keys.__dataclass_fields__)), np.int64)]
    while chunk := [_key(*row) for row in islice(rows, CHUNK)]:  # as objects all at once they would take 500 bytes each
        parts.append(np.array(chunk, np.int64))
    return Keys.of(np.concatenate(parts).T)


def _key(
    pk: int,
    number: int,
    year: int | None,
    started: datetime | None,
    started_precision: str,
    detected: datetime | None,
    detected_precision: str,
    resolved: datetime | None,
    resolved_precision: str,
    published: datetime | None,
    revision: int,
) -> tuple[int, ...]:
    """Return one record's entry in each field of Keys."""

    def minutes(end: datetime | None, precision: str) -> int:
        if started is None or end is None or {started_precision, precision} != {Precision.MINUTE}:
            return UNKNOWN_DURATION
        return round((end - started).total_seconds() / 60)

    return (
        pk,
        number,
        year or 0,
        int(started.date().toordinal() if started is not None else (year or 1) * 365.2425),
        int(published.timestamp() * 1_000_000) if published else 0,
        minutes(resolved, resolved_precision),
        minutes(detected, detected_precision),
        revision,
    )


def _read_column(facet: Facet, incidents: QuerySet[Incident], keys: Keys, wanted: IntArray) -> Column:
    """Return the entries of the incidents whose numbers are `wanted`, by their rows in `keys`."""
    query = incidents.exclude(**{facet.column: None}).values_list("number", facet.column)
    ordering = f"{facet.column.split('__')[0]}__position" if facet.is_multiple else "number"
    pairs = np.fromiter(
        query.order_by("number", ordering).iterator(chunk_size=CHUNK), dtype=np.dtype((np.int64, 2))
    ).reshape(-1, 2)
    pairs = pairs[np.isin(pairs[:, 0], wanted)]
    return Column.of(np.searchsorted(keys.numbers, pairs[:, 0]), np.ascontiguousarray(pairs[:, 1], np.int64))


def _read_vocabularies() -> dict[str, Vocabulary]:
    redirects: dict[str, dict[str, str]] = {}
    for kind, old, new in SlugRedirect.objects.values_list("kind", "old_slug", "new_slug"):
        redirects.setdefault(kind, {})[old] = new
    return {facet.name: _vocabulary(_values(facet), redirects.get(facet.kind or "", {})) for facet in FACETS}


def _vocabulary(values: Iterable[Value], redirects: Mapping[str, str]) -> Vocabulary:
    listed = list(values)
    return Vocabulary({v.pk: v for v in listed}, {v.slug: v for v in listed}, _resolved(redirects))


def _resolved(redirects: Mapping[str, str]) -> dict[str, str]:
    """Follow chains of redirects to their end; a circle ends where it began."""
    resolved: dict[str, str] = {}
    for old in redirects:
        new, seen = old, {old}
        while new in redirects and redirects[new] not in seen:
            new = redirects[new]
            seen.add(new)
        resolved[old] = new
    return resolved


def _values(facet: Facet) -> Iterable[Value]:
    rows: Iterable[tuple[Any, ...]]
    if facet.kind is None:
        rows = Check.objects.values_list("pk", "code", "title", "title", "area", "position")
        return (
            Value(pk, code, f"{code} {title}", f"{code} {title}", group, place)
            for pk, code, title, _, group, place in rows
        )
    if facet.kind == VocabularyKind.ORGANIZATION:
        return (
            Value(pk, slug, name, name, "", 0)
            for pk, slug, name in Organization.objects.values_list("pk", "slug", "name")
        )
    rows = TERM_MODELS[facet.kind].objects.values_list("pk", "slug", "label", "label_en", "group", "position")  # type: ignore[attr-defined]
    return (Value(*row) for row in rows)
