"""The records as a SQLite file with an FTS5 table, as Datasette serves it: python datasette_data.py RECORDS.ndjson FILE."""

from __future__ import annotations

import json
import sqlite3
import sys
import time

source, target = sys.argv[1:3]
started = time.perf_counter()
database = sqlite3.connect(target)
database.execute(
    "CREATE TABLE records (id INTEGER PRIMARY KEY, title TEXT, body TEXT, cause TEXT, component TEXT, organization TEXT, year INTEGER)"
)
with open(source, encoding="utf-8") as lines:
    database.executemany(
        "INSERT INTO records VALUES (:id, :title, :body, :cause, :component, :organization, :year)",
        map(json.loads, lines),
    )
for name in ("cause", "component", "organization", "year"):
    database.execute(f"CREATE INDEX records_{name} ON records ({name})")
database.commit()
imported = time.perf_counter()
database.execute("CREATE VIRTUAL TABLE records_fts USING fts5(title, body, content='records', content_rowid='id')")
database.execute("INSERT INTO records_fts (records_fts) VALUES ('rebuild')")
database.commit()
indexed = time.perf_counter()
times = []
for number in range(1, 6):
    at = time.perf_counter()
    old = database.execute("SELECT id, title, body FROM records WHERE id = ?", (number,)).fetchone()
    database.execute("INSERT INTO records_fts (records_fts, rowid, title, body) VALUES ('delete', ?, ?, ?)", old)
    database.execute("UPDATE records SET title = title || ' x' WHERE id = ?", (number,))
    database.execute("INSERT INTO records_fts (rowid, title, body) VALUES (?, ?, ?)", (old[0], old[1] + " x", old[2]))
    database.commit()
    times.append((time.perf_counter() - at) * 1000)
print(json.dumps({"import_s": imported - started, "index_s": indexed - imported, "update_ms": sorted(times)[2]}))
