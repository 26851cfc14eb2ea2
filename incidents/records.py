"""One incident record as a Markdown file ↔ RecordData. Pure: no database, no HTML. The format is docs/format.md.

`parse_record(format_record(record), …) == record` for every record in canonical form, and `format_record` gives back
byte for byte what was read from a canonical file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
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
from incidents.yaml_nodes import Node, Scalar, write_scalar

__all__ = [
    "Fault",
    "LocatedRecord",
    "Moment",
    "RecordData",
    "RecordError",
    "RelatedData",
    "SourceData",
    "canonical_record",
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
MAX_LINE_CHARS = 500  # organization, publisher, a source's title, a note, a reason
MAX_URL_CHARS = 2_000
MAX_SLUG_CHARS = 64
MAX_SOURCES = 100
MAX_RELATED = 100
CAUSES_RANGE = (1, 3)
COMPONENTS_RANGE = (1, 5)
FACTORS_RANGE = (0, 6)
YEAR_RANGE = (1900, 2100)

ID_PATTERN = re.compile(r"IL-(?!0000\Z)(?:[0-9]{4}|[1-9][0-9]{4,8})\Z")
SLUG_PATTERN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


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
    """A public report. `published` is a day as YYYY-MM-DD or empty."""

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
    faults.raise_if_any()
    assert text is not None  # decode() gives None only with a fault
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


class _FrontMatter:
    """Reads the values of the front matter, noting each fault with its line and going on."""

    def __init__(self, faults: FaultList, filename: str) -> None:
        self.faults = faults
        self.filename = filename
        self.lines: dict[str, int] = {}
        self.values: dict[str, Node] = {}
        self.is_readable = False
        self.faulty: set[str] = set()

    def read(self, text: str) -> None:
        tree = yaml_nodes.read_yaml(text, self.faults, first_line=2)
        if isinstance(tree, yaml_nodes.Mapping):
            self.is_readable = True
            self.values = self._known(tree, _KEYS)
        elif tree is not None:
            self.faults.add(tree.line, "머리말은 `키: 값` 줄로 적어 주십시오.")
        elif not self.faults.faults:
            self.faults.add(1, "머리말이 비어 있습니다. `id:`, `title:` 들을 적어 주십시오.")

    def record(self, sections: Sections) -> RecordData:
        """Return the record as far as it could be read."""
        record_id = self._id()
        moments = {key: self._moment(key) for key in MOMENT_KEYS}
        self._check_order(moments)
        return RecordData(
            id=record_id,
            title=self._line("title", MAX_TITLE_CHARS),
            organization=self._line("organization"),
            year=self._year(),
            **moments,
            causes=self._slugs("causes", CAUSES_RANGE[1]),
            components=self._slugs("components", COMPONENTS_RANGE[1]),
            factors=self._slugs("factors", FACTORS_RANGE[1]),
            detection_method=self._slug("detection_method"),
            status=self._choice("status", STATUSES, default="published"),
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
            status_reason=self._line("status_reason"),
            merged_into=self._merged_into(record_id),
        )

    def check_complete(self, record: RecordData, sections: Sections, *, last_line: int) -> None:
        """Note what the record's status asks for and the record lacks, or the other way round."""
        if not self.is_readable or "status" in self.faulty:
            return
        for key in ("status_at", "status_reason", "merged_into"):
            if record.status == "published" and getattr(record, key):
                self._fault(key, f"{key}: 공개된 기록에는 적지 않습니다. 지우거나 status 를 고쳐 주십시오.")
        if record.merged_into and record.status not in {"merged", "published"}:
            self._fault("merged_into", "merged_into: status 가 merged 인 기록에만 적습니다.")
        if record.status == "merged" and not record.merged_into and "merged_into" not in self.faulty:
            self._fault("status", "합쳐진 기록입니다. 어느 기록에 합쳤는지 merged_into 에 ID 로 적어 주십시오.")
        if record.status != "published":
            return
        for name in missing_when_published(record):
            if name in SECTION_LABELS:
                if not sections.has_heading_faults and name not in sections.lines:
                    self.faults.add(last_line, f"공개된 기록에 꼭 있어야 하는 절이 없습니다: ## {SECTION_LABELS[name]}")
            elif name not in self.faulty:
                self._fault(name, f"공개된 기록에 꼭 있어야 하는 값이 없습니다: {name}")

    def _fault(self, key: str, message: str, line: int | None = None) -> None:
        self.faulty.add(key)
        self.faults.add(line or self.lines.get(key, 1), message)

    def _known(self, mapping: yaml_nodes.Mapping, allowed: tuple[str, ...]) -> dict[str, Node]:
        """Return the values of a mapping by its known keys; every other key is a fault."""
        for key, line in mapping.keys.items():
            if key in allowed:
                continue
            near = get_close_matches(key, allowed, n=1, cutoff=0.6)
            advice = f"혹시 {near[0]} 입니까?" if near else f"쓸 수 있는 키: {', '.join(allowed)}"
            self.faults.add(line, f"알 수 없는 키입니다: {key[:60]}. {advice}")
        if allowed is _KEYS:
            self.lines = dict(mapping.keys)
        return {key: value for key, value in mapping.values.items() if key in allowed}

    def _scalar(self, key: str, node: Node | None) -> Scalar | None:
        """Return a value that is filled; None when it is absent or, after a fault, not a scalar."""
        if node is None:
            return None
        if not isinstance(node, Scalar):
            self._fault(key, f"{key}: 값 하나여야 합니다. 괄호로 시작하는 글이면 큰따옴표로 감싸 주십시오.", node.line)
            return None
        return node if node.text.strip() else None

    def _text(self, key: str, node: Node | None, limit: int) -> str:
        scalar = self._scalar(key, node)
        if scalar is None:
            return ""
        text = canonical_line(scalar.text)
        if scalar.is_cut:
            self._fault(
                key,
                f"{key}: 빈칸 뒤의 # 부터는 주석이 되어 사라집니다. 값 전체를 큰따옴표로 감싸 주십시오.",
                scalar.line,
            )
        elif "\n" in scalar.text.strip() or CONTROL.search(scalar.text) or "\t" in scalar.text:
            self._fault(key, f"{key}: 한 줄로 적고 제어 문자는 지워 주십시오.", scalar.line)
        elif len(text) > limit:
            self._fault(key, f"{key}: 너무 깁니다({len(text):,}자). {limit:,}자 아래로 줄여 주십시오.", scalar.line)
        else:
            return text
        return ""

    def _line(self, key: str, limit: int = MAX_LINE_CHARS) -> str:
        return self._text(key, self.values.get(key), limit)

    def _id(self) -> str:
        stem = PurePosixPath(self.filename.replace("\\", "/")).name.removesuffix(".md")
        scalar = self._scalar("id", self.values.get("id"))
        if scalar is None:
            if self.is_readable and "id" not in self.faulty:
                self._fault("id", f"id 가 없습니다. `id: {stem[:40]}` 처럼 적어 주십시오.")
            return ""
        if not ID_PATTERN.match(scalar.text):
            self._fault("id", f"ID 의 꼴이 아닙니다: {scalar.text[:40]}. IL-0135 처럼 적어 주십시오.", scalar.line)
            return ""
        if scalar.text != stem:
            self._fault(
                "id",
                f"ID 와 파일 이름이 다릅니다: {scalar.text}, {stem[:60]}. "
                f"파일 이름을 {scalar.text}.md 로 하거나 id 를 고쳐 주십시오.",
                scalar.line,
            )
        return scalar.text

    def _year(self) -> int | None:
        scalar = self._scalar("year", self.values.get("year"))
        if scalar is None:
            return None
        low, high = YEAR_RANGE
        if re.fullmatch(r"[0-9]{4}", scalar.text) and low <= int(scalar.text) <= high:
            return int(scalar.text)
        self._fault(
            "year",
            f"연도가 아닙니다: {scalar.text[:40]}. {low}~{high} 사이의 네 자리 숫자로 적어 주십시오.",
            scalar.line,
        )
        return None

    def _moment(self, key: str) -> Moment | None:
        scalar = self._scalar(key, self.values.get(key))
        if scalar is None:
            return None
        try:
            return parse_moment(scalar.text)
        except ValueError as error:
            self._fault(key, f"{key}: {error}", scalar.line)
            return None

    def _check_order(self, moments: Mapping[str, Moment | None]) -> None:
        known = [(key, moment) for key, moment in moments.items() if moment is not None]
        for problem_key, message in order_problems(dict(known)):
            self._fault(problem_key, message)

    def _slug(self, key: str) -> str:
        return self._as_slug(key, self._scalar(key, self.values.get(key)))

    def _as_slug(self, key: str, scalar: Scalar | None) -> str:
        if scalar is None:
            return ""
        if len(scalar.text) <= MAX_SLUG_CHARS and SLUG_PATTERN.match(scalar.text):
            return scalar.text
        self._fault(
            key,
            f"{key}: 슬러그의 꼴이 아닙니다: {scalar.text[:60]}. dns-error 처럼 영문 소문자와 붙임표로 적어 주십시오.",
            scalar.line,
        )
        return ""

    def _slugs(self, key: str, most: int) -> tuple[str, ...]:
        node = self.values.get(key)
        if node is None or (isinstance(node, Scalar) and not node.text):
            return ()
        if not isinstance(node, yaml_nodes.Sequence):
            text = node.text[:40] if isinstance(node, Scalar) else "…"
            self._fault(key, f"{key}: 목록이어야 합니다. `{key}: [{text}]` 처럼 대괄호로 감싸 주십시오.", node.line)
            return ()
        slugs: list[str] = []
        for item in node.items:
            if isinstance(item, Scalar) and not item.text:
                self._fault(key, f"{key}: 빈 값이 있습니다. 쉼표를 확인해 주십시오.", item.line)
                continue
            slug = self._as_slug(key, self._scalar(key, item))
            if slug in slugs:
                self._fault(key, f"{key}: 같은 값이 두 번 있습니다: {slug}", item.line)
            elif slug:
                self.lines[f"{key}.{len(slugs)}"] = item.line
                slugs.append(slug)
        if len(slugs) > most:
            self._fault(
                key, f"{key}: {most}개까지 적을 수 있습니다(지금 {len(slugs)}개). 주된 것만 남겨 주십시오.", node.line
            )
        return tuple(slugs)

    def _choice(self, key: str, allowed: tuple[str, ...], *, default: str) -> str:
        scalar = self._scalar(key, self.values.get(key))
        if scalar is None:
            return default
        if scalar.text not in allowed:
            self._fault(
                key, f"{key}: 알 수 없는 값입니다: {scalar.text[:40]}. 쓸 수 있는 값: {', '.join(allowed)}", scalar.line
            )
            return default
        return scalar.text

    def _entries(self, key: str, allowed: tuple[str, ...], most: int) -> list[tuple[dict[str, Node], int]]:
        """Return the mappings of a list with the line of each."""
        node = self.values.get(key)
        if node is None or (isinstance(node, Scalar) and not node.text):
            return []
        if not isinstance(node, yaml_nodes.Sequence):
            self._fault(key, f"{key}: 목록이어야 합니다. 항목마다 `- ` 로 시작해 주십시오.", node.line)
            return []
        if len(node.items) > most:
            self._fault(key, f"{key}: {most}개까지 적을 수 있습니다(지금 {len(node.items)}개).", node.line)
            return []
        entries = []
        for item in node.items:
            if isinstance(item, yaml_nodes.Mapping):
                entries.append((self._known(item, allowed), item.line))
            else:
                self._fault(
                    key, f"{key}: 항목은 `키: 값` 으로 적어 주십시오. 쓸 수 있는 키: {', '.join(allowed)}", item.line
                )
        return entries

    def _sources(self) -> tuple[SourceData, ...]:
        sources = []
        for values, line in self._entries("sources", _SOURCE_KEYS, MAX_SOURCES):
            for key in ("title", "url"):
                if self._is_empty(values.get(key)):
                    self._fault("sources", f"출처에 꼭 있어야 하는 값이 없습니다: {key}", line)
            sources.append(
                SourceData(
                    title=self._text("sources", values.get("title"), MAX_LINE_CHARS),
                    url=self._url(values.get("url")),
                    publisher=self._text("sources", values.get("publisher"), MAX_LINE_CHARS),
                    published=self._day(values.get("published")),
                    archived_url=self._url(values.get("archived_url")),
                )
            )
        return tuple(sources)

    @staticmethod
    def _is_empty(node: Node | None) -> bool:
        return node is None or (isinstance(node, Scalar) and not node.text.strip())

    def _url(self, node: Node | None) -> str:
        scalar = self._scalar("sources", node)
        if scalar is None:
            return ""
        if problem := url_problem(scalar.text):
            self._fault("sources", f"{problem}: {scalar.text[:100]}", scalar.line)
            return ""
        return scalar.text

    def _day(self, node: Node | None) -> str:
        scalar = self._scalar("sources", node)
        if scalar is None:
            return ""
        try:
            moment = parse_moment(scalar.text)
        except ValueError as error:
            self._fault("sources", f"published: {error}", scalar.line)
            return ""
        if moment.precision != "day":
            self._fault(
                "sources",
                f"published: 날짜가 아닙니다: {scalar.text[:40]}. 2023-11-20 처럼 적어 주십시오.",
                scalar.line,
            )
        return str(moment)

    def _record_id(self, key: str, node: Node | None, own_id: str) -> str:
        scalar = self._scalar(key, node)
        if scalar is None:
            return ""
        if not ID_PATTERN.match(scalar.text):
            self._fault(
                key, f"{key}: ID 의 꼴이 아닙니다: {scalar.text[:40]}. IL-0135 처럼 적어 주십시오.", scalar.line
            )
            return ""
        if own_id and scalar.text == own_id:
            self._fault(key, f"{key}: 자기 자신을 가리킵니다: {own_id}", scalar.line)
        return scalar.text

    def _related(self, own_id: str) -> tuple[RelatedData, ...]:
        related: list[RelatedData] = []
        for values, line in self._entries("related", _RELATED_KEYS, MAX_RELATED):
            for key in ("id", "relation"):
                if self._is_empty(values.get(key)):
                    self._fault("related", f"related 항목에 꼭 있어야 하는 값이 없습니다: {key}", line)
            relation = self._scalar("related", values.get("relation"))
            if relation is not None and relation.text not in RELATIONS:
                self._fault(
                    "related",
                    f"알 수 없는 관계입니다: {relation.text[:40]}. 쓸 수 있는 값: {', '.join(RELATIONS)}",
                    relation.line,
                )
            other = RelatedData(
                id=self._record_id("related", values.get("id"), own_id),
                relation=relation.text if relation is not None else "",
                note=self._text("related", values.get("note"), MAX_LINE_CHARS),
            )
            if other.id and any(other.id == known.id for known in related):
                self._fault("related", f"같은 기록이 두 번 있습니다: {other.id}", line)
            self.lines[f"related.{len(related)}"] = line
            related.append(other)
        return tuple(related)

    def _merged_into(self, own_id: str) -> str:
        return self._record_id("merged_into", self.values.get("merged_into"), own_id)


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
        status_reason="" if is_published else canonical_line(record.status_reason),
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


def _flow(text: str) -> str:
    return write_scalar(text, in_flow=True)
