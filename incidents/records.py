"""One incident record as a Markdown file ↔ RecordData. Pure: no database, no HTML. The format is docs/format.md.

`parse_record(format_record(record), …) == record` for every record in canonical form, and `format_record` gives back
byte for byte what was read from a canonical file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from incidents import yaml_nodes
from incidents.faults import Fault, FaultList, RecordError
from incidents.plain_text import CONTROL, canonical_line, canonical_text, decode
from incidents.record_text import (
    LIST_SECTIONS,
    REQUIRED_SECTIONS,
    SECTION_LABELS,
    Sections,
    canonical_item,
    read_sections,
    write_sections,
)
from incidents.yaml_fields import FieldReader
from incidents.yaml_nodes import Node, read_yaml, write_scalar

__all__ = [
    "Fault",
    "LocatedRecord",
    "Moment",
    "RecordData",
    "RecordError",
    "RelatedData",
    "SourceData",
    "canonical_record",
    "content_of",
    "format_record",
    "missing_when_published",
    "parse_located",
    "parse_record",
]

Precision = Literal["year", "day", "minute"]

STATUSES = ("draft", "in_review", "published", "withdrawn", "merged")
RELATIONS = ("same-event", "repeat-of", "follow-on", "similar")

MAX_BYTES = 2_000_000
MAX_FRONT_MATTER_CHARS = 200_000
MAX_TITLE_CHARS = 200
MAX_ORGANIZATION_CHARS = 120
MAX_SOURCE_TITLE_CHARS = 300
MAX_PUBLISHER_CHARS = 200
MAX_NOTE_CHARS = 300
MAX_REASON_CHARS = 2_000
MAX_URL_CHARS = 1_000
MAX_SOURCES = 100
MAX_RELATED = 100
CAUSES_RANGE = (1, 3)  # least and most of a published record
COMPONENTS_RANGE = (1, 5)
FACTORS_RANGE = (0, 6)
YEAR_RANGE = (1940, 2100)  # before the first stored-program computer there is nothing to record


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time as far as it is known. `value` is aware UTC, cut to the second.

    With precision "day" it is the day's midnight, with "year" the year's; the rest of the value means nothing then.
    """

    value: datetime
    precision: Precision

    def __str__(self) -> str:
        if self.precision == "year":
            return f"{self.value.year:04d}"
        if self.precision == "day":
            return self.value.date().isoformat()
        return self.value.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat() + "Z"

    def latest(self) -> datetime:
        """Return the last instant that this may be."""
        if self.precision == "year":
            return self.value.replace(year=self.value.year + 1) - timedelta(microseconds=1)
        return self.value + (timedelta(days=1) - timedelta(microseconds=1) if self.precision == "day" else timedelta())


@dataclass(frozen=True, slots=True)
class SourceData:
    """A public report. `published` is a day, a month or a year (2023-11-20, 2023-11, 2023) or empty."""

    title: str
    url: str
    publisher: str = ""
    published: str = ""
    archived_url: str = ""


@dataclass(frozen=True, slots=True)
class RelatedData:
    """A tie to another record; `relation` is one of RELATIONS."""

    id: str
    relation: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class RecordData:
    """One incident record. Texts are Markdown in canonical form; slugs are in the record's order, the main one first.

    Only a record that isn't published may leave fields empty. `status_at`, `status_reason` (withdrawn, merged and the
    like) and `merged_into` are empty for a published record.
    """

    id: str
    title: str = ""
    organization: str = ""
    year: int | None = None
    started_at: Moment | None = None
    detected_at: Moment | None = None
    mitigated_at: Moment | None = None
    resolved_at: Moment | None = None
    causes: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    detection_method: str = ""
    status: str = "published"
    sources: tuple[SourceData, ...] = ()
    related: tuple[RelatedData, ...] = ()
    symptom: str = ""
    trigger: str = ""
    cause: str = ""
    contributing_factors: tuple[str, ...] = ()
    detection: str = ""
    actions: tuple[str, ...] = ()
    follow_ups: tuple[str, ...] = ()
    lesson: str = ""
    status_at: Moment | None = None
    status_reason: str = ""
    merged_into: str = ""


