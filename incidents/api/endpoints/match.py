"""From an error line, an alert or a piece of a log to the incidents that look like it."""

from __future__ import annotations

from typing import Any, Final

import pydantic
from django.http import HttpRequest, HttpResponse
from ninja import Router

from incidents.api.reading import refuse_unknown
from incidents.api.representation import incident_api_url, incident_url, organization_ref
from incidents.api.schemas import MatchesOut, MatchIn, MatchOut
from incidents.errors import BadParameter, PayloadTooLarge, UserError
from incidents.log_words import MAX_BYTES
from incidents.symptom_match import SymptomMatch, match_symptom

router = Router(tags=["찾기"])
MAX_BODY: Final = 6 * MAX_BYTES + 1024  # JSON may write each character as an escape of six
BODY: Final[dict[str, Any]] = {
    "required": True,
    "content": {
        "application/json": {"schema": MatchIn.model_json_schema()},
        "text/plain": {"schema": {"type": "string", "minLength": 1, "maxLength": MAX_BYTES}},
    },
}


@router.post(
    "/match/",
    response=MatchesOut,
    url_name="match",
    operation_id="matchSymptom",
    summary="닮은 사례",
    openapi_extra={"requestBody": BODY},
)
def match(request: HttpRequest) -> HttpResponse:
    """오류 한 줄, 경보, 로그 조각과 닮은 사례를 가장 잘 맞는 문장, 감지 경위, 첫 조치와 함께 줍니다.

    호스트, 숫자, 시각, UUID 는 빼고 찾습니다. 보낸 것은 저장하지 않습니다. JSON 이나 `text/plain` 으로 보냅니다.
    """
    refuse_unknown(request.GET, ())
    asked = read_match(request)
    response = HttpResponse(matches_out(asked).model_dump_json(), content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response


def read_match(request: HttpRequest) -> MatchIn:
    """Return what the body asks. Raises PayloadTooLarge, BadParameter, UserError for what can't be read."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY:
        raise _too_large()
    try:
        if request.content_type == "text/plain":
            asked = MatchIn(text=request.body.decode("utf-8"))
        else:
            asked = MatchIn.model_validate_json(request.body)
    except UnicodeDecodeError:
        raise UserError("UTF-8 이 아닌 본문입니다. UTF-8 로 다시 보내십시오.") from None
    except pydantic.ValidationError as error:
        if any(one["type"] == "json_invalid" for one in error.errors()):
            raise UserError('JSON 이 아닌 본문입니다. {"text": "…"} 나 text/plain 으로 보내십시오.') from None
        fields = {".".join(map(str, one["loc"])) or "body": str(one["msg"]) for one in error.errors()}
        message = "본문의 값이 맞지 않습니다. text 에 글을, limit 에 1부터 20까지를 적으십시오."
        raise BadParameter(message, fields=fields) from None
    if len(asked.text.encode("utf-8", "replace")) > MAX_BYTES:
        raise _too_large()
    return asked


def matches_out(asked: MatchIn) -> MatchesOut:
    """Return the answer to a reading."""
    result = match_symptom(asked.text, asked.limit)
    matches = [_match_out(match) for match in result.matches]
    return MatchesOut(terms=list(result.words), count=len(matches), results=matches)


def _match_out(one: SymptomMatch) -> MatchOut:
    incident = one.incident
    return MatchOut(
        id=incident.public_id,
        title=incident.title,
        organization=organization_ref(incident),
        year=incident.year,
        score=one.score,
        matched_terms=list(one.words),
        field=one.section,
        statement=one.statement,
        pin=one.pin,
        detection_method=incident.detection_method.slug if incident.detection_method else None,
        detection=one.detection,
        first_action=one.first_action or None,
        url=f"{incident_url(incident.public_id)}#{one.anchor}",
        api_url=incident_api_url(incident.public_id),
    )


def _too_large() -> PayloadTooLarge:
    message = f"붙여 넣은 글이 너무 깁니다. {MAX_BYTES // 1024} kB 까지 받으니, 오류가 난 줄과 그 앞뒤만 보내십시오."
    return PayloadTooLarge(message, fields={"text": message})
