"""Times in foreign text: their many spellings, zones said and guessed, ranges and timelines over midnight."""

from datetime import date, datetime

import pytest

from incidents.documents.outline import Block, Section
from incidents.documents.times import FoundTime, period, readings, zone_named, zone_statements
from incidents.documents.timing import IncidentTimes, TimeSources, find_times, timeline_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023-11-15 00:05 KST", "2023-11-14T15:05Z"),
        ("2023-06-14T09:03:00Z", "2023-06-14T09:03Z"),
        ("2023-06-14T09:03:31.123+0200", "2023-06-14T07:03Z"),
        ("2021-12-01 02:00 (KST)", "2021-11-30T17:00Z"),
        ("2021. 12. 1. 오전 2시 30분 (한국 시간)", "2021-11-30T17:30Z"),
        ("2023년 6월 14일(수) 오후 9시 5분 KST", "2023-06-14T12:05Z"),
        ("June 14, 2023 9:03 PM PDT", "2023-06-15T04:03Z"),
        ("14 Jun 2023, 09:03 UTC", "2023-06-14T09:03Z"),
        ("2020-01-15 08:00 PT", "2020-01-15T16:00Z"),
        ("2020-07-15 08:00 PT", "2020-07-15T15:00Z"),
        ("2020-03-08 01:59 PT", "2020-03-08T09:59Z"),
        ("2020-03-08 03:00 PT", "2020-03-08T10:00Z"),
        ("2022-05-01 10:00 UTC+5:30", "2022-05-01T04:30Z"),
        ("12:30 AM EST on 2022-02-01", "2022-02-01T05:30Z"),
        ("2024-05-02 24:00 UTC", "2024-05-03T00:00Z"),
        ("2024-05-02", "2024-05-02"),
        ("20240502", "2024-05-02"),
    ],
)
def test_spellings_of_a_moment(text: str, expected: str) -> None:
    first, _ = period(text)
    assert first is not None
    found = first.found(zone_named("UTC") or pytest.fail("UTC"), is_guess=False, basis=text)
    assert found is not None
    shown = f"{found.value:%Y-%m-%dT%H:%MZ}" if found.precision == "minute" else f"{found.value:%Y-%m-%d}"
    assert shown == expected


@pytest.mark.parametrize(
    "text",
    ["took 52 minutes", "ratio 10:1", "v12.34.56", "2시간 걸렸다", "port 10.0.0.1:8080", "2024-13-40", "PM2024-007"],
)
def test_text_that_is_no_time(text: str) -> None:
    assert readings(text) == []


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("2023-11-15 00:05 ~ 02:20 KST", (date(2023, 11, 15), 5), (date(2023, 11, 15), 140)),
        ("2024.03.02 (토) 23:40 ~ 00:20", (date(2024, 3, 2), 1420), (date(2024, 3, 3), 20)),
        ("2024-03-02 10:00 to 2024-03-04 11:00 UTC", (date(2024, 3, 2), 600), (date(2024, 3, 4), 660)),
        ("10:00 - 11:30 UTC on 2024-01-02", (date(2024, 1, 2), 600), (date(2024, 1, 2), 690)),
        ("2024-03-02 10:00", (date(2024, 3, 2), 600), None),
    ],
)
def test_ranges(text: str, first: tuple[date, int], second: tuple[date, int] | None) -> None:
    start, end = period(text)
    assert start is not None
    assert (start.day, start.minute) == first
    assert (end and (end.day, end.minute)) == second


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("All times in UTC.", [0]),
        ("2023-06-14 (_all times UTC_)", [0]),
        ("모든 시각은 KST 입니다.", [540]),
        ("(KST 기준)", [540]),
        ("Times are Pacific Time", [-480]),
        ("Time (UTC) | Event", [0]),
        ("The est. time of arrival", []),
        ("started at 10:00 UTC", []),
    ],
)
def test_statements_about_the_zone(text: str, minutes: list[int]) -> None:
    assert [zone.minutes for zone in zone_statements(text)] == minutes


