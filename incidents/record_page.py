"""What a record's page shows besides the record itself: its neighbours and its relations, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

from incidents.catalogue import get_catalogue
from incidents.errors import UserError
from incidents.facets import FACETS_BY_NAME
from incidents.listing import build_listing, neighbours
from incidents.models import Citation, Incident
from incidents.similar import similar_records
from incidents.stats import label_of


@dataclass(frozen=True)
class Near:
    """A record near this one. `reasons` are (facet label, values' labels); `relation` and `note` where an editor tied them."""

    incident: Incident
    relation: str
    note: str
    reasons: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Neighbours:
    """The records before and after this one in the listing that the reader came from; `query` is that listing's."""

    query: str
    label: str
    count: int
    previous: Incident | None
    next: Incident | None


def relations_of(incident: Incident) -> tuple[Near, ...]:
    """Return the records that an editor tied to this one, from either side, that a reader may see."""
    near = {
        relation.other_id: Near(relation.other, relation.get_relation_display(), relation.note, ())
        for relation in incident.relations.all()
        if relation.other.is_published
    }
    back = incident.relations_from.select_related("incident__organization").order_by("incident__number")
    for relation in back:
        if relation.incident.is_published and relation.incident_id not in near:
            near[relation.incident_id] = Near(relation.incident, relation.get_relation_display(), relation.note, ())
    return tuple(near.values())


def similar_to(incident: Incident, *, exclude: frozenset[int] = frozenset(), limit: int = 6) -> tuple[Near, ...]:
    """Return the records that share most with this one, each with what is shared."""
    found = similar_records(get_catalogue(), incident.pk, limit=limit, exclude=exclude)
    by_pk = Incident.objects.published().for_cards().in_bulk([one.pk for one in found])
    return tuple(
        Near(
            by_pk[one.pk],
            "",
            "",
            tuple(
                (str(FACETS_BY_NAME[name].label), tuple(label_of(value) for value in values))
                for name, values in one.shared.items()
            ),
        )
        for one in found
        if one.pk in by_pk
    )


def citations_of(incident: Incident) -> tuple[Citation, ...]:
    """Return the checks that rest on this record, each with its reason."""
    return tuple(sorted(incident.citations.all(), key=lambda citation: citation.check_item.code))


def neighbours_of(incident: Incident, query: str) -> Neighbours | None:
    """Return what stands around the record in the listing of `query`; None where it isn't in it or can't be read."""
    try:
        listing = build_listing(QueryDict(_without_page(query)))
    except UserError:
        return None
    pks = listing.all_pks()
    if incident.pk not in pks:
        return None
    before, after = neighbours(pks, incident.pk)
    by_pk = Incident.objects.published().in_bulk([pk for pk in (before, after) if pk is not None])
    label = ", ".join(chip.value for chip in listing.chips)
    return Neighbours(listing.params.query(), label, listing.count, by_pk.get(before), by_pk.get(after))


def _without_page(query: str) -> str:
    data = QueryDict(query, mutable=True)
    data.pop("page", None)
    return data.urlencode()
