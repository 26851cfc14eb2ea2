"""Errors of the API: `application/problem+json` (RFC 9457), each with a `type` that is a page of help."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from incidents.api.schemas import ProblemError, ProblemOut
from incidents.errors import UserError

MEDIA_TYPE: Final = "application/problem+json"


@dataclass(frozen=True)
class ProblemKind:
    """A kind of error: its stable code, its status, its title and what a client should do about it."""

    code: str
    status: int
    title: str
    about: str
    advice: tuple[str, ...]

    @property
    def path(self) -> str:
        """The path of the error's page of help."""
        return help_path(self.code)


KINDS: Final[tuple[ProblemKind, ...]] = (
    ProblemKind(
        "bad_parameter",
        400,
        "매개변수의 값이 맞지 않습니다",
        "이름을 모르는 매개변수나 가질 수 없는 값이 있습니다. 모르는 값을 빼고 답하면 묻지 않은 것을 답하게 되므로, 요청 전체를 받지 않습니다.",
        (
            "errors 의 parameter 에 이름이, detail 에 까닭과 쓸 수 있는 값이 있습니다.",
            "어휘의 슬러그는 /api/v1/components/, /api/v1/causes/, /api/v1/factors/, /api/v1/organizations/ 에 있습니다.",
            "시각의 + 는 주소에서 %2B 로 적습니다.",
        ),
    ),
    ProblemKind(
        "invalid_request",
        400,
        "읽을 수 없는 요청입니다",
        "주소나 본문의 꼴이 깨져 있습니다.",
        ("본문은 UTF-8 의 JSON 이어야 합니다.", "주소는 UTF-8 을 퍼센트 인코딩한 것이어야 합니다."),
    ),
    ProblemKind(
        "not_found",
        404,
        "없는 것을 물었습니다",
        "그 번호의 기록, 그 슬러그의 값, 그 쪽, 그 주소가 없습니다. 초안은 게시될 때까지 없는 것과 같이 답합니다.",
        (
            "번호는 지워지지 않습니다. 철회되거나 병합된 기록도 200 으로 답하므로, 옮겨 적다가 틀렸을 수 있습니다.",
            "쪽의 수는 목록의 count 와 page_size 로 정해집니다. 끝까지 모으려면 next 를 따라가십시오.",
        ),
    ),
    ProblemKind(
        "method_not_allowed",
        405,
        "이 주소가 받지 않는 메서드입니다",
        "이 API 는 읽기만 합니다. GET, HEAD, OPTIONS 를 받고, /api/v1/match/ 만 POST 를 받습니다.",
        ("Allow 헤더에 받는 메서드가 있습니다.",),
    ),
    ProblemKind(
        "payload_too_large",
        413,
        "보낸 것이 너무 큽니다",
        "붙여 넣는 글은 64 kB 까지 받습니다.",
        ("오류가 난 줄과 그 앞뒤만 보내십시오.",),
    ),
    ProblemKind(
        "too_many_requests",
        429,
        "요청이 너무 잦습니다",
        "누구나 쓸 수 있도록 한 곳에서 오는 요청의 빠르기를 묶어 둡니다.",
        (
            "Retry-After 의 초만큼 기다렸다가 다시 보내십시오.",
            "RateLimit 헤더에 남은 몫과 다시 차는 때가 있습니다.",
            "기록이 많이 필요하면 /api/v1/export/ 에서 전체를 한 번에 내려받으십시오.",
            "If-None-Match 를 보내면 바뀌지 않은 답은 본문 없이 304 로 옵니다.",
        ),
    ),
    ProblemKind(
        "search_unavailable",
        503,
        "지금은 검색할 수 없습니다",
        "색인을 읽지 못했습니다. 기록과 목록은 q 없이 모두 열립니다.",
        ("Retry-After 의 초만큼 기다렸다가 다시 보내십시오.",),
    ),
    ProblemKind(
        "server_error",
        500,
        "서버의 잘못입니다",
        "이 요청에 답하다가 예상하지 못한 오류가 났고, 기록해 두었습니다.",
        ("잠시 뒤에 다시 보내십시오. 되풀이되면 주소와 함께 알려 주십시오.",),
    ),
)
KINDS_BY_CODE: Final = {kind.code: kind for kind in KINDS}
CODE_OF_STATUS: Final = {
    400: "invalid_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
    429: "too_many_requests",
    503: "search_unavailable",
}


def help_path(code: str) -> str:
    """Return the path of an error's page of help."""
    return f"/about/api/errors/{code.replace('_', '-')}/"


def problem(
    request: HttpRequest, status: int, code: str, detail: str, errors: dict[str, str] | None = None
) -> HttpResponse:
    """Return the error as problem+json. `errors` maps a parameter to what is wrong with it."""
    kind = KINDS_BY_CODE.get(code)
    body = ProblemOut(
        type=f"{settings.BASE_URL}{help_path(code if kind else 'invalid_request')}",
        title=kind.title if kind else HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        instance=printable(request.get_full_path())[:500],
        code=code,
        errors=[
            ProblemError(parameter=printable(name), detail=printable(text)) for name, text in (errors or {}).items()
        ],
    )
    response = HttpResponse(body.model_dump_json(), content_type=MEDIA_TYPE, status=status)
    response["Cache-Control"] = "no-store"
    return response


def user_problem(request: HttpRequest, error: UserError) -> HttpResponse:
    """Return a UserError as problem+json, with `Retry-After` where it knows one."""
    response = problem(request, error.status, error.code, printable(error.message), dict(error.fields))
    if (retry_after := getattr(error, "retry_after", None)) is not None:
        response["Retry-After"] = str(retry_after)
    return response


def status_problem(request: HttpRequest, status: int) -> HttpResponse:
    """Return the problem of a bare status, for answers that no operation made."""
    code = CODE_OF_STATUS.get(status, "server_error" if status >= 500 else "invalid_request")
    detail = {
        404: "이 주소에는 아무것도 없습니다. 주소는 /api/v1/docs/ 에 있습니다.",
        405: "이 주소는 이 메서드를 받지 않습니다.",
        413: "보낸 것이 너무 큽니다.",
        500: "예상하지 못한 오류입니다. 기록해 두었으니 잠시 뒤에 다시 보내십시오.",
    }.get(status, "이 요청은 읽을 수 없습니다. 주소와 본문을 확인하십시오.")
    return problem(request, status, code, detail)


def printable(text: str) -> str:
    """Return a text that UTF-8 can hold: a half of a pair, as a broken address gives it, becomes a sign of its own."""
    return text.encode("utf-8", "replace").decode("utf-8")
