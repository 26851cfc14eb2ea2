"""Reading and writing one record: what is taken, what is refused with which line, and the way there and back."""

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from incidents.errors import UserError
from incidents.faults import Fault
from incidents.records import (
    Moment,
    RecordData,
    RecordError,
    RelatedData,
    SourceData,
    canonical_record,
    format_record,
    missing_when_published,
    parse_located,
    parse_moment,
    parse_record,
    url_problem,
)
from tests.unit.record_samples import GOOD, edited, faults_of, line_of

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "incidents").glob("*.md"))
TITLE = "title: 시험용 배치 서버의 디스크가 가득 차 야간 정산 작업이 두 시간 멈췄다"
ORGANIZATION = "organization: 누리상회"


def good() -> RecordData:
    return parse_record(GOOD.encode(), "IL-9001.md")


def only_fault(text: str | bytes) -> tuple[int, str]:
    """Return the one fault of a record; more or fewer fail."""
    (fault,) = faults_of(text)
    return fault


def test_good_record_is_read_whole():
    assert good() == RecordData(
        id="IL-9001",
        title="시험용 배치 서버의 디스크가 가득 차 야간 정산 작업이 두 시간 멈췄다",
        organization="누리상회",
        year=2024,
        started_at=Moment(datetime(2024, 3, 2, 15, 10, tzinfo=UTC), "minute"),
        resolved_at=Moment(datetime(2024, 3, 2, 17, 10, tzinfo=UTC), "minute"),
        causes=("capacity-exhaustion",),
        components=("job-queue",),
        factors=("monitoring-gap",),
        detection_method="job-failure",
        status="published",
        sources=(SourceData("야간 정산 지연 안내", "https://status.example.org/posts/1", "누리상회", "2024-03-04"),),
        symptom="야간 정산 작업이 두 시간 멈췄고 가맹점 화면에는 전날 금액이 남아 있었다.",
        cause="작업 로그가 데이터와 같은 볼륨에 쌓였다. 볼륨이 차자 작업이 중간 파일을 쓰지 못하고 기다렸다.",
        actions=("오래된 로그를 지우고 작업을 처음부터 다시 돌렸다.",),
        lesson="로그와 데이터는 볼륨을 나누고, 남은 공간에는 경보를 건다.",
    )


def test_bundled_records_are_there():
    assert len(FIXTURES) >= 400


@pytest.mark.parametrize("file", FIXTURES, ids=lambda file: file.stem)
def test_bundled_record_survives_reading_and_writing_byte_for_byte(file):
    data = file.read_bytes()
    record = parse_record(data, file.name)
    assert format_record(record).encode() == data
    assert canonical_record(record) == record
    assert missing_when_published(record) == ()


@pytest.mark.parametrize("file", FIXTURES[::40], ids=lambda file: file.stem)
def test_bundled_front_matter_says_the_same_to_any_yaml_reader(file):
    record = parse_record(file.read_bytes(), file.name)
    front_matter = yaml.safe_load(file.read_text().split("\n---\n")[0].removeprefix("---\n"))
    assert front_matter["title"] == record.title
    assert front_matter["organization"] == record.organization
    assert tuple(front_matter["causes"]) == record.causes
    assert [source["title"] for source in front_matter["sources"]] == [source.title for source in record.sources]


def test_one_changed_word_changes_one_line():
    changed = format_record(replace(good(), lesson="로그와 데이터는 볼륨을 나눈다.")).split("\n")
    differing = [(old, new) for old, new in zip(GOOD.split("\n"), changed, strict=True) if old != new]
    assert differing == [
        ("로그와 데이터는 볼륨을 나누고, 남은 공간에는 경보를 건다.", "로그와 데이터는 볼륨을 나눈다.")
    ]


def test_record_error_names_file_and_line_and_is_for_the_reader():
    with pytest.raises(RecordError) as caught:
        parse_record(edited(("year: 2024", "year: 이천")).encode(), "incidents/IL-9001.md")
    assert isinstance(caught.value, UserError)
    assert caught.value.status == 400
    assert str(caught.value) == (
        "incidents/IL-9001.md:5: year: 연도가 아닙니다: 이천. 1940~2100 사이의 네 자리 숫자로 적어 주십시오."
    )
    assert str(caught.value) == "\n".join(map(str, caught.value.faults))


