"""build_listing(): parameters → Listing, the one use case behind page, fragment, feed, API and export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from django.utils.datastructures import MultiValueDict
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from incidents.catalogue import Catalogue, IntArray, Selection, Value, get_catalogue
from incidents.errors import NotFound
from incidents.facets import FACETS, FACETS_BY_NAME, RANGES
from incidents.indexing import fresh_backend
from incidents.listing_facets import FacetResult, facet_result
from incidents.listing_params import GROUPS, SORTS, VIEWS, ListingParams, read_params
from incidents.models import Incident
from incidents.row_cards import RowCard, row_cards
from incidents.row_texts import texts_of
from incidents.search import SearchResult, Snippet, get_search_backend, parse_query
from incidents.term_labels import term_label

LOOSENED_WORDS = 10  # each is a search of its own; what is longer was pasted, and one word less of it helps nobody
FREQUENT = 3  # components named in the sentence of the full view


@dataclass(frozen=True)
class Chip:
    """An active choice; `remove_query` is the listing without it."""

    name: str
    label: str
    value: str
    remove_query: str


@dataclass(frozen=True)
class Choice:
    """One of a few ways to show the listing."""

    value: str
    label: str
    query: str
    is_current: bool


@dataclass(frozen=True)
class PageLink:
    """A page in the row of pages; `number` None is a gap."""

    number: int | None
    query: str
    is_current: bool


@dataclass(frozen=True)
class Row:
    """A record in a listing. `match` is `all`, or `partial` where only some words were found.

    `load` fetches the page's records when the first of them is asked for; a list of rows never asks.
    """

    pk: int
    revision: int
    card: RowCard
    title: str
    title_html: SafeString
    snippet: Snippet | None
    match: str
    has_heading: bool  # the first partial match opens a part of its own
    load: Callable[[int], Incident] = field(repr=False)

    @property
    def incident(self) -> Incident:
        return self.load(self.pk)


@dataclass(frozen=True)
class Group:
    """Rows of one page under their main value; `count` is the number of records of the whole listing in the group."""

    value: str
    label: str
    count: int
    query: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Loosening:
    """What dropping one word or condition would give, where nothing was found."""

    kind: str
    label: str
    count: int
    query: str


@dataclass(frozen=True)
class Interpretation:
    """What was searched. `kind` is `exact`, or `corrected` where a word was unknown; `original` is what was typed."""

    kind: str
    query: str
    original: str
    as_typed_query: str


@dataclass(frozen=True)
class FrequentTerm:
    """A term of the result with the number of records that have it."""

    value: str
    label: str
    count: int
    query: str


class Listing:
    """A page of the incidents that match, with everything around it.

    Counts and order are fixed when it is made; rows, facets and the rest are computed when first asked for, so that
    an export or a feed pays for what it uses.
    """

    def __init__(
        self, params: ListingParams, selection: Selection, found: SearchResult | None, *, whole_records: bool = False
    ) -> None:
        self.params = params
        self.has_whole_records = whole_records or params.view == "full"
        self.offset = (params.page - 1) * params.page_size  # a cursor moves it before the page is read
        self.selection = selection
        self._found = found
        self._query = parse_query(found.interpretation.query if found else "")
        self._unsearched = selection  # what the choices leave without the words
        if found is None:
            self._full_rows = selection.ordered_rows(params.sort)
        else:
            ranked = selection.catalogue.rows_of(found.full)
            self.selection = selection.narrow_to_rows("q", ranked)
            if params.sort == "relevance":
                self._full_rows = ranked[self.selection.mask[ranked]]
            else:
                self._full_rows = self.selection.ordered_rows(params.sort)
        if params.group:
            self._full_rows = self._grouped(self._full_rows)
        if params.page > 1 and params.page > self.page_count:
            raise NotFound(
                gettext("없는 페이지입니다: %(page)s (마지막: %(last)s)")
                % {"page": params.page, "last": self.page_count},
                fields={"page": gettext("마지막 페이지는 %(last)s입니다.") % {"last": self.page_count}},
            )

    @cached_property
    def _partial_rows(self) -> IntArray:
        """What follows the full matches; sought when first asked for, as it takes longer than counting those."""
        if self._found is None:
            return np.empty(0, dtype=np.int64)
        partial = self.catalogue.rows_of(self._found.following(self.count))
        kept: IntArray = partial[self._unsearched.mask[partial]]
        return kept

    # What was found

    @property
    def catalogue(self) -> Catalogue:
        return self.selection.catalogue

    @property
    def q(self) -> str:
        return self.params.q

    @cached_property
    def count(self) -> int:
        """Records that match every word and choice."""
        return len(self._full_rows)

    @property
    def partial_count(self) -> int:
        """Records after them that match only some words; 0 unless `count` is under ten."""
        return len(self._partial_rows)

    @cached_property
    def interpretation(self) -> Interpretation:
        if self._found is None:
            return Interpretation("exact", self.q, self.q, "")
        found = self._found.interpretation
        return Interpretation(
            found.kind,
            found.query,
            found.original,
            self.params.query(is_as_typed=True) if found.kind != "exact" else "",
        )

    @property
    def jump(self) -> str | None:
        """The public ID that the query names, by itself or by a source's address."""
        return self._found.jump if self._found else None

    @cached_property
    def hints(self) -> tuple[FrequentTerm, ...]:
        """Words near the query, each with the records that searching it would find."""
        near = self._found.near if self._found else ()
        return tuple(
            FrequentTerm(term.text, term.text, term.count, self.params.cleared().changed(q=term.text).query())
            for term in near
        )

    # The page

    @property
    def page(self) -> int:
        return self.params.page

    @property
    def page_size(self) -> int:
        return self.params.page_size

    @cached_property
    def page_count(self) -> int:
        return max(1, -(-(self.count + self.partial_count) // self.page_size))

    @property
    def first(self) -> int:
        """The place of the page's first full match, from 1; 0 where the page has none."""
        first = (self.page - 1) * self.page_size + 1
        return first if first <= self.count else 0

    @property
    def last(self) -> int:
        return min(self.page * self.page_size, self.count) if self.first else 0

    @cached_property
    def count_line(self) -> str:
        """`16건 중 1~12번째`; `0건` where nothing matches in full."""
        if not self.count:
            return gettext("%(count)s건") % {"count": 0}
        if not self.first:
            return gettext("%(count)s건") % {"count": self.count}
        return gettext("%(count)s건 중 %(first)s~%(last)s번째") % {
            "count": self.count,
            "first": self.first,
            "last": self.last,
        }

    @cached_property
    def previous_query(self) -> str | None:
        return self.params.query(page=self.page - 1) if self.page > 1 else None

    @cached_property
    def next_query(self) -> str | None:
        return self.params.query(page=self.page + 1) if self.page < self.page_count else None

    @cached_property
    def pages(self) -> tuple[PageLink, ...]:
        """The first, the last and the pages around this one; a gap of one page is that page."""
        if self.page_count == 1:
            return ()
        wanted = {1, self.page_count, *range(max(1, self.page - 2), min(self.page_count, self.page + 2) + 1)}
        links: list[PageLink] = []
        before = 0
        for number in sorted(wanted):
            if number - before == 2:
                links.append(self._page_link(number - 1))
            elif number - before > 2:
                links.append(PageLink(None, "", False))
            links.append(self._page_link(number))
            before = number
        return tuple(links)

    def _page_link(self, number: int) -> PageLink:
        return PageLink(number, self.params.query(page=number), number == self.page)

    def all_pks(self) -> list[int]:
        """Return the primary keys of every full match, in order: what an export writes."""
        return self.selection.pks(self._full_rows)

    @property
    def ordered_rows(self) -> IntArray:
        """Catalogue rows of everything that matches, in order: full matches, then partial ones."""
        return np.concatenate([self._full_rows, self._partial_rows])

    @cached_property
    def page_pks(self) -> tuple[int, ...]:
        rows = self.ordered_rows[self.offset : self.offset + self.page_size]
        return tuple(self.selection.pks(rows))

    @cached_property
    def _by_pk(self) -> dict[int, Incident]:
        query = Incident.objects.for_records() if self.has_whole_records else Incident.objects.for_cards()
        # By key alone: a record withdrawn since the catalogue was read still has its row, and the page its place for it.
        return {incident.pk: incident for incident in query.filter(pk__in=self.page_pks)}

    @cached_property
    def incidents(self) -> tuple[Incident, ...]:
        """The records of this page, in order; whole ones in the full view."""
        return tuple(self._by_pk[pk] for pk in self.page_pks if pk in self._by_pk)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        full = set(self.selection.pks(self._full_rows)) if self.partial_count else None
        places = self.catalogue.rows_of(self.page_pks)
        revisions = dict(zip(self.page_pks, self.catalogue.keys.revisions[places].tolist(), strict=True))
        texts = texts_of(revisions)
        pieces = get_search_backend().row_pieces(self._query, texts.values()) if self._found is not None else {}
        rows = []
        has_partial = False
        for card, (pk, text) in zip(row_cards(self.catalogue, places), texts.items(), strict=True):
            is_partial = full is not None and pk not in full
            title, snippet = pieces.get(pk) or (mark_safe(escape(text.title)), None)  # escaped here
            rows.append(
                Row(
                    pk=pk,
                    revision=text.revision,
                    card=card,
                    title=text.title,
                    title_html=title,
                    snippet=snippet,
                    match="partial" if is_partial else "all",
                    has_heading=is_partial and not has_partial,
                    load=lambda pk: self._by_pk[pk],
                )
            )
            has_partial = has_partial or is_partial
        return tuple(rows)

    # Groups

    def _main_terms(self, rows: IntArray) -> IntArray:
        """Return what `group` puts each row under: its main term, its organization, its year."""
        if self.params.group == "year":
            return self.catalogue.keys.years[rows]
        return self.catalogue.columns[self.params.group].first(len(self.catalogue))[rows]

    def _grouped(self, rows: IntArray) -> IntArray:
        """Return the rows with equal main terms together: years from the latest, others from the most frequent."""
        terms = self._main_terms(rows)
        if self.params.group == "year":
            return rows[np.argsort(-terms, kind="stable")]
        values, inverse, counts = np.unique(terms, return_inverse=True, return_counts=True)
        rank = np.lexsort((values, -counts))
        place = np.empty(len(values), dtype=np.int64)
        place[rank] = np.arange(len(values))
        return rows[np.argsort(place[inverse], kind="stable")]

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The page's full matches under their groups; empty without `group`."""
        if not self.params.group:
            return ()
        totals = Counter(self._main_terms(self._full_rows).tolist())
        full = [row for row in self.rows if row.match == "all"]
        on_page = self._main_terms(self.catalogue.rows_of([row.pk for row in full])).tolist()
        groups: list[Group] = []
        taken: list[Row] = []
        for place, (term, row) in enumerate(zip(on_page, full, strict=True)):
            taken.append(row)
            if place + 1 == len(on_page) or on_page[place + 1] != term:
                slug, label, query = self._group_address(term)
                groups.append(Group(slug, label, totals.get(term, 0), query, tuple(taken)))
                taken = []
        return tuple(groups)

    def _group_address(self, term: int) -> tuple[str, str, str]:
        if self.params.group == "year":
            bounds = {**self.params.bounds, "year_from": term, "year_to": term}
            return str(term), f"{term}", self.params.query(bounds=bounds, group="")
        value = self.catalogue.vocabularies[self.params.group].by_pk[term]
        values = {**self.params.values, self.params.group: (value,)}
        return value.slug, _label(value), self.params.query(values=values, group="")

    @property
    def partial_rows(self) -> tuple[Row, ...]:
        """The page's partial matches, which stand after the groups."""
        return tuple(row for row in self.rows if row.match == "partial")

    # Facets and choices

    @cached_property
    def facets(self) -> tuple[FacetResult, ...]:
        return tuple(facet_result(facet, self.params, self.selection) for facet in FACETS)

    @property
    def year_counts(self) -> dict[int, int]:
        """{year: records} over the other choices."""
        return self.selection.year_counts()

    @cached_property
    def chips(self) -> tuple[Chip, ...]:
        chips = []
        if self.q:
            chips.append(Chip("q", gettext("찾는 말"), self.q, self.params.changed(q="", is_as_typed=False).query()))
        for facet in FACETS:
            chips += [
                Chip(facet.name, str(facet.label), _label(value), self.params.with_toggled(facet.name, value).query())
                for value in self.params.values.get(facet.name, ())
            ]
        for range_ in RANGES:
            if text := self._range_text(range_.lower, range_.upper):
                label = f"{text}{range_.unit}" if range_.name == "duration" else text
                query = self.params.without_bounds(range_.lower, range_.upper).query()
                chips.append(Chip(range_.name, str(range_.label), label, query))
        return tuple(chips)

    def _range_text(self, lower: str, upper: str) -> str:
        """`2012–`, `–2014`, `2012–2014`, or one number where both bounds are it; empty without bounds."""
        bounds = self.params.bounds
        if lower not in bounds and upper not in bounds:
            return ""
        if bounds.get(lower) == bounds.get(upper):
            return str(bounds[lower])
        return f"{bounds.get(lower, '')}–{bounds.get(upper, '')}"

    @cached_property
    def clear_query(self) -> str:
        return self.params.cleared().query()

    @property
    def views(self) -> tuple[Choice, ...]:
        return self._choices("view", VIEWS)

    @property
    def sorts(self) -> tuple[Choice, ...]:
        return self._choices("sort", {name: label for name, label in SORTS.items() if name != "relevance" or self.q})

    @property
    def groupings(self) -> tuple[Choice, ...]:
        return self._choices("group", {"": _("없음"), **GROUPS})

    def _choices(self, name: str, labels: Mapping[str, Any]) -> tuple[Choice, ...]:
        current = getattr(self.params, name)
        return tuple(
            Choice(value, str(label), self.params.query(**{name: value}), value == current)
            for value, label in labels.items()
        )

    def hidden_fields(self, *names: str) -> tuple[tuple[str, str], ...]:
        """Return the name-value pairs that a form over some parameters carries along: all the others."""
        return tuple((name, value) for name, value in self.params.changed().pairs() if name not in names)

    @property
    def year_fields(self) -> tuple[tuple[str, str], ...]:
        return self.hidden_fields("year_from", "year_to")

    @property
    def duration_fields(self) -> tuple[tuple[str, str], ...]:
        return self.hidden_fields("duration_from", "duration_to")

    @cached_property
    def search_fields(self) -> tuple[tuple[str, str], ...]:
        return self.hidden_fields("q", "as_typed", "sort")

    @cached_property
    def loosenings(self) -> tuple[Loosening, ...]:
        """What dropping one condition or one word would give; only where nothing matches in full, best first."""
        if self.count or not self.params.has_choices:
            return ()
        found = []
        for facet in FACETS:
            for value in self.params.values.get(facet.name, ()):
                found.append(
                    self._loosened(
                        "condition", f"{facet.label} {_label(value)}", self.params.with_toggled(facet.name, value)
                    )
                )
        for range_ in RANGES:
            if text := self._range_text(range_.lower, range_.upper):
                found.append(
                    self._loosened(
                        "condition", f"{range_.label} {text}", self.params.without_bounds(range_.lower, range_.upper)
                    )
                )
        if self._found is not None:
            is_short = len(self._query.clauses) <= LOOSENED_WORDS
            for word, rest in self._query.without_each_word() if is_short else ():
                found.append(self._loosened("word", word, self.params.changed(q=rest, is_as_typed=False)))
        return tuple(sorted((one for one in found if one.count), key=lambda one: -one.count))

    def _loosened(self, kind: str, label: str, params: ListingParams) -> Loosening:
        return Loosening(kind, label, listing_of(params, self.catalogue).count, params.query())

    # The full view

    @cached_property
    def frequent_components(self) -> tuple[FrequentTerm, ...]:
        """The components named by most records of the listing, the listing's own choice included."""
        return self.frequent("component", FREQUENT)

    def frequent(self, facet_name: str, limit: int) -> tuple[FrequentTerm, ...]:
        """Return the values of a facet that most records of the listing have, most frequent first."""
        counts = self.catalogue.columns[facet_name].count(self.selection.mask)
        by_pk = self.catalogue.vocabularies[facet_name].by_pk
        ranked = sorted(counts.items(), key=lambda item: (-item[1], by_pk[item[0]].position, by_pk[item[0]].label))
        terms = []
        for pk, count in ranked[:limit]:
            value = by_pk[pk]
            values = {**self.params.values, facet_name: (value,)}
            terms.append(FrequentTerm(value.slug, _label(value), count, self.params.query(values=values, view="list")))
        return tuple(terms)

    @cached_property
    def by_cause(self) -> tuple[tuple[str, tuple[Incident, ...]], ...]:
        """This page's records under their main cause, as (label, records)."""
        grouped: dict[str, list[Incident]] = {}
        for incident in self.incidents:
            tags = list(incident.cause_tags.all())
            grouped.setdefault(tags[0].term.local_label if tags else gettext("공개되지 않음"), []).append(incident)
        return tuple((label, tuple(incidents)) for label, incidents in grouped.items())

    # Addresses

    @cached_property
    def query(self) -> str:
        """This page's own parameters, canonical."""
        return self.params.query(page=self.page)

    @cached_property
    def choices_query(self) -> str:
        """The parameters that choose records, without how they are shown: for feeds, twins and exports."""
        return self.params.changed(
            sort="newest" if not self.q else "relevance", view="list", group="", page_size=20
        ).query()


def build_listing(
    data: MultiValueDict[str, str],
    *,
    extra: frozenset[str] | None = None,
    narrow: Callable[[Selection], Selection] | None = None,
    whole_records: bool = False,
) -> Listing:
    """Return the listing that the parameters ask for.

    `extra=None` ignores unknown parameters (pages); a set names those allowed besides the listing's own (API).
    `narrow` leaves less of the library than facets and ranges do; `whole_records` fetches all of a record in any view.
    Raises BadParameter for a value that can't be, NotFound for a page past the end, SearchUnavailable.
    """
    catalogue = get_catalogue()
    params, selection = read_params(data, catalogue, extra=extra)
    if narrow is not None:
        selection = narrow(selection)
    return Listing(params, selection, _search(params), whole_records=whole_records)


def listing_of(params: ListingParams, catalogue: Catalogue) -> Listing:
    """Return the listing of parameters that were made, not read."""
    selection = catalogue.everything()
    for name, values in params.values.items():
        if values:
            selection = selection.narrow_to_values(FACETS_BY_NAME[name], values)
    for range_ in RANGES:
        lower, upper = params.bounds.get(range_.lower), params.bounds.get(range_.upper)
        if lower is not None or upper is not None:
            selection = selection.narrow_to_range(range_.name, lower, upper)
    return Listing(params, selection, _search(params))


def _search(params: ListingParams) -> SearchResult | None:
    if not params.q:
        return None
    return fresh_backend().search(parse_query(params.q, is_as_typed=params.is_as_typed))


def _label(value: Value, language: str | None = None) -> str:
    return term_label(value.label, value.label_en, value.slug, language)


def neighbours(pks: Sequence[int], pk: int) -> tuple[int | None, int | None]:
    """Return what stands before and after `pk` in a listing's order; None at an end or where it isn't in it."""
    if pk not in pks:
        return None, None
    place = pks.index(pk)
    return (pks[place - 1] if place else None), (pks[place + 1] if place + 1 < len(pks) else None)
