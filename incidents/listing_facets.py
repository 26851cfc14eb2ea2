"""The facets beside a listing: which values its records have, how many of them, and where choosing one leads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Final

from django.utils.translation import get_language

from incidents.catalogue import Selection
from incidents.facets import Facet
from incidents.listing_params import ListingParams, ValueQuery

SHOWN_FIRST: Final = 7  # values of a facet that stand open
SHOWN_MOST: Final = 200  # the rest is on the pages of the vocabulary: a large library has thousands of organizations


@dataclass(slots=True)  # not frozen, which takes three times as long to make: a page has hundreds
class FacetOption:
    """A value of a facet: `count` is the number of records that choosing it would show, the facet's own choices aside."""

    value: str
    label: str
    group: str
    count: int
    is_selected: bool
    adding: ValueQuery = field(repr=False)
    removal_query: str = ""

    @property
    def toggle_query(self) -> str:
        """The listing after the value was chosen, or taken away where it is chosen now."""
        return self.removal_query if self.is_selected else self.adding.of(self.value)


@dataclass(frozen=True)
class OptionGroup:
    """Values that stand under one heading of their vocabulary; "" where it has none."""

    name: str
    options: tuple[FacetOption, ...]


@dataclass(frozen=True)
class FacetResult:
    """A facet beside a listing; `options` are its values with records, the chosen ones first, then by count."""

    name: str
    label: str
    counter: str
    options: tuple[FacetOption, ...]
    adding: ValueQuery
    selected_count: int

    @property
    def first_options(self) -> tuple[FacetOption, ...]:
        """The values that stand open."""
        return self.options[:SHOWN_FIRST]

    @property
    def more_count(self) -> int:
        """The number of values that are folded."""
        return len(self.options[SHOWN_FIRST:SHOWN_MOST])

    @cached_property
    def more_groups(self) -> tuple[OptionGroup, ...]:
        """The folded values under their headings."""
        group_of = attrgetter("group")
        more = sorted(self.options[SHOWN_FIRST:SHOWN_MOST], key=group_of)
        return tuple(OptionGroup(group, tuple(options)) for group, options in groupby(more, group_of))


def facet_result(facet: Facet, params: ListingParams, selection: Selection) -> FacetResult:
    """Return one facet of the listing that `params` and `selection` are of."""
    counts = selection.counts(facet.name)
    vocabulary = selection.catalogue.vocabularies[facet.name]
    by_pk, ranks, labels = vocabulary.by_pk, vocabulary.ranks, vocabulary.labels(get_language())
    chosen = {value.pk: value for value in params.values.get(facet.name, ())}
    adding = params.adding(facet.name)

    def options(pks: Iterable[int], removal_queries: Mapping[int, str]) -> list[FacetOption]:
        ordered = sorted([(-counts.get(pk, 0), ranks[pk], pk) for pk in pks if pk in ranks])
        return [
            FacetOption(
                by_pk[pk].slug, labels[pk], by_pk[pk].group, -below, pk in chosen, adding, removal_queries.get(pk, "")
            )
            for below, _, pk in ordered
        ]

    removals = {pk: params.with_toggled(facet.name, value).query() for pk, value in chosen.items()}
    shown = (*options(chosen, removals), *options(counts.keys() - chosen.keys(), {}))
    return FacetResult(facet.name, str(facet.label), facet.counter, shown, adding, len(chosen))
