"""Whatever bytes come in, reading a document ends in a draft or in an error for the reader."""

import contextlib
import io
import unicodedata
import zipfile

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents.documents import read_document
from incidents.documents.vocabulary import LIST_FIELDS, TEXT_FIELDS
from incidents.errors import UserError
from incidents.record_text import text_problems
from tests.unit.document_samples import taxonomy

SUFFIXES = (".md", ".html", ".docx", ".txt", ".hwp", "")
# Pieces from which documents are made, one a line; a line break between them is a piece of its own.
PIECES = st.sampled_from(
    [
        *"""
#|##|### Summary|## 원인|원인|**Impact:**|**Detection**|- [x]|- |1. |2021. 12. 1.|```|~~~|<!--|-->|---|===|>|TBD
Owner: Kim|@kim|![a](b)|[x](#y)|10:00|2024-02-30|24:00|PDT|~|9999-12-31 23:59 UTC|<br>|`|``|🚨|Action Items
<details><summary>Timeline</summary>|What went well?|장애 시작|복구 완료|www|https://acme.slack.com/a|1234567890
""".replace("\n", "|").split("|"),
        *(
            "| a | b |",
            "|---|---|",
            "| 발생 일시 | 2023-11-15 00:05 KST |",
            "| Action | Owner |",
            "\n",
            "\n\n",
            "\t",
            "  ",
        ),
        *("\\", "\u0301", "\ufeff", "\x0b", "\u3131\u1100\u1161", "😀" * 3, "a" * 130),
    ]
)
MARKUP = st.lists(PIECES | st.text(max_size=12), max_size=40).map("".join)


def check(data: bytes, name: str) -> None:
    with contextlib.suppress(UserError):
        draft = read_document(data, name, taxonomy())
        texts = [getattr(draft, field) for field in TEXT_FIELDS]
        texts += [item for field in LIST_FIELDS for item in getattr(draft, field)]
        assert [problem for text in texts for problem in text_problems(text)] == []
        assert all(text == unicodedata.normalize("NFC", text) for text in [*texts, draft.title])
        assert "\n" not in draft.title
        assert draft.report()


@given(MARKUP, st.sampled_from((".md", ".txt")))
@settings(max_examples=150, deadline=None)
def test_markdown_of_any_kind(text: str, suffix: str) -> None:
    check(text.encode("utf-8", "surrogatepass"), f"문서{suffix}")


TAGS = st.sampled_from(
    [
        *("<h1>", "</h1>", "<h2>원인</h2>", "<p>", "</p>", "<ul>", "<li>", "</ul>", "<dl>", "<dt>", "<dd>", "<br>"),
        *(
            "<table>",
            "<tr>",
            "<td>",
            "<th>",
            "</td>",
            "</tr>",
            "</table>",
            "<pre>",
            "<code class='language-sql'>",
            "</pre>",
        ),
        *(
            "<script>",
            "</script>",
            "<div hidden>",
            "<div>",
            "</div>",
            "<img src='data:x'>",
            "<details>",
            "<summary>",
            "<a href='#x'>",
        ),
        *("|", "\n", "&lt;b&gt;", "<!--", "-->", "<![CDATA[", "<?x"),
    ]
)


@given(st.lists(TAGS | st.text(max_size=10), max_size=40).map("".join))
@settings(max_examples=150, deadline=None)
def test_html_of_any_kind(text: str) -> None:
    check(text.encode("utf-8", "surrogatepass"), "문서.html")


@given(
    st.binary(max_size=400),
    st.sampled_from(SUFFIXES),
    st.sampled_from([b"", b"PK\x03\x04", b"\xff\xfe", b"\xef\xbb\xbf", b"%PDF"]),
)
@settings(max_examples=150, deadline=None)
def test_bytes_of_any_kind(data: bytes, suffix: str, start: bytes) -> None:
    check(start + data, f"문서{suffix}")


@given(MARKUP, st.sampled_from(["word/document.xml", "word/styles.xml", "[Content_Types].xml", "_rels/.rels"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_packages_with_any_part(text: str, part: str) -> None:
    body = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body/></w:document>'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for name, content in {"[Content_Types].xml": "<Types/>", "word/document.xml": body, part: text}.items():
            package.writestr(name, content.encode("utf-8", "surrogatepass"))
    check(packed.getvalue(), "문서.docx")
