"""Common ways of searching, for comparison: none of this is used by the site."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench.library import library
from bench.side_environment import environment, run_in
from incidents.search import SearchDocument

HAYSTACK = ["django>=5.2,<5.3", "django-haystack==3.4.0", "Whoosh-Reloaded==2.7.5", "setuptools"]


def rankings(texts: list[str]) -> dict[str, list[list[str]] | None]:
    """Return each baseline's rankings, one for each query; None where a baseline can't be had on this machine."""
    return {
        "whitespace": whitespace(texts),
        "fts5-trigram": fts5_trigram(texts),
        "postgres-simple": postgres_simple(texts),
        "haystack": haystack(texts),
    }


def body(document: SearchDocument) -> str:
    """Return everything that a document says, title and labels first."""
    return "\n".join((document.title, document.organization, *document.labels, *document.sections.values()))


def whitespace(texts: list[str]) -> list[list[str]]:
    """BM25 (k1 1.2, b 0.75) over lower-case words between spaces, any word matching."""
    documents = [Counter(body(document).lower().split()) for document in library()]
    holders = Counter(word for document in documents for word in document)
    average = sum(map(Counter.total, documents)) / len(documents)
    out = []
    for text in texts:
        scores = []
        for number, document in enumerate(documents):
            score = 0.0
            for word in text.lower().split():
                if frequency := document[word]:
                    idf = math.log1p((len(documents) - holders[word] + 0.5) / (holders[word] + 0.5))
                    norm = 1.2 * (0.25 + 0.75 * document.total() / average)
                    score += idf * frequency * 2.2 / (frequency + norm)
            if score:
                scores.append((-score, number))
        out.append([library()[number].public_id for _, number in sorted(scores)])
    return out


def fts5_trigram(texts: list[str]) -> list[list[str]]:
    """SQLite's own substring index; words under three characters can't be found with it."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE incidents USING fts5(id UNINDEXED, title, body, tokenize='trigram')")
    rows = ((document.public_id, document.title, body(document)) for document in library())
    connection.executemany("INSERT INTO incidents VALUES (?, ?, ?)", rows)
    out = []
    for text in texts:
        words = [word.replace('"', '""') for word in text.split() if len(word) >= 3]
        query = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT id FROM incidents WHERE incidents MATCH ? ORDER BY bm25(incidents, 0, 3, 1) LIMIT 100"
        out.append([row[0] for row in connection.execute(sql, (query,))] if query else [])
    return out


def postgres_simple(texts: list[str]) -> list[list[str]] | None:
    """PostgreSQL's text search in its `simple` configuration, in a server of its own in a temporary folder."""
    initdb, ctl = _postgres_program("initdb"), _postgres_program("pg_ctl")
    if initdb is None or ctl is None:
        return None
    import psycopg

    as_user = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        data = Path(folder) / "data"
        if as_user:
            shutil.chown(folder, "nobody", "nogroup")
        try:
            initialise = [initdb, "-D", str(data), "-U", "bench", "--auth=trust", "-E", "UTF8", "--locale=C"]
            subprocess.run([*as_user, *initialise], check=True, capture_output=True, cwd=folder)
            options = f"-k {folder} -c listen_addresses='' -c fsync=off"
            start = [ctl, "-D", str(data), "-o", options, "-w", "-l", f"{folder}/log", "start"]
            subprocess.run([*as_user, *start], check=True, capture_output=True, cwd=folder)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"no PostgreSQL: {error}", file=sys.stderr)
            return None
        try:
            with psycopg.connect(host=folder, user="bench", dbname="postgres", autocommit=True) as connection:
                connection.execute("CREATE TABLE incidents (id text, document tsvector)")
                for item in library():
                    connection.execute(
                        "INSERT INTO incidents VALUES (%s, setweight(to_tsvector('simple', %s), 'A')"
                        " || to_tsvector('simple', %s))",
                        (item.public_id, item.title, body(item)),
                    )
                out = []
                for text in texts:
                    words = " or ".join(text.replace('"', " ").split())
                    found = connection.execute(
                        "SELECT id FROM incidents, websearch_to_tsquery('simple', %s) query WHERE document @@ query"
                        " ORDER BY ts_rank_cd(document, query) DESC, id LIMIT 100",
                        (words,),
                    )
                    out.append([row[0] for row in found])
                return out
        finally:
            subprocess.run(
                [*as_user, ctl, "-D", str(data), "-m", "immediate", "stop"], capture_output=True, check=False
            )


def _postgres_program(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def haystack(texts: list[str]) -> list[list[str]] | None:
    """django-haystack's documented set-up: one text field, `auto_query`, every word required."""
    python = environment("haystack", HAYSTACK)
    if python is None:
        return None
    given = {
        "documents": [{"id": d.public_id, "text": body(d)} for d in library()],
        "queries": [re.sub(r"\s+", " ", text) for text in texts],
    }
    answer = run_in(python, Path(__file__).parent / "haystack_search.py", json.dumps(given))
    return None if answer is None else json.loads(answer)
