"""The schema as it is served: ninja's, completed with what holds for every operation, in one place."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any, Final

from django.conf import settings

from incidents.api.api import api
from incidents.api.problems import KINDS_BY_CODE, MEDIA_TYPE
from incidents.api.schemas import ProblemOut

API_PREFIX: Final = "/api/v1"
TEXT: Final = {"type": "string"}
COUNT: Final = {"type": "integer"}
KEPT_HEADERS: Final[dict[str, Any]] = {
    "ETag": {"description": "강한 꼬리표. 라이브러리가 바뀌면 바뀝니다.", "schema": TEXT},
    "Last-Modified": {"description": "라이브러리가 마지막으로 바뀐 때.", "schema": TEXT},
    "Cache-Control": {"schema": TEXT},
}
RATE_HEADERS: Final[dict[str, Any]] = {
    "RateLimit": {"description": "남은 몫(r)과 모두 다시 차는 초(t).", "schema": TEXT},
    "RateLimit-Policy": {"description": "분마다의 몫.", "schema": TEXT},
    "RateLimit-Limit": {"schema": COUNT},
    "RateLimit-Remaining": {"schema": COUNT},
    "RateLimit-Reset": {"schema": COUNT},
}
LINK: Final = {"Link": {"description": "next, prev, first, last, canonical, license …(RFC 8288)", "schema": TEXT}}
RETRY: Final = {"Retry-After": {"description": "기다릴 초.", "schema": COUNT}}
BINARY: Final = {"type": "string", "format": "binary"}
FILES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "exportNdjson": ("application/x-ndjson", {"$ref": "#/components/schemas/RecordOut"}),
    "exportCsv": ("text/csv", TEXT),
    "exportMarkdown": ("application/zip", BINARY),
    "exportSqlite": ("application/vnd.sqlite3", BINARY),
    "listChanges": ("text/csv", TEXT),
}
STATUS_OF_FAILURES: Final = (
    ("400", "bad_parameter"),
    ("404", "not_found"),
    ("429", "too_many_requests"),
    ("503", "search_unavailable"),
)


def openapi_schema() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document. The caller may change it."""
    return copy.deepcopy(_schema())


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = copy.deepcopy(dict(api.get_openapi_schema(path_prefix=API_PREFIX.strip("/"))))
    schema["info"]["license"] = {"name": "CC BY 4.0", "url": "https://creativecommons.org/licenses/by/4.0/"}
    schema["servers"] = [{"url": settings.BASE_URL}]
    problem_schema = ProblemOut.model_json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    schema["components"]["schemas"] |= problem_schema.pop("$defs", {})
    schema["components"]["schemas"]["ProblemOut"] = problem_schema
    schema["components"]["headers"] = copy.deepcopy(KEPT_HEADERS | RATE_HEADERS | LINK | RETRY)
    # The queries' models are printed parameter by parameter; as schemas of their own they would be nobody's.
    schemas = schema["components"]["schemas"]
    schema["components"]["schemas"] = {name: one for name, one in sorted(schemas.items()) if not name.endswith("Query")}
    for operations in schema["paths"].values():
        for method, operation in operations.items():
            _complete(method, operation)
    return schema


def _complete(method: str, operation: dict[str, Any]) -> None:
    responses = {str(status): response for status, response in operation["responses"].items()}
    for parameter in operation["parameters"]:
        if examples := parameter.pop("examples", None):
            parameter["example"] = examples[0]  # beside the schema OpenAPI wants one, or a map of them
        if parameter["in"] == "query" and parameter["schema"].get("type") == "array":
            parameter["schema"].pop("default", None)
            parameter |= {"style": "form", "explode": True, "required": "minItems" in parameter["schema"]}
    answer = responses["200"]
    answer["description"] = "답"
    answer["headers"] = _headers(*RATE_HEADERS, *(KEPT_HEADERS if method == "get" else ()), "Link")
    if operation["operationId"] in FILES:
        media_type, content = FILES[operation["operationId"]]
        answer["content"] = {media_type: {"schema": content}}
    if "301" in responses:
        responses["301"] = {"description": "슬러그가 바뀌었습니다.", "headers": {"Location": {"schema": TEXT}}}
    if method == "get":
        responses["304"] = {"description": "바뀌지 않았습니다.", "headers": _headers(*KEPT_HEADERS, *RATE_HEADERS)}
    for status, code in STATUS_OF_FAILURES:
        responses[status] = _failure(code)
    if method == "post":
        responses["413"] = _failure("payload_too_large")
    operation["responses"] = dict(sorted(responses.items()))


def _failure(code: str) -> dict[str, Any]:
    kind = KINDS_BY_CODE[code]
    return {
        "description": kind.title,
        "headers": _headers(*RATE_HEADERS, *(RETRY if kind.status in {429, 503} else ())),
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemOut"}}},
    }


def _headers(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
