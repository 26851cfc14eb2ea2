"""The figures behind the plots."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Router

from incidents.api.answers import kept_model
from incidents.api.figures import figures
from incidents.api.reading import refuse_unknown
from incidents.api.schemas import FiguresOut

router = Router(tags=["통계"])


@router.get("/stats/", response=FiguresOut, url_name="stats", operation_id="getStatistics", summary="통계")
def get_statistics(request: HttpRequest) -> HttpResponseBase:
    """쪽 `/stats/` 의 그림과 같은 수입니다. 그림마다 분모와, 값을 밝힌 기록의 수가 있습니다."""

    def make() -> FiguresOut:
        refuse_unknown(request.GET, ())
        return figures()

    return kept_model(request, make)
