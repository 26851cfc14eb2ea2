"""Bytes to Markdown: which files are read, what is left out of HTML and DOCX, and how the rest is refused."""

import io
import zipfile

import docx
import pytest

from incidents.documents.reading import MOST_BYTES, MOST_CHARACTERS, DocumentRefused, read_text


def reason_of(data: bytes, name: str = "보고서.md") -> str:
    with pytest.raises(DocumentRefused) as refused:
        read_text(data, name)
    assert str(refused.value) == f"{name}: {refused.value.reason}"
    return refused.value.reason


def text_of(html: str) -> str:
    return read_text(html.encode(), "a.html").text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\r\nb", "a\nb"),
        (b"a\rb", "a\nb"),
        ("\ufeff가".encode(), "가"),
        ("가".encode(), "가"),
        ("a\u2028b\u0001c\u0085d".encode(), "a\nbc\nd"),
        ("a\u00a0b\tc".encode(), "a b c"),
    ],
)
def test_text_is_nfc_with_line_feeds_and_no_controls(data: bytes, text: str) -> None:
    assert read_text(data, "a.md").text == text


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "보고서.md", "빈 파일입니다. 내용이 있는 파일을 골라 주십시오."),
        (b" \n", "보고서.md", "빈 파일입니다. 내용이 있는 파일을 골라 주십시오."),
        ("장애".encode("utf-16"), "보고서.md", "UTF-16 으로 저장된 파일입니다. UTF-8 로 다시 저장해 주십시오."),
        ("outage".encode("utf-16-le"), "a.txt", "UTF-16 으로 저장된 것으로 보입니다. UTF-8 글로 다시 저장해 주십시오."),
        (b"text with\x00a nul", "a.md", "NUL 문자가 든 이진 파일입니다. UTF-8 글로 다시 저장해 주십시오."),
        (
            b"ok\nok\n\xff\n",
            "a.md",
            "3번째 줄부터 UTF-8 이 아닙니다. 편집기에서 UTF-8 로 다시 저장해 주십시오.",
        ),
        (b"PK\x03\x04abc", "a.md", "압축 파일이나 Office 문서입니다. 문서라면 .docx 로 저장해 주십시오."),
        (b"%PDF-1.7", "a.txt", "PDF 파일입니다. Markdown, HTML, DOCX 가운데 하나로 저장해 주십시오."),
        (b"\xd0\xcf\x11\xe0abc", "a.md", "옛 Office 나 한글 문서입니다. .docx 로 다시 저장해 주십시오."),
        (
            b"x",
            "장애.hwp",
            "읽을 수 없는 형식입니다. Markdown(.md, .txt), HTML(.html), DOCX(.docx) 파일로 저장해 주십시오.",
        ),
        (
            b"\xd0\xcf\x11\xe0abc",
            "a.docx",
            "암호가 걸렸거나 옛 형식(.doc)입니다. 암호 없이 .docx 로 다시 저장해 주십시오.",
        ),
        (
            b"x" * (MOST_CHARACTERS + 1),
            "a.md",
            "글이 너무 깁니다(500,001자, 한도 500,000자). 로그를 떼어 내거나 나누어 주십시오.",
        ),
        (
            b"x\n" * 20_001,
            "a.md",
            "줄이 너무 많습니다(20,001줄, 한도 20,000줄). 로그를 떼어 내거나 나누어 주십시오.",
        ),
        (b"x" * (MOST_BYTES + 1), "a.md", "파일이 너무 큽니다(20.0 MB, 한도 20.0 MB). 나누어 주십시오."),
        (b"<p hidden>x</p>", "a.html", "글이 없습니다. 그림만 있는 문서라면 글로 옮겨 주십시오."),
        (b"<b>a</b>" * 10_001, "a.html", "요소가 10,000개를 넘는 HTML 입니다. 본문만 다시 저장해 주십시오."),
        (b"<div>" * 200 + b"x", "a.html", "요소가 지나치게 깊이 겹친 HTML 입니다. 본문만 다시 저장해 주십시오."),
    ],
)
def test_refusal_names_file_reason_and_remedy(data: bytes, name: str, reason: str) -> None:
    assert reason_of(data, name) == reason


