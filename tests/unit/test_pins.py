"""Pins: what became of a statement that somebody cited."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incidents.pins import Pin, Resolution, parse_pin, resolve
from incidents.records import RecordData

PINNED = RecordData(
    id="IL-0421",
    symptom="결제가 두 시간 멈췄다. 가맹점 화면에는 전날 금액이 남았다.",
    cause="작업 로그가 데이터와 같은 볼륨에 쌓였다.",
    actions=("오래된 로그를 지웠다.", "작업을 처음부터 다시 돌렸다."),
    lesson="로그와 데이터는 볼륨을 나눈다.",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IL-0421@3#detection-2", Pin("IL-0421", 3, "detection", 2)),
        ("il-421@3#follow-ups-12", Pin("il-421", 3, "follow-ups", 12)),
        ("IL-0421#symptom", Pin("IL-0421", None, "symptom", None)),
        ("IL-0421@3", Pin("IL-0421", 3)),
        ("IL-0421", Pin("IL-0421")),
        (" ＩＬ－０４２１＠３ ", Pin("IL-0421", 3)),
        ("IL-0421@0#symptom-1", None),
        ("IL-0421#symptom-0", None),
        ("IL-0421#nonsense-1", None),
        ("IL-0421@3#", None),
        ("", None),
    ],
)
def test_pins_are_read(text: str, expected: Pin | None) -> None:
    assert parse_pin(text) == expected


def outcome(current: RecordData, section: str, number: int | None) -> tuple[str, str, str] | None:
    found = resolve(PINNED, current, section, number)
    return (found.status, found.anchor, found.current) if found else None


def test_a_statement_that_stands_as_it_stood_is_unchanged() -> None:
    found = resolve(PINNED, PINNED, "symptom", 2)
    text = "가맹점 화면에는 전날 금액이 남았다."
    assert found == Resolution("unchanged", text, text, "symptom-2", 1.0)


def test_a_statement_that_moved_is_unchanged_and_its_new_place_is_told() -> None:
    later = replace(PINNED, symptom="로그인도 막혔다. " + PINNED.symptom)
    assert outcome(later, "symptom", 1) == ("unchanged", "symptom-2", "결제가 두 시간 멈췄다.")
    elsewhere = replace(PINNED, actions=(), follow_ups=PINNED.actions)
    assert outcome(elsewhere, "actions", 2) == ("unchanged", "follow-ups-2", "작업을 처음부터 다시 돌렸다.")


def test_markup_and_spacing_alone_are_no_rewording() -> None:
    later = replace(PINNED, cause="작업 **로그**가  데이터와 같은\n볼륨에 쌓였다")
    assert outcome(later, "cause", 1)[0] == "unchanged"  # type: ignore[index]


def test_a_corrected_figure_is_a_rewording() -> None:
    later = replace(PINNED, symptom="결제가 세 시간 멈췄다. 가맹점 화면에는 전날 금액이 남았다.")
    assert outcome(later, "symptom", 1) == ("reworded", "symptom-1", "결제가 세 시간 멈췄다.")


def test_a_statement_that_is_gone_is_withdrawn_even_where_another_is_like_it() -> None:
    later = replace(PINNED, symptom="가맹점 화면에는 전날 금액이 남았다.")
    assert outcome(later, "symptom", 1) == ("withdrawn", "", "")
    assert outcome(replace(PINNED, lesson=""), "lesson", 1) == ("withdrawn", "", "")


def test_a_statement_replaced_by_something_else_is_withdrawn() -> None:
    later = replace(PINNED, lesson="남은 공간에는 경보를 건다.")
    assert outcome(later, "lesson", 1) == ("withdrawn", "", "")


def test_a_whole_section_can_be_pinned() -> None:
    assert outcome(PINNED, "actions", None)[:2] == ("unchanged", "actions")  # type: ignore[index]
    later = replace(PINNED, actions=("오래된 로그를 지웠다.",))
    assert outcome(later, "actions", None)[:2] == ("reworded", "actions")  # type: ignore[index]


@pytest.mark.parametrize(("section", "number"), [("symptom", 3), ("trigger", 1), ("actions", 9), ("trigger", None)])
def test_a_statement_that_never_was_resolves_to_nothing(section: str, number: int | None) -> None:
    assert resolve(PINNED, PINNED, section, number) is None