@dataclass(frozen=True, slots=True)
class LocatedRecord:
    """A record with the file it came from and the line of each value that other files must confirm.

    Keys of `lines`: "id", "status", "merged_into", "detection_method", and with a position "causes.0",
    "components.0", "factors.0", "related.0".
    """

    record: RecordData
    file: str
    lines: Mapping[str, int] = field(default_factory=dict)

    def line(self, key: str) -> int:
        """Return the line of a value, 1 where it isn't known."""
        return self.lines.get(key, 1)


MOMENT_KEYS = ("started_at", "detected_at", "mitigated_at", "resolved_at")
_KEYS = (
    "id",
    "title",
    "organization",
    "year",
    *MOMENT_KEYS,
    "causes",
    "components",
    "factors",
    "detection_method",
    "status",
    "status_at",
    "status_reason",
    "merged_into",
    "sources",
    "related",
)
_SOURCE_KEYS = ("title", "url", "publisher", "published", "archived_url")
_RELATED_KEYS = ("id", "relation", "note")
_REQUIRED_KEYS = ("title", "organization", "year", "causes", "components", "detection_method", "sources")


def missing_when_published(record: RecordData) -> tuple[str, ...]:
    """Return the fields, by name and in a record's order, that a published record needs and this one lacks."""
    needed = (*_REQUIRED_KEYS, *REQUIRED_SECTIONS)
    return tuple(name for name in needed if not getattr(record, name))


def parse_record(data: bytes, filename: str) -> RecordData:
    """Return the record that a file holds.

    `filename` is the file as the user named it; its last part must be the record's ID and `.md`. Raises RecordError
    with every fault that was found.
    """
    return parse_located(data, filename).record


def parse_located(data: bytes, filename: str) -> LocatedRecord:
    """Return the record with its lines, as parse_record does. Raises RecordError."""
    faults = FaultList(filename)
    text = decode(data, faults, limit=MAX_BYTES)
    if text is None:
        raise RecordError(faults.faults)
    lines = text.split("\n")
    end = _front_matter_end(lines, faults)
    faults.raise_if_any()
    reader = _FrontMatter(faults, filename)
    reader.read("\n".join(lines[1:end]))
    sections = read_sections(lines[end + 1 :], faults, first_line=end + 2)
    record = reader.record(sections)
    reader.check_complete(record, sections, last_line=_last_line(lines))
    faults.raise_if_any()
    return LocatedRecord(record, filename, reader.lines)


def _last_line(lines: list[str]) -> int:
    return max((number for number, line in enumerate(lines, start=1) if line.strip()), default=1)


def _front_matter_end(lines: list[str], faults: FaultList) -> int:
    """Return the index of the line that closes the front matter; 0 after noting a fault."""
    if lines[0].rstrip() != "---":
        first = next((number for number, line in enumerate(lines) if line.strip()), 0)
        advice = (
            "머리말 앞의 빈 줄을 지워 첫 줄이 `---` 가 되게 해 주십시오."
            if lines[first].rstrip() == "---"
            else "첫 줄을 `---` 로 시작하고 `id:`, `title:` 들을 적은 뒤 `---` 로 닫아 주십시오."
        )
        faults.add(1, f"머리말이 없습니다. {advice}")
        return 0
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() == "---"), 0)
    if not end:
        faults.add(1, "머리말이 닫히지 않았습니다. 머리말 끝에 `---` 만 있는 줄을 더해 주십시오.")
    elif sum(map(len, lines[:end])) > MAX_FRONT_MATTER_CHARS:
        faults.add(1, f"머리말이 너무 깁니다. {MAX_FRONT_MATTER_CHARS:,}자 아래로 줄여 주십시오.")
    return end


