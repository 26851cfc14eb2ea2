"""Lists in one input field: an item a line, nothing lost, whatever people paste."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incidents.item_lines import read_items, write_items
from incidents.record_text import canonical_item


@pytest.mark.parametrize(
    ("typed", "items"),
    [
        ("하나\n둘", ["하나", "둘"]),
        ("- 하나\n* 둘\n+ 셋", ["하나", "둘", "셋"]),
        ("하나\n  이어짐\n둘", ["하나\n이어짐", "둘"]),
        ("하나\n\t이어짐", ["하나\n이어짐"]),
        ("하나\n\n\n둘\n\n", ["하나", "둘"]),
        ("하나\n\n  둘째 문단\n셋", ["하나\n\n둘째 문단", "셋"]),
        ("하나\n  - 안쪽\n  - 안쪽 둘", ["하나\n- 안쪽\n- 안쪽 둘"]),
        ("코드:\n  ```\n  ls\n\n    x\n  ```\n둘", ["코드:\n```\nls\n\n  x\n```", "둘"]),
        ("```\nls\n- 목록이 아님\n\nx\n```\n둘", ["```\nls\n- 목록이 아님\n\nx\n```", "둘"]),
        ("- - 목록으로 시작", ["- 목록으로 시작"]),
        ("2024. 3. 2. 고쳤다\n1. 첫째", ["2024. 3. 2. 고쳤다", "1. 첫째"]),
        ("하나\r\n둘\r셋", ["하나", "둘", "셋"]),
        ("  들여 쓴 첫 줄", ["들여 쓴 첫 줄"]),
        ("-\n- ", []),
        ("", []),
    ],
)
def test_lines_become_items(typed: str, items: list[str]) -> None:
    assert read_items(typed) == items


LINES = st.text(alphabet="가나 -*+`~\t.1", max_size=12)
ITEMS = st.lists(st.lists(LINES, min_size=1, max_size=5).map("\n".join).map(canonical_item).filter(bool), max_size=5)


def is_closed(item: str) -> bool:
    """Whether every fence in an item ends: others are refused when a record is saved."""
    return "```" not in item and "~~~" not in item


@given(ITEMS.map(lambda items: [item for item in items if is_closed(item)]))
def test_items_come_back_as_they_were(items: list[str]) -> None:
    assert read_items(write_items(items)) == items
