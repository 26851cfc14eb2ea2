"""Three states of a record: what is taken over, what is a conflict, and what a form carries along."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from incidents.record_merge import Conflict, changed_fields, dump_record, load_record, merge_record
from incidents.records import Moment, RecordData, RelatedData, SourceData

BASE = RecordData(
    id="IL-0001",
    title="제목",
    organization="누리상회",
    year=2024,
    started_at=Moment(datetime(2024, 3, 2, 15, 10, tzinfo=UTC), "minute"),
    causes=("dns-error",),
    sources=(SourceData("보고서", "https://a.example/", "누리상회", "2024-03-04"),),
    related=(RelatedData("IL-0002", "similar", "비슷하다"),),
    symptom="멈췄다.",
    actions=("하나", "둘"),
    lesson="교훈이다.",
)


def test_nothing_changed_is_a_clean_merge() -> None:
    assert merge_record(BASE, BASE, BASE).is_clean


def test_what_only_the_editor_changed_is_no_matter() -> None:
    assert merge_record(BASE, BASE, replace(BASE, title="새 제목", causes=("bad-deploy",))).is_clean


def test_what_only_others_changed_is_taken() -> None:
    theirs = replace(BASE, lesson="새 교훈이다.", causes=("bad-deploy",))
    merge = merge_record(BASE, theirs, replace(BASE, title="새 제목"))
    assert (merge.taken, merge.conflicts) == (("causes", "lesson"), ())


def test_what_both_changed_differently_is_a_conflict_and_alike_is_none() -> None:
    theirs, ours = replace(BASE, title="그들의", lesson="같다."), replace(BASE, title="우리의", lesson="같다.")
    merge = merge_record(BASE, theirs, ours)
    assert (merge.taken, merge.conflicts) == ((), (Conflict("title", "제목", "그들의", "우리의"),))


def test_without_the_beginning_every_difference_is_a_conflict() -> None:
    merge = merge_record(None, replace(BASE, title="그들의"), BASE)
    assert [conflict.field for conflict in merge.conflicts] == ["title"]


def test_state_and_spelling_of_white_space_are_no_content() -> None:
    other = replace(BASE, status="withdrawn", status_reason="까닭", symptom="멈췄다.\n\n", title=" 제목 ")
    assert changed_fields(BASE, other) == ()
    assert changed_fields(BASE, replace(BASE, started_at=None, year=2023)) == ("year", "started_at")


def test_a_record_travels_through_a_form_whole() -> None:
    assert load_record(dump_record(BASE)) == BASE
    assert load_record(dump_record(RecordData(id="IL-0001", status="draft"))) == RecordData(
        id="IL-0001", status="draft"
    )


@pytest.mark.parametrize(
    "text", ["", "x", "[]", "{}", '{"id": "IL-0001"}', dump_record(BASE).replace("2024-03-02", "어제")]
)
def test_what_is_no_record_is_none(text: str) -> None:
    assert load_record(text) is None
