"""Bytes of a document file → its text as Markdown. Pure: no database, no network.

Markdown and plain text must be UTF-8; DOCX goes through mammoth, HTML through BeautifulSoup and markdownify. Whatever
can't be read is refused with the file's name and what to do (`DocumentRefused`).
"""

import io
import re
import unicodedata
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

import mammoth
from bs4 import BeautifulSoup, Comment, MarkupResemblesLocatorWarning, Tag
from bs4.element import NavigableString, PageElement
from markdownify import MarkdownConverter

from incidents.errors import UserError
from incidents.plain_text import CONTROL

# A short page may look like a file name to BeautifulSoup; it is always text here.
warnings.filterwarnings("ignore", category=MarkupResemblesLocatorWarning)

# A long post-mortem with its log excerpts is about 200 kB of text; images make a DOCX larger.
MOST_BYTES: Final = 20 * 1024 * 1024
MOST_CHARACTERS: Final = 500_000
MOST_LINES: Final = 20_000
MOST_ELEMENTS: Final = 10_000
MOST_UNPACKED: Final = 60 * 1024 * 1024
MOST_PARTS: Final = 3_000
# XML of a real document is packed at most about 30 to 1; a bomb a thousand to 1.
MOST_RATIO: Final = 300
# Each level of nesting costs the converters a few Python frames.
DEEPEST_NESTING: Final = 120

MARKDOWN_SUFFIXES: Final = frozenset({".md", ".markdown", ".mdown", ".mkd", ".txt", ".text"})
HTML_SUFFIXES: Final = frozenset({".html", ".htm", ".xhtml"})
DOCX_SUFFIXES: Final = frozenset({".docx"})
SUFFIXES: Final = MARKDOWN_SUFFIXES | HTML_SUFFIXES | DOCX_SUFFIXES

_LINE_BREAK = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_HIDDEN_TAGS: Final = (
    "title", "script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "math", "input", "button",
    "select", "textarea", "nav", "head", "canvas", "audio", "video", "meta", "link", "base",
)  # fmt: skip
# What a cell is broken into lines by.
_BLOCKS: Final = ("p", "div", "li", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "dd", "dt")
_MOST_IN_CELL: Final = 300  # a longer cell is read as lines of text
_DOCX_STYLES: Final = """
p[style-name='Title'] => h1:fresh
p[style-name='제목'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='부제'] => p:fresh
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
p[style-name='Code'] => pre:separator('\n')
p[style-name='HTML Preformatted'] => pre:separator('\n')
p[style-name='Source Code'] => pre:separator('\n')
"""


class DocumentRefused(UserError):
    """A file that can't become a draft; the message names the file, the reason and what to do."""

    status = 400
    code = "document_refused"

    def __init__(self, filename: str, reason: str) -> None:
        super().__init__(f"{filename}: {reason}")
        self.filename = filename
        self.reason = reason


@dataclass(frozen=True, slots=True)
class SourceText:
    """A document's text: Markdown, NFC, LF, without BOM and control characters.

    `title` is what the file calls itself beside its text (`<title>`), `notes` are Korean sentences about what reading
    left out.
    """

    filename: str
    text: str
    title: str = ""
    notes: tuple[str, ...] = ()


def read_text(data: bytes, filename: str) -> SourceText:
    """The text of a document; raises `DocumentRefused` when it can't be read.

    `filename` tells the format by its suffix and is shown in messages (NFC, without folders).
    """
    name = _shown_name(filename)
    suffix = PurePath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise DocumentRefused(
            name, "읽을 수 없는 형식입니다. Markdown(.md, .txt), HTML(.html), DOCX(.docx) 파일로 저장해 주십시오."
        )
    if not data.strip():
        raise DocumentRefused(name, "빈 파일입니다. 내용이 있는 파일을 골라 주십시오.")
    if len(data) > MOST_BYTES:
        raise DocumentRefused(
            name, f"파일이 너무 큽니다({_megabytes(len(data))}, 한도 {_megabytes(MOST_BYTES)}). 나누어 주십시오."
        )
    if suffix in DOCX_SUFFIXES:
        return _docx(data, name)
    text = _decoded(data, name)
    return _html(text, name) if suffix in HTML_SUFFIXES else _finished(name, text)