class _FrontMatter(FieldReader):
    """Reads the front matter, noting each fault with its line and going on."""

    def __init__(self, faults: FaultList, filename: str) -> None:
        super().__init__(faults)
        self.filename = filename
        self.values: dict[str, Node] = {}
        self.is_readable = False

    def read(self, text: str) -> None:
        """Read the YAML between the two lines of dashes."""
        tree = read_yaml(text, self.faults, first_line=2)
        if isinstance(tree, yaml_nodes.Mapping):
            self.is_readable = True
            self.lines = dict(tree.keys)
            self.values = self.known(tree, _KEYS)
        elif tree is not None:
            self.faults.add(tree.line, "머리말은 `키: 값` 줄로 적어 주십시오.")
        elif not self.faults.faults:
            self.faults.add(1, "머리말이 비어 있습니다. `id:`, `title:` 들을 적어 주십시오.")

    def record(self, sections: Sections) -> RecordData:
        """Return the record as far as it could be read."""
        values = self.values.get
        record_id = self._id()
        moments = {key: self._moment(key) for key in MOMENT_KEYS}
        for key, message in order_problems(moments):
            self.fault(key, message)
        return RecordData(
            id=record_id,
            title=self.line_of_text("title", values("title"), MAX_TITLE_CHARS),
            organization=self.line_of_text("organization", values("organization"), MAX_ORGANIZATION_CHARS),
            year=self._year(),
            **moments,
            causes=self.slugs("causes", values("causes"), CAUSES_RANGE[1]),
            components=self.slugs("components", values("components"), COMPONENTS_RANGE[1]),
            factors=self.slugs("factors", values("factors"), FACTORS_RANGE[1]),
            detection_method=self.slug("detection_method", values("detection_method")),
            status=self.choice("status", values("status"), STATUSES, default="published"),
            sources=self._sources(),
            related=self._related(record_id),
            symptom=sections.prose.get("symptom", ""),
            trigger=sections.prose.get("trigger", ""),
            cause=sections.prose.get("cause", ""),
            contributing_factors=sections.items.get("contributing_factors", ()),
            detection=sections.prose.get("detection", ""),
            actions=sections.items.get("actions", ()),
            follow_ups=sections.items.get("follow_ups", ()),
            lesson=sections.prose.get("lesson", ""),
            status_at=self._moment("status_at"),
            status_reason=self.text("status_reason", values("status_reason"), MAX_REASON_CHARS),
            merged_into=self.record_id("merged_into", values("merged_into"), record_id),
        )

    def check_complete(self, record: RecordData, sections: Sections, *, last_line: int) -> None:
        """Note what the record's status asks for and the record lacks, or the other way round."""
        if not self.is_readable or "status" in self.faulty:
            return
        for key in ("status_at", "status_reason", "merged_into"):
            if record.status == "published" and getattr(record, key):
                self.fault(key, f"{key}: 게시된 기록에는 적지 않습니다. 지우거나 status 를 고쳐 주십시오.")
        if record.merged_into and record.status not in {"merged", "published"}:
            self.fault("merged_into", "merged_into: status 가 merged 인 기록에만 적습니다.")
        if record.status == "merged" and not record.merged_into and "merged_into" not in self.faulty:
            self.fault("status", "병합한 기록입니다. 어느 기록에 합쳤는지 merged_into 에 ID 로 적어 주십시오.")
        if record.status == "withdrawn" and not record.status_reason and "status_reason" not in self.faulty:
            self.fault("status", "철회한 기록입니다. 까닭을 status_reason 에 적어 주십시오.")
        if record.status != "published":
            return
        for name in missing_when_published(record):
            if name in SECTION_LABELS:
                if not sections.has_heading_faults and name not in sections.lines:
                    advice = "더하거나, 아직 쓰는 중이면 status: draft 로 적어 주십시오."
                    heading = SECTION_LABELS[name]
                    self.faults.add(last_line, f"게시할 기록에 꼭 있어야 하는 절이 없습니다: ## {heading}. {advice}")
            elif name not in self.faulty:
                self.fault(name, f"게시할 기록에 꼭 있어야 하는 값이 없습니다: {name}. 적어 주십시오.")

    def _id(self) -> str:
        stem = PurePosixPath(self.filename.replace("\\", "/")).name.removesuffix(".md")
        scalar = self.scalar("id", self.values.get("id"))
        if scalar is None:
            if self.is_readable and "id" not in self.faulty:
                self.fault("id", f"id 가 없습니다. `id: {stem[:40]}` 처럼 적어 주십시오.")
            return ""
        record_id = self.record_id("id", scalar)
        if record_id and record_id != stem:
            advice = f"파일 이름을 {record_id}.md 로 하거나 id 를 고쳐 주십시오."
            self.fault("id", f"ID 와 파일 이름이 다릅니다: {record_id}, {stem[:60]}. {advice}", scalar.line)
        return record_id

    def _year(self) -> int | None:
        scalar = self.scalar("year", self.values.get("year"))
        if scalar is None:
            return None
        low, high = YEAR_RANGE
        if re.fullmatch(r"[0-9]{4}", scalar.text) and low <= int(scalar.text) <= high:
            return int(scalar.text)
        advice = f"{low}~{high} 사이의 네 자리 숫자로 적어 주십시오."
        self.fault("year", f"year: 연도가 아닙니다: {scalar.text[:40]}. {advice}", scalar.line)
        return None

    def _moment(self, key: str) -> Moment | None:
        scalar = self.scalar(key, self.values.get(key))
        if scalar is None:
            return None
        try:
            return parse_moment(scalar.text)
        except ValueError as error:
            self.fault(key, f"{key}: {error}", scalar.line)
            return None

    def _sources(self) -> tuple[SourceData, ...]:
        sources = []
        for values, line in self.entries("sources", self.values.get("sources"), _SOURCE_KEYS, MAX_SOURCES):
            self.need("sources", values, ("title", "url"), line)
            sources.append(
                SourceData(
                    title=self.line_of_text("sources", values.get("title"), MAX_SOURCE_TITLE_CHARS),
                    url=self._url(values.get("url")),
                    publisher=self.line_of_text("sources", values.get("publisher"), MAX_PUBLISHER_CHARS),
                    published=self._published(values.get("published")),
                    archived_url=self._url(values.get("archived_url")),
                )
            )
        return tuple(sources)

    def _url(self, node: Node | None) -> str:
        scalar = self.scalar("sources", node)
        if scalar is None:
            return ""
        if problem := url_problem(scalar.text):
            self.fault("sources", f"{problem}: {scalar.text[:100]}", scalar.line)
            return ""
        return scalar.text

    def _published(self, node: Node | None) -> str:
        scalar = self.scalar("sources", node)
        if scalar is None:
            return ""
        if problem := published_problem(scalar.text):
            self.fault("sources", f"published: {problem}", scalar.line)
            return ""
        return scalar.text

    def _related(self, own_id: str) -> tuple[RelatedData, ...]:
        related: list[RelatedData] = []
        for values, line in self.entries("related", self.values.get("related"), _RELATED_KEYS, MAX_RELATED):
            self.need("related", values, ("id", "relation"), line)
            other = RelatedData(
                id=self.record_id("related", values.get("id"), own_id),
                relation=self.choice("related", values.get("relation"), RELATIONS, default=""),
                note=self.line_of_text("related", values.get("note"), MAX_NOTE_CHARS),
            )
            if other.id and any(other.id == known.id for known in related):
                self.fault("related", f"related: 같은 기록이 두 번 있습니다: {other.id}. 하나만 남겨 주십시오.", line)
            self.lines[f"related.{len(related)}"] = line
            related.append(other)
        return tuple(related)


