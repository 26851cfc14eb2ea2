"""Errors that readers may see become pages, forms are taken at a measured pace, and the chosen language is used."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.conf import settings
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from incidents.api.throttle import client_of, take
from incidents.errors import DatabaseUnavailable, MethodRefused, TooManyRequests, UserError
from incidents.views.errors import user_error

logger = logging.getLogger(__name__)

API_PREFIXES = ("/api/", "/mcp")

Handler = Callable[[HttpRequest], HttpResponse]


class UserErrorMiddleware:
    """Renders a UserError raised by a page, and a database that can't answer; the API renders its own."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == 405 and not response.content and not request.path_info.startswith(API_PREFIXES):
            page = user_error(request, MethodRefused(_("이 주소는 그렇게 부를 수 없습니다. 주소를 열어 보십시오.")))
            page["Allow"] = response.headers.get("Allow", "")
            return page
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, UserError):
            return user_error(request, exception)
        if isinstance(exception, OperationalError):
            logger.error("the database does not answer at %s", request.path, exc_info=exception)
            return user_error(request, DatabaseUnavailable())
        return None


class FormRateMiddleware:
    """Takes so many forms a minute from one client: the log-in and everything that is sent without an account.

    Editors at work are not counted; the API counts its own. Wrong passwords for one account are counted by axes, many
    accounts tried from one address by this.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: object) -> HttpResponse | None:
        limit: int = settings.FORM_RATE
        if not limit or request.method in {"GET", "HEAD", "OPTIONS"} or request.path_info.startswith(API_PREFIXES):
            return None
        match = request.resolver_match
        is_login = match is not None and match.view_name == "admin:login"
        if not is_login and request.user.is_authenticated:
            return None
        allowance = take(f"form {client_of(request)}", limit)
        if allowance.is_allowed:
            return None
        return user_error(
            request,
            TooManyRequests(
                _("양식을 너무 자주 보냈습니다. %(seconds)d초 뒤에 다시 보내십시오.")
                % {"seconds": allowance.retry_after},
                retry_after=allowance.retry_after,
            ),
        )


class LanguageMiddleware:
    """Uses the language of the cookie, Korean without one. The browser's own preference isn't asked.

    Records are Korean, so a page is Korean until its reader chooses the English interface; and one address has one
    answer for everybody who has not chosen.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        asked = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
        language = asked if asked in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
        with translation.override(language):
            request.LANGUAGE_CODE = language
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ["Cookie"])
        return response
