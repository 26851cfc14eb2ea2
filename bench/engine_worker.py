"""Run in an environment of its own: token texts and queries in as JSON, milliseconds of tantivy and plain Whoosh out.

Both get the same tokens that this library indexes, so only the engines differ. A query's words must all be in the title
or the body; asked for are the best 20 and the total.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 5


def milliseconds(ask: Callable[[list[str]], int], queries: list[list[str]]) -> list[list[float]]:
    """Return the times of each round over all queries."""
    rounds = []
    for _ in range(ROUNDS):
        times = []
        for words in queries:
            started = time.perf_counter()
            ask(words)
            times.append((time.perf_counter() - started) * 1000)
        rounds.append(times)
    return rounds


def tantivy_times(given: dict[str, Any]) -> dict[str, Any]:
    """Return tantivy's warm times and totals."""
    import tantivy  # type: ignore[import-not-found]

    builder = tantivy.SchemaBuilder()
    for name in ("title", "body"):
        builder.add_text_field(name, tokenizer_name="whitespace")
    index = tantivy.Index(builder.build(), path=tempfile.mkdtemp())
    writer = index.writer(128_000_000, 1)
    for title, body in given["documents"]:
        writer.add_document(tantivy.Document(title=title, body=body))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    must, should = tantivy.Occur.Must, tantivy.Occur.Should

    def ask(words: list[str]) -> int:
        clauses = []
        for word in words:
            fields = [tantivy.Query.term_query(index.schema, name, word) for name in ("title", "body")]
            clauses.append((must, tantivy.Query.boolean_query([(should, field) for field in fields])))
        found = searcher.search(tantivy.Query.boolean_query(clauses), 20, count=True)
        return int(found.count)

    return {"totals": [ask(words) for words in given["queries"]], "warm": milliseconds(ask, given["queries"])}


def whoosh_times(given: dict[str, Any]) -> dict[str, Any]:
    """Return plain Whoosh's times: its default search, and len() for the total."""
    from whoosh import fields, index
    from whoosh.analysis import SpaceSeparatedTokenizer
    from whoosh.query import And, Or, Term

    analyser = SpaceSeparatedTokenizer()
    schema = fields.Schema(title=fields.TEXT(analyzer=analyser), body=fields.TEXT(analyzer=analyser))
    made = index.create_in(tempfile.mkdtemp(), schema)
    writer = made.writer(limitmb=256)
    for title, body in given["documents"]:
        writer.add_document(title=title, body=body)
    writer.commit()
    searcher = made.searcher()

    def ask(words: list[str]) -> int:
        clauses = [Or([Term("title", word, boost=3), Term("body", word)]) for word in words]
        return len(searcher.search(And(clauses), limit=20))

    return {"totals": [ask(words) for words in given["queries"]], "warm": milliseconds(ask, given["queries"])}


def main() -> None:
    """Measure both."""
    given = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    json.dump({"tantivy": tantivy_times(given), "whoosh": whoosh_times(given)}, sys.stdout)


if __name__ == "__main__":
    main()
