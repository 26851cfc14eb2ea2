"""Nothing written in the bundled library is unfindable."""

from __future__ import annotations

import random
import re

import pytest

from bench.library import library, records
from incidents.search import SearchDocument
from tests.search.documents import MemorySearch, shown

PARTICLES = ("을", "는", "에서", "까지", "로")
SENTENCES = 60  # of each run of this test; the seed decides which


@pytest.fixture(scope="module")
def search() -> MemorySearch:
    return MemorySearch(library())


def test_every_piece_of_a_hangul_word_finds_its_record(search: MemorySearch) -> None:
    rng = random.Random(20_261_129)
    missed = []
    for _ in range(SENTENCES):
        document = rng.choice(library())
        sentence = rng.choice(
            [s for text in document.sections.values() for s in re.split(r"(?<=다\.)\s|\n", text) if s]
        )
        for word in re.findall("[가-힣]{2,}", sentence):
            pieces = {word[a:b] for a in range(len(word)) for b in range(a + 2, len(word) + 1)}
            for piece in sorted(pieces):
                for text in (piece, piece + rng.choice(PARTICLES)):
                    if document.id not in shown(search, text):
                        missed.append((document.public_id, word, text))
    assert missed == []


def test_every_identifier_finds_its_record(search: MemorySearch) -> None:
    missed = []
    for record, document in zip(records(), library(), strict=True):
        fields = (record.symptom, record.trigger, record.cause, record.detection, record.lesson)
        text = "\n".join((*fields, *record.contributing_factors, *record.actions, *record.follow_ups))
        for identifier in set(re.findall(r"`([A-Za-z0-9][\w.\-/:]{2,30})`", text)):
            if document.id not in shown(search, identifier):
                missed.append((document.public_id, identifier))
    assert missed == []


@pytest.mark.parametrize("document", random.Random(3).sample(library(), 20), ids=lambda d: d.public_id)
def test_a_title_finds_its_record_first(search: MemorySearch, document: SearchDocument) -> None:
    assert shown(search, document.title)[0] == document.id
