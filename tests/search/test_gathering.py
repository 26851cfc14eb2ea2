"""Postings gathered in many small runs are those of one run, and what a scan of the documents finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.library import made_library
from incidents.search.documents import AnalysedDocument, analyse
from incidents.search.gathering import Gatherer
from incidents.search.literal import LiteralIndex
from incidents.search.postings import TermPlaces

Found = dict[str, list[tuple[int, list[int]]]]


@pytest.fixture(scope="module")
def analysed() -> list[AnalysedDocument]:
    return [analyse(document) for document in made_library(60)]


def scanned(groups: list[TermPlaces]) -> Found:
    found: Found = {}
    for number, group in enumerate(groups):
        for term, places in group.items():
            found.setdefault(term, []).append((number, places.tolist()))
    return found


def gathered(groups: list[TermPlaces], folder: Path, run: int) -> tuple[list[str], Found]:
    pool = Gatherer(folder, run)
    for number, group in enumerate(groups):
        pool.add(number, group)
    found: Found = {}
    terms: list[str] = []
    for part in pool.parts():
        terms.extend(part.terms)
        for n, term in enumerate(part.terms):
            at = int(part.first_place[n])
            for document, count in zip(
                part.documents[part.first[n] : part.first[n + 1]].tolist(),
                part.counts[part.first[n] : part.first[n + 1]].tolist(),
                strict=True,
            ):
                found.setdefault(term, []).append((document, part.places[at : at + count].tolist()))
                at += count
    pool.close()
    return terms, found


@pytest.mark.parametrize("run", [1, 700, 5_000, 1_000_000])
def test_runs_of_any_size_give_every_posting_once_and_in_order(analysed, tmp_path, run):
    groups = [document.words for document in analysed]
    terms, found = gathered(groups, tmp_path, run)
    assert found == scanned(groups)
    assert terms == sorted(found)
    assert list(tmp_path.iterdir()) == []


def test_nothing_gathered_gives_nothing(tmp_path):
    assert gathered([], tmp_path, 10) == ([], {})


@pytest.mark.parametrize("run", [2_000, 1_000_000])
def test_words_as_written_are_found_as_in_an_index_made_at_once(analysed, tmp_path, run):
    groups = [document.surfaces for document in analysed]
    pool = Gatherer(tmp_path, run)
    for number, group in enumerate(groups):
        pool.add(number, group)
    made, at_once = LiteralIndex.gathered(pool.parts()), LiteralIndex.of(groups)
    pool.close()
    for needle in ("서버", "인증", "장애", "e", "api", "timeout", "데이", "없는글자"):
        for section in (None, 1, 3):
            for ours, theirs in zip(made.find(needle, section), at_once.find(needle, section), strict=True):
                assert np.array_equal(ours, theirs), needle
