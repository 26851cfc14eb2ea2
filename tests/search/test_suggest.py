"""Completions while typing."""

from __future__ import annotations

import pytest

from incidents.search.base import SuggestEntry
from incidents.search.suggest import Suggester, letters

ENTRIES = [
    SuggestEntry("component", "쿠버네티스 노드·kubelet", "k8s-node", ("kubelet", "node")),
    SuggestEntry("component", "쿠버네티스 컨트롤 플레인", "k8s-control-plane", ("kube-apiserver",)),
    SuggestEntry("component", "관계형 데이터베이스", "relational-db", ("MySQL", "PostgreSQL")),
    SuggestEntry("cause", "인증서·키 만료", "certificate-expiry", ("TLS",)),
    SuggestEntry("organization", "Cloudflare", "cloudflare", ("클라우드플레어",)),
    SuggestEntry("incident", "만료된 인증서로 쿠버네티스가 멈췄다", "IL-0001"),
]


@pytest.fixture
def suggester() -> Suggester:
    return Suggester(ENTRIES)


def targets(suggester: Suggester, text: str) -> list[str]:
    return [suggestion.target for suggestion in suggester.suggest(text)]


@pytest.mark.parametrize("text", ["쿠버네", "쿠버네ㅌ", "쿠버넽", "ㅋㅂㄴㅌㅅ", "쿠"])
def test_half_a_syllable_and_initials_complete(suggester: Suggester, text: str) -> None:
    assert targets(suggester, text) == ["k8s-node", "k8s-control-plane", "IL-0001"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("데이터베이ㅅ", ["relational-db"]),
        ("데이터베이스", ["relational-db"]),
        ("mysq", ["relational-db"]),
        ("클라우드플", ["cloudflare"]),
        ("cloudf", ["cloudflare"]),
        ("컨트롤 플", ["k8s-control-plane"]),
        ("컨트롤플레인", ["k8s-control-plane"]),
        ("인증서", ["certificate-expiry", "IL-0001"]),
        ("증서", []),
        ("", []),
        (" ", []),
        ("((", []),
    ],
)
def test_completions(suggester: Suggester, text: str, expected: list[str]) -> None:
    assert targets(suggester, text) == expected


@pytest.mark.parametrize(
    ("syllable", "typed"), [("넽", "ㄴㅔㅌ"), ("과", "ㄱㅗㅏ"), ("값", "ㄱㅏㅂㅅ"), ("ㄳ", "ㄱㅅ"), ("a", "a")]
)
def test_syllables_are_taken_apart_as_they_are_typed(syllable: str, typed: str) -> None:
    assert letters(syllable) == typed
