"""Looking things up while typing."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query, Router

from incidents import suggestions
from incidents.api.answers import kept_model
from incidents.api.parameters import SuggestQuery
from incidents.api.reading import read_number, refuse_unknown
from incidents.api.representation import absolute, check_url, incident_url
from incidents.api.schemas import SuggestionOut, SuggestionsOut
from incidents.listing_params import clean_query
from incidents.search import Suggestion

router = Router(tags=["찾기"])
MAX_TYPED = 200
PATHS = {"component": "components", "cause": "causes", "factor": "factors", "organization": "organizations"}


@router.get("/suggest/", response=SuggestionsOut, url_name="suggest", operation_id="suggest", summary="완성")
def suggest(request: HttpRequest, params: Query[SuggestQuery]) -> HttpResponseBase:  # type: ignore[valid-type]
    """친 데까지로 기록, 구성 요소, 원인, 조직을 완성합니다. 한글은 조합하는 가운데에도, 초성만으로도 됩니다."""

    def make() -> SuggestionsOut:
        refuse_unknown(request.GET, ("q", "limit"))
        limit = read_number(request.GET, "limit", 8, 20)
        typed = clean_query((request.GET.get("q") or "").encode("utf-8", "replace").decode())[:MAX_TYPED]
        found = suggestions.suggest(typed, limit) if typed else []
        return SuggestionsOut(q=typed, suggestions=[_suggestion(one) for one in found])

    return kept_model(request, make)


def _suggestion(one: Suggestion) -> SuggestionOut:
    return SuggestionOut(kind=one.kind, text=one.text, value=one.target, count=one.count, url=suggestion_url(one))


def suggestion_url(one: Suggestion) -> str:
    """Return where a completion leads."""
    if one.kind == "incident":
        return incident_url(one.target)
    if one.kind == "check":
        return check_url(one.target)
    if one.kind in PATHS:
        return absolute(f"/{PATHS[one.kind]}/{one.target}/")
    return absolute(f"/incidents/?{urlencode({'q': one.text})}")
