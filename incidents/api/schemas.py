"""What JSON looks like: every answer of the API, of the twins and of the exports is one of these models.

Names are those of the tables and of the files. A value that isn't known is null or an empty list, never left out; only
`*_html`, `match` and `snippet` come where they were asked for. Texts are Markdown. Times are UTC, `2023-11-15T20:31:00Z`,
and less where less is known: `2023-11-15`, `2023`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

PublicStatus = Literal["published", "withdrawn", "merged"]
CitationStatus = Literal["published", "withdrawn", "merged", "unknown"]
IncidentId = Annotated[str, Field(pattern=r"^IL-[0-9]{4,}$", examples=["IL-0421"])]
CheckCode = Annotated[str, Field(pattern=r"^KC-[0-9]{3,}$", examples=["KC-012"])]
Moment = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{4}(-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?)?$",
        examples=["2023-11-15T20:31:00Z", "2023-11-15"],
    ),
]
Instant = Annotated[
    str,
    Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$", examples=["2026-11-29T09:00:00Z"]),
]
Url = Annotated[str, Field(json_schema_extra={"format": "uri"})]


class Model(BaseModel):
    """Strict about names, so that a misspelt field is an error of ours and not an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TermRef(Model):
    """어휘의 값 하나: 변하지 않는 슬러그와 읽는 이름."""

    slug: str
    label: str


class OrganizationRef(Model):
    """조직."""

    slug: str
    name: str


class SourceOut(Model):
    """공개 보고서. 첫째가 1차 보고서입니다."""

    title: str
    url: str
    publisher: str
    published: str | None = Field(description="펴낸 날: `2023-11-20`, `2023-11`, `2023` 또는 null")
    archived_url: str | None


class RelatedOut(Model):
    """편집자가 이은 다른 기록."""

    id: IncidentId
    relation: Literal["same-event", "repeat-of", "follow-on", "similar"]
    note: str
    url: Url


class CitingCheck(Model):
    """이 기록을 근거로 드는 점검과 그 까닭."""

    code: CheckCode
    title: str
    why: str
    url: Url


class SnippetOut(Model):
    """찾은 말이 있는 곳. `html` 에는 `<mark>` 만 있습니다."""

    field: str
    html: str


class RecordOut(Model):
    """사고 사례 하나."""

    id: IncidentId
    status: PublicStatus
    status_reason: str | None = Field(description="철회하거나 병합한 까닭. 게시된 기록은 null")
    status_at: Moment | None = Field(description="철회하거나 병합한 때. 게시된 기록은 null")
    merged_into: IncidentId | None
    title: str
    organization: OrganizationRef | None
    year: int | None
    started_at: Moment | None
    detected_at: Moment | None
    mitigated_at: Moment | None
    resolved_at: Moment | None
    duration_minutes: int | None = Field(description="시작부터 해소까지의 분. 둘 다 분까지 알려졌을 때만")
    minutes_to_detect: int | None
    minutes_to_mitigate: int | None
    causes: list[TermRef] = Field(description="주된 것부터")
    components: list[TermRef] = Field(description="주된 것부터")
    factors: list[TermRef]
    detection_method: str | None
    detection_method_label: str | None
    symptom: str
    trigger: str
    cause: str
    contributing_factors: list[str]
    detection: str
    actions: list[str]
    follow_ups: list[str]
    lesson: str
    sources: list[SourceOut]
    related: list[RelatedOut]
    checks: list[CheckCode] = Field(description="이 기록을 근거로 드는 점검의 코드")
    cited_by: list[CitingCheck]
    version: int
    published_at: Instant | None
    updated_at: Instant | None
    url: Url
    api_url: Url

    symptom_html: str = Field(default="", description="`html=1` 일 때만")
    trigger_html: str = ""
    cause_html: str = ""
    contributing_factors_html: list[str] = []
    detection_html: str = ""
    actions_html: list[str] = []
    follow_ups_html: list[str] = []
    lesson_html: str = ""


class ListedRecordOut(RecordOut):
    """목록 안의 사례."""

    match: Literal["all", "partial"] = Field(default="all", description="`partial`: 찾은 말 가운데 일부만 있습니다")
    snippet: SnippetOut | None = None


class PartialRecordOut(ListedRecordOut):
    """`fields=` 나 `exclude=` 로 좁힌 사례: 고른 항목만 있습니다."""

    model_config = ConfigDict(json_schema_extra=lambda schema: schema.pop("required", None))


