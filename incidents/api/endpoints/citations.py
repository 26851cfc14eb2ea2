"""Citations: what IDs, and statements pinned to a version, stand for today."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query, Router

from incidents.api.answers import kept_model
from incidents.api.parameters import CitationsQuery
from incidents.api.reading import refuse_unknown
from incidents.api.schemas import CitationsOut
from incidents.citations import MAX_IDS, resolve_citations
from incidents.errors import BadParameter

router = Router(tags=["인용"])


@router.get("/", response=CitationsOut, url_name="citations", operation_id="resolveCitations", summary="인용 확인")
def list_citations(request: HttpRequest, params: Query[CitationsQuery]) -> HttpResponseBase:  # type: ignore[valid-type]
    """번호마다, 물은 차례대로, 지금의 상태를 하나씩 답합니다. 모르는 번호는 `unknown` 입니다."""

    def make() -> CitationsOut:
        refuse_unknown(request.GET, ("id",))
        asked = [text for text in request.GET.getlist("id") if text.strip()]
        if not asked or len(asked) > MAX_IDS:
            message = (
                f"번호를 {MAX_IDS}개까지 물을 수 있습니다: {len(asked)}개. 나누어 물으십시오."
                if asked
                else "번호를 적으십시오. 보기: citations/?id=IL-0421&id=IL-0252"
            )
            raise BadParameter(message, fields={"id": message})
        return CitationsOut(citations=resolve_citations(asked))

    return kept_model(request, make)
