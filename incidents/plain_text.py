"""Bytes of a file → clean text, and the canonical form of lines and blocks of text. Pure.

Read: UTF-8 with or without a byte order mark, LF or CRLF, NFC or NFD. Given back: NFC, LF, no mark, no control
characters. The rest is refused with the line, never repaired by guessing.
"""

import re
import unicodedata

from incidents.faults import FaultList

BOM = b"\xef\xbb\xbf"

# Characters that no editor shows and that break lines or files elsewhere: C0 and C1 controls but tab and line feed,
# the Unicode line and paragraph separators, a byte order mark inside the text, and the two non-characters.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")

_LINE_BREAKS = re.compile(r"[\t\n\r\v\f\x1c-\x1f\x85\u2028\u2029]+")


def decode(data: bytes, faults: FaultList, *, limit: int) -> str | None:
    """Return the text of a file, or None after noting a fault with its line.

    `limit` is the largest size in bytes that is read.
    """
    if len(data) > limit:
        faults.add(1, f"파일이 너무 큽니다({len(data):,}바이트). {limit:,}바이트 아래로 줄여 주십시오.")
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        faults.add(1, "UTF-16 으로 저장된 파일입니다. 편집기에서 인코딩을 UTF-8 로 바꾸어 다시 저장해 주십시오.")
        return None
    body = data.removeprefix(BOM)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        if b"\x00" in body:
            faults.add(line, "글이 아닌 파일입니다(이진 파일이거나 UTF-16). UTF-8 로 저장한 글만 읽습니다.")
        else:
            faults.add(
                line,
                f"UTF-8 이 아닌 바이트가 있습니다(0x{body[error.start]:02X}). "
                "CP949(EUC-KR) 같은 다른 인코딩으로 저장했다면 편집기에서 UTF-8 로 바꾸어 다시 저장해 주십시오.",
            )
        return None
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    if not CONTROL.search(text):
        return text
    for number, line_text in enumerate(text.split("\n"), start=1):
        if found := CONTROL.search(line_text):
            faults.add(number, f"{describe_control(found[0])} 지워 주십시오.")
    return None


def describe_control(character: str) -> str:
    """Return a sentence that names a character which may not stand in a text."""
    names = {"\ufeff": "BOM 이 글 가운데에 있습니다", "\x00": "NUL 문자가 있습니다", "\r": "홀로 선 CR 이 있습니다"}
    name = names.get(character, "보이지 않는 제어 문자가 있습니다")
    return f"{name}(U+{ord(character):04X})."


def canonical_line(text: str) -> str:
    """Return `text` as one line: NFC, line breaks and tabs as a space, no white space at its ends."""
    return unicodedata.normalize("NFC", _LINE_BREAKS.sub(" ", text)).strip()


def canonical_text(text: str) -> str:
    """Return a block of Markdown in its stored form: NFC, LF, no blank lines around it, no white space at its end.

    Spaces at a line's end are kept, since two of them are a line break in Markdown; a line of nothing but white space
    becomes empty.
    """
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = [line if line.strip() else "" for line in text.split("\n")]
    return "\n".join(lines).strip("\n").rstrip()
