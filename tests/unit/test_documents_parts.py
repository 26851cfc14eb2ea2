"""Headings, titles, items, tables, cleaning and suggestions of foreign documents, each by itself."""

import pytest
import yaml

from incidents.documents.cleaning import clean, remains_of_template, without_owner
from incidents.documents.items import list_items, to_items
from incidents.documents.outline import Block
from incidents.documents.suggesting import suggest_detection, suggest_terms
from incidents.documents.tables import labelled_values, parse_table, row_items, split_row
from incidents.documents.titles import clean_title, title_from_filename
from incidents.documents.vocabulary import FIELDS, fold, heading_vocabulary
from tests.unit.document_samples import ROOT, taxonomy

VOCABULARY = heading_vocabulary()


@pytest.mark.parametrize(
    ("heading", "role"),
    [
        ("Contributing Factors (findings) ", "contributing_factors"),
        ("Atendees", "people"),
        ("Root Cuase", "cause"),
        ("Lesons learned", "lesson"),
        ("근본 원인 (RCA)", "cause"),
        ("근본원인", "cause"),
        ("Root Cause / 근본 원인", "cause"),
        ("원인 (Root cause)", "cause"),
        ("임시 조치 (01:10)", "actions"),
        ("📊 Impact & Metrics", "symptom"),
        (":fire: Impact", "symptom"),
        ("What Didn’t Go So Well?", "contributing_factors"),
        ("How was the incident detected?", "detection"),
        ("Did we have other events with the same root cause?", "aside"),
        ("Summary of the outage", "symptom"),
        ("서비스 장애 원인", "cause"),
        ("재발방지대책(안)", "follow_ups"),
        ("제3장 교훈", "lesson"),
        ("1.2 Impact on customers", "symptom"),
        ("D5. Permanent corrective actions", "follow_ups"),
        ("**Timeline** (PDT)", "timeline"),
        ("번진 경로", "aside"),
    ],
)
def test_heading_means_field(heading: str, role: str) -> None:
    match = VOCABULARY.match(heading)
    assert match is not None
    assert match.role == role


@pytest.mark.parametrize(
    "heading", ["Why the deploy broke", "The colour of the sky", "시작", "Title", "", "!!!", "가" * 400]
)
def test_heading_that_means_nothing(heading: str) -> None:
    assert VOCABULARY.match(heading) is None


def test_each_phrase_stands_once_and_each_role_is_known() -> None:
    data = yaml.safe_load((ROOT / "incidents" / "documents" / "headings.yaml").read_text(encoding="utf-8"))
    phrases = [fold(phrase) for entry in data["roles"] for phrase in entry["phrases"]]
    assert len(phrases) == len(set(phrases))
    assert "" not in phrases
    assert {entry["role"] for entry in data["roles"]} >= set(FIELDS)


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Checkout stalled (incident #218)", "Checkout stalled"),
        ("장애 보고서 — 좌석 예매 화면 멈춤 (2023-11-15)", "좌석 예매 화면 멈춤"),
        ("정산이 겹쳤던 일 회고", "정산이 겹쳤던 일"),
        ("**🚨 INC-77: Search returned nothing**", "Search returned nothing"),
        ("[장애보고] 로그인 지연", "로그인 지연"),
        ("사내 DNS 장애 회고", "사내 DNS 장애"),
        ("로그인 장애 보고서", "로그인 장애"),
        ("월간 정산 보고서 유실", "월간 정산 보고서 유실"),
        ("월말 보고서", "월말 보고서"),
        ("2024-03-01 DNS outage postmortem", "DNS outage"),
        ("PM2024-007 - Ingress answers 404", "Ingress answers 404"),
        ("Post-mortem of the DNS outage on June 3, 2022", "DNS outage"),
        ("Incident Report: 2023-01-02: Cache stampede [SEV1]", "Cache stampede"),
        ("UTF-8 mangled in exports", "UTF-8 mangled in exports"),
        ("S3 outage", "S3 outage"),
        ("장애가 났던 날", "장애가 났던 날"),
        ("Incident Review", ""),
        ("장애 보고서", ""),
        ("문제 관리 보고서 (PRB-2024-031)", ""),
    ],
)
def test_title_loses_number_date_and_kind(heading: str, title: str) -> None:
    assert clean_title(heading)[0] == title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("02 PM2024-007 - Ingress answers 404.md", "Ingress answers 404"),
        ("2024-03-01-dns-outage.md", "dns outage"),
        ("postmortem.md", ""),
        ("장애회고.md", ""),
        ("좌석_예매_멈춤.docx", "좌석 예매 멈춤"),
    ],
)
def test_title_from_file_name(name: str, title: str) -> None:
    assert title_from_filename(name) == title


