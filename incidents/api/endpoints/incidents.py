"""Incidents: the listing, one record, and what is like it."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Path, Query, Router

from incidents.api.answers import json_answer, kept, kept_model
from incidents.api.parameters import ListingQuery, RecordQuery
from incidents.api.reading import RECORD_FIELDS, read_narrowing, refuse_unknown
from incidents.api.record_listing import listing_answer
from incidents.api.representation import incident_api_url, incident_url, organization_ref, record_out, term_ref, to_json
from incidents.api.schemas import ListingOut, RecordOut, RelatedListOut, SimilarOut
from incidents.catalogue import get_catalogue
from incidents.models import Incident
from incidents.record_lookup import find_incident
from incidents.record_page import relations_of
from incidents.similar import similar_records

router = Router(tags=["사례"])
MAX_SIMILAR: Final = 10


@router.get("/", response=ListingOut, url_name="incidents", summary="사례의 목록", operation_id="listIncidents")
def list_incidents(request: HttpRequest, params: Query[ListingQuery]) -> HttpResponseBase:  # type: ignore[valid-type]
    """찾은 말과 조건에 맞는 사례를 패싯의 수와 함께 줍니다. 쪽 `/incidents/` 와 같은 매개변수, 같은 답입니다."""
    return kept(request, lambda: listing_answer(request))


@router.get("/{public_id}/", response=RecordOut, url_name="incident", summary="사례 하나", operation_id="getIncident")
def get_incident(request: HttpRequest, public_id: Path[str], params: Query[RecordQuery]) -> HttpResponseBase:  # type: ignore[valid-type]
    """번호의 어떤 꼴(`il-421`)로도 답하고, 철회되거나 병합된 기록도 그 상태와 함께 답합니다."""

    def make() -> HttpResponseBase:
        refuse_unknown(request.GET, ("fields", "exclude", "html"))
        narrowing = read_narrowing(request.GET, RECORD_FIELDS)
        record = record_out(find_incident(public_id), html=narrowing.html)
        links = {
            "canonical": incident_api_url(record.id),
            "alternate": incident_url(record.id),
            "successor-version": incident_api_url(record.merged_into) if record.merged_into else None,
        }
        return json_answer(to_json(record, only=narrowing.fields), links)

    return kept(request, make)


@router.get(
    "/{public_id}/related/",
    response=RelatedListOut,
    url_name="related",
    summary="이어진 사례",
    operation_id="listRelated",
)
def list_related(request: HttpRequest, public_id: Path[str]) -> HttpResponseBase:
    """편집자가 이은 사례와, 어휘를 많이 함께 가진 사례를 그 까닭과 함께 줍니다."""

    def make() -> RelatedListOut:
        refuse_unknown(request.GET, ())
        incident = find_incident(public_id)
        tied = [
            _similar(near.incident, relation=near.relation, note=near.note, reasons={})
            for near in relations_of(incident)
        ]
        results = tied + _similar_to(incident, exclude=frozenset(near.incident.pk for near in relations_of(incident)))
        return RelatedListOut(id=incident.public_id, count=len(results), results=results)

    return kept_model(request, make)


def _similar_to(incident: Incident, exclude: frozenset[int]) -> list[SimilarOut]:
    found = similar_records(get_catalogue(), incident.pk, limit=MAX_SIMILAR, exclude=exclude)
    by_pk = Incident.objects.published().for_cards().in_bulk([one.pk for one in found])
    return [
        _similar(
            by_pk[one.pk],
            relation=None,
            note="",
            reasons={name: [term_ref(value) for value in values] for name, values in one.shared.items()},
        )
        for one in found
        if one.pk in by_pk
    ]


def _similar(incident: Incident, relation: str | None, note: str, reasons: dict[str, list[object]]) -> SimilarOut:
    return SimilarOut(
        id=incident.public_id,
        title=incident.title,
        organization=organization_ref(incident),
        year=incident.year,
        relation=relation,
        note=note,
        reasons=reasons,  # type: ignore[arg-type]  # checked by the model
        url=incident_url(incident.public_id),
        api_url=incident_api_url(incident.public_id),
    )
