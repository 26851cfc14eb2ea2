"""Error pages: what is wrong, in the reader's language, with ways on."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import DisallowedHost, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, HttpResponseServerError
from django.shortcuts import render
from django.template import loader
from django.utils.translation import gettext as _

from incidents.errors import (
    BadParameter,
    NotFound,
    PayloadTooLarge,
    PermissionRefused,
    TooManyRequests,
    UserError,
)


def user_error(request: HttpRequest, error: UserError) -> HttpResponse:
    """Return the page of an error. A parameter that names nothing is a page that isn't there: 404."""
    status = 404 if isinstance(error, BadParameter) and error.names_nothing else error.status
    message = _(error.message) if error.message else ""  # pure rooms, as search, give theirs in Korean
    context = {"error": error, "message": message, "status": status, "way_on": _without(request, error)}
    response = render(request, "error.html", context, status=status)
    if (retry_after := getattr(error, "retry_after", None)) is not None:
        response["Retry-After"] = str(retry_after)
    response["Cache-Control"] = "no-store"
    return response


def _without(request: HttpRequest, error: UserError) -> str:
    """Return this address without the parameters that are wrong; empty where none of the address's is."""
    if request.method not in {"GET", "HEAD"} or not (request.GET.keys() & error.fields.keys()):
        return ""
    kept = request.GET.copy()
    for name in error.fields:
        kept.pop(name, None)
    return f"{request.path}?{kept.urlencode()}" if kept else request.path


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of a request that can't be taken: too large, too many fields, another host's name."""
    if isinstance(exception, RequestDataTooBig):
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // (1024 * 1024)
        return user_error(
            request,
            PayloadTooLarge(_("보낸 것이 너무 큽니다. %(most)d MB 안으로 줄여 다시 보내십시오.") % {"most": most}),
        )
    if isinstance(exception, TooManyFieldsSent | TooManyFilesSent):
        return user_error(request, UserError(_("양식의 칸이 너무 많습니다. 나누어 보내십시오.")))
    if isinstance(exception, DisallowedHost):
        # Nothing of the page may ask for the host again: it has no name that this library answers to.
        return HttpResponse(
            "이 이름으로는 열 수 없습니다. 라이브러리의 주소를 확인하십시오.\n",
            status=400,
            content_type="text/plain; charset=utf-8",
        )
    return user_error(request, UserError(_("이 요청은 읽을 수 없습니다. 주소를 확인하고 다시 여십시오.")))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return user_error(request, PermissionRefused(_("이 일을 할 권한이 없습니다. 권한이 있는 계정으로 로그인하십시오.")))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return user_error(request, NotFound(_("이 주소에는 아무것도 없습니다. 주소를 확인하거나 아래에서 찾아보십시오.")))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return user_error(
        request,
        PermissionRefused(
            _("양식이 오래되어 받지 않았습니다. 앞 쪽을 새로 고친 뒤 다시 보내십시오. 쿠키가 꺼져 있으면 켜십시오.")
        ),
    )


def locked_out(request: HttpRequest, credentials: object = None, *args: object, **kwargs: object) -> HttpResponse:
    """The page after too many wrong passwords, the same whether there is such an account or not."""
    seconds = int(settings.AXES_COOLOFF_TIME * 3600)
    message = _("비밀번호가 여러 번 틀렸습니다. %(minutes)d분 뒤에 다시 로그인하십시오.") % {"minutes": seconds // 60}
    return user_error(request, TooManyRequests(message, retry_after=seconds))


def server_error(request: HttpRequest) -> HttpResponse:
    """The page of a bug: no query, no context, so that it can't fail too."""
    return HttpResponseServerError(loader.get_template("500.html").render())
