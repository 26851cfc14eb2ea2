"""What of the engine in PostgreSQL needs no server: arrays in bytes, keys, caches bounded in bytes. The rest: tests/postgres."""

from __future__ import annotations

import numpy as np

from bench.library import library
from incidents.search.base import Interpretation, SearchResult
from incidents.search.byte_cache import BoundedCache, weight
from incidents.search.documents import analyse
from incidents.search.literal import LiteralIndex
from incidents.search.postgres_reader import _small_index
from incidents.search.postgres_reading import posting
from incidents.search.postgres_store import (
    LETTER_BITS,
    grams,
    public_number,
    segment_of_word,
    storable,
    term_key,
    word_place,
)
from incidents.search.postgres_writing import _inverted, _term_bytes
from incidents.search.postings import distinct, without
from incidents.search.reader import MemoryReader


def test_a_terms_row_holds_its_places():
    documents = library()[:25]
    analysed = [(document, "", analyse(document)) for document in documents]
    reader = MemoryReader((document, one) for document, _, one in analysed)
    terms = _inverted([one.words.terms for _, _, one in analysed])
    rows = dict(zip(terms.names, _term_bytes(terms, analysed), strict=True))
    assert len(rows) > 1_000
    for term, data in rows.items():
        found, expected = posting(data), reader.word(term)
        assert found.rows.tolist() == expected.rows.tolist()
        assert found.places.tolist() == expected.places.tolist()


def test_the_index_of_some_words_finds_what_the_whole_one_finds_of_them():
    groups = [analyse(document).surfaces for document in library()[:25]]
    whole = LiteralIndex.of(groups)
    names = list(dict.fromkeys(term for group in groups for term in group.terms))
    for needle in ("전원", "서버", "장애", "버전", "데이터"):
        numbers = [n for n, name in enumerate(names) if needle in name.replace("+", "")]
        wheres = [whole.where[whole.first[n] : whole.first[n + 1]] for n in numbers]
        if not wheres:
            continue
        first = np.concatenate(([0], np.cumsum([len(where) for where in wheres]))).astype(np.int64)
        part = _small_index([names[n] for n in numbers], first, np.concatenate(wheres))
        for ours, theirs in zip(part.find(needle), whole.find(needle), strict=True):
            assert ours.tolist() == theirs.tolist()


def test_keys_are_the_same_in_every_process_and_differ():
    assert term_key("장애") == term_key("장애")
    words = [f"{word}{number}" for word in ("장애", "etcd", "\ud800") for number in range(1000)]
    assert len({term_key(word) for word in words}) == len(words)
    assert -(2**63) <= term_key("장애") < 2**63


def test_public_ids_of_any_width():
    assert [public_number(one) for one in ("IL-0042", "IL-123456")] == [42, 123456]


def test_text_that_postgresql_refuses_keeps_its_lines():
    assert storable("a\0b\n\ud800c").count("\n") == 1
    storable("a\0b\n\ud800c").encode()
    assert "\0" not in storable("a\0b")


def test_a_cache_is_bounded_in_bytes():
    cache = BoundedCache(10_000)
    for number in range(100):
        cache.get(number, lambda: np.zeros(100))
    assert cache.used <= 10_000
    assert cache.used == sum(weight(value) for value in cache.values.values())
    assert list(cache.values)[-1] == 99
    assert cache.get(99, lambda: None) is not None
    cache.get("large", lambda: np.zeros(10_000))  # larger than all: kept alone, for the query that is asking
    assert list(cache.values) == ["large"]


def test_pairs_of_letters_end_with_each_words_end():
    pairs, numbers = grams(["가나", "b"])
    assert [(chr(pair >> LETTER_BITS), chr(pair & (1 << LETTER_BITS) - 1)) for pair in pairs.tolist()] == [
        ("가", "나"),
        ("나", "\n"),
        ("b", "\n"),
    ]
    assert numbers.tolist() == [0, 0, 1]
    assert [found.tolist() for found in grams([])] == [[], []]


def test_a_words_place_names_its_segment():
    assert word_place(7, 0) < word_place(7, 2**31) < word_place(8, 0)
    assert {segment_of_word(word_place(7, number)) for number in (0, 5, 2**31)} == {7}


def test_what_a_result_makes_later_counts_too():
    cache = BoundedCache(1 << 20)
    result = SearchResult(
        np.zeros(10, np.int64),
        np.zeros(10),
        Interpretation("exact", "", ""),
        make_partial=lambda: np.zeros(1_000, np.int64),
    )
    cache.get("q", lambda: result)
    before = cache.used
    assert len(result.partial) == 1_000
    cache.get("other", lambda: 1)
    assert cache.used - before >= 8_000


def test_marking_rows_equals_sorting_them():
    draw = np.random.default_rng(1)
    for size in (0, 1, 50):
        rows, others = draw.integers(0, 60, size), draw.integers(0, 60, size)
        assert distinct(rows).tolist() == np.unique(rows).tolist()
        assert without(distinct(rows), others).tolist() == np.setdiff1d(rows, others).tolist()
