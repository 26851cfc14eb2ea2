"""The word diff: whole Korean words, and nothing lost on either side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.word_diff import Part, diff_words


def shown(before: str, after: str) -> str:
    signs = {"same": "{}", "removed": "[-{}-]", "added": "[+{}+]"}
    return "".join(signs[part.kind].format(part.text) for part in diff_words(before, after))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("결제가 멈췄다.", "결제가 멈췄다.", "결제가 멈췄다."),
        ("결제가 멈췄다.", "결제가 멈췄고 로그인도 막혔다.", "결제가 [-멈췄다-][+멈췄고 로그인도 막혔다+]."),
        ("", "새 글", "[+새 글+]"),
        ("옛 글", "", "[-옛 글-]"),
        ("10분 뒤 `kubectl` 로 고쳤다", "20분 뒤 `kubectl` 로 고쳤다", "[-10분-][+20분+] 뒤 `kubectl` 로 고쳤다"),
        ("첫 줄\n둘째 줄\n", "첫 줄\n셋째 줄\n", "첫 줄\n[-둘째-][+셋째+] 줄\n"),
        ("가 나 다 라", "가 마 바 라", "가 [-나 다-][+마 바+] 라"),
    ],
)
def test_changes_are_whole_words(before: str, after: str, expected: str) -> None:
    assert shown(before, after) == expected


@given(st.text(alphabet="가나 .\n다a", max_size=40), st.text(alphabet="가나 .\n다a", max_size=40))
def test_both_texts_can_be_read_from_the_parts(before: str, after: str) -> None:
    parts = diff_words(before, after)
    assert "".join(part.text for part in parts if part.kind != "added") == before
    assert "".join(part.text for part in parts if part.kind != "removed") == after


def test_a_huge_rewritten_passage_is_shown_as_replaced() -> None:
    before, after = " ".join(map(str, range(5_000))), " ".join(map(str, range(5_000, 10_000)))
    assert diff_words(before, after) == (Part("removed", before), Part("added", after))