def test_many_faults_of_a_file_come_together_in_order_of_lines():
    text = edited(
        ("year: 2024", "year: 1066"),
        ("detection_method: job-failure", "detection: job-failure"),
        ("https://status.example.org/posts/1", "ftp://status.example.org/posts/1"),
        ("## 원인", "## 근본 원인"),
        ("- 오래된", "오래된"),
    )
    assert [line for line, _ in faults_of(text)] == [1, 5, 11, 14, 22, 26]


def test_sorting_of_faults_goes_by_file_and_line():
    faults = [Fault("b.md", 1, "가"), Fault("a.md", 10, "나"), Fault("a.md", 9, "다")]
    assert [str(fault) for fault in RecordError(faults).faults] == ["a.md:9: 다", "a.md:10: 나", "b.md:1: 가"]


# ── encodings and bytes ──


def test_byte_order_mark_is_read_and_left_out():
    assert parse_record(b"\xef\xbb\xbf" + GOOD.encode(), "IL-9001.md") == good()


def test_windows_line_ends_are_read_as_line_feeds():
    assert parse_record(GOOD.replace("\n", "\r\n").encode(), "IL-9001.md") == good()


def test_decomposed_hangul_is_read_composed():
    decomposed = unicodedata.normalize("NFD", GOOD)
    assert decomposed != GOOD
    assert parse_record(decomposed.encode(), "IL-9001.md") == good()


@pytest.mark.parametrize(
    ("data", "line", "word"),
    [
        (b"\xef\xbb\xbf\xef\xbb\xbf" + GOOD.encode(), 1, "BOM"),
        (GOOD.encode("cp949"), 3, "UTF-8"),
        (GOOD.encode("utf-16"), 1, "UTF-16"),
        (GOOD.encode("utf-16-le"), 3, "UTF-16"),
        (GOOD.encode().replace("볼륨이 차자".encode(), b"\xeb\xb3"), 23, "UTF-8"),
        (GOOD.replace("가맹점", "가\x00맹점").encode(), 20, "NUL"),
        (GOOD.replace("가맹점", "가\x07맹점").encode(), 20, "U+0007"),
        (GOOD.replace("가맹점", "가\x85맹점").encode(), 20, "U+0085"),
        (GOOD.replace("가맹점", "가\u2028맹점").encode(), 20, "U+2028"),
        (GOOD.replace("가맹점", "가\rt맹점").encode(), 20, "CR"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", 1, "이진"),
        (b"x" * 5_000_000, 1, "너무 큽니다"),
        (b"x" * 2_000_001, 1, "너무 큽니다"),
        (b"", 1, "머리말이 없습니다"),
    ],
)
def test_file_that_is_not_clean_utf8_is_refused_at_the_line(data, line, word):
    found_line, message = only_fault(data)
    assert found_line == line
    assert word in message


# ── front matter ──


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        (GOOD.removeprefix("---\n"), 1, "머리말이 없습니다"),
        ("\n" + GOOD, 1, "빈 줄을 지워"),
        (GOOD.replace("\n---\n\n", "\n\n"), 1, "닫히지 않았습니다"),
        ("---\n---\n", 1, "비어 있습니다"),
        ("---\n- id: IL-9001\n---\n", 2, "`키: 값`"),
        ("---\nid: IL-9001\n...\ntitle: 둘째 문서\n---\n", 4, "머리말"),
    ],
)
def test_front_matter_that_is_missing_or_broken_is_told(text, line, word):
    faults = faults_of(text)
    assert line in [number for number, _ in faults]
    assert any(word in message for _, message in faults)