_MOMENT = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?)?)?\Z"
)


def parse_moment(text: str) -> Moment:
    """Return the moment written as `2023`, `2023-11-15` or `2023-11-15T20:31:00Z` (or with an offset, taken to UTC).

    Raises ValueError with a Korean sentence. A time without a zone is refused: it could mean Seoul as well as UTC.
    """
    match = _MOMENT.match(text)
    example = "2023-11-15T20:31:00Z(UTC)나 2023-11-15 처럼 적어 주십시오."
    if match is None:
        raise ValueError(f"날짜나 시각이 아닙니다: {text[:40]}. {example}")
    low, high = YEAR_RANGE
    year = int(match["year"])
    if not low <= year <= high:
        raise ValueError(f"연도가 {low}~{high} 밖입니다: {text[:40]}")
    try:
        if match["month"] is None:
            return Moment(datetime(year, 1, 1, tzinfo=UTC), "year")
        day = date(year, int(match["month"]), int(match["day"]))
        if match["hour"] is None:
            return Moment(datetime(day.year, day.month, day.day, tzinfo=UTC), "day")
        if match["zone"] is None:
            raise ValueError("zone")
        value = datetime.fromisoformat(text.replace(" ", "T")).astimezone(UTC)
    except ValueError as error:
        if str(error) == "zone":
            raise ValueError(f"시간대가 없습니다: {text}. UTC 로 고쳐 끝에 Z 를 붙여 주십시오.") from None
        raise ValueError(f"달력에 없는 날짜나 시각입니다: {text}. {example}") from None
    if not low <= value.year <= high:
        raise ValueError(f"연도가 {low}~{high} 밖입니다: {text}")
    return Moment(value, "minute")