def _shown_name(filename: str) -> str:
    name = PurePath(unicodedata.normalize("NFC", filename).replace("\\", "/")).name
    return CONTROL.sub("", " ".join(name.split())) or "(이름 없음)"


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:.1f} MB"


def _decoded(data: bytes, name: str) -> str:
    """UTF-8 text, with or without BOM; anything else is refused by what it seems to be."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DocumentRefused(name, "UTF-16 으로 저장된 파일입니다. UTF-8 로 다시 저장해 주십시오.")
    if data.startswith(b"PK\x03\x04"):
        raise DocumentRefused(name, "압축 파일이나 Office 문서입니다. 문서라면 .docx 로 저장해 주십시오.")
    if data.startswith(b"%PDF"):
        raise DocumentRefused(name, "PDF 파일입니다. Markdown, HTML, DOCX 가운데 하나로 저장해 주십시오.")
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise DocumentRefused(name, "옛 Office 나 한글 문서입니다. .docx 로 다시 저장해 주십시오.")
    if b"\x00" in data:
        wide = data.count(b"\x00") >= len(data) // 4
        reason = "UTF-16 으로 저장된 것으로 보입니다." if wide else "NUL 문자가 든 이진 파일입니다."
        raise DocumentRefused(name, f"{reason} UTF-8 글로 다시 저장해 주십시오.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        seems = _seems(data)
        raise DocumentRefused(
            name, f"{line}번째 줄부터 UTF-8 이 아닙니다{seems}. 편집기에서 UTF-8 로 다시 저장해 주십시오."
        ) from error


def _seems(data: bytes) -> str:
    try:
        korean = data.decode("cp949")
    except UnicodeDecodeError:
        return ""
    return "(CP949, EUC-KR 로 보입니다)" if re.search("[가-힣]{2}", korean) else ""


def _finished(name: str, text: str, *, title: str = "", notes: tuple[str, ...] = ()) -> SourceText:
    clean = _LINE_BREAK.sub("\n", text).replace("\ufeff", "").replace("\u00a0", " ")
    clean, dropped = CONTROL.subn("", clean)
    clean = unicodedata.normalize("NFC", clean)
    if len(clean) > MOST_CHARACTERS:
        raise DocumentRefused(
            name, f"글이 너무 깁니다({len(clean):,}자, 한도 {MOST_CHARACTERS:,}자). 로그를 떼어 내거나 나누어 주십시오."
        )
    if (lines := clean.count("\n")) > MOST_LINES:
        raise DocumentRefused(
            name, f"줄이 너무 많습니다({lines:,}줄, 한도 {MOST_LINES:,}줄). 로그를 떼어 내거나 나누어 주십시오."
        )
    if not clean.strip():
        raise DocumentRefused(name, "글이 없습니다. 그림만 있는 문서라면 글로 옮겨 주십시오.")
    if dropped:
        notes = (*notes, f"제어 문자 {dropped}개를 지웠습니다.")
    return SourceText(name, clean.expandtabs(4), unicodedata.normalize("NFC", title), notes)


# --- DOCX ---------------------------------------------------------------------------------------------------------


def _docx(data: bytes, name: str) -> SourceText:
    _check_package(data, name)
    try:
        result = mammoth.convert_to_html(
            io.BytesIO(data), style_map=_DOCX_STYLES, convert_image=mammoth.images.img_element(_no_image)
        )
    # mammoth names no errors of its own: a part that is missing or odd ends in whatever its parser meets first.
    except Exception as error:
        raise DocumentRefused(
            name, "DOCX 문서가 손상되어 읽을 수 없습니다. Word 에서 열어 다시 저장해 주십시오."
        ) from error
    return _html(str(result.value), name)


def _no_image(image: Any) -> dict[str, str]:
    """mammoth's images have no types, hence Any. The picture stays in the document; its description is text."""
    return {"src": "docx-image"}