class InterpretationOut(Model):
    """무엇을 찾았나. `corrected`: 모르는 말이 있어 `query` 로 고쳐 찾았습니다."""

    kind: Literal["exact", "corrected"]
    query: str
    original: str


class FacetOptionOut(Model):
    """패싯의 값. `count` 는 이것을 고르면 보일 기록의 수입니다(같은 패싯의 다른 선택은 빼고 셉니다)."""

    value: str
    label: str
    group: str
    count: int
    is_selected: bool
    toggle_query: str = Field(description="이 값을 고르거나 뺀 목록의 매개변수")


class ListingOut(Model):
    """사례의 목록 한 쪽. `exclude=` 로 뺀 것이 아니면 모두 있습니다."""

    model_config = ConfigDict(json_schema_extra={"required": ["count", "results"]})

    count: int = Field(description="찾은 말과 조건에 모두 맞는 기록의 수")
    partial_count: int = Field(description="그 뒤에 이어지는, 말의 일부만 맞는 기록의 수")
    interpretation: InterpretationOut
    next: Url | None
    previous: Url | None
    facets: dict[str, list[FacetOptionOut]] = Field(
        description="패싯마다 그 값들: factor, component, cause, detection, organization, check, year"
    )
    results: list[ListedRecordOut | PartialRecordOut]


class SimilarOut(Model):
    """비슷한 기록과 그 까닭."""

    id: IncidentId
    title: str
    organization: OrganizationRef | None
    year: int | None
    relation: str | None = Field(description="편집자가 이은 관계. 어휘로 찾은 것은 null")
    note: str
    reasons: dict[str, list[TermRef]] = Field(description="함께 가진 값: component, cause, factor, organization")
    url: Url
    api_url: Url


class RelatedListOut(Model):
    """한 기록과 이어진 기록, 비슷한 기록."""

    id: IncidentId
    count: int
    results: list[SimilarOut]


class TermOut(Model):
    """어휘의 값. `count` 는 이 값을 가진 게시된 기록의 수입니다."""

    slug: str
    label: str
    label_en: str
    group: str
    about: str
    aliases: list[str]
    count: int
    url: Url
    incidents_url: Url


class CountedTerm(TermRef):
    """함께 나오는 값과 그 수."""

    count: int


class TermDetailOut(TermOut):
    """어휘의 값 하나와 그 기록에 함께 자주 나오는 값."""

    checks: list[CheckCode]
    companions: dict[str, list[CountedTerm]]


class VocabularyOut(Model):
    """어휘 하나."""

    count: int
    results: list[TermOut]


class CitedIncidentOut(Model):
    """점검이 근거로 드는 기록: `why` 는 그 기록의 어떤 사실이 근거인지."""

    id: IncidentId
    title: str
    status: PublicStatus
    merged_into: IncidentId | None
    why: str
    version: int
    url: Url


class CheckOut(Model):
    """점검: 무엇이 잘못될 수 있고, 어떻게 (읽기만 하며) 보고, 언제 통과인가. 근거는 사례입니다."""

    code: CheckCode
    title: str
    area: str
    severity: Literal["high", "medium", "low"]
    components: list[TermRef]
    factors: list[TermRef]
    risk: str
    look: str
    criterion: str
    incident_count: int
    incidents: list[CitedIncidentOut]
    url: Url
    incidents_url: Url


class CheckListOut(Model):
    """점검의 목록."""

    count: int
    results: list[CheckOut]


class CitationOut(Model):
    """인용한 번호 하나가 지금 무엇을 가리키나. 문장을 못 박은 인용이면 `statement` 아래 항목이 찹니다."""

    requested: str
    id: IncidentId | None
    status: CitationStatus
    title: str | None
    url: Url | None
    version: int | None
    merged_into: IncidentId | None
    status_reason: str | None
    updated_at: Instant | None
    pinned_version: int | None = None
    pinned_anchor: str | None = None
    statement_status: Literal["unchanged", "reworded", "withdrawn", "unknown"] | None = None
    statement: str | None = Field(default=None, description="못 박은 문장이 그 판에서 한 말")
    statement_now: str | None = Field(default=None, description="같은 자리의 지금 말")


class CitationsOut(Model):
    """물은 차례대로, 물은 것마다 하나."""

    citations: list[CitationOut]


class SuggestionOut(Model):
    """완성할 말."""

    kind: Literal["incident", "component", "cause", "factor", "organization", "check", "query"]
    text: str
    value: str = Field(description="번호나 슬러그")
    count: int
    url: Url


class SuggestionsOut(Model):
    """앞부분만 친 말의 완성."""

    q: str
    suggestions: list[SuggestionOut]