def test_list_items_lose_marker_and_box_and_keep_what_is_below() -> None:
    text = "- [x] Set the class\n  - [x] catalogue\n  - [ ] staff\n\n    more\n- [ ] Stop\n* third"
    assert list_items(text) == ("Set the class\n- catalogue\n- staff\n\n  more", "Stop", "third")


def test_list_items_keep_code_with_marks_in_it() -> None:
    text = "1. Reset:\n\n   ```sh\n   # - [ ] not a box\n   - not an item\n   ```\n2. Wait"
    assert list_items(text) == ("Reset:\n\n```sh\n# - [ ] not a box\n- not an item\n```", "Wait")


def test_code_belongs_to_the_item_before_and_a_lead_in_to_the_note() -> None:
    blocks = [Block("paragraph", "We did this:"), Block("list", "- a\n- b"), Block("code", "```\nx\n```")]
    found = to_items(blocks)
    assert found.items == ("a", "b\n\n```\nx\n```")
    assert found.remains == ("We did this:",)


def test_lines_that_are_one_step_each_become_items() -> None:
    assert to_items([Block("quote", "> 14:50 갱신\n> 16:05 확인")]).items == ("14:50 갱신", "16:05 확인")
    assert to_items([Block("paragraph", "껐다.\n다시 켰다.")]).items == ("껐다.", "다시 켰다.")
    assert to_items([Block("paragraph", "껐다가\n다시 켰다.")]).items == ("껐다가\n다시 켰다.",)


def test_part_of_a_section_gives_its_name_to_its_items() -> None:
    assert to_items([Block("list", "- a\n- b")], "단기").items == ("단기: a", "단기: b")
    assert to_items([Block("paragraph", "a"), Block("code", "```\nx\n```")], "임시").items == (
        "임시: a\n\n```\nx\n```",
    )
    assert to_items([Block("code", "```\nx\n```")], "임시").items == ("임시\n\n```\nx\n```",)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ["a", "b"]),
        ("a | b", ["a", "b"]),
        ("| `ps | grep x` | y |", ["`ps | grep x`", "y"]),
        ("| a \\| b | c<br>d |", ["a | b", "c\nd"]),
        ("| a | |", ["a", ""]),
        ("| ` | b |", ["`", "b"]),
    ],
)
def test_cells_of_a_row(line: str, cells: list[str]) -> None:
    assert split_row(line) == cells


def test_rows_of_actions_name_owners_and_keep_the_rest() -> None:
    table = parse_table("| # | Action | Owner | Due |\n|-|-|-|-|\n| 1 | Mend it | Kim | May |\n| 2 | Test it | | |")
    rows = row_items(table, VOCABULARY)
    assert [row.text for row in rows] == ["Mend it", "Test it"]
    assert [row.people for row in rows] == [("Owner: Kim",), ()]
    assert [row.others for row in rows] == [("Due: May",), ()]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("| 항목 | 내용 |\n|-|-|\n| 발생 일시 | 5월 |\n| 등급 | 2 |", (("발생 일시", "5월"), ("등급", "2"))),
        (
            "| 발생 일시 | 5월 | 복구 일시 | 6월 |\n| 등급 | 2 | 담당자 | 김 |",
            (("발생 일시", "5월"), ("복구 일시", "6월"), ("등급", "2"), ("담당자", "김")),
        ),
        (
            "| Date | Severity | Status |\n|-|-|-|\n| May | 2 | done |",
            (("Date", "May"), ("Severity", "2"), ("Status", "done")),
        ),
        ("| Metric | Value |\n|-|-|\n| Late | 4 |\n| Lost | 5 |", None),
        ("| Action | Owner |\n|-|-|\n| Mend | Kim |", None),
        ("| 시각 | 사건 |\n|-|-|\n| 10:00 | 시작 |\n| 11:00 | 끝 |", None),
    ],
)
def test_tables_of_labelled_values(text: str, pairs: tuple[tuple[str, str], ...] | None) -> None:
    assert labelled_values(parse_table(text), VOCABULARY) == pairs


