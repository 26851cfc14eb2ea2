"""`make relevance`: judged queries put to this search and to common ways of searching, on the same records in one run.

Baselines, each as its documentation sets it up:
- haystack: django-haystack with Whoosh, auto_query on one document field (in an environment of its own);
- fts5-trigram: SQLite FTS5 with the trigram tokenizer, words joined by OR, bm25();
- postgres-simple: to_tsvector('simple'), websearch_to_tsquery with OR, ts_rank_cd (where a server can be started);
- whitespace: BM25 over words between spaces.
Writes `incidents/search/data/relevance.json`, which /about/search/ shows.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django
from django.conf import settings

from bench import baselines
from bench.judged import QUERIES, Figures, figures, judged_queries

TARGET = Path(__file__).resolve().parent.parent / "incidents" / "search" / "data" / "relevance.json"
NAMES = {
    "own": "이 라이브러리",
    "whitespace": "낱말(띄어쓰기) BM25",
    "fts5-trigram": "SQLite FTS5 trigram",
    "postgres-simple": "PostgreSQL simple",
    "haystack": "django-haystack + Whoosh",
}


def own_rankings(texts: list[str]) -> list[list[str]]:
    """Return what a listing shows for each query: full matches, then what follows."""
    from bench.library import library
    from incidents.search import parse_query
    from tests.search.documents import MemorySearch

    search = MemorySearch(library())
    names = {document.id: document.public_id for document in library()}
    rankings = []
    for text in texts:
        result = search.search(parse_query(text))
        ids = [*result.full.tolist(), *result.following(len(result.full)).tolist()]
        rankings.append([names[i] for i in ids])
    return rankings


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table, write the file; 0 if this search reaches its goals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=Path, default=QUERIES)
    parser.add_argument("--without-baselines", action="store_true")
    parser.add_argument("--no-file", action="store_true", help="only print")
    options = parser.parse_args(arguments)
    if not settings.configured:
        settings.configure(USE_I18N=False)
        django.setup()
    queries = judged_queries(options.queries)
    texts = [query.text for query in queries]
    rankings: dict[str, list[list[str]] | None] = {"own": own_rankings(texts)}
    if not options.without_baselines:
        rankings |= baselines.rankings(texts)
    results = {name: figures(queries, found) for name, found in rankings.items() if found is not None}
    show(results)
    if not options.no_file:
        TARGET.write_text(json.dumps(report(results, len(queries)), ensure_ascii=False, indent=2) + "\n", "utf-8")
    own = results["own"]
    best_other = max((r.ndcg for name, r in results.items() if name != "own"), default=0.0)
    reached = own.ndcg >= 0.80 and own.recall >= 0.80 and min(own.kinds.values()) >= 0.60
    return int(not (reached and own.ndcg >= best_other + 0.10))


def show(results: dict[str, Figures]) -> None:
    """Print a table, and the kinds of query below it."""
    print(f"{'':28}{'nDCG@10':>9}{'recall@20':>11}{'zero hits':>11}{'spurious':>10}")
    for name, result in results.items():
        row = f"{result.ndcg:9.3f}{result.recall:11.3f}{result.zero_hits:11.1%}{result.spurious:10.1f}"
        print(f"{name:28}{row}")
    print()
    kinds = list(results["own"].kinds)
    print(f"{'nDCG@10 by kind':16}" + "".join(f"{name:>17}" for name in results))
    for kind in kinds:
        print(f"{kind:16}" + "".join(f"{result.kinds[kind]:17.2f}" for result in results.values()))


def report(results: dict[str, Figures], count: int) -> dict[str, Any]:
    """Return what the page shows."""
    from bench.library import library

    return {
        "made_on": datetime.now(UTC).date().isoformat(),
        "records": len(library()),
        "queries": count,
        "searches": [
            {"key": name, "name": NAMES.get(name, name)} | _rounded(asdict(result)) for name, result in results.items()
        ],
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return value


if __name__ == "__main__":
    sys.exit(main())