@pytest.mark.parametrize(
    "value",
    [
        "원인: 디스크가 가득 차 작업이 멈췄다",
        "[긴급] 작업이 멈췄다",
        "{긴급} 작업이 멈췄다",
        '"긴급" 작업이 멈췄다',
        '"긴급 작업이 멈췄다',
        "'긴급' 작업이 멈췄다",
        "*긴급 작업이 멈췄다",
        "&긴급 작업이 멈췄다",
        "!긴급 작업이 멈췄다",
        "|긴급 작업이 멈췄다",
        ">긴급 작업이 멈췄다",
        "%긴급 작업이 멈췄다",
        "@긴급 작업이 멈췄다",
        "`kubectl` 작업이 멈췄다",
        "- 긴급 작업이 멈췄다",
        "? 긴급 작업이 멈췄다",
        "이슈 #12 로 작업이 멈췄다",
        "#12 로 작업이 멈췄다",
        "null",
        "~",
    ],
)
def test_title_that_needs_quotes_is_refused_at_its_line_and_told_so(value):
    line, message = only_fault(edited((TITLE, f"title: {value}")))
    assert line == 3
    assert "따옴표" in message
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    assert parse_record(edited((TITLE, f'title: "{quoted}"')).encode(), "IL-9001.md").title == value


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ("title 긴급", 3),
        ("title:긴급", 3),
        ("  title: 긴급", 3),
        (r'title: "C:\dir"', 3),
        ("causes: [dns-error\ntitle: 둘", 3),
        ("title: {a: b}", 3),
        ("title: [a, b]", 3),
        ('title: "두\\n줄"', 3),
        ("title: |\n  두\n  줄", 3),
        ('title: "종\\a소리"', 3),
        (f"title: {'가' * 201}", 3),
        ("title:\t긴급", 3),
    ],
)
def test_wrong_title_line_is_refused_where_it_stands(wrong, line):
    assert [number for number, _ in faults_of(edited((TITLE, wrong)))] == [line]


def test_comments_are_read_over():
    text = edited(
        ("year: 2024", "year: 2024   # the year in which it happened"),
        ("factors: [monitoring-gap]", "factors: [monitoring-gap]  # 0-6"),
        ("    publisher: 누리상회\n", "    publisher: 누리상회\n    archived_url:   # optional\n"),
        ("id: IL-9001", "# 머리말\nid: IL-9001"),
        ("detection_method: job-failure", "detection_method: job-failure\ndetected_at:    # optional"),
    )
    assert parse_record(text.encode(), "IL-9001.md") == good()


def test_title_may_be_folded_or_quoted():
    title = good().title
    for line in (
        f'title: "{title}"',
        f"title: '{title}'",
        f"title: >-\n  {title[:10].strip()}\n  {title[10:].strip()}",
    ):
        record = parse_record(edited((TITLE, line)).encode(), "IL-9001.md")
        assert record.title.replace(" ", "") == title.replace(" ", "")


