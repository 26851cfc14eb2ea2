"""Text to terms: what of a text is found by what is typed, without ranking."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml

from incidents.search.korean import cover, fold, hangul_word, identifier_word, leaves_of, tokens, words
from incidents.search.morphemes import user_words

PAIRS = yaml.safe_load((Path(__file__).parent / "data" / "recall_pairs.yaml").read_text("utf-8"))["pairs"]


def terms(text: str) -> set[str]:
    return {token.term for token in tokens(text)}


def query_terms(text: str) -> list[str]:
    return [term for word, _, _ in words(fold(text)) for term, _ in cover(word)]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['query']} in {pair['text']}")
def test_query_terms_are_found_in_a_text_where_it_says_so(pair: dict[str, Any]) -> None:
    assert all(term in terms(pair["text"]) for term in query_terms(pair["query"])) is pair["match"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("kube-proxy", {"kube-proxy", "kube", "proxy", "kubeproxy"}),
        ("v1.28.3", {"v1.28.3", "1.28.3"}),
        ("max_connections", {"max_connections", "max", "connections"}),
        ("10.0.0.0/8", {"10.0.0.0/8"}),
        ("us-east-1", {"us-east-1", "us", "east"}),
        ("OutOfMemoryError", {"outofmemoryerror", "out", "memory", "error"}),
        ("k8s", {"k8s"}),
        ("C++", {"c++"}),
        ("rank17", {"rank17", "rank", "17"}),
    ],
)
def test_identifiers_are_terms_whole_and_in_parts(written: str, expected: set[str]) -> None:
    assert expected <= terms(f"`{written}` 를 썼다")


@pytest.mark.parametrize(
    "text", ["데이터베이스 복제", "ｅｔｃｄ ３노드", "서버·스토리지", "㎏ ﬁle", "체크포인트가 깨졌다"]
)
def test_composed_and_decomposed_texts_have_the_same_terms(text: str) -> None:
    assert terms(unicodedata.normalize("NFD", text)) == terms(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("forms", "stem"),
    [
        (("멈췄다", "멈춤", "멈추는", "멈춰서"), "멈추다"),
        (("느림", "느린", "느리게"), "느리다"),
        (("느려짐", "느려졌다", "느려지면서"), "느려지다"),
        (("지운", "지우기", "지웠다", "지워서"), "지우다"),
        (("밀린", "밀렸다", "밀림"), "밀리다"),
    ],
)
def test_a_verb_has_one_term_in_every_form(forms: tuple[str, ...], stem: str) -> None:
    assert [leaves_of(form) for form in forms] == [(stem,)] * len(forms)


def test_what_became_so_is_found_by_what_is_so_but_not_the_other_way_round() -> None:
    assert "느리다" in terms("응답이 느려졌다")
    assert "느려지다" not in terms("응답이 느렸다")


@pytest.mark.parametrize("word", ["제한", "파일", "보안", "권한", "속도", "회의", "발전기", "인증서", "노드", "크기"])
def test_a_noun_that_looks_like_a_form_stays_a_noun(word: str) -> None:
    assert leaves_of(word) == (word,)


def test_every_listed_word_is_found_alone_and_with_particles() -> None:
    missed = []
    for word, _ in user_words():
        for particle in ("", "를", "에서", "의", "까지"):
            chunk = hangul_word(word + particle)
            if word not in {*chunk.leaves, *(term for term, _, _ in chunk.spans)}:
                missed.append(word + particle)
    assert missed == []


def test_particles_set_off_by_a_space_after_a_latin_word_are_no_terms() -> None:
    assert terms("GPU 가 `etcd` 를 3 으로 바꿨다") & {"가", "를", "으로", "르"} == set()


def test_one_syllable_is_a_term_only_where_it_is_a_word() -> None:
    assert "키" in terms("새 키를 발급했다")
    assert "키" not in terms("키워드를 넣었다")


def test_nothing_is_dropped_even_if_it_is_all_endings() -> None:
    assert [word.leaves for word, _, _ in words("에서")] == [("에서",)]


def test_a_long_identifier_keeps_its_parts_in_order() -> None:
    word = identifier_word("dkr.ecr.ap-northeast-2.amazonaws.com/eks/pause")
    assert word.leaves == ("dkr", "ecr", "ap", "northeast", "2", "amazonaws", "com", "eks", "pause")


@pytest.mark.parametrize("text", ["\ud800", "a\udfff가", "\x00", "\u3164", "🔥🔥", "ㅋㅋ", "가\u0301", ""])
def test_odd_texts_are_analysed(text: str) -> None:
    assert isinstance(tokens(text), list)
