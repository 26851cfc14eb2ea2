"""A listing as the API answers it: its page by number or by cursor, its facets, its records narrowed to some fields."""

from __future__ import annotations

import json
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.http import urlencode

from incidents.api.answers import json_answer
from incidents.api.cursors import START, cursor_at, decode, place_after
from incidents.api.reading import LISTED_FIELDS, LISTING_PARTS, read_narrowing, read_number, read_since
from incidents.api.representation import API_ROOT, absolute, listed_out
from incidents.api.schemas import FacetOptionOut, InterpretationOut
from incidents.catalogue import Selection
from incidents.errors import BadParameter
from incidents.listing import Listing, build_listing
from incidents.listing_params import PARAMETERS
from incidents.models import Incident
from incidents.search_misses import note_if_missed

EXTRA: Final = frozenset({"fields", "exclude", "html", "updated_since", "cursor"})


def listing_answer(request: HttpRequest, *, is_strict: bool = True) -> HttpResponse:
    """Return the listing that the request asks for. Raises UserError of the kinds that build_listing raises.

    Where it isn't strict, parameters that it doesn't know are ignored, as pages do.
    """
    data = request.GET.copy()
    narrowing = read_narrowing(data, LISTED_FIELDS, LISTING_PARTS)
    page, listing = place_listing(data, extra=EXTRA if is_strict else None)
    if not data.get("updated_since"):
        note_if_missed(listing)
    links = _links(request, data, listing, page)
    body: dict[str, Any] = {"count": listing.count}
    if "partial_count" not in narrowing.without_parts:
        body["partial_count"] = listing.partial_count
    if "interpretation" not in narrowing.without_parts:
        read = listing.interpretation
        body["interpretation"] = InterpretationOut(
            kind="corrected" if read.kind == "corrected" else "exact", query=read.query, original=read.original
        ).model_dump()
    for name, relation in (("next", "next"), ("previous", "prev")):
        if name not in narrowing.without_parts:
            body[name] = links[relation]
    if "facets" not in narrowing.without_parts:
        body["facets"] = facets_out(listing)
    only = set(narrowing.fields) if narrowing.fields is not None else None
    body["results"] = [
        listed_out(row, html=narrowing.html).model_dump(exclude_unset=True, include=only) for row in listing.rows
    ]
    response = json_answer(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(), links)
    response["X-Total-Count"] = str(listing.count)
    return response


def place_listing(data: QueryDict, *, extra: frozenset[str] | None = EXTRA) -> tuple[int | None, Listing]:
    """Return the page's number (None in a walk by cursor alone) and the listing, standing where page or cursor say."""
    since = read_since(data)
    cursor = (data.get("cursor") or "").strip()
    page: int | None = None
    if cursor:
        page = read_number(data, "page", 0, 999_999_999) or None
        data["page"] = ""
        if not (data.get("sort") or "").strip():
            data["sort"] = "id"
    listing = build_listing(
        data, extra=extra, narrow=updated_since(since) if since is not None else None, whole_records=True
    )
    if not cursor:
        return listing.page, listing
    if listing.params.group:
        message = "cursor 와 group 은 함께 쓸 수 없습니다. 하나를 빼십시오."
        raise BadParameter(message, fields={"cursor": message})
    listing.offset = 0 if cursor == START else place_after(listing, decode(cursor))
    return page, listing


def updated_since(since: Any) -> Any:
    """Return a narrowing to the records that changed at or after an aware time."""

    def narrow(selection: Selection) -> Selection:
        pks = Incident.objects.published().filter(updated_at__gte=since).values_list("pk", flat=True)
        return selection.narrow_to_rows("updated_since", selection.catalogue.rows_of(list(pks)))

    return narrow


def facets_out(listing: Listing) -> dict[str, list[dict[str, Any]]]:
    """Return {facet: its options with counts}, the year among them."""
    facets = {
        facet.name: [
            FacetOptionOut(
                value=option.value,
                label=option.label,
                group=option.group,
                count=option.count,
                is_selected=option.is_selected,
                toggle_query=option.toggle_query,
            ).model_dump()
            for option in facet.options
        ]
        for facet in listing.facets
    }
    bounds = listing.params.bounds
    first, last = bounds.get("year_from"), bounds.get("year_to")
    facets["year"] = []
    for year, count in sorted(listing.year_counts.items(), reverse=True):
        is_selected = first == last == year
        toggled = (
            listing.params.without_bounds("year_from", "year_to")
            if is_selected
            else listing.params.changed(bounds={**bounds, "year_from": year, "year_to": year})
        )
        facets["year"].append(
            FacetOptionOut(
                value=str(year),
                label=str(year),
                group="",
                count=count,
                is_selected=is_selected,
                toggle_query=toggled.query(),
            ).model_dump()
        )
    return facets


def _links(request: HttpRequest, data: QueryDict, listing: Listing, page: int | None) -> dict[str, str | None]:
    """Return the addresses of the pages around this one. The next one carries a cursor, so that following it is safe."""
    ends_at = listing.offset + listing.page_size
    total = listing.count + listing.partial_count
    carried = [(name, value) for name, values in data.lists() for value in values if value.strip()]
    carried = [(n, v) for n, v in carried if n in {*PARAMETERS, *EXTRA} and n not in {"page", "cursor"}]

    def address(*pairs: tuple[str, str]) -> str:
        return absolute(f"{API_ROOT}incidents/?{urlencode([*carried, *pairs])}".rstrip("?"))

    following: list[tuple[str, str]] = []
    if page is not None:
        following.append(("page", str(page + 1)))
    if not listing.params.group and 0 < ends_at <= total:
        following.append(("cursor", cursor_at(listing, ends_at - 1).encode()))
    links: dict[str, str | None] = {"next": address(*following) if ends_at < total else None, "prev": None}
    if page is not None:
        links["prev"] = address(("page", str(page - 1))) if page > 1 else None
        links["first"] = address()
        links["last"] = address(("page", str(listing.page_count)))
    return links
