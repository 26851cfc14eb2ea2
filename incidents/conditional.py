"""Answers that a client may keep: strong entity tags known before any work, Last-Modified, 304.

What a public address answers depends on the library's revision, the program and the address alone. So the tag is a
hash of these, and a client that has the answer already is told so after one small query.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import http_date, parse_etags

from incidents.entity_tags import answer_key
from incidents.indexing import fresh_backend
from incidents.models import LibraryState


def entity_tag(request: HttpRequest, representation: str, revision: int) -> str:
    """Return the strong tag of what an address answers at a revision of the library.

    Searches also depend on how far the index has come; where that is behind, its own revision is part of the tag.
    Raises SearchUnavailable.
    """
    index = fresh_backend().revision() if request.GET.get("q", "").strip() else revision
    pairs = sorted((name, value) for name, values in request.GET.lists() for value in values)
    return f'"{answer_key(representation, request.path, repr(pairs), str(revision), str(index))}"'


def conditional(
    request: HttpRequest,
    representation: str,
    make: Callable[[], HttpResponseBase],
    *,
    last_modified: Callable[[], datetime | None] = lambda: None,
    max_age: int = 0,
) -> HttpResponseBase:
    """Return 304 where the client has the present answer, or else what `make` returns, with the headers to keep it.

    `representation` tells answers of one address apart (json, atom, markdown). `last_modified` is asked after the work
    is done; a client that sends a date alone is answered by it. Only 200 is ever tagged: errors are not kept.
    """
    tag = entity_tag(request, representation, LibraryState.objects.current_revision())
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if tag in known or f"W/{tag}" in known:
        return _with_headers(HttpResponse(status=304), tag, None, max_age)
    response = make()
    if response.status_code != 200:
        return response
    changed_at = last_modified()
    _with_headers(response, tag, changed_at, max_age)
    changed = int(changed_at.timestamp()) if changed_at else None
    # Any response will do: it is only looked at for its status and headers.
    answer = get_conditional_response(request, tag, changed, response)  # type: ignore[arg-type]
    if answer is not response and answer is not None:
        return _with_headers(answer, tag, changed_at, max_age)
    return response


def _with_headers(response: HttpResponseBase, tag: str, changed_at: datetime | None, max_age: int) -> HttpResponseBase:
    response["ETag"] = tag
    if changed_at is not None:
        response["Last-Modified"] = http_date(changed_at.timestamp())
    patch_cache_control(response, public=True, max_age=max_age, **({"no_cache": True} if not max_age else {}))
    return response
