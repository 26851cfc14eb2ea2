"""The API's own pages: the schema, its browsable form, and the help of each error."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from incidents.api.answers import json_answer, kept
from incidents.api.openapi import openapi_schema
from incidents.api.problems import KINDS, KINDS_BY_CODE
from incidents.api.schema_page import operation_groups, schema_models
from incidents.errors import NotFound


@require_safe
def schema(request: HttpRequest) -> HttpResponseBase:
    """The OpenAPI 3.1 document."""
    return kept(request, lambda: json_answer(json.dumps(openapi_schema(), ensure_ascii=False).encode()))


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The schema as a page, with an address to try for each operation."""
    return render(request, "incidents/api_docs.html", {**_documentation(), "problems": KINDS})


@lru_cache(maxsize=1)
def _documentation() -> dict[str, Any]:
    """Return what the page prints; the schema is the same as long as the process lives."""
    document = openapi_schema()
    return {"info": document["info"], "groups": operation_groups(document), "models": schema_models(document)}


@require_safe
def error_help(request: HttpRequest, code: str) -> HttpResponse:
    """What an error of the API means and what to do about it."""
    kind = KINDS_BY_CODE.get(code.replace("-", "_"))
    if kind is None:
        raise NotFound(
            f"알 수 없는 오류 이름입니다: {code[:60]}. 오류의 목록에서 고르십시오.", fields={"code": code[:60]}
        )
    return render(request, "incidents/api_error.html", {"kind": kind, "kinds": KINDS})
