"""What the pages of the vocabulary show: terms in their groups with counts, and one term with its companions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import QueryDict
from django.utils.translation import gettext as _

from incidents.catalogue import Catalogue, get_catalogue
from incidents.errors import NotFound
from incidents.facets import FACETS_BY_KIND, FACETS_BY_NAME, Facet
from incidents.listing import FrequentTerm, Listing, build_listing
from incidents.listing_params import encode_query
from incidents.models import TERM_MODELS, Organization, SlugRedirect, Term, VocabularyKind

COMPANIONS = 8  # of each facet


@dataclass(frozen=True)
class Entry:
    """A term of an index: where it leads, and how many published records have it."""

    slug: str
    label: str
    about: str
    count: int
    url: str


@dataclass(frozen=True)
class EntryGroup:
    """A group of the vocabulary; `label` is empty where the vocabulary has no groups."""

    label: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class CompanionList:
    """The most frequent companions in one facet."""

    facet: Facet
    terms: tuple[FrequentTerm, ...]


def index_groups(kind: VocabularyKind) -> tuple[EntryGroup, ...]:
    """Return every term of a vocabulary in its groups; organizations by name, only those with published records."""
    catalogue = get_catalogue()
    counts = catalogue.everything().counts(FACETS_BY_KIND[kind].name)
    terms: Iterable[Any]
    if kind == VocabularyKind.ORGANIZATION:
        terms = [organization for organization in Organization.objects.all() if counts.get(organization.pk)]
    else:
        terms = TERM_MODELS[kind].objects.all()  # type: ignore[attr-defined]
    groups: dict[str, list[Entry]] = {}
    for term in terms:
        entry = Entry(
            term.slug, term.local_label, getattr(term, "about", ""), counts.get(term.pk, 0), term.get_absolute_url()
        )
        groups.setdefault(_initial(term.name) if kind == VocabularyKind.ORGANIZATION else term.group, []).append(entry)
    labels = sorted(groups) if kind == VocabularyKind.ORGANIZATION else list(groups)
    return tuple(EntryGroup(label, tuple(groups[label])) for label in labels)


INITIALS = "가나다라마바사아자차카타파하"


def _initial(name: str) -> str:
    """Return the heading of an organization: its Latin letter, the first syllable of its Hangul row, or `0–9`."""
    first = name[:1].upper()
    if "가" <= first <= "힣":
        return max(initial for initial in INITIALS if initial <= first)
    return first if "A" <= first <= "Z" else "0–9"


def find_term(kind: VocabularyKind, slug: str) -> Term | Organization | SlugRedirect:
    """Return a term by its slug, or the redirect of a former slug. Raises NotFound."""
    model: Any = Organization if kind == VocabularyKind.ORGANIZATION else TERM_MODELS[kind]
    term: Term | Organization | None = model.objects.filter(slug=slug).first()
    found = term or SlugRedirect.objects.filter(kind=kind, old_slug=slug).first()
    if found is None:
        message = _("알 수 없는 값입니다: %(value)s. 아래 목록에서 고르십시오.") % {"value": slug[:100]}
        raise NotFound(message, fields={"slug": slug[:100]})
    return found


def term_listing(kind: VocabularyKind, slug: str, page: str = "") -> Listing:
    """Return the records of one term, newest first."""
    data = QueryDict(encode_query([(FACETS_BY_KIND[kind].name, slug), ("page", page)]))
    return build_listing(data)


def companions(listing: Listing, own: str) -> tuple[CompanionList, ...]:
    """Return what stands most often on the listing's records, facet by facet.

    The page's own facet is left out: its values are alternatives (OR), so no address shows the records that have two.
    """
    lists = []
    for name in ("cause", "component", "factor", "detection", "organization"):
        terms = listing.frequent(name, COMPANIONS) if name != own else ()
        if terms:
            lists.append(CompanionList(FACETS_BY_NAME[name], terms))
    return tuple(lists)


def year_entries(catalogue: Catalogue) -> tuple[Entry, ...]:
    """Return every year with records, the latest first."""
    years, counts = np.unique(catalogue.keys.years, return_counts=True)
    return tuple(
        Entry(str(year), f"{year}", "", int(count), f"/years/{year}/")
        for year, count in sorted(zip(years.tolist(), counts.tolist(), strict=True), reverse=True)
    )
