"""What of the engine in PostgreSQL needs no server: arrays in bytes, keys, caches bounded in bytes. The rest: tests/postgres."""

from __future__ import annotations

import numpy as np

from bench.library import library
from incidents.search.byte_cache import BoundedCache, weight
from incidents.search.documents import analyse
from incidents.search.literal import LiteralIndex
from incidents.search.postgres_reader import _small_index
from incidents.search.postgres_reading import posting
from incidents.search.postgres_store import public_number, storable, term_key
from incidents.search.postgres_writing import _inverted, _term_bytes
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
