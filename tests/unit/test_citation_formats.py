"""Six ways to cite a record, each in its own grammar."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date

from incidents.citation_formats import CitedRecord, citation_forms
from incidents.markdown_html import render_inline

RECORD = CitedRecord(
    id="IL-0459",
    title="TRUNCATE CASCADE 가 100% & [운영] 데이터를 지웠다",
    version=2,
    year=2024,
    url="https://library.example/incidents/IL-0459/",
    updated_on=date(2026, 11, 28),
    read_on=date(2026, 11, 29),
    source_title="Post mortem, Jan 24th",
    source_publisher="Linear",
    source_url="https://linear.example/post",
    source_published="2024-02-01",
)
BARE = replace(
    RECORD, updated_on=None, year=None, source_title="", source_publisher="", source_url="", source_published=""
)


def form(key: str, record: CitedRecord = RECORD) -> str:
    return {form.key: form.text for form in citation_forms(record)}[key]


def test_korean_sentence() -> None:
    assert form("ko") == (
        "“TRUNCATE CASCADE 가 100% & [운영] 데이터를 지웠다”, 사고 사례 라이브러리 IL-0459, 판 2, "
        "2026년 11월 29일 확인, https://library.example/incidents/IL-0459/. "
        "원 보고서: Post mortem, Jan 24th, Linear, 2024-02-01. https://linear.example/post"
    )


def test_english_sentence_says_that_the_record_is_korean() -> None:
    assert form("en") == (
        "“TRUNCATE CASCADE 가 100% & [운영] 데이터를 지웠다” [in Korean]. Incident Library, IL-0459, version 2. "
        "Read 29 November 2026. https://library.example/incidents/IL-0459/. "
        "Primary report: Post mortem, Jan 24th, Linear, 2024-02-01. https://linear.example/post"
    )


def test_markdown_link_keeps_brackets_of_the_title() -> None:
    rendered = render_inline(form("markdown"))
    assert re.sub(r"<[^>]+>", "", rendered) == "IL-0459: TRUNCATE CASCADE 가 100% &amp; [운영] 데이터를 지웠다"
    assert 'href="https://library.example/incidents/IL-0459/"' in rendered


def test_bibtex_escapes_what_tex_reads_and_balances_its_braces() -> None:
    entry = form("bibtex")
    assert entry.startswith("@report{IL-0459,\n")
    assert r"{TRUNCATE CASCADE 가 100\% \& [운영] 데이터를 지웠다}" in entry
    assert "urldate     = {2026-11-29}" in entry
    assert "date        = {2026-11-28}" in entry
    unescaped = re.sub(r"\\[{}]", "", entry)
    assert unescaped.count("{") == unescaped.count("}")


def test_csl_json_is_one_report() -> None:
    (item,) = json.loads(form("csl-json"))
    assert item["type"] == "report"
    assert item["title"] == RECORD.title
    assert item["URL"] == RECORD.url
    assert item["issued"] == {"date-parts": [[2026, 11, 28]]}
    assert item["accessed"] == {"date-parts": [[2026, 11, 29]]}


def test_ris_has_a_tag_on_every_line_and_ends() -> None:
    lines = form("ris").split("\n")
    assert all(re.fullmatch(r"[A-Z][A-Z0-9]  - .*", line) for line in lines)
    assert lines[0] == "TY  - RPRT"
    assert lines[-1] == "ER  - "
    assert f"TI  - {RECORD.title}" in lines


def test_what_is_not_known_is_left_out() -> None:
    assert form("ko", BARE).endswith("https://library.example/incidents/IL-0459/.")
    assert "note" not in json.loads(form("csl-json", BARE))[0]
    assert "{}" not in form("bibtex", BARE)
    assert all(not line.endswith("- ") for line in form("ris", BARE).split("\n")[:-1])