@pytest.mark.parametrize("text", ["NO", "no", "on", "0135", "12:30:45", "1_000", "1e3", "0x1F", "2024-01-01", "true"])
def test_scalars_stay_the_text_that_stands_there(text):
    record = parse_record(edited((ORGANIZATION, f"organization: {text}")).encode(), "IL-9001.md")
    assert record.organization == text
    written = format_record(record)
    assert f'organization: "{text}"' in written
    assert yaml.safe_load(written.split("\n---\n")[0].removeprefix("---\n"))["organization"] == text
    assert parse_record(written.encode(), "IL-9001.md") == record


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        ("factors: [monitoring-gap]", "factors: no", 10, "대괄호"),
        ("causes: [capacity-exhaustion]", "causes: dns-error", 8, "[dns-error]"),
        ("causes: [capacity-exhaustion]", "causes: {a: b}", 8, "대괄호"),
        ("causes: [capacity-exhaustion]", "causes: [a, , b]", 8, ""),
        ("causes: [capacity-exhaustion]", "causes: [a, b, c, d]", 8, "3개까지"),
        ("causes: [capacity-exhaustion]", "causes: [a, a]", 8, "두 번"),
        ("causes: [capacity-exhaustion]", "causes: [DNS]", 8, "소문자"),
        ("causes: [capacity-exhaustion]", "causes: [[a]]", 8, ""),
        ("causes: [capacity-exhaustion]", "causes: []", 8, "꼭 있어야"),
        ("components: [job-queue]", "components: [a, b, c, d, e, f]", 9, "5개까지"),
        ("factors: [monitoring-gap]", "factors: [a, b, c, d, e, f, g]", 10, "6개까지"),
        ("detection_method: job-failure", "detection_method: [a]", 11, "값 하나"),
        ("year: 2024", "year: 24", 5, "네 자리"),
        ("year: 2024", "year: 2101", 5, "네 자리"),
        ("year: 2024", "year: 1939", 5, "네 자리"),
        ("year: 2024", "year: 2024\nstatus: live", 6, "draft, in_review"),
        ("year: 2024", "year: 2024\nseverity: high", 6, "알 수 없는 키"),
        ("year: 2024", "year: 2024\nresolved: 2024-03-02", 6, "혹시 resolved_at"),
        ("id: IL-9001", "id: 9001", 2, "IL-0135"),
        ("id: IL-9001", "id: IL-09001", 2, "IL-0135"),
        ("id: IL-9001", "id: IL-0000", 2, "IL-0135"),
        ("id: IL-9001", "id: IL-9002", 2, "파일 이름"),
        ("id: IL-9001\n", "", 1, "id 가 없습니다"),
        ("https://status.example.org/posts/1", "javascript:alert(1)", 14, "http://"),
        ("https://status.example.org/posts/1", "https://", 14, "http://"),
        ("https://status.example.org/posts/1", "//example.org", 14, "http://"),
        ("https://status.example.org/posts/1", "https://[::1", 14, "주소"),
        ("https://status.example.org/posts/1", "https://example.org:port/", 14, "주소"),
        ("https://status.example.org/posts/1", "https://example.org/a b", 14, "빈칸"),
        ("https://status.example.org/posts/1", "https://example.org/" + "a" * 1000, 14, "너무 깁니다"),
        ("    publisher: 누리상회", "    archived_url: data:text/html,x", 15, "http://"),
        ("    published: 2024-03-04", "    published: 2024-02-30", 16, "달력에 없는"),
        ("    published: 2024-03-04", "    published: 어제", 16, "2023-11-20"),
        ("    published: 2024-03-04", "    date: 2024-03-04", 16, "알 수 없는 키"),
        ("    published: 2024-03-04", "    publisher: 둘", 16, "두 번"),
        ("    url: https://status.example.org/posts/1\n", "", 13, "url"),
        ("started_at: 2024-03-02T15:10:00Z", "started_at: 2024-02-30", 6, "달력에 없는"),
        ("started_at: 2024-03-02T15:10:00Z", "started_at: 2024-03-02T25:10:00Z", 6, "달력에 없는"),
        ("started_at: 2024-03-02T15:10:00Z", "started_at: 2024-03-02T15:10:00", 6, "Z 를 붙여"),
        ("started_at: 2024-03-02T15:10:00Z", "started_at: 3월 2일", 6, "2023-11-15"),
        ("started_at: 2024-03-02T15:10:00Z", "started_at: 2024-03", 6, "2023-11-15"),
        ("started_at: 2024-03-02T15:10:00Z", "started_at: 1066-03-02", 6, "1940~2100"),
        ("started_at: 2024-03-02T15:10:00Z", "started_at: 2024-03-03", 7, "앞섭니다"),
        ("started_at: 2024-03-02T15:10:00Z", "started_at: 2024-03-02T17:10:01Z", 7, "앞섭니다"),
    ],
)
def test_wrong_value_is_refused_at_its_line(old, new, line, word):
    found_line, message = only_fault(edited((old, new)))
    assert found_line == line
    assert word in message


def test_same_keys_twice_are_refused_at_each_second_line():
    text = edited(
        ("causes: [capacity-exhaustion]", "causes: [dns-error]\ncauses: [bad-deploy]"),
        ("detection_method: job-failure", "detection_method: job-failure\ntitle: 둘째 제목"),
    )
    assert faults_of(text) == [
        (9, "같은 키가 두 번 있습니다: causes (먼저 8행). 하나만 남겨 주십시오."),
        (13, "같은 키가 두 번 있습니다: title (먼저 3행). 하나만 남겨 주십시오."),
    ]


