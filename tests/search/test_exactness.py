"""Matches, totals and order equal what going through every record one by one gives."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest

from bench.library import made_library, taxonomy
from incidents.search import SearchDocument, parse_query
from incidents.search.plan import make_plan
from incidents.search.query import FIELD_LABELS
from incidents.search.thesaurus import Thesaurus, shipped_rows
from incidents.search.whoosh_backend import WhooshBackend
from tests.search.brute_force import BruteForce

DOCUMENTS = int(os.environ.get("KB_TEST_DOCUMENTS", "200"))
QUERIES = int(os.environ.get("KB_TEST_QUERIES", "200"))


@pytest.fixture(scope="module")
def documents() -> list[SearchDocument]:
    return list(made_library(DOCUMENTS, seed=7))


def queries(documents: list[SearchDocument], count: int) -> list[str]:
    """Return queries of words, pairs, phrases, exclusions and fields, taken from the documents' own texts."""
    rng = random.Random(11)
    labels = [term.label for _, terms in taxonomy().vocabularies() for term in terms]
    fields = [label for label in FIELD_LABELS if label not in ("분류", "출처", "조직")]
    made: list[str] = []
    while len(made) < count:
        document = rng.choice(documents)
        text = rng.choice([document.title, *document.sections.values()])
        found = re.findall(r"[\w.-]+", text)
        if len(found) < 4:
            continue
        at = rng.randrange(len(found) - 3)
        one, two = rng.sample(found, 2)
        made.append(
            rng.choice(
                [
                    one,
                    one,
                    f"{one} {two}",
                    f"{one} {two} {rng.choice(found)}",
                    f'"{found[at]} {found[at + 1]}"',
                    f'"{found[at]} {found[at + 1]} {found[at + 2]}" {one}',
                    f"{one} -{two}",
                    f"-{one}",
                    f"{rng.choice(fields)}:{one}",
                    f"{rng.choice(fields)}:{one} {two}",
                    rng.choice(labels),
                    f"{rng.choice(labels)} {one}",
                    found[at] + found[at + 1],
                ]
            )
        )
    return made


def test_the_engine_answers_as_an_exhaustive_scan(documents: list[SearchDocument], tmp_path: Path) -> None:
    backend = WhooshBackend(tmp_path / "index")
    backend.rebuild(documents[: DOCUMENTS // 2])
    backend.update(documents[DOCUMENTS // 3 :])  # two segments, some documents replaced
    scan = BruteForce(documents)
    thesaurus = Thesaurus(shipped_rows())
    differing = []
    compared = 0
    for text in queries(documents, QUERIES):
        query = parse_query(text, is_as_typed=True)
        plan = make_plan(query, thesaurus)
        has_ending = any(word.kind == "ending" for clause in query.clauses for word in clause.words)
        if has_ending or not scan.is_held(plan):
            continue  # letters inside words are tested apart
        expected = scan.search(plan)
        actual = backend.search(query).full.tolist()
        compared += 1
        if actual != expected:
            differing.append((text, actual[:5], expected[:5], len(actual), len(expected)))
    assert differing == []
    assert compared > QUERIES // 2
