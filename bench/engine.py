"""The engine alone beside tantivy and plain Whoosh: the same tokens, the same queries, one run.

python -m bench.engine [NUMBER OF RECORDS …]     (1,000 and 10,000)

- warm: postings in memory, the query evaluated anew; what a query costs that shares words with others.
- again: the same query asked again, as its next page, its facets and its fragments do.
- cold: the first evaluation in a process, postings read from the files. Thesaurus and analyser are loaded before.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from django.conf import settings

from bench.side_environment import environment, run_in

PACKAGES = ["tantivy==0.27.0", "Whoosh-Reloaded==2.7.5"]
QUERIES = 60


def main(sizes: list[int]) -> int:
    """Print one table a size."""
    if not settings.configured:
        settings.configure(USE_I18N=False)
    for size in sizes:
        measure(size)
    return 0


def measure(size: int) -> None:
    """Build, ask and print."""
    from bench.library import made_library
    from incidents.search import parse_query
    from incidents.search.evaluate import LruCache
    from incidents.search.korean import leaves_of
    from incidents.search.whoosh_backend import WhooshBackend

    documents = list(made_library(size))
    texts = _queries([document.title for document in documents[:400]])
    with tempfile.TemporaryDirectory() as folder:
        backend = WhooshBackend(Path(folder) / "index")
        started = time.perf_counter()
        backend.rebuild(documents)
        built = time.perf_counter() - started
        own: dict[str, list[float]] = {"cold": [], "warm": [], "again": []}
        fresh = WhooshBackend(Path(folder) / "index")
        fresh.search(parse_query("없는말"))  # dictionary, thesaurus, table of documents
        parsed = [parse_query(text) for text in texts]
        for name in ("cold", "warm", "warm", "warm", "again", "again"):
            if name != "again":
                fresh._results = LruCache(256)  # results, not postings, are forgotten
            own[name] += [_time(fresh, query) for query in parsed]
        parsing = []
        parse_query.cache_clear()
        for text in texts:
            started = time.perf_counter()
            parse_query(text)
            parsing.append((time.perf_counter() - started) * 1000)
        given = Path(folder) / "given.json"
        tokens = [
            [" ".join(leaves_of(d.title)), " ".join(leaves_of("\n".join(d.sections.values())))] for d in documents
        ]
        given.write_text(json.dumps({"documents": tokens, "queries": [list(leaves_of(t)) for t in texts]}), "utf-8")
        python = environment("engines", PACKAGES)
        answer = (
            run_in(python, Path(__file__).parent / "engine_worker.py", "", arguments=[str(given)]) if python else None
        )
    print(f"\n{size:,} records, {len(texts)} queries; ms p50 / p95 (index built in {built:.0f} s)")
    for name, times in own.items():
        print(f"  this library, {name:8}{_row(times)}")
    print(f"  analysis of a query     {_row(parsing)}")
    if answer is not None:
        for name, result in json.loads(answer).items():
            print(f"  {name:24}{_row([t for times in result['warm'][1:] for t in times])}")


def _queries(titles: list[str]) -> list[str]:
    """Return one to three words of titles that are words of two and more letters."""
    rng = random.Random(5)
    found: list[str] = []
    while len(found) < QUERIES:
        words = [word for word in rng.choice(titles).split() if len(word) > 1 and word.isalnum()]
        if len(words) > 3:
            found.append(" ".join(rng.sample(words, rng.choice([1, 1, 2, 2, 3]))))
    return found


def _time(backend: object, query: object) -> float:
    started = time.perf_counter()
    result = backend.search(query)  # type: ignore[attr-defined]
    _ = (len(result.full), result.full[:20])
    return (time.perf_counter() - started) * 1000


def _row(times: list[float]) -> str:
    ordered = sorted(times)
    return f"{median(ordered):9.3f} /{ordered[len(ordered) * 95 // 100]:9.3f}"


if __name__ == "__main__":
    sys.exit(main([int(size) for size in sys.argv[1:]] or [1_000, 10_000]))