class MatchOut(Model):
    """붙여 넣은 글과 닮은 기록."""

    id: IncidentId
    title: str
    organization: OrganizationRef | None
    year: int | None
    score: float
    matched_terms: list[str]
    field: str
    statement: str = Field(description="가장 잘 맞는 문장")
    pin: str = Field(description="그 문장의 자리: `IL-0252@1#cause-2`")
    detection_method: str | None
    detection: str
    first_action: str | None
    url: Url
    api_url: Url


class MatchesOut(Model):
    """가장 닮은 것부터."""

    terms: list[str] = Field(description="호스트, 숫자, 시각을 빼고 찾은 말")
    count: int
    results: list[MatchOut]


class MatchIn(BaseModel):
    """오류 한 줄, 경보, 로그 조각. 저장하지 않습니다."""

    model_config = ConfigDict(extra="forbid", title="MatchRequest")

    text: str = Field(description="64 kB 까지", min_length=1)
    limit: int = Field(default=5, ge=1, le=20)


class FigureMark(Model):
    """그림의 표시 하나. `query` 는 그것이 세는 기록의 목록입니다(`/incidents/?…`)."""

    label: str
    count: int
    query: str


class FigureTerm(FigureMark):
    """어휘의 값 하나를 세는 표시."""

    slug: str


class Figure(Model):
    """그림 하나의 수. `total` 은 분모, `known` 은 그 값을 밝힌 기록의 수입니다."""

    total: int
    known: int
    marks: list[FigureMark]


class TermFigureOut(Model):
    """어휘의 값마다의 수, 많은 것부터."""

    total: int
    known: int
    terms: list[FigureTerm]


class DurationFigureOut(Figure):
    """지속 시간의 분포. 사분위는 알려진 것만의 값이고 분입니다."""

    lower_quartile: int | None
    median: int | None
    upper_quartile: int | None


class TableRow(Model):
    """표의 줄: 머리와, 열의 차례대로의 칸."""

    head: FigureMark
    group: str
    cells: list[FigureMark]


class TableFigureOut(Model):
    """두 가지를 엇갈려 센 표. 기록 하나는 자기가 든 칸마다 한 번씩 셉니다."""

    total: int
    known: int
    columns: list[FigureMark]
    rows: list[TableRow]


class FiguresOut(Model):
    """쪽 `/stats/` 의 그림들."""

    total: int
    years: Figure
    durations: DurationFigureOut
    causes: TermFigureOut
    components: TermFigureOut
    factors: TermFigureOut
    detections: TermFigureOut
    organizations: TermFigureOut
    cause_component: TableFigureOut
    cause_detection: TableFigureOut
    together: Figure


class ExportFile(Model):
    """내려받을 것 하나."""

    format: Literal["ndjson", "csv", "markdown", "sqlite"]
    media_type: str
    url: Url
    about: str


class ExportsOut(Model):
    """내려받기: 무엇을 골랐고 몇 건이며 언제의 것이고 어떤 허락 아래 있나."""

    total: int
    filter: str
    includes: list[PublicStatus]
    updated_at: Instant | None
    revision: int
    license: str
    license_url: Url
    files: list[ExportFile]


class IndexLinks(Model):
    """어디에 무엇이 있나: 부분마다의 주소."""

    openapi: Url = Field(description="OpenAPI 3.1")
    docs: Url = Field(description="그것을 읽는 쪽")
    incidents: Url
    causes: Url
    components: Url
    factors: Url
    detections: Url
    organizations: Url
    checks: Url
    citations: Url = Field(description="`?id=IL-0421` 을 붙여 묻습니다")
    suggest: Url = Field(description="`?q=` 를 붙여 묻습니다")
    match: Url = Field(description="POST 로 묻습니다")
    stats: Url
    export: Url
    feed: Url = Field(description="Atom")
    mcp: Url = Field(description="Model Context Protocol")
    website: Url


class IndexOut(Model):
    """API 의 첫 주소. `total` 은 게시된 기록의 수입니다."""

    name: str
    version: str
    total: int
    updated_at: Instant | None
    license: str
    license_url: Url
    links: IndexLinks


class ProblemError(Model):
    """매개변수 하나의 문제."""

    parameter: str
    detail: str


class ProblemOut(Model):
    """오류(RFC 9457). `type` 은 이 오류를 설명하는 쪽의 주소입니다."""

    type: Url
    title: str
    status: int
    detail: str
    instance: str
    code: str
    errors: list[ProblemError]
