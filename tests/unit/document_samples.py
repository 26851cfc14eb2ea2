"""Foreign documents with what they must become, and a Korean report in Word made anew for each run."""

import io
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import docx
import yaml
from docx.enum.style import WD_STYLE_TYPE

from incidents.taxonomy_file import TaxonomyData, parse_taxonomy

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT / "tests" / "data" / "documents"
GIVEN = DOCUMENTS / "given"


@dataclass(frozen=True)
class Sample:
    """A document and the entry of expected.yaml that says what it becomes (text, lists and mappings: hence Any)."""

    file: str
    data: bytes
    expected: Mapping[str, Any]

    def __str__(self) -> str:
        return self.file


@cache
def taxonomy() -> TaxonomyData:
    return parse_taxonomy((ROOT / "fixtures" / "taxonomy.yaml").read_bytes(), "taxonomy.yaml")


def samples(folder: Path) -> Iterator[Sample]:
    """The documents of a folder with their entries, in the order of its expected.yaml."""
    text = (folder / "expected.yaml").read_text(encoding="utf-8")
    for entry in yaml.load(text, Loader=yaml.BaseLoader)["docs"]:  # noqa: S506 (BaseLoader makes only text)
        data = korean_form() if "made" in entry else (folder / entry["file"]).read_bytes()
        yield Sample(entry["file"], data, entry)


def variants(sample: Sample) -> Iterator[tuple[str, bytes, str]]:
    """(name of the variant, data, file name) of a document as other tools save it."""
    yield "as it is", sample.data, sample.file
    suffix = Path(sample.file).suffix
    yield "NFD name", sample.data, unicodedata.normalize("NFD", f"장애회고{suffix}")
    if suffix != ".docx":
        text = sample.data.decode("utf-8-sig").replace("\r\n", "\n")
        yield "CRLF", text.replace("\n", "\r\n").encode(), sample.file
        yield "BOM", "\ufeff".encode() + text.encode(), sample.file
        yield "NFD", unicodedata.normalize("NFD", text).encode(), sample.file


def korean_form() -> bytes:
    """A 장애 보고서 as Word users write it: a form table with merged cells, bold numbered lines, Word's own lists."""
    document = docx.Document()
    document.styles.add_style("HTML Preformatted", WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("장애 보고서: 배송 조회가 여섯 시간 멈춤", style="Title")
    document.add_paragraph("대외비")

    def heading(text: str) -> None:
        document.add_paragraph().add_run(text).bold = True

    heading("1. 장애 개요")
    table = document.add_table(rows=4, cols=4)
    rows = [
        ("발생 일시", "2022-02-04 07:10", "복구 일시", "2022-02-04 13:25"),
        ("인지 일시", "2022-02-04 08:02", "장애 등급", "2등급"),
        ("작성자", "박서준", "영향 시스템", "배송 조회 화면"),
    ]
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(3, 0).text = "영향 범위"
    wide = table.cell(3, 1).merge(table.cell(3, 3))
    wide.text = "조회 31만 건 실패"
    wide.add_paragraph("주문과 결제는 이상 없음")
    heading("2. 발생 계기")
    document.add_paragraph("송장 보관 기간을 늘리는 설정을 새벽에 반영했다.")
    heading("3. 장애 원인")
    document.add_paragraph("가. 직접 원인")
    document.add_paragraph("보관 기간이 길어지며 색인 조건이 맞지 않아 조회마다 전체 테이블을 읽었다.")
    document.add_paragraph("SELECT *\nFROM invoices -- 색인을 타지 않는다", style="HTML Preformatted")
    document.add_paragraph("나. 기여 요인")
    document.add_paragraph("시험 환경의 자료가 운영보다 작은 탓에 느려지지 않았다.", style="List Bullet")
    document.add_paragraph("느린 조회 경보가 없었다.", style="List Bullet")
    heading("4. 장애 인지 경위")
    document.add_paragraph("아침 당번이 대시보드를 보고 알았다.")
    heading("5. 조치 내용")
    for step in ("오래 걸리는 조회를 끊었다.", "색인을 다시 만들었다.", "트래픽을 다시 열었다."):
        document.add_paragraph(step, style="List Number")
    heading("6. 시간대별 경과")
    for line in ("07:10 조회 지연 시작", "08:02 당번이 인지", "13:25 정상화"):
        document.add_paragraph(line, style="List Bullet")
    heading("7. 재발 방지 대책")
    measures = document.add_table(rows=3, cols=4)
    plan = [
        ("번호", "대책", "담당자", "기한"),
        ("1", "설정을 반영하기 전에 실행 계획을 비교한다", "박서준", "2월"),
        ("2", "느린 조회 경보를 건다", "정이레", "3월"),
    ]
    for row, cells in enumerate(plan):
        for column, text in enumerate(cells):
            measures.cell(row, column).text = text
    heading("8. 교훈")
    document.add_paragraph("설정 하나도 배포다.")
    saved = io.BytesIO()
    document.save(saved)
    return saved.getvalue()
