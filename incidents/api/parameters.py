"""The parameters of the API as the schema shows them. They are read as text here and judged where pages' are too.

So the API refuses just what pages refuse, in the same words, and what the schema promises is made of FACETS.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from django.conf import settings
from django.utils import translation
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from incidents.facets import FACETS, RANGES
from incidents.filters import MAX_VALUES
from incidents.listing_params import DEFAULT_PAGE_SIZE, GROUPS, MAX_PAGE_SIZE, SORTS, VIEWS

CODE_PATTERN: Final = "^[Kk][Cc]-[0-9]+$"


class QueryModel(BaseModel):
    """Takes every name: unknown ones are named to the client by whoever reads the parameters."""

    model_config = ConfigDict(extra="ignore")


def _text(description: str, **schema: Any) -> Any:
    return (Annotated[str | None, WithJsonSchema({"type": "string", **schema})], Field(None, description=description))


def _number(description: str, minimum: int, maximum: int, default: int | None = None) -> Any:
    schema: dict[str, Any] = {"type": "integer", "minimum": minimum, "maximum": maximum}
    if default is not None:
        schema["default"] = default
    return (Annotated[str | None, WithJsonSchema(schema)], Field(None, description=description))


def _choice(description: str, values: list[str]) -> Any:
    return _text(description, enum=values)


def _facets() -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for facet in FACETS:
        values = {"type": "string", "minLength": 1} | ({"pattern": CODE_PATTERN} if facet.kind is None else {})
        where = f"/api/v1/{facet.kind.value}/" if facet.kind else "/api/v1/checks/"
        what = "코드" if facet.kind is None else "슬러그"
        fields[facet.name] = (
            Annotated[list[str], WithJsonSchema({"type": "array", "items": values, "maxItems": MAX_VALUES})],
            Field([], description=f"{facet.label}의 {what}({where}). 되풀이하면 하나라도 맞는 기록입니다."),
        )
    for range_ in RANGES:
        bounds = (range_.minimum, range_.maximum)
        known = " 지속 시간이 알려진 기록만." if range_.name == "duration" else ""
        fields[range_.lower] = _number(f"{range_.label}의 아래 끝({range_.unit}).{known}", *bounds)
        fields[range_.upper] = _number(f"{range_.label}의 위 끝({range_.unit}).{known}", *bounds)
    return fields


def _facets_in_korean() -> dict[str, Any]:
    """Return the facets' fields as the schema has them for everybody, whoever's request loads this module."""
    with translation.override(settings.LANGUAGE_CODE):
        return _facets()


CHOOSING: Final[dict[str, Any]] = {
    "q": _text(
        '찾는 말. 낱말은 모두 있어야 하고, "…" 는 이어진 말, 앞의 - 는 빼기, `증상:` 같은 이름은 그 절에서만.',
        maxLength=4000,
    ),
    "as_typed": _choice("1: 모르는 말을 고치지 않고 친 대로 찾습니다.", ["0", "1"]),
    **_facets_in_korean(),
}
NARROWING: Final[dict[str, Any]] = {
    "fields": _text("받을 항목의 이름, 쉼표로 이어서. 보기: `id,title,url`", examples=["id,title,url"]),
    "exclude": _text("뺄 항목의 이름, 쉼표로 이어서. 목록에서는 `facets` 도.", examples=["facets,cited_by"]),
    "html": _choice("1: 글마다 안전한 HTML(`symptom_html` 들)도 줍니다.", ["0", "1"]),
}
SINCE: Final[dict[str, Any]] = {
    "updated_since": _text(
        "이 때부터 바뀐 기록. `2026-11-29` 나 `2026-11-29T09:00:00Z`. 시간대가 없으면 UTC 로 읽습니다. + 는 %2B 로 적습니다.",
        examples=["2026-11-29T09:00:00Z"],
    ),
}
SHOWING: Final[dict[str, Any]] = {
    "sort": _choice(
        "차례. 찾는 말이 있으면 relevance, 없으면 newest, cursor 로 모으면 id 가 처음 값입니다.", list(SORTS)
    ),
    "view": _choice("쪽과 같은 매개변수. 답은 같습니다.", list(VIEWS)),
    "group": _choice("같은 값끼리 이어서 놓습니다.", list(GROUPS)),
    "page": _number("쪽", 1, 999_999_999, 1),
    "page_size": _number("한 쪽의 기록 수", 1, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE),
    "cursor": _text(
        "끝까지 모으기: 처음에는 `*`, 다음부터는 `next` 를 따라갑니다. 그 사이에 게시하거나 철회해도 되풀이하거나 빠뜨리지 않습니다."
    ),
}

ListingQuery: Final[type[QueryModel]] = create_model(
    "ListingQuery", __base__=QueryModel, **CHOOSING, **SINCE, **SHOWING, **NARROWING
)
RecordQuery: Final[type[QueryModel]] = create_model("RecordQuery", __base__=QueryModel, **NARROWING)
ExportQuery: Final[type[QueryModel]] = create_model(
    "ExportQuery",
    __base__=QueryModel,
    **CHOOSING,
    **SINCE,
    include=_text("함께 넣을 상태, 쉼표로 이어서: `withdrawn,merged`", examples=["withdrawn,merged"]),
)
ChangesQuery: Final[type[QueryModel]] = create_model("ChangesQuery", __base__=QueryModel, **SINCE)
SuggestQuery: Final[type[QueryModel]] = create_model(
    "SuggestQuery",
    __base__=QueryModel,
    q=_text("친 데까지. 자모만이어도 됩니다.", maxLength=200),
    limit=_number("완성의 수", 1, 20, 8),
)
_ASKED: Final[dict[str, Any]] = {
    "id": (
        Annotated[
            list[str],
            WithJsonSchema(
                {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "maxItems": 200}
            ),
        ],
        Field([], description="번호나 못 박은 문장(`IL-0421@3#detection-2`). 되풀이해서 200개까지."),
    ),
}
CitationsQuery: Final[type[QueryModel]] = create_model("CitationsQuery", __base__=QueryModel, **_ASKED)