@pytest.mark.parametrize(
    ("line", "kept", "dropped"),
    [
        ("/label ~incident", "", ["/label ~incident"]),
        ("[A](#a) | [B](#b)", "", ["[A](#a) | [B](#b)"]),
        ("- [A](#a)", "", ["- [A](#a)"]),
        ("see [A](#a)", "see A", []),
        ("_Last edited by @kim_", "", ["_Last edited by @kim_"]),
        ("@kim restarted it", "담당자 restarted it", ["@kim"]),
        ("ask kim@example.org", "ask 담당자", ["kim@example.org"]),
        ("`git@host` and @types/node", "`git@host` and @types/node", []),
        ("call [bridge](https://a.zoom.us/j/1)", "call bridge", ["https://a.zoom.us/j/1"]),
        ("/labels of boxes fell off", "/labels of boxes fell off", []),
    ],
)
def test_cleaning_of_a_line(line: str, kept: str, dropped: list[str]) -> None:
    text, found = clean(line)
    assert text == kept
    assert [part.text for part in found] == dropped


def test_cleaning_leaves_code_alone() -> None:
    text = "```\n/label x\n@kim https://a.slack.com/b\n```\n`@kim`"
    assert clean(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "is_remains"),
    [
        ("TBD", True),
        ("해당 없음", True),
        ("_Describe what happened._", True),
        ("[Insert the impact]", True),
        ("> Template from the SRE book. Delete this line.", True),
        ("여기에 원인을 적어 주세요.", True),
        ("Describe output of `kubectl` was empty.", False),
        ("Nothing was lost.", False),
        ("_All users saw it._", False),
        ("원인은 알 수 없음으로 표시됐다.", False),
    ],
)
def test_remains_of_a_template(text: str, is_remains: bool) -> None:
    assert bool(remains_of_template(text)) == is_remains


@pytest.mark.parametrize(
    ("item", "kept", "owner"),
    [
        ("Mend it (owner: Kim)", "Mend it", "(owner: Kim)"),
        ("고친다 (담당: 김하나)", "고친다", "(담당: 김하나)"),
        ("Mend it — owner: Kim", "Mend it", "— owner: Kim"),
        ("Mend it (담당자)", "Mend it", "(담당자)"),
        ("고친다 (담당: 김하나 / 기한: 5월 2일)", "고친다 (기한: 5월 2일)", "담당: 김하나"),
        ("고친다 (담당: 김하나, 이두리)", "고친다", "(담당: 김하나, 이두리)"),
        ("시계 차이 경보 (~12/17)", "시계 차이 경보 (~12/17)", ""),
        ("Tell the owner of the queue", "Tell the owner of the queue", ""),
    ],
)
def test_owner_at_the_end_of_an_item(item: str, kept: str, owner: str) -> None:
    assert without_owner(item) == (kept, owner)


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("The pager fired on queue age. The disk alert stayed silent.", "alert"),
        ("A visitor's post, not monitoring", "customer-report"),
        ("정산 담당이 합계가 두 배인 것을 보고 알렸다.", "operator"),
        ("고객센터에 문의가 쏟아졌다. 경보는 울리지 않았다.", "customer-report"),
        ("모니터링 경보를 받고 알았다.", "alert"),
        ("은행에서 같은 파일이 왔다고 알려 왔다.", "third-party"),
        ("야간 배치 작업이 실패해 알았다.", "job-failure"),
        ("Our vendor notified us by mail.", "third-party"),
        ("By an alarm on consumer lag.", "alert"),
        ("모니터링 알람", "alert"),
        ("Time to detection: 155 minutes", "unknown"),
        ("No alert fired and nobody noticed.", "unknown"),
        ("", "unknown"),
    ],
)
def test_way_of_detection(text: str, slug: str) -> None:
    assert suggest_detection([text], taxonomy()).slug == slug


def test_suggestions_rest_on_words_of_the_text() -> None:
    texts = {
        "title": "Checkout stalled behind a full disk",
        "cause": "The certificate of etcd had expired. It was a bug.",
    }
    found = {(item.kind, item.slug): item for item in suggest_terms(texts, taxonomy())}
    assert found["causes", "capacity-exhaustion"].words == ("disk full", "full disk")
    assert found["components", "etcd"].words == ("etcd",)
    # "was" is not WAS, the application server.
    assert ("components", "application") not in found


def test_short_korean_words_are_whole_words() -> None:
    found = suggest_terms({"cause": "인증서가 만료됐다.", "title": "인증서 만료"}, taxonomy())
    assert [(item.kind, item.slug) for item in found if item.kind == "causes"] == [("causes", "certificate-expiry")]
    assert "iam-auth" not in {item.slug for item in found}