def _check_package(data: bytes, name: str) -> None:
    """Refuses what isn't a sound DOCX: not a ZIP, encrypted, without a document, or unpacking to a flood."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise DocumentRefused(name, "암호가 걸렸거나 옛 형식(.doc)입니다. 암호 없이 .docx 로 다시 저장해 주십시오.")
    broken = DocumentRefused(name, "DOCX 문서가 아니거나 손상되었습니다. Word 에서 열어 .docx 로 다시 저장해 주십시오.")
    flood = DocumentRefused(
        name, "압축을 풀면 지나치게 커지는 파일이라 열지 않았습니다. 그림을 줄여 다시 저장해 주십시오."
    )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            parts = package.infolist()
            if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
                raise flood
            names = {part.filename for part in parts}
            if any(part.flag_bits & 0x1 for part in parts) or "[Content_Types].xml" not in names:
                raise broken
            for part in parts:
                if part.file_size > MOST_RATIO * max(part.compress_size, 1) and part.file_size > 1024 * 1024:
                    raise flood
                if part.filename.endswith((".xml", ".rels")):
                    content = package.read(part)
                    # Word writes no document type; entities are how small XML grows.
                    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
                        raise broken
    except DocumentRefused:
        raise
    # zipfile raises BadZipFile, NotImplementedError, struct.error, zlib.error … on crafted input.
    except Exception as error:
        raise broken from error


# --- HTML ---------------------------------------------------------------------------------------------------------


class _Converter(MarkdownConverter):
    """Markdown in the form the outline reads: ATX headings, dashes, fences with their language."""

    def escape(self, text: str, parent_tags: set[str]) -> str:
        return text

    def convert_dt(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        text = " ".join(text.split())
        return f"\n\n**{text}**\n\n" if text else "\n"

    def convert_dd(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{text.strip()}\n\n" if text.strip() else "\n"

    def convert_summary(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        text = " ".join(text.split()).strip("* ")
        return f"\n\n**{text}**\n\n" if text else "\n"

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        if "td" in parent_tags or "th" in parent_tags:
            return f"<br>{text}"
        return f" {text}" if "_inline" in parent_tags else f"\n{text}"


def _html(text: str, name: str) -> SourceText:
    try:
        soup = BeautifulSoup(text, "html.parser")
        if _depth(soup) > DEEPEST_NESTING:
            raise DocumentRefused(name, "요소가 지나치게 깊이 겹친 HTML 입니다. 본문만 다시 저장해 주십시오.")
        if len(soup.find_all(True, limit=MOST_ELEMENTS + 1)) > MOST_ELEMENTS:
            raise DocumentRefused(name, f"요소가 {MOST_ELEMENTS:,}개를 넘는 HTML 입니다. 본문만 다시 저장해 주십시오.")
        title = soup.title.get_text(" ", strip=True) if soup.title else ""
        hidden = _drop_hidden(soup)
        for table in soup.find_all("table"):
            _unwrap_layout(table)
        for cell in soup.find_all(["td", "th"]):
            _flatten_cell(soup, cell)
        for image in soup.find_all("img"):
            _describe_image(image)
        markdown = _Converter(
            heading_style="ATX", bullets="-", autolinks=False, table_infer_header=True, code_language_callback=_language
        ).convert_soup(soup)
    except DocumentRefused:
        raise
    # The parsers recurse and index freely: crafted markup must not become a server error.
    except Exception as error:
        raise DocumentRefused(name, "HTML 을 읽을 수 없습니다. 브라우저에서 열어 다시 저장해 주십시오.") from error
    notes = (f"숨은 글, 스크립트, 메뉴 {hidden}곳을 뺐습니다.",) if hidden else ()
    lines = (line.rstrip() for line in str(markdown).split("\n"))
    return _finished(name, re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n", title=title, notes=notes)


def _depth(soup: BeautifulSoup) -> int:
    """The deepest nesting, walked without recursion."""
    deepest = 0
    open_tags: list[tuple[PageElement, int]] = [(soup, 0)]
    while open_tags:
        element, depth = open_tags.pop()
        deepest = max(deepest, depth)
        if deepest > DEEPEST_NESTING:
            break
        if isinstance(element, Tag):
            open_tags.extend((child, depth + 1) for child in element.children)
    return deepest


def _drop_hidden(soup: BeautifulSoup) -> int:
    """Takes away what a reader of the page doesn't see; returns how many places held text."""
    count = 0
    for comment in soup.find_all(string=lambda node: isinstance(node, Comment)):
        comment.extract()
    for tag in soup.find_all(True):
        if tag.decomposed:
            continue
        style = str(tag.get("style") or "")
        hidden = tag.has_attr("hidden") or tag.get("aria-hidden") == "true" or _HIDDEN_STYLE.search(style)
        if tag.name in _HIDDEN_TAGS or hidden:
            count += bool(tag.get_text(strip=True)) and tag.name not in ("head", "title")
            tag.decompose()
    return count