_PUBLISHED = re.compile(r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?\Z")


def published_problem(text: str) -> str:
    """Return what is wrong with a source's date in Korean, or an empty string: a day, a month or a year is taken."""
    match = _PUBLISHED.match(text)
    example = "2023-11-20, 2023-11, 2023 가운데 아는 만큼 적어 주십시오."
    if match is None:
        return f"날짜가 아닙니다: {text[:40]}. {example}"
    low, high = YEAR_RANGE
    if not low <= int(match["year"]) <= high:
        return f"연도가 {low}~{high} 밖입니다: {text}"
    try:
        date(int(match["year"]), int(match["month"] or 1), int(match["day"] or 1))
    except ValueError:
        return f"달력에 없는 날짜입니다: {text}. {example}"
    return ""


# (earlier, later): a later moment may not end before the earlier one begins. Detection is free: a precursor is noticed
# before users feel anything, silent damage long after it is over.
_MOMENT_ORDER = (
    ("started_at", "mitigated_at"),
    ("started_at", "resolved_at"),
    ("mitigated_at", "resolved_at"),
)


def order_problems(moments: Mapping[str, Moment | None]) -> list[tuple[str, str]]:
    """Return (field, Korean sentence) for each moment that surely lies before one that it must follow."""
    problems: dict[str, str] = {}
    for earlier, later in _MOMENT_ORDER:
        first, second = moments.get(earlier), moments.get(later)
        if first is not None and second is not None and second.latest() < first.value:
            problems.setdefault(
                later, f"{later} 시각이 {earlier} 시각보다 앞섭니다: {second}, {first}. 둘을 확인해 주십시오."
            )
    return list(problems.items())


def url_problem(url: str) -> str:
    """Return what is wrong with an address in Korean, or an empty string: only http and https with a host are taken."""
    if len(url) > MAX_URL_CHARS:
        return f"주소가 너무 깁니다. {MAX_URL_CHARS:,}자 아래로 줄여 주십시오"
    if re.search(r"[\s<>\"\\`]", url) or CONTROL.search(url):
        return "주소에 빈칸이나 쓸 수 없는 문자가 있습니다. %20 처럼 바꾸어 적어 주십시오"
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname)
        _ = parts.port
    except ValueError:
        return "주소를 읽을 수 없습니다"
    if parts.scheme not in {"http", "https"} or not has_host:
        return "주소는 http:// 나 https:// 로 시작해야 합니다"
    return ""


