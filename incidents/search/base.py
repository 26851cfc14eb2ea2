"""What every search engine of the library takes and gives: documents, results, snippets, suggestions, health."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from incidents.search.query import SearchQuery
    from incidents.search.snippets import RecordText
    from incidents.search.thesaurus import TermRow

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """What is searchable of one published incident. Texts are plain, without Markdown.

    id: primary key. labels: facet labels. aliases: other names of the same facet values, which help ranking and never
    make a full match, since a value has aliases for all that falls under it. sections: symptom, trigger, cause, contributing_factors,
    detection, actions, follow_ups, lesson -> text. sources: URLs, titles and publishers in any order.
    sort_date: a day ordinal, later is newer. revision: the library's revision of its last public change.
    """

    id: int
    public_id: str
    title: str
    organization: str
    labels: tuple[str, ...]
    sections: Mapping[str, str]
    sources: tuple[str, ...]
    year: int
    sort_date: int
    revision: int = 0
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Interpretation:
    """How the query was read. `query` is what was searched, `original` what was typed; they differ where corrected."""

    kind: Literal["exact", "corrected"]
    query: str
    original: str


@dataclass(frozen=True, slots=True)
class NearTerm:
    """A neighbouring entry of the vocabulary: its text, as a query, and the number of records it would find."""

    text: str
    count: int


def no_ids() -> Ids:
    """Return no primary keys."""
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class SearchResult:
    """The answer to one query, to be narrowed by facets without a second search.

    full: primary keys of the records with every word, best first (int64). full_scores: their scores, falling.
    jump: public ID of the record that the query names by ID or source URL, else None. unknown: words of a short query as
    typed that no record holds. What costs more than the matches themselves is made when it is first asked for.
    """

    full: Ids
    full_scores: NDArray[np.float64]
    interpretation: Interpretation
    jump: str | None = None
    unknown: tuple[str, ...] = ()
    make_partial: Callable[[], Ids] = field(default=no_ids, repr=False)
    make_inside: Callable[[], Ids] = field(default=no_ids, repr=False)
    make_near: Callable[[], tuple[NearTerm, ...]] = field(default=tuple, repr=False)

    @cached_property
    def partial(self) -> Ids:
        """Primary keys of the best partial matches, best first: at most PARTIAL_LIMIT, none of them in `full`."""
        return self.make_partial()

    @cached_property
    def inside(self) -> Ids:
        """Those of the partial matches that hold the letters of a one-word query inside other words (`로그` in 로그인).

        They follow even where many records match in full, so that nothing written in a record is unfindable.
        """
        return self.make_inside()

    @cached_property
    def near(self) -> tuple[NearTerm, ...]:
        """Vocabulary close to the query, each with the number of records it finds; none that finds nothing."""
        return self.make_near()

    def following(self, full_count: int) -> Ids:
        """Return what follows after `full_count` full matches, the number that the facets left: partial or inside."""
        return self.partial if full_count < PARTIAL_BELOW else self.inside


PARTIAL_BELOW = 10  # partial matches follow when fewer records than this hold every word
PARTIAL_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of one record for a result list: the field's name (symptom, title, …) and its HTML, only <mark> in it."""

    field: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A completion: what kind of thing, its text as shown, and a public ID or slug to link with."""

    kind: Literal["incident", "component", "cause", "factor", "organization", "check", "query"]
    text: str
    target: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class SuggestEntry:
    """One thing that may be suggested. aliases: other names it is found by. weight: larger is offered first."""

    kind: Literal["incident", "component", "cause", "factor", "organization", "check"]
    text: str
    target: str
    aliases: tuple[str, ...] = ()
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Health:
    """The index's state. revisions: {primary key: revision} as indexed, to be compared with the database."""

    ok: bool
    message: str
    documents: int
    revision: int
    revisions: Mapping[int, int]


Progress = Callable[[int], None]


class SearchBackend(ABC):
    """Full-text search over published incidents. Every method may raise SearchUnavailable."""

    @abstractmethod
    def search(self, query: SearchQuery) -> SearchResult:
        """Return every match of a query, exactly counted, in final order. Cached per index generation."""

    @abstractmethod
    def row_pieces(self, query: SearchQuery, texts: Iterable[RecordText]) -> dict[int, tuple[SafeString, Snippet]]:
        """Return {id: (title, snippet)} for the records of one page, escaped and with the query's words in <mark>.

        A snippet has about 160 characters, cut at sentence borders.
        """

    @abstractmethod
    def mark(self, query: SearchQuery, text: str) -> SafeString:
        """Return a text, escaped and with the query's words in <mark>."""

    @abstractmethod
    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        """Return completions for what has been typed so far, a syllable half composed or initials only included."""

    @abstractmethod
    def use_terms(self, provider: Callable[[], tuple[object, Sequence[TermRow]]] | None) -> None:
        """Take editors' synonyms from a function: () -> (version, rows). It is asked at each search, so it must be quick."""

    @abstractmethod
    def use_entries(self, provider: Callable[[], tuple[object, Sequence[SuggestEntry]]] | None) -> None:
        """Take what may be suggested from a function: () -> (version, entries); entries are read when version changes."""

    @abstractmethod
    def update(
        self, documents: Iterable[SearchDocument], removed_ids: Collection[int] = (), *, revision: int = 0
    ) -> None:
        """Put documents into the index in place of their former state and take others out, in one generation.

        An index that has reached the revision already is left as it is, and the documents are not asked for.
        """

    @abstractmethod
    def rebuild(
        self,
        documents: Iterable[SearchDocument],
        *,
        revision: int = 0,
        progress: Progress | None = None,
        is_wanted: Callable[[], bool] | None = None,
    ) -> int:
        """Build a new index beside the old one, swap, and return the number of documents. Readers see no gap.

        `is_wanted` is asked once this process may write: another one may have built the index while it waited. Where
        it says no, nothing is done and 0 is returned.
        """

    @abstractmethod
    def revision(self) -> int:
        """Return the library revision that the index has reached: cheap, to be asked at each request."""

    @abstractmethod
    def is_usable(self) -> bool:
        """Return whether an index of the present schema and dictionary exists and opens."""

    @abstractmethod
    def health(self) -> Health:
        """Return the index's state without raising."""


__all__ = [
    "PARTIAL_BELOW",
    "PARTIAL_LIMIT",
    "Health",
    "Ids",
    "Interpretation",
    "NearTerm",
    "Progress",
    "SearchBackend",
    "SearchDocument",
    "SearchResult",
    "Sequence",
    "Snippet",
    "SuggestEntry",
    "Suggestion",
]  # fmt: skip
