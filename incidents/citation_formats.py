"""How to cite a record: the same facts in Korean, English, Markdown, BibTeX, CSL-JSON and RIS.

Pure text. BibTeX follows the biblatex manual's fields, CSL-JSON the citeproc schema (csl-data.json), RIS the tag list
of Research Information Systems (one tag a line, `TY` first, `ER` last, CRLF is not needed for import).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date

LIBRARY = "사고 사례 라이브러리"
LIBRARY_EN = "Incident Library"
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True)
class CitedRecord:
    """What a citation says. `source_published` is a day, a shorter date or empty; `year` is the incident's."""

    id: str
    title: str
    version: int
    year: int | None
    url: str
    updated_on: date | None
    read_on: date
    source_title: str = ""
    source_publisher: str = ""
    source_url: str = ""
    source_published: str = ""


@dataclass(frozen=True)
class CitationForm:
    """One way to cite. `lang` is the language of its text; `is_code` where line breaks and signs matter."""

    key: str
    name: str
    lang: str
    text: str
    is_code: bool


def citation_forms(record: CitedRecord) -> tuple[CitationForm, ...]:
    """Return the six forms, the Korean sentence first."""
    return (
        CitationForm("ko", "한국어", "ko", korean(record), False),
        CitationForm("en", "English", "en", english(record), False),
        CitationForm("markdown", "Markdown", "ko", markdown(record), True),
        CitationForm("bibtex", "BibTeX", "en", bibtex(record), True),
        CitationForm("csl-json", "CSL-JSON", "en", csl_json(record), True),
        CitationForm("ris", "RIS", "en", ris(record), True),
    )


def korean(record: CitedRecord) -> str:
    """Return a Korean reference, the primary report after it."""
    read = f"{record.read_on.year}년 {record.read_on.month}월 {record.read_on.day}일 확인"
    parts = [f"“{record.title}”", f"{LIBRARY} {record.id}", f"판 {record.version}", read, record.url]
    return f"{', '.join(parts)}.{_source('원 보고서', record)}"


def english(record: CitedRecord) -> str:
    """Return an English reference; the title stays as it is and says that it is Korean."""
    read = f"{record.read_on.day} {_MONTHS[record.read_on.month - 1]} {record.read_on.year}"
    return (
        f"“{record.title}” [in Korean]. {LIBRARY_EN}, {record.id}, version {record.version}. Read {read}. {record.url}."
        f"{_source('Primary report', record)}"
    )


def _source(name: str, record: CitedRecord) -> str:
    """Return ` 원 보고서: title, publisher, day. https://…`, the address last and without a full stop to copy along."""
    parts = [part for part in (record.source_title, record.source_publisher, record.source_published) if part]
    told = f" {name}: {', '.join(parts)}." if parts else ""
    return f"{told} {record.source_url}" if told and record.source_url else told


def markdown(record: CitedRecord) -> str:
    """Return a Markdown link whose text survives brackets in the title."""
    title = re.sub(r"([\[\]*_`<>\\])", r"\\\1", record.title)
    return f"[{record.id}: {title}]({record.url})"


def bibtex(record: CitedRecord) -> str:
    """Return a biblatex `@report`; the year is that of the record's last change, as the record is what is cited."""
    fields = {
        "title": f"{{{_tex(record.title)}}}",
        "type": "incident record",
        "institution": f"{{{LIBRARY}}}",
        "number": record.id,
        "version": str(record.version),
        "date": record.updated_on.isoformat() if record.updated_on else "",
        "urldate": record.read_on.isoformat(),
        "url": record.url,
        "langid": "korean",
        "note": _tex(_source("원 보고서", record).strip()),
    }
    width = max(map(len, fields))
    lines = [f"  {name:<{width}} = {{{value}}}" for name, value in fields.items() if value]
    return f"@report{{{record.id},\n" + ",\n".join(lines) + "\n}"


_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


def _tex(text: str) -> str:
    return text.translate(_TEX)


def csl_json(record: CitedRecord) -> str:
    """Return a CSL-JSON array of one `report`, as reference managers import it."""
    item: dict[str, object] = {
        "id": record.id,
        "type": "report",
        "title": record.title,
        "language": "ko",
        "publisher": LIBRARY,
        "number": record.id,
        "version": str(record.version),
        "URL": record.url,
        "accessed": _csl_date(record.read_on),
    }
    if record.updated_on:
        item["issued"] = _csl_date(record.updated_on)
    if record.year is not None:
        item["event-date"] = {"date-parts": [[record.year]]}
    if note := _source("원 보고서", record).strip():
        item["note"] = note
    return json.dumps([item], ensure_ascii=False, indent=2)


def _csl_date(day: date) -> dict[str, list[list[int]]]:
    return {"date-parts": [[day.year, day.month, day.day]]}


def ris(record: CitedRecord) -> str:
    """Return a RIS entry of type RPRT."""
    lines = [
        ("TY", "RPRT"),
        ("ID", record.id),
        ("TI", record.title),
        ("PB", LIBRARY),
        ("M1", record.id),
        ("ET", str(record.version)),
        ("PY", str(record.updated_on.year) if record.updated_on else ""),
        ("DA", record.updated_on.strftime("%Y/%m/%d") if record.updated_on else ""),
        ("Y2", record.read_on.strftime("%Y/%m/%d")),
        ("LA", "ko"),
        ("UR", record.url),
        ("N1", _source("원 보고서", record).strip()),
    ]
    return "\n".join(f"{tag}  - {' '.join(value.split())}" for tag, value in lines if value) + "\nER  - "
