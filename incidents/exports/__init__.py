"""The library, or any choice of it, as files: NDJSON, CSV, Markdown in a ZIP, SQLite. Others import from here.

Every form is written record by record, in memory that doesn't grow with the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from incidents.exports.changes import changes_chunks
from incidents.exports.choice import LICENSE, LICENSE_URL, SCHEMA_VERSION, ExportChoice, manifest, read_choice
from incidents.exports.csv_file import csv_chunks
from incidents.exports.markdown_zip import markdown_zip_chunks
from incidents.exports.ndjson import ndjson_chunks
from incidents.exports.sqlite_file import sqlite_chunks


@dataclass(frozen=True)
class ExportForm:
    """A form that the library can be taken away in."""

    name: str
    filename: str
    media_type: str
    about: str
    chunks: Callable[[ExportChoice], Iterator[bytes]]


FORMS: tuple[ExportForm, ...] = (
    ExportForm(
        "ndjson", "library.ndjson", "application/x-ndjson", "한 줄에 기록 하나, API 와 같은 JSON", ndjson_chunks
    ),
    ExportForm("csv", "library.csv", "text/csv; charset=utf-8", "스프레드시트용. BOM 이 있는 UTF-8", csv_chunks),
    ExportForm(
        "markdown",
        "library.zip",
        "application/zip",
        "Markdown 기록과 어휘와 점검. 빈 라이브러리에 그대로 들여올 수 있습니다",
        markdown_zip_chunks,
    ),
    ExportForm(
        "sqlite",
        "library.sqlite",
        "application/vnd.sqlite3",
        "전문 검색이 되는 SQLite. 네트워크 없이 씁니다",
        sqlite_chunks,
    ),
)

__all__ = [
    "FORMS",
    "LICENSE",
    "LICENSE_URL",
    "SCHEMA_VERSION",
    "ExportChoice",
    "ExportForm",
    "changes_chunks",
    "manifest",
    "read_choice",
]