@pytest.mark.parametrize(
    "attack",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]",
        "title2: !!python/object/apply:os.system [id]",
        "title2: !x y",
        "a: *nothing",
        "a: " + "[" * 5000,
        "a: " + "[" * 5000 + "]" * 5000,
        "a: " + "{a: " * 2000 + "b" + "}" * 2000,
        "? [a, b]\n: c",
        "? {a: b}\n: c",
        "<<: {a: b}",
        "%YAML 1.1",
    ],
)
def test_yaml_tricks_are_refused_quickly_with_a_line(attack):
    faults = faults_of(edited(("year: 2024", f"year: 2024\n{attack}")))
    assert {line for line, _ in faults} - {1} <= {5, 6, 7}
    assert faults


def test_source_dates_may_be_a_month_or_a_year():
    for published in ("2024-03-04", "2024-03", "2024"):
        text = edited(("published: 2024-03-04", f"published: {published}"))
        assert parse_record(text.encode(), "IL-9001.md").sources[0].published == published
        assert format_record(parse_record(text.encode(), "IL-9001.md")) == text


# ── states ──


def test_status_published_may_be_written_and_is_left_out():
    assert parse_record(edited(("year: 2024", "year: 2024\nstatus: published")).encode(), "IL-9001.md") == good()


@pytest.mark.parametrize("status", ["draft", "in_review"])
def test_unfinished_record_needs_only_its_id(status):
    text = f"---\nid: IL-9001\nstatus: {status}\n---\n"
    record = parse_record(text.encode(), "IL-9001.md")
    assert record == RecordData(id="IL-9001", status=status)
    assert parse_record(format_record(record).encode(), "IL-9001.md") == record


def test_published_record_lacking_all_names_all():
    faults = faults_of("---\nid: IL-9001\n---\n")
    names = ["title", "organization", "year", "causes", "components", "detection_method", "sources"]
    sections = ["증상", "원인", "조치", "교훈"]
    assert sorted(line for line, _ in faults) == [1] * len(names) + [3] * len(sections)
    assert all(any(f": {name}" in message for _, message in faults) for name in names)
    assert all(any(f": ## {name}" in message for _, message in faults) for name in sections)


@pytest.mark.parametrize(
    ("front_matter", "line", "word"),
    [
        ("status: merged", 3, "merged_into"),
        ("status: merged\nmerged_into: IL-9001", 4, "자기 자신"),
        ("status: merged\nmerged_into: 9002", 4, "IL-0135"),
        ("status: draft\nmerged_into: IL-9002", 4, "merged 인"),
        ("status: withdrawn", 3, "status_reason"),
        ("status: withdrawn\nstatus_reason: 까닭\nstatus_at: 어제", 5, "status_at"),
    ],
)
def test_state_that_does_not_fit_is_refused(front_matter, line, word):
    found_line, message = only_fault(f"---\nid: IL-9001\n{front_matter}\n---\n")
    assert found_line == line
    assert word in message


def test_published_record_has_no_status_notes():
    for line in ("status_reason: 까닭", "status_at: 2024-05-01", "merged_into: IL-9002"):
        assert [number for number, _ in faults_of(edited(("year: 2024", f"year: 2024\n{line}")))] == [6]


def test_withdrawn_and_merged_records_come_back_as_they_were():
    moment = Moment(datetime(2024, 5, 1, 9, 30, 15, tzinfo=UTC), "minute")
    withdrawn = replace(good(), status="withdrawn", status_at=moment, status_reason="출처가\n사라졌다: 다시 확인한다")
    merged = replace(good(), status="merged", status_at=moment, merged_into="IL-9002")
    for record in (withdrawn, merged):
        text = format_record(record)
        assert parse_record(text.encode(), "IL-9001.md") == record
        assert format_record(parse_record(text.encode(), "IL-9001.md")) == text
    assert (
        'status: withdrawn\nstatus_at: 2024-05-01T09:30:15Z\nstatus_reason: "출처가\\n사라졌다: 다시 확인한다"\n'
        in (format_record(withdrawn))
    )
    assert "status: merged\nstatus_at: 2024-05-01T09:30:15Z\nmerged_into: IL-9002\n" in format_record(merged)


