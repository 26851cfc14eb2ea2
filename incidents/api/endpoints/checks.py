"""Checks and the incidents that they cite."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Path, Router

from incidents.api.answers import kept_model
from incidents.api.reading import refuse_unknown
from incidents.api.representation import check_out
from incidents.api.schemas import CheckListOut, CheckOut
from incidents.checks import find_check, with_check_parts
from incidents.models import Check

router = Router(tags=["점검"])


@router.get("/", response=CheckListOut, url_name="checks", operation_id="listChecks", summary="점검의 목록")
def list_checks(request: HttpRequest) -> HttpResponseBase:
    """읽기만 하며 보는 점검과, 저마다 근거로 드는 사례입니다."""

    def make() -> CheckListOut:
        refuse_unknown(request.GET, ())
        checks = [check_out(check) for check in with_check_parts(Check.objects.all())]
        return CheckListOut(count=len(checks), results=checks)

    return kept_model(request, make)


@router.get("/{code}/", response=CheckOut, url_name="check", operation_id="getCheck", summary="점검 하나")
def get_check(request: HttpRequest, code: Path[str]) -> HttpResponseBase:
    """점검 하나와 그 근거입니다."""

    def make() -> CheckOut:
        refuse_unknown(request.GET, ())
        return check_out(find_check(code))

    return kept_model(request, make)