def times_of(lines: str, *, heading: str = "Timeline", **sources: object) -> IncidentTimes:
    section = Section(heading, 2, (Block("list", lines),))
    text = f"{heading}\n{lines}\n{sources.pop('text', '')}"
    return find_times(TimeSources(text=text, timelines=[timeline_of(section)], **sources))  # type: ignore[arg-type]


def stamp(moment: FoundTime | None) -> datetime | None:
    return moment.value.replace(tzinfo=None) if moment else None


def test_timeline_over_midnight_takes_the_next_day() -> None:
    found = times_of("- 23:50 UTC first error\n- 00:40 UTC resolved", dates=["2024-02-29"])
    assert stamp(found.started_at) == datetime(2024, 2, 29, 23, 50)
    assert stamp(found.resolved_at) == datetime(2024, 3, 1, 0, 40)
    assert found.year == 2024


def test_marked_lines_count_before_first_and_last() -> None:
    lines = "- 09:00 deploy\n- 09:05 outage begins\n- 10:00 incident resolved\n- 15:00 review held"
    found = times_of(lines, heading="Timeline (UTC)", dates=["2024-02-01"])
    assert (stamp(found.started_at), stamp(found.resolved_at)) == (datetime(2024, 2, 1, 9, 5), datetime(2024, 2, 1, 10))
    assert found.remarks == ()


def test_first_and_last_line_are_said_to_be_chosen() -> None:
    found = times_of("- 09:00 deploy\n- 10:00 all good", heading="Timeline (UTC)", dates=["2024-02-01"])
    assert found.remarks == (
        "시작 시각은 타임라인의 첫 줄에서 읽었습니다: 09:00 deploy",
        "복구 시각은 타임라인의 마지막 줄에서 읽었습니다: 10:00 all good",
    )


def test_zone_that_nobody_names_is_a_guess() -> None:
    korean = times_of("- 09:00 장애 시작\n- 10:00 복구 완료", heading="타임라인", dates=["2024-02-01"])
    english = times_of("- 09:00 outage begins", dates=["2024-02-01"])
    assert korean.started_at is not None
    assert english.started_at is not None
    assert (korean.started_at.zone, korean.started_at.zone_is_guess) == ("KST", True)
    assert (english.started_at.zone, english.started_at.zone_is_guess) == ("UTC", True)


def test_labelled_times_win_and_the_timeline_fills_in() -> None:
    found = times_of(
        "- 09:00 deploy\n- 10:30 incident resolved",
        heading="Timeline (UTC)",
        labelled=[("started_at", "2024-02-01 09:12 UTC"), ("detected_at", "09:20 UTC")],
    )
    assert stamp(found.started_at) == datetime(2024, 2, 1, 9, 12)
    assert stamp(found.detected_at) == datetime(2024, 2, 1, 9, 20)
    assert stamp(found.resolved_at) == datetime(2024, 2, 1, 10, 30)


def test_time_before_the_start_is_left_out_and_told() -> None:
    found = find_times(
        TimeSources(labelled=[("started_at", "2024-02-02 09:00 UTC"), ("resolved_at", "2024-02-01 10:00 UTC")])
    )
    assert found.resolved_at is None
    assert found.remarks == ("차례가 맞지 않는 시각은 넣지 않았습니다: 2024-02-01 10:00 UTC",)


def test_only_a_day_stays_a_day() -> None:
    found = find_times(TimeSources(labelled=[("date", "March 3, 2023")]))
    assert found.started_at is not None
    assert (found.started_at.precision, found.started_at.zone_is_guess) == ("day", False)
    assert stamp(found.started_at) == datetime(2023, 3, 3)


def test_summary_gives_the_times_that_nothing_else_gives() -> None:
    statement = "On May 4, 2021 it was down between 15:58 and 17:21 UTC."
    found = find_times(TimeSources(text=statement, statements=["Down for an hour.", statement]))
    assert stamp(found.started_at) == datetime(2021, 5, 4, 15, 58)
    assert stamp(found.resolved_at) == datetime(2021, 5, 4, 17, 21)
    assert found.remarks == (f"시각을 본문에서 읽었습니다: {statement}",)


def test_year_alone_is_known_from_a_name() -> None:
    found = find_times(TimeSources(dates=["PM2024-007 - Ingress"]))
    assert (found.started_at, found.year) == (None, 2024)
