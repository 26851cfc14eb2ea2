"""Errors that readers may see become pages, and the chosen language is used."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from incidents.errors import UserError
from incidents.views.errors import user_error

Handler = Callable[[HttpRequest], HttpResponse]


class UserErrorMiddleware:
    """Renders a UserError raised by a page; the API renders its own."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return user_error(request, exception) if isinstance(exception, UserError) else None


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