# ── related records ──

RELATED = """\
year: 2024
related:
  - {id: IL-0001, relation: similar, note: 같은 문제}
  - {id: IL-0002, relation: follow-on}
"""


def test_related_records_are_read_and_written_after_the_sources():
    record = parse_record(edited(("year: 2024\n", RELATED)).encode(), "IL-9001.md")
    assert record.related == (RelatedData("IL-0001", "similar", "같은 문제"), RelatedData("IL-0002", "follow-on"))
    assert format_record(record) == edited(
        ("    published: 2024-03-04\n", "    published: 2024-03-04\n" + RELATED.removeprefix("year: 2024\n"))
    )


@pytest.mark.parametrize(
    ("item", "word"),
    [
        ("{id: IL-9001, relation: similar}", "자기 자신"),
        ("{id: IL-1, relation: similar}", "IL-0135"),
        ("{id: IL-0003, relation: same}", "same-event"),
        ("{id: IL-0003}", "relation"),
        ("{relation: similar}", ": id"),
        ("{id: IL-0001, relation: similar}", "두 번"),
        ("{id: IL-0003, relation: similar, why: 까닭}", "알 수 없는 키"),
        ("{id: IL-0003, relation: similar, note: 가: 나}", "따옴표"),
        ("IL-0003", "`키: 값`"),
    ],
)
def test_wrong_related_record_is_refused_at_its_line(item, word):
    line, message = only_fault(edited(("year: 2024\n", RELATED + f"  - {item}\n")))
    assert line == 9
    assert word in message


def test_note_with_commas_colons_and_brackets_comes_back():
    note = "가: 나, [다] {라} #마"
    record = replace(good(), related=(RelatedData("IL-0001", "similar", note),))
    assert parse_record(format_record(record).encode(), "IL-9001.md") == record
    assert f'note: "{note}"' in format_record(record)


# ── lines for later checks ──


def test_located_record_knows_the_lines_of_what_other_files_must_confirm():
    text = edited(("causes: [capacity-exhaustion]", "causes:\n  - capacity-exhaustion\n  - dns-error"))
    located = parse_located(text.encode(), "IL-9001.md")
    keys = ("id", "causes.0", "causes.1", "components.0", "factors.0", "detection_method")
    assert [located.line(key) for key in keys] == [2, 9, 10, 11, 12, 13]
    assert located.line("merged_into") == 1


# ── sections ──


@pytest.mark.parametrize(
    "heading",
    [
        "## 근본 원인",
        "##원인",
        "### 원인",
        "# 원인",
        "#원인",
        " ## 원인",
        "##  원인",
        "## 원인 ##",
        "## 원인:",
        "**원인**",
        "## Cause",
        "## ",
        "####### 원인",
    ],
)
def test_heading_that_is_a_little_off_is_refused_with_the_allowed_names(heading):
    line, message = only_fault(edited(("## 원인", heading)))
    assert line == 22
    assert "## 증상, ## 촉발, ## 원인, ## 기여 요인, ## 감지, ## 조치, ## 후속 조치, ## 교훈" in message


@pytest.mark.parametrize("underline", ["---", "===", "--"])
def test_underlined_heading_is_refused(underline):
    line, message = only_fault(edited(("## 원인", f"원인\n{underline}")))
    assert line == 23
    assert "## 원인" in message


def test_space_behind_a_heading_is_accepted():
    assert parse_record(edited(("## 원인", "## 원인  ")).encode(), "IL-9001.md") == good()


@pytest.mark.parametrize(
    ("old", "new", "part", "word"),
    [
        ("## 교훈", "## 조치\n- 둘째 조치\n\n## 교훈", "- 둘째", "두 번"),
        ("## 교훈", "## 감지\n늦은 감지\n\n## 교훈", "늦은 감지", "차례"),
        ("## 원인", "## 촉발\n\n## 원인", "", "빈 절"),
    ],
)
def test_heading_twice_out_of_order_or_empty_is_refused_at_the_heading(old, new, part, word):
    text = edited((old, new))
    line, message = only_fault(text)
    assert line == (line_of(text, part) - 1 if part else line_of(text, "## 촉발"))
    assert word in message


