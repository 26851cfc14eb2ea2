"""Corrections: the other keyboard layout, and near spellings."""

from __future__ import annotations

import pytest

from incidents.search.spelling import Speller, distance, hangul_from_keys, latin_from_keys


@pytest.mark.parametrize(
    ("keys", "hangul"),
    [("wkddo", "장애"), ("zkzkdh", "카카오"), ("ghkwo", "화재"), ("dlswmdtj", "인증서"), ("rkqt", "값"), ("dmldhl", "의외"), ("etcd", None), ("k8s", None), ("", None)],
)  # fmt: skip
def test_latin_keys_give_hangul(keys: str, hangul: str | None) -> None:
    assert hangul_from_keys(keys) == hangul


@pytest.mark.parametrize(
    ("hangul", "latin"),
    [("ㄷㅅㅊㅇ", "etcd"), ("ㅏㅕㅠ디ㄷㅅ", "kubelet"), ("장애", "wkddo"), ("etcd", None), ("", None)],
)
def test_hangul_letters_give_latin(hangul: str, latin: str | None) -> None:
    assert latin_from_keys(hangul) == latin


@pytest.mark.parametrize(
    ("a", "b", "far"), [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abd", 1), ("abc", "ab", 1), ("abc", "xyz", 3)]
)
def test_distance_counts_a_swap_as_one(a: str, b: str, far: int) -> None:
    assert distance(a, b, 3) == far
    assert distance("abc", "xyz", 1) == 2


@pytest.mark.parametrize(
    ("word", "best"),
    [("인증셔", "인증서"), ("쿠버네티즈", "쿠버네티스"), ("kubelat", "kubelet"), ("etdc", "etcd"), ("데이타베이스", "데이터베이스"), ("하둡", None), ("xubelet", None)],
)  # fmt: skip
def test_the_nearest_known_word_is_proposed(word: str, best: str | None) -> None:
    speller = Speller({"인증서": 5, "쿠버네티스": 9, "kubelet": 3, "etcd": 2, "데이터베이스": 4, "멈추다": 9})
    found = speller.nearest(word)
    assert (found.word if found else None) == best


def test_of_equally_near_words_the_commoner_wins() -> None:
    found = Speller({"server": 1, "severs": 7}).nearest("sever")
    assert found is not None
    assert (found.word, found.distance) == ("severs", 1)
