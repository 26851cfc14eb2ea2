"""The API's own pages: the schema, its browsable form, and the help of each error."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from incidents.api.answers import json_answer, kept
from incidents.api.openapi import openapi_schema
from incidents.api.problems import KINDS, KINDS_BY_CODE, ProblemKind
from incidents.api.schema_page import operation_groups, schema_models
from incidents.errors import NotFound


@require_safe
def schema(request: HttpRequest) -> HttpResponseBase:
    """The OpenAPI 3.1 document."""
    return kept(request, lambda: json_answer(json.dumps(openapi_schema(), ensure_ascii=False).encode()))


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The schema as a page, with an address to try for each operation."""
    return render(
        request, "incidents/api_docs.html", {**_documentation(get_language() or ""), "problems": _local_kinds()}
    )


@lru_cache(maxsize=len(settings.LANGUAGES))
def _documentation(language: str) -> dict[str, Any]:
    """Return what the page prints in the language in use; the schema is the same as long as the process lives."""
    document = openapi_schema()
    info = {name: _(document["info"][name]) for name in ("title", "version", "description")}
    return {"info": info, "groups": operation_groups(document), "models": schema_models(document)}


@require_safe
def error_help(request: HttpRequest, code: str) -> HttpResponse:
    """What an error of the API means and what to do about it."""
    kind = KINDS_BY_CODE.get(code.replace("-", "_"))
    if kind is None:
        raise NotFound(
            _("알 수 없는 오류 이름입니다: %(name)s. 오류의 목록에서 고르십시오.") % {"name": code[:60]},
            fields={"code": code[:60]},
        )
    return render(request, "incidents/api_error.html", {"kind": _local(kind), "kinds": _local_kinds()})


def _local(kind: ProblemKind) -> ProblemKind:
    """Return a kind of error with its texts in the reader's language; the API itself speaks Korean to everybody."""
    return replace(kind, title=_(kind.title), about=_(kind.about), advice=tuple(_(line) for line in kind.advice))


def _local_kinds() -> tuple[ProblemKind, ...]:
    return tuple(_local(kind) for kind in KINDS)