def packed(parts: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    saved = io.BytesIO()
    with zipfile.ZipFile(saved, "w", compression) as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return saved.getvalue()


def test_packages_that_unpack_to_a_flood_are_not_opened() -> None:
    flood = "압축을 풀면 지나치게 커지는 파일이라 열지 않았습니다. 그림을 줄여 다시 저장해 주십시오."
    types = {"[Content_Types].xml": b"<Types/>"}
    assert reason_of(packed({**types, "word/document.xml": b" " * 30_000_000}), "a.docx") == flood
    assert reason_of(packed({**types, **{f"media/{n}": b"" for n in range(3_001)}}), "a.docx") == flood


def test_packages_with_entities_or_without_a_document_are_broken() -> None:
    broken = "DOCX 문서가 아니거나 손상되었습니다. Word 에서 열어 .docx 로 다시 저장해 주십시오."
    bomb = b'<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    assert reason_of(packed({"[Content_Types].xml": b"<Types/>", "word/document.xml": bomb}), "a.docx") == broken
    assert reason_of(packed({"note.txt": b"x"}), "a.docx") == broken
    assert reason_of(b"not a package", "a.docx") == broken
    assert "손상되어" in reason_of(packed({"[Content_Types].xml": b"<Types/>"}), "a.docx")


def test_docx_keeps_headings_lists_tables_and_code() -> None:
    document = docx.Document()
    document.add_paragraph("Pump stalled", style="Title")
    document.add_heading("Summary", level=1)
    document.add_paragraph("It stalled.")
    document.add_paragraph("first", style="List Number")
    document.add_paragraph("second", style="List Number")
    table = document.add_table(rows=2, cols=2)
    for at, text in enumerate(["Action", "Owner", "Mend a | b", "Kim"]):
        table.cell(at // 2, at % 2).text = text
    saved = io.BytesIO()
    document.save(saved)
    assert read_text(saved.getvalue(), "a.docx").text.split("\n\n") == [
        "# Pump stalled",
        "# Summary",
        "It stalled.",
        "1. first\n2. second",
        "| Action | Owner |\n| --- | --- |\n| Mend a \\| b | Kim |\n",
    ]


def test_html_drops_what_no_reader_sees_and_says_so() -> None:
    html = (
        "<title>T</title><nav>menu</nav><h1>Seen</h1><script>js()</script><style>p{}</style><!-- remark -->"
        "<p style='display: none'>a</p><p hidden>b</p><span aria-hidden=true>c</span><template>d</template><p>text</p>"
    )
    read = read_text(html.encode(), "a.html")
    assert read.text == "# Seen\n\ntext\n"
    assert read.title == "T"
    assert read.notes == ("숨은 글, 스크립트, 메뉴 7곳을 뺐습니다.",)


def test_html_text_is_not_escaped_and_code_keeps_its_lines() -> None:
    assert text_of("<p>queue_age * 2 &lt;host&gt;</p>") == "queue_age * 2 <host>\n"
    code = "<pre><code class='language-ini'># a\n\nb = 1</code></pre>"
    assert text_of(code) == "```ini\n# a\n\nb = 1\n```\n"


def test_html_cells_keep_their_lines_and_layout_tables_vanish() -> None:
    cells = "<td>영향</td><td><p>첫째</p><ul><li>둘째</li><li>셋째</li></ul></td>"
    cell = f"<table><tr>{cells}</tr><tr><td>a</td><td>b</td></tr></table>"
    assert "| 영향 | 첫째<br>- 둘째<br>- 셋째 |" in text_of(cell)
    layout = "<table><tr><td><h2>원인</h2><p>글</p></td></tr></table>"
    assert text_of(layout) == "## 원인\n\n글\n"


def test_summary_and_definition_terms_become_bold_lines() -> None:
    assert text_of("<details><summary>Timeline</summary><p>10:00 x</p></details>") == "**Timeline**\n\n10:00 x\n"
    assert text_of("<dl><dt>Impact</dt><dd>All.</dd></dl>") == "**Impact**\n\nAll.\n"


def test_file_name_is_shown_in_nfc_without_folders() -> None:
    with pytest.raises(DocumentRefused, match=r"^장애\.md: 빈 파일"):
        read_text(b"", "C:\\글\\\u110c\u1161\u11bc\u110b\u1162.md")