def test_text_before_the_first_heading_is_refused():
    line, message = only_fault(edited(("## 증상", "머리글\n둘째 줄\n\n## 증상")))
    assert (line, "앞에 글이" in message) == (19, True)


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        ("- 오래된", "1. 오래된", 26, "번호"),
        ("- 오래된", "오래된", 26, "`- `"),
        ("다시 돌렸다.", "다시 돌렸다.\n이어지는 글", 27, "두 칸"),
        ("다시 돌렸다.", "다시 돌렸다.\n\t- 안쪽", 27, "탭"),
        ("다시 돌렸다.", "다시 돌렸다.\n-", 27, "빈 항목"),
        ("다시 돌렸다.", "다시 돌렸다.\n  ```\ncode\n  ```", 28, "코드 블록"),
        ("다시 돌렸다.", "다시 돌렸다.\n  ```\n  code", 27, "닫히지"),
        ("- 오래된", "- # 오래된", 26, "제목 줄"),
        ("작업 로그가", "~~~\n작업 로그가", 23, "닫히지"),
        ("작업 로그가", "#### 작업 로그가", 23, "알 수 없는 제목"),
    ],
)
def test_text_that_does_not_fit_its_section_is_refused_at_the_line(old, new, line, word):
    found_line, message = only_fault(edited((old, new)))
    assert found_line == line
    assert word in message


def test_too_long_section_is_refused():
    line, message = only_fault(edited(("작업 로그가", "가" * 50_001)))
    assert (line, "너무 깁니다" in message) == (23, True)


MARKDOWN = """\
두 가지가 멈췄다:
- 로그인
- 결제
  - 안쪽

복구는 나뉘었다:
1. 먼저 로그인
2. 다음 결제{break_}
   줄바꿈

#channel 에 알렸다. `/proc/<pid>/limits` 와 10~20분.

```sh
## 원인
# 주석
	탭으로 들여 쓴 줄
---
```

| 가 | 나 |
| --- | --- |
| `a \\| b` | ~/b |

---

> ## 인용한 제목""".replace("{break_}", "  ")


def test_markdown_text_is_kept_as_it_stands():
    text = edited(("야간 정산 작업이 두 시간 멈췄고 가맹점 화면에는 전날 금액이 남아 있었다.", MARKDOWN))
    record = parse_record(text.encode(), "IL-9001.md")
    assert record.symptom == MARKDOWN
    assert format_record(record) == text


ITEMS = """\
- 첫 항목
  - 안쪽 항목

  둘째 문단
- ```sh
  kubectl get pods
    - 들여 쓴 줄

  ## 원인
  ```
- 셋째: `a`
"""


def test_items_keep_their_nested_lists_paragraphs_and_fences():
    text = edited(("- 오래된 로그를 지우고 작업을 처음부터 다시 돌렸다.\n", ITEMS))
    record = parse_record(text.encode(), "IL-9001.md")
    assert record.actions == (
        "첫 항목\n- 안쪽 항목\n\n둘째 문단",
        "```sh\nkubectl get pods\n  - 들여 쓴 줄\n\n## 원인\n```",
        "셋째: `a`",
    )
    assert format_record(record) == text


def test_other_bullets_and_blank_lines_between_items_are_read():
    text = edited(("- 오래된 로그를 지우고 작업을 처음부터 다시 돌렸다.\n", "\n* 하나\n\n+   둘\n"))
    assert parse_record(text.encode(), "IL-9001.md").actions == ("하나", "둘")


# ── moments and addresses ──


@pytest.mark.parametrize(
    ("text", "precision", "written"),
    [
        ("2023", "year", "2023"),
        ("2023-11-15", "day", "2023-11-15"),
        ("2023-11-15T20:31:00Z", "minute", "2023-11-15T20:31:00Z"),
        ("2023-11-15T20:31:45Z", "minute", "2023-11-15T20:31:45Z"),
        ("2023-11-15T20:31Z", "minute", "2023-11-15T20:31:00Z"),
        ("2023-11-15 20:31:00Z", "minute", "2023-11-15T20:31:00Z"),
        ("2023-11-16T05:31:00+09:00", "minute", "2023-11-15T20:31:00Z"),
    ],
)
def test_moment_keeps_its_precision_and_is_written_in_utc(text, precision, written):
    moment = parse_moment(text)
    assert (moment.precision, str(moment)) == (precision, written)
    assert parse_moment(written) == moment


