"""The checks as a file."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from incidents.checks_file import (
    CheckData,
    CheckIncidentData,
    canonical_check,
    format_checks,
    parse_checks,
    parse_located_checks,
)
from incidents.faults import RecordError
from incidents.plain_text import CONTROL

FIXTURE = Path(__file__).parents[2] / "fixtures" / "checks.yaml"

ONE = """\
checks:
- code: KC-001
  title: 디스크에 여유가 있다
  area: 노드
  components: [k8s-node]
  factors: [monitoring-gap]
  severity: high
  risk: >-
    디스크가 찬다.
    노드가 멈춘다.
  look: |-
    - `kubectl get nodes` 를 본다.
      - 안쪽
  pass: 여유가 20% 넘는다.
  incidents:
  - {id: IL-0001, why: "디스크가 찼다."}
"""


def test_bundled_checks_survive_reading_and_writing_byte_for_byte():
    data = FIXTURE.read_bytes()
    checks = parse_checks(data, "checks.yaml")
    assert format_checks(checks).encode() == data
    assert tuple(map(canonical_check, checks)) == checks


def test_bundled_checks_are_what_any_yaml_reader_sees():
    plain = yaml.safe_load(FIXTURE.read_text())["checks"]
    checks = parse_checks(FIXTURE.read_bytes(), "checks.yaml")
    assert [(c.code, c.title, c.risk, c.look, c.pass_, len(c.incidents)) for c in checks] == [
        (c["code"], c["title"], c["risk"], c["look"], c["pass"], len(c["incidents"])) for c in plain
    ]


def test_check_is_read_with_its_lines():
    located = parse_located_checks(ONE.encode(), "checks.yaml")
    assert located.checks == (
        CheckData(
            code="KC-001",
            title="디스크에 여유가 있다",
            area="노드",
            components=("k8s-node",),
            factors=("monitoring-gap",),
            severity="high",
            risk="디스크가 찬다. 노드가 멈춘다.",
            look="- `kubectl get nodes` 를 본다.\n  - 안쪽",
            pass_="여유가 20% 넘는다.",
            incidents=(CheckIncidentData("IL-0001", "디스크가 찼다."),),
        ),
    )
    assert [located.line(key) for key in ("KC-001", "KC-001.components.0", "KC-001.incidents.0")] == [2, 5, 16]


def test_empty_list_of_checks_is_read():
    assert parse_checks(b"checks: []\n", "checks.yaml") == ()
    assert parse_checks(b"checks:\n", "checks.yaml") == ()
    assert parse_checks(format_checks(()).encode(), "checks.yaml") == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        ("code: KC-001", "code: K-1", 2, "KC-001"),
        ("severity: high", "severity: huge", 7, "high, medium, low"),
        ("components: [k8s-node]", "components: []", 5, ""),
        ("factors: [monitoring-gap]", "factors: [a, b, c, d]", 6, "3개까지"),
        ("id: IL-0001", "id: 1", 16, "IL-0135"),
        (', why: "디스크가 찼다."', "", 16, "why"),
        ("area: 노드", "owner: 노드", 3, ""),
        ("- code: KC-001", "- KC-001\n- code: KC-001", 2, "`키: 값`"),
        ("checks:\n", "", 1, "checks:"),
        ("title: 디스크에", "title: '디스크: 에", 3, "따옴표"),
    ],
)
def test_wrong_check_is_refused_at_the_line(old, new, line, word):
    assert ONE.count(old) == 1
    with pytest.raises(RecordError) as caught:
        parse_checks(ONE.replace(old, new).encode(), "checks.yaml")
    assert any(word in fault.message for fault in caught.value.faults)
    if word:
        assert line in [fault.line for fault in caught.value.faults]


def test_same_code_or_citation_twice_is_refused():
    twice = ONE + ONE.removeprefix("checks:\n").replace("]}", "]}")
    with pytest.raises(RecordError) as caught:
        parse_checks((twice + '  - {id: IL-0001, why: "또."}\n').encode(), "checks.yaml")
    assert [(fault.line, fault.message[:20]) for fault in caught.value.faults] == [
        (17, "같은 코드가 두 번 있습니다: KC-001"[:20]),
        (32, "같은 기록을 두 번 인용합니다: IL-0001"[:20]),
    ]


def one_check() -> CheckData:
    return parse_checks(ONE.encode(), "checks.yaml")[0]


def test_paragraphs_tabs_and_signs_come_back():
    check = replace(
        one_check(),
        risk="# 첫 문장이다. 둘째다.\n\n새 문단: 셋째다.\n- 넷째",
        look="```\n\tkubectl\n```\n\n  끝  줄",
        title="제목: [가] #나",
    )
    back = parse_checks(format_checks([check]).encode(), "checks.yaml")
    assert back == (canonical_check(check),)
    assert back[0].risk == check.risk
    assert back[0].look == "```\n    kubectl\n```\n\n  끝  줄"


TEXTS = st.text(max_size=60).map(lambda text: CONTROL.sub("", text)).filter(str.strip)
CHECKS = st.builds(
    CheckData,
    code=st.integers(1, 10**8).map(lambda number: f"KC-{number:03d}"),
    title=TEXTS,
    area=TEXTS,
    components=st.just(("dns",)),
    factors=st.just(()),
    severity=st.sampled_from(["high", "medium", "low"]),
    risk=TEXTS,
    look=TEXTS,
    pass_=TEXTS,
    incidents=st.lists(
        st.builds(CheckIncidentData, st.integers(1, 9999).map(lambda number: f"IL-{number:04d}"), TEXTS),
        unique_by=lambda cited: cited.id,
        max_size=3,
    ).map(tuple),
)


@given(st.lists(CHECKS, unique_by=lambda check: check.code, max_size=3))
def test_any_checks_come_back_in_canonical_form(checks):
    canonical = tuple(map(canonical_check, checks))
    text = format_checks(checks)
    assert parse_checks(text.encode(), "checks.yaml") == canonical
    assert format_checks(canonical) == text
    assert tuple(map(canonical_check, canonical)) == canonical


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data):
    try:
        parse_checks(data, "checks.yaml")
    except RecordError as error:
        assert all(fault.line >= 1 for fault in error.faults)
