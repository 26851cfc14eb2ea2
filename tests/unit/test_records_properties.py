"""Properties of reading and writing that hold for every record and for every file."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from incidents.plain_text import CONTROL, canonical_line, canonical_text
from incidents.record_text import LIST_SECTIONS, SECTION_LABELS, canonical_item, text_problems
from incidents.records import (
    RELATIONS,
    Moment,
    RecordData,
    RecordError,
    RelatedData,
    SourceData,
    canonical_record,
    format_record,
    order_problems,
    parse_record,
)
from tests.unit.record_samples import GOOD

# Pieces that mean something to Markdown or YAML, so that texts of them come near the edges.
_PIECES = [
    "#", "## ", "## 원인", "원인", "-", "- ", "* ", "1. ", "---", "===", "```", "~~~", "`", "\n", "\n\n", "  ", "    ",
    "|", "> ", "**", "__", ":", ": ", " #", '"', "'", "[", "]", "{", "}", "\\", "&", "!", "%", "@", "\t", "가", "각",
    "a", "é", "\u3000", "\u00a0", "🙂", "<pid>", "no", "0135",
]  # fmt: skip
RAW_TEXTS = st.one_of(
    st.lists(st.sampled_from(_PIECES), max_size=25).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
).map(lambda text: CONTROL.sub("", text))

LINES = RAW_TEXTS.map(canonical_line)
PROSE = RAW_TEXTS.map(canonical_text).filter(lambda text: not text_problems(text))
ITEMS = RAW_TEXTS.map(canonical_item).filter(lambda text: text and not text_problems(text))
SLUGS = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}", fullmatch=True)
IDS = st.integers(1, 999_999_999).map(lambda number: f"IL-{number:04d}")
URLS = st.from_regex(r"https?://[a-z]{1,9}\.example/[a-z0-9#?&=%:,'()!*~._-]{0,20}", fullmatch=True)


def _moment(value: datetime, precision: str) -> Moment:
    if precision == "year":
        return Moment(datetime(value.year, 1, 1, tzinfo=UTC), "year")
    if precision == "day":
        return Moment(datetime(value.year, value.month, value.day, tzinfo=UTC), "day")
    return Moment(value.replace(microsecond=0, tzinfo=UTC), "minute")


MOMENTS = st.builds(
    _moment, st.datetimes(datetime(1940, 1, 1), datetime(2100, 12, 31)), st.sampled_from(["year", "day", "minute"])
)
SOURCES = st.builds(
    SourceData,
    LINES.filter(bool),
    URLS,
    LINES,
    st.sampled_from(["", "2024", "2024-02", "2024-02-29"]),
    st.one_of(st.just(""), URLS),
)


@st.composite
def records(draw: st.DrawFn) -> RecordData:
    """Return a record that may stand in a file, in canonical form."""
    record_id = draw(IDS)
    others = IDS.filter(lambda other: other != record_id)
    status = draw(st.sampled_from(["draft", "in_review", "published", "withdrawn", "merged"]))
    least = 1 if status == "published" else 0
    moments = {key: draw(st.none() | MOMENTS) for key in ("started_at", "detected_at", "mitigated_at", "resolved_at")}
    if order_problems(moments):
        moments = {"started_at": moments["started_at"]}
    needed = {"symptom", "cause", "actions", "lesson"} if status == "published" else set()
    texts = {
        name: draw(
            st.lists(ITEMS, min_size=int(name in needed), max_size=3).map(tuple)
            if name in LIST_SECTIONS
            else PROSE.filter(bool)
            if name in needed
            else PROSE
        )
        for name in SECTION_LABELS
    }
    lines = LINES.filter(bool) if status == "published" else LINES
    reasons = RAW_TEXTS.map(canonical_text)
    record = RecordData(
        id=record_id,
        title=draw(lines),
        organization=draw(lines)[:100].strip() or "조직",
        year=draw(st.integers(1940, 2100) if status == "published" else st.none() | st.integers(1940, 2100)),
        causes=draw(st.lists(SLUGS, min_size=least, max_size=3, unique=True).map(tuple)),
        components=draw(st.lists(SLUGS, min_size=least, max_size=5, unique=True).map(tuple)),
        factors=draw(st.lists(SLUGS, max_size=6, unique=True).map(tuple)),
        detection_method=draw(SLUGS if status == "published" else st.just("") | SLUGS),
        status=status,
        sources=draw(st.lists(SOURCES, min_size=least, max_size=2).map(tuple)),
        related=draw(
            st.lists(
                st.builds(RelatedData, others, st.sampled_from(RELATIONS), LINES),
                unique_by=lambda other: other.id,
                max_size=2,
            ).map(tuple)
        ),
        status_at=None if status == "published" else draw(st.none() | MOMENTS),
        status_reason="" if status == "published" else draw(reasons.filter(bool) if status == "withdrawn" else reasons),
        merged_into=draw(others) if status == "merged" else "",
    )
    parts: dict[str, Any] = {**moments, **texts}  # fields of different types by name
    return replace(record, **parts)


@given(records())
def test_any_record_comes_back_from_its_own_file(record):
    text = format_record(record)
    assert parse_record(text.encode(), f"{record.id}.md") == record
    assert canonical_record(record) == record
    assert parse_record(text.replace("\n", "\r\n").encode("utf-8-sig"), f"{record.id}.md") == record


@given(RAW_TEXTS, st.lists(RAW_TEXTS, max_size=3))
@example("- ```\n## 원인\n  ```", ["```\n- 하나\n```"])
@example("글\n--", ["- # 하나"])
def test_text_without_problems_can_be_written_and_read_again(prose, items):
    """What the editing form lets through, files take too."""
    if text_problems(canonical_text(prose)) or any(text_problems(canonical_item(item)) for item in items):
        return
    record = RecordData(id="IL-0001", status="draft", symptom=prose, actions=tuple(items), lesson=prose)
    assert parse_record(format_record(record).encode(), "IL-0001.md") == canonical_record(record)


@given(RAW_TEXTS)
def test_canonical_forms_are_settled(text):
    for canonical in (canonical_line, canonical_text, canonical_item):
        assert canonical(canonical(text)) == canonical(text)


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data):
    _read_or_refuse(data)


@given(st.data())
def test_any_damage_to_a_record_is_read_or_refused(data):
    """Lines taken out, doubled, cut or with something put in: a fault has a line of the file, or the record is read."""
    lines = GOOD.split("\n")
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(lines) - 1))
        column = data.draw(st.integers(0, len(lines[position])))
        put_in = data.draw(st.sampled_from([*_PIECES, "\x00", "\r", "\u2028", "*a", "&a", "? ", "null", "---\n"]))
        line = lines[position]
        lines[position] = line[:column] + put_in + line[column:]
        if data.draw(st.booleans()):
            lines.insert(position, lines[data.draw(st.integers(0, len(lines) - 1))])
    _read_or_refuse("\n".join(lines).encode())


def _read_or_refuse(data: bytes) -> None:
    try:
        record = parse_record(data, "IL-9001.md")
    except RecordError as error:
        last = data.count(b"\n") + 1
        assert all(1 <= fault.line <= last and fault.file == "IL-9001.md" for fault in error.faults)
        assert all("\n" not in fault.message for fault in error.faults)
    else:
        assert parse_record(format_record(record).encode(), "IL-9001.md") == record