def canonical_record(record: RecordData) -> RecordData:
    """Return the record as it comes back from its own file: canonical texts, status notes only where they count."""
    is_published = record.status == "published"
    texts: dict[str, str] = {}
    lists: dict[str, tuple[str, ...]] = {}
    for name in SECTION_LABELS:
        if name in LIST_SECTIONS:
            lists[name] = tuple(filter(None, map(canonical_item, getattr(record, name))))
        else:
            texts[name] = canonical_text(getattr(record, name))
    return RecordData(
        id=record.id,
        title=canonical_line(record.title),
        organization=canonical_line(record.organization),
        year=record.year,
        **{key: _cut(getattr(record, key)) for key in MOMENT_KEYS},
        causes=record.causes,
        components=record.components,
        factors=record.factors,
        detection_method=record.detection_method,
        status=record.status,
        sources=tuple(
            SourceData(canonical_line(s.title), s.url, canonical_line(s.publisher), s.published, s.archived_url)
            for s in record.sources
        ),
        related=tuple(RelatedData(r.id, r.relation, canonical_line(r.note)) for r in record.related),
        symptom=texts["symptom"],
        trigger=texts["trigger"],
        cause=texts["cause"],
        contributing_factors=lists["contributing_factors"],
        detection=texts["detection"],
        actions=lists["actions"],
        follow_ups=lists["follow_ups"],
        lesson=texts["lesson"],
        status_at=None if is_published else _cut(record.status_at),
        status_reason="" if is_published else canonical_text(record.status_reason),
        merged_into=record.merged_into if record.status == "merged" else "",
    )


def _cut(moment: Moment | None) -> Moment | None:
    """Return the moment as its text says it: no more than its precision."""
    if moment is None:
        return None
    value = moment.value.astimezone(UTC).replace(microsecond=0)
    if moment.precision != "minute":
        value = value.replace(hour=0, minute=0, second=0)
    if moment.precision == "year":
        value = value.replace(month=1, day=1)
    return Moment(value, moment.precision)


def format_record(record: RecordData) -> str:
    """Return the canonical text of a record: what its file holds, byte for byte, ending in one line feed."""
    data = canonical_record(record)
    lines = ["---", f"id: {data.id}"]

    def add(key: str, value: str) -> None:
        if value:
            lines.append(f"{key}: {value}")

    add("title", data.title and write_scalar(data.title))
    add("organization", data.organization and write_scalar(data.organization))
    add("year", "" if data.year is None else f"{data.year:04d}")
    for key in MOMENT_KEYS:
        moment = getattr(data, key)
        add(key, "" if moment is None else str(moment))
    for key in ("causes", "components", "factors"):
        add(key, f"[{', '.join(_flow(slug) for slug in getattr(data, key))}]")
    add("detection_method", data.detection_method and write_scalar(data.detection_method))
    if data.status != "published":
        add("status", data.status)
        add("status_at", "" if data.status_at is None else str(data.status_at))
        add("status_reason", data.status_reason and write_scalar(data.status_reason))
        add("merged_into", data.merged_into)
    if data.sources:
        lines.append("sources:")
    for source in data.sources:
        lines.append(f"  - title: {write_scalar(source.title)}")
        for key, value in (
            ("url", source.url and write_scalar(source.url)),
            ("publisher", source.publisher and write_scalar(source.publisher)),
            ("published", source.published),
            ("archived_url", source.archived_url and write_scalar(source.archived_url)),
        ):
            if value:
                lines.append(f"    {key}: {value}")
    if data.related:
        lines.append("related:")
    for other in data.related:
        note = f", note: {_flow(other.note)}" if other.note else ""
        lines.append(f"  - {{id: {other.id}, relation: {other.relation}{note}}}")
    lines.append("---\n")
    prose = {name: getattr(data, name) for name in SECTION_LABELS if name not in LIST_SECTIONS}
    items = {name: getattr(data, name) for name in LIST_SECTIONS}
    return "\n".join(lines) + write_sections(prose, items)


def content_of(record: RecordData) -> str:
    """Return the text of a record's version: what it says, whatever its state."""
    return format_record(replace(record, status="published", status_at=None, status_reason="", merged_into=""))


def _flow(text: str) -> str:
    return write_scalar(text, in_flow=True)
