"""A SQLite file with full-text search, for use without a network: a table of records, their terms, sources and checks.

    SELECT r.id, r.title FROM search JOIN records r ON r.rowid = search.rowid WHERE search MATCH '인증서* 만료*'

The words of a search are matched from their beginning with `*`, so that a particle behind them does no harm.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from incidents.api.representation import record_out, to_json
from incidents.api.schemas import RecordOut
from incidents.exports.choice import ExportChoice, manifest

CHUNK: Final = 256 * 1024
SCHEMA: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE records (
    id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, title TEXT NOT NULL, organization TEXT, year INTEGER,
    started_at TEXT, detected_at TEXT, mitigated_at TEXT, resolved_at TEXT, duration_minutes INTEGER,
    detection_method TEXT, symptom TEXT NOT NULL, "trigger" TEXT NOT NULL, cause TEXT NOT NULL,
    contributing_factors TEXT NOT NULL, detection TEXT NOT NULL, actions TEXT NOT NULL, follow_ups TEXT NOT NULL,
    lesson TEXT NOT NULL, version INTEGER NOT NULL, published_at TEXT, updated_at TEXT, url TEXT NOT NULL,
    json TEXT NOT NULL
);
CREATE TABLE terms (
    record_id TEXT NOT NULL, kind TEXT NOT NULL, position INTEGER NOT NULL, slug TEXT NOT NULL, label TEXT NOT NULL,
    PRIMARY KEY (record_id, kind, position)
) WITHOUT ROWID;
CREATE TABLE sources (
    record_id TEXT NOT NULL, position INTEGER NOT NULL, title TEXT NOT NULL, url TEXT NOT NULL, publisher TEXT NOT NULL,
    published TEXT, archived_url TEXT, PRIMARY KEY (record_id, position)
) WITHOUT ROWID;
CREATE TABLE citations (
    code TEXT NOT NULL, record_id TEXT NOT NULL, title TEXT NOT NULL, why TEXT NOT NULL, PRIMARY KEY (code, record_id)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5 (
    title, symptom, "trigger", cause, contributing_factors, detection, actions, follow_ups, lesson,
    content = 'records', tokenize = 'unicode61 remove_diacritics 0', prefix = '2 3'
);
"""
AFTER: Final = """
INSERT INTO search (search) VALUES ('rebuild');
INSERT INTO search (search) VALUES ('optimize');
CREATE INDEX terms_by_slug ON terms (kind, slug);
"""
INSERT: Final = f"INSERT INTO records VALUES ({', '.join('?' * 24)})"  # noqa: S608  # question marks alone


def sqlite_chunks(choice: ExportChoice) -> Iterator[bytes]:
    """Yield the file piece by piece. It is made on disk first, since its first page is written last."""
    with TemporaryDirectory(prefix="library-") as folder:
        path = Path(folder) / "library.sqlite"
        write_sqlite(choice, path)
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk


def write_sqlite(choice: ExportChoice, path: Path) -> None:
    """Write the file; `path` isn't there yet."""
    connection = sqlite3.connect(path)
    try:
        connection.executescript(SCHEMA)
        about = {
            name: value if isinstance(value, str) else json.dumps(value) for name, value in manifest(choice).items()
        }
        connection.executemany("INSERT INTO about VALUES (?, ?)", sorted(about.items()))
        for incident in choice.incidents():
            _insert(connection, record_out(incident))
        connection.executescript(AFTER)
        connection.commit()
    finally:
        connection.close()


def _insert(connection: sqlite3.Connection, record: RecordOut) -> None:
    connection.execute(
        INSERT,
        (
            record.id,
            record.status,
            record.title,
            record.organization.name if record.organization else None,
            record.year,
            record.started_at,
            record.detected_at,
            record.mitigated_at,
            record.resolved_at,
            record.duration_minutes,
            record.detection_method,
            record.symptom,
            record.trigger,
            record.cause,
            "\n".join(record.contributing_factors),
            record.detection,
            "\n".join(record.actions),
            "\n".join(record.follow_ups),
            record.lesson,
            record.version,
            record.published_at,
            record.updated_at,
            record.url,
            to_json(record).decode(),
        ),
    )
    for kind, terms in (("cause", record.causes), ("component", record.components), ("factor", record.factors)):
        connection.executemany(
            "INSERT INTO terms VALUES (?, ?, ?, ?, ?)",
            [(record.id, kind, position, term.slug, term.label) for position, term in enumerate(terms)],
        )
    connection.executemany(
        "INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (record.id, position, one.title, one.url, one.publisher, one.published, one.archived_url)
            for position, one in enumerate(record.sources)
        ],
    )
    connection.executemany(
        "INSERT INTO citations VALUES (?, ?, ?, ?)",
        [(check.code, record.id, check.title, check.why) for check in record.cited_by],
    )