@pytest.mark.parametrize(
    ("started", "resolved", "is_fine"),
    [
        ("2024-03-02T15:10:00Z", "2024-03-02", True),
        ("2024-03-02", "2024-03-02T00:00:00Z", True),
        ("2024-03-02T15:10:00Z", "2024", True),
        ("2024-03-02T15:10:00Z", "2024-03-01", False),
        ("2024-03-02", "2023", False),
    ],
)
def test_order_of_moments_is_judged_by_what_is_known(started, resolved, is_fine):
    text = edited(
        ("started_at: 2024-03-02T15:10:00Z", f"started_at: {started}"),
        ("resolved_at: 2024-03-02T17:10:00Z", f"resolved_at: {resolved}"),
    )
    assert (faults_of(text) == []) is is_fine


def test_detection_before_the_start_is_no_fault():
    text = edited(("resolved_at:", "detected_at: 2024-03-02T15:05:00Z\nresolved_at:"))
    assert faults_of(text) == []


@pytest.mark.parametrize(
    "url",
    ["https://example.org/a?b=c#d", "http://example.org", "https://예시.한국/경로", "https://example.org:8443/%20(x)"],
)
def test_web_addresses_are_taken(url):
    assert url_problem(url) == ""
    assert (
        parse_record(edited(("https://status.example.org/posts/1", url)).encode(), "IL-9001.md").sources[0].url == url
    )


# ── canonical form ──


def test_texts_from_elsewhere_are_written_in_canonical_form():
    record = replace(
        good(),
        title="  =1+1\t둘\r\n셋 ",
        symptom="\r\n\n첫 줄\r\n  \n둘째 줄  \n\n",
        actions=("  첫 항목 \n\n", "  ", "둘\n   \n셋"),
        started_at=Moment(datetime(2024, 3, 2, 15, 10, 59, 999, tzinfo=UTC), "day"),
    )
    canonical = canonical_record(record)
    assert (canonical.title, canonical.symptom) == ("=1+1 둘 셋", "첫 줄\n\n둘째 줄")
    assert canonical.actions == ("첫 항목", "둘\n\n셋")
    assert str(canonical.started_at) == "2024-03-02"
    assert parse_record(format_record(record).encode(), "IL-9001.md") == canonical


@pytest.mark.parametrize(
    "title", ['=HYPERLINK("https://x.example","눌러")', "@SUM(1)", "+82-2-000", "-2+3", "a: b", "1:30"]
)
def test_titles_of_any_shape_are_written_so_that_they_come_back(title):
    record = replace(good(), title=title, organization=title)
    text = format_record(record)
    assert parse_record(text.encode(), "IL-9001.md") == record
    assert yaml.safe_load(text.split("\n---\n")[0].removeprefix("---\n"))["title"] == title


# ── files that want to be a burden ──


@pytest.mark.parametrize(
    "text",
    [
        GOOD + "# \n" * 300_000,
        GOOD + "## " + "# " * 300_000,
        GOOD + "## 가" + " " * 900_000 + "나",
        GOOD + "- " * 300_000,
        GOOD + " " * 900_000 + "x",
        GOOD + "``` " * 200_000,
        edited(("causes: [capacity-exhaustion]", f"causes: [{', '.join(f'a{number}' for number in range(20_000))}]")),
        edited(("year: 2024", "\n".join(f"a{number}: 1" for number in range(15_000)))),
        edited(("year: 2024", "year: 2024\n" * 10_000)),
        edited((TITLE, "title: " + ": " * 50_000)),
        edited((TITLE, 'title: "' + "\\" * 50_000)),
    ],
    ids=range(11),
)
def test_hostile_file_is_refused_with_a_bounded_list(text):
    faults = faults_of(text)
    assert 1 <= len(faults) <= 201
    assert all(len(message) < 1_000 for _, message in faults)
