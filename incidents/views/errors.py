"""Error pages: what is wrong, in Korean, with ways on."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseServerError
from django.shortcuts import render
from django.template import loader

from incidents.errors import BadParameter, NotFound, PermissionRefused, UserError


def user_error(request: HttpRequest, error: UserError) -> HttpResponse:
    """Return the page of an error. A parameter that names nothing is a page that isn't there: 404."""
    status = 404 if isinstance(error, BadParameter) and error.names_nothing else error.status
    response = render(request, "error.html", {"error": error, "status": status}, status=status)
    if (retry_after := getattr(error, "retry_after", None)) is not None:
        response["Retry-After"] = str(retry_after)
    response["Cache-Control"] = "no-store"
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return user_error(request, UserError("이 요청은 읽을 수 없습니다. 주소를 확인하고 다시 여십시오."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return user_error(request, PermissionRefused("이 일을 할 권한이 없습니다. 권한이 있는 계정으로 로그인하십시오."))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return user_error(request, NotFound("이 주소에는 아무것도 없습니다. 주소를 확인하거나 아래에서 찾아보십시오."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return user_error(
        request, PermissionRefused("양식이 오래되어 받지 않았습니다. 앞 쪽을 새로 고친 뒤 다시 보내십시오. 쿠키가 꺼져 있으면 켜십시오.")
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """The page of a bug: no query, no context, so that it can't fail too."""
    return HttpResponseServerError(loader.get_template("500.html").render())