def _unwrap_layout(table: Tag) -> None:
    """Turns a table that only lays out the page (one cell, or tables within) into blocks."""
    cells = table.find_all(["td", "th"])
    if len(cells) == 1 or table.find("table") is not None:
        for part in table.find_all(["thead", "tbody", "tfoot", "tr", "td", "th", "caption", "colgroup", "col"]):
            if part.find_parent("table") is table:
                part.name = "div"
        table.name = "div"


def _flatten_cell(soup: BeautifulSoup, cell: Tag) -> None:
    """Puts `<br>` between the blocks of a table cell and a dash before its items: a Markdown cell is one line."""
    for text in cell.find_all(string=re.compile(r"[|\n]")):
        lines = (
            str(text).replace("|", "\\|").split("\n") if text.find_parent("pre") else [str(text).replace("|", "\\|")]
        )
        pieces: list[PageElement] = []
        for number, line in enumerate(lines):
            pieces.extend((soup.new_tag("br"),) if number else ())
            pieces.append(NavigableString(line))
        text.replace_with(*pieces)
    blocks = cell.find_all(_BLOCKS)
    if len(blocks) > _MOST_IN_CELL:
        lines_of_cell = cell.get_text("\n", strip=True).split("\n")
        cell.clear()
        for line in lines_of_cell:
            cell.extend([NavigableString(line), soup.new_tag("br")])
        return
    for item in cell.find_all("li"):
        first = item.find_parent(["ol", "ul"])
        marker = "- " if first is None or first.name == "ul" else f"{len(item.find_previous_siblings('li')) + 1}. "
        item.insert(0, NavigableString(marker))
    for block in blocks:
        if block.find_next_sibling(_BLOCKS) or (block.name == "li" and block.find_parent(_BLOCKS)):
            block.append(soup.new_tag("br"))
    for block in blocks:
        block.unwrap()
    for listing in cell.find_all(["ul", "ol", "dl"]):
        listing.insert_before(soup.new_tag("br"))
        listing.unwrap()


def _describe_image(image: Tag) -> None:
    """An image keeps its description; embedded data is no text and goes."""
    source = str(image.get("src") or "")
    if source.startswith("data:") or source == "docx-image" or len(source) > 500:
        image["src"] = "#"
    if not str(image.get("alt") or "").strip():
        image["alt"] = "그림"


def _language(pre: Tag) -> str:
    """The language of a code block as common highlighters write it (`class="language-sql"`)."""
    code = pre.find("code")
    classes = [*(pre.get("class") or ()), *((code.get("class") or ()) if isinstance(code, Tag) else ())]
    found: Callable[[str], re.Match[str] | None] = re.compile(
        r"(?:language|lang|highlight-source)-([\w+#-]{1,20})"
    ).fullmatch
    return next((match.group(1) for name in classes if (match := found(str(name)))), "")
