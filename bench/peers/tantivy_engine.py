"""tantivy alone, in its own process, on the same texts: python tantivy_engine.py RECORDS.ndjson QUERIES.json FOLDER."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import tantivy

source, queries, folder = (Path(argument) for argument in sys.argv[1:4])
builder = tantivy.SchemaBuilder()
builder.add_integer_field("id", stored=True)
for name in ("title", "body"):
    builder.add_text_field(name)
folder.mkdir(parents=True, exist_ok=True)
index = tantivy.Index(builder.build(), path=str(folder))
started = time.perf_counter()
writer = index.writer(256_000_000, 2)
with source.open(encoding="utf-8") as lines:
    for line in lines:
        row = json.loads(line)
        writer.add_document(tantivy.Document(id=row["id"], title=row["title"], body=row["body"]))
writer.commit()
writer.wait_merging_threads()
built = time.perf_counter() - started
index.reload()
searcher = index.searcher()
times = []
for text in json.loads(queries.read_text("utf-8")):
    at = time.perf_counter()
    words = [word for word in text.replace('"', " ").split() if any(sign.isalnum() for sign in word)]
    parsed, _ = index.parse_query_lenient(" ".join(f"+{word}" for word in words), ["title", "body"])
    searcher.search(parsed, 20, count=True)
    times.append((time.perf_counter() - at) * 1000)
times.sort()
size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
print(
    json.dumps(
        {
            "index_s": built,
            "engine_p50_ms": times[len(times) // 2],
            "engine_p95_ms": times[len(times) * 95 // 100],
            "index_mb": size / 1e6,
        }
    )
)
