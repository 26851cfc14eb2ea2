"""When it happened: the times of a whole document, from its labels, its timeline and its dates. Pure text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from incidents.documents.items import list_items
from incidents.documents.outline import Section
from incidents.documents.rules import rules
from incidents.documents.tables import parse_table
from incidents.documents.times import (
    KST_ZONE,
    UTC_ZONE,
    FoundTime,
    Reading,
    Zone,
    after,
    first_date,
    in_order,
    period,
    readings,
    zone_named,
    zone_statements,
    zones_mentioned,
)
from incidents.documents.vocabulary import any_match, display
from incidents.records import YEAR_RANGE, Moment, order_problems

# A line of a timeline opens with its time, perhaps behind a number or a sign.
_AT_START: Final = 24
_MARKS = re.compile(r"^[\s\-*+•·>#|`_~\[\](]*(?:\d{1,2}[.)]\s+)?[\s*_`~(\[]*")
_YEAR = re.compile(r"(?<!\d)(?:19[89]|20[0-4])\d(?!\d)")
_LANGUAGE_SHARE: Final = 0.15


@dataclass(frozen=True, slots=True)
class Timeline:
    """A section of times: its heading and those above it, and its lines in order."""

    headings: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(slots=True)
class TimeSources:
    """What a document says about its times, gathered while its sections are placed.

    `labelled` holds (role, value) in document order; `dates` are texts that may name the day, the surest first;
    `statements` are lines of the summary.
    """

    text: str = ""
    labelled: list[tuple[str, str]] = field(default_factory=list)
    timelines: list[Timeline] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class IncidentTimes:
    """The times of an incident; None where the document doesn't give one. `year` is 0 when none is known."""

    started_at: FoundTime | None = None
    detected_at: FoundTime | None = None
    mitigated_at: FoundTime | None = None
    resolved_at: FoundTime | None = None
    year: int = 0
    remarks: tuple[str, ...] = ()


def timeline_of(section: Section, headings: Sequence[str] = ()) -> Timeline:
    """The lines of a section and all below it, its own subheadings among them (they may be days)."""
    lines: list[str] = []
    for part in section.walk():
        if part is not section:
            lines.append(part.heading)
        for block in part.blocks:
            if block.kind == "list":
                for item in list_items(block.text):
                    lines.extend(item.split("\n"))
            elif block.kind == "table":
                table = parse_table(block.text)
                lines.append(" | ".join(table.header))
                lines.extend(" ".join(" ".join(cell.split()) for cell in row) for row in table.rows)
            elif block.kind != "rule":
                lines.extend(block.text.split("\n"))
    return Timeline((*headings, section.heading), tuple(lines))


def looks_like_timeline(section: Section) -> bool:
    """Whether most lines of a section open with a time or a date, whatever its heading says."""
    timeline = timeline_of(section)
    lines = [text for line in timeline.lines if (text := _MARKS.sub("", line)).strip()]
    timed = sum(any(reading.start <= _AT_START for reading in readings(text[:160])) for text in lines[:200])
    return timed >= 3 and timed * 10 >= len(lines[:200]) * 6


def find_times(sources: TimeSources) -> IncidentTimes:
    """The four times, each from the surest place that has it; the zone is the document's, or a guess marked as one."""
    return _Finder(sources).find()


class _Finder:
    def __init__(self, sources: TimeSources) -> None:
        self.sources = sources
        self.remarks: list[str] = []
        self.day = self._day()
        self.zone, self.is_guess = self._zone()

    def find(self) -> IncidentTimes:
        found: dict[str, FoundTime] = {}
        for role in ("started_at", "detected_at", "mitigated_at", "resolved_at"):
            for value in self._labelled(role):
                first, second = period(value)
                self._put(found, role, first, value)
                if role == "started_at" and second is not None:
                    self._put(found, "resolved_at", second, value)
        for value in (*self._labelled("period"), *self._labelled("when"), *self._labelled("date")):
            first, second = period(value)
            if first is not None and (first.minute is not None or second is not None):
                self._put(found, "started_at", first, value)
                self._put(found, "resolved_at", second, value)
        self._from_timelines(found)
        self._from_statements(found)
        if "started_at" not in found and self.day is not None:
            day, basis = self.day
            self._put(found, "started_at", Reading(day=day), basis)
        self._check_order(found)
        started = found.get("started_at")
        year = started.value.year if started else self._year()
        return IncidentTimes(
            started,
            found.get("detected_at"),
            found.get("mitigated_at"),
            found.get("resolved_at"),
            year,
            tuple(self.remarks),
        )

    def _labelled(self, role: str) -> Iterator[str]:
        return (value for name, value in self.sources.labelled if name == role)

    def _put(self, found: dict[str, FoundTime], role: str, reading: Reading | None, basis: str) -> None:
        """Takes a reading for a time that has none yet, or only the day of one."""
        if reading is None or (role in found and found[role].precision == "minute"):
            return
        if role in found and reading.minute is None:
            return
        if reading.day is None and role != "started_at" and "started_at" in found:
            start = found["started_at"]
            reading = after(
                self._local(start, reading.zone or self.zone),
                reading.dated(self._local(start, reading.zone or self.zone).day),
            )
        moment = reading.dated(self.day[0] if self.day else None).found(self.zone, is_guess=self.is_guess, basis=basis)
        if moment is not None:
            found[role] = moment

    def _local(self, moment: FoundTime, zone: Zone) -> Reading:
        """The day and minute of a moment on the clock of `zone`."""
        if moment.precision == "day":
            return Reading(day=moment.value.date(), minute=0)
        local = zone.to_local(moment.value)
        return Reading(day=local.date(), minute=60 * local.hour + local.minute)

    def _from_timelines(self, found: dict[str, FoundTime]) -> None:
        entries: list[tuple[str, Reading]] = []
        zone: Zone | None = None
        for timeline in self.sources.timelines:
            read, named = self._entries(timeline)
            # The longest timeline tells the story; others are excerpts.
            if len(read) > len(entries):
                entries, zone = read, named
        timed = [(text, reading) for text, reading in entries if reading.minute is not None]
        if not timed:
            return
        if zone is not None:
            timed = [(text, reading if reading.zone else _with_zone(reading, zone)) for text, reading in timed]
        begins = next((entry for entry in timed if any_match(rules().begins, entry[0])), None)
        ends = next((entry for entry in reversed(timed) if any_match(rules().ends, entry[0])), None)
        for role, entry, fallback in (("started_at", begins, timed[0]), ("resolved_at", ends, timed[-1])):
            if role in found and found[role].precision == "minute":
                continue
            if entry is None and role == "resolved_at" and len(timed) < 2:
                continue
            text, reading = entry or fallback
            self._put(found, role, reading, text)
            if entry is None and role in found:
                end = "첫" if role == "started_at" else "마지막"
                name = "시작" if role == "started_at" else "복구"
                self.remarks.append(f"{name} 시각은 타임라인의 {end} 줄에서 읽었습니다: {found[role].basis}")

    def _from_statements(self, found: dict[str, FoundTime]) -> None:
        """Reads the first statement of the summary that gives a day with its time, where nothing else gives a start."""
        if "started_at" in found and found["started_at"].precision == "minute":
            return
        for statement in self.sources.statements:
            first, second = period(statement[:2_000])
            if first is not None and (first.day or first.month_day) and first.minute is not None:
                self._put(found, "started_at", first, statement)
                self._put(found, "resolved_at", second, statement)
                self.remarks.append(f"시각을 본문에서 읽었습니다: {' '.join(statement.split())[:120]}")
                return

    def _entries(self, timeline: Timeline) -> tuple[list[tuple[str, Reading]], Zone | None]:
        zone = next((named for heading in reversed(timeline.headings) if (named := zone_named(heading))), None)
        entries: list[tuple[str, Reading]] = []
        for line in timeline.lines:
            statement = next(zone_statements(line), None)
            zone = zone or statement
            text = _MARKS.sub("", line)
            at_start = [reading for reading in readings(text[:160]) if reading.start <= _AT_START]
            if not at_start:
                if "|" in line and (named := zone_named(line)):
                    zone = zone or named
                continue
            first = at_start[0]
            if first.minute is None and len(text) <= 60:
                zone = zone or zone_named(text[first.end :])
            entries.append((line, first))
        headed = next((day for heading in timeline.headings if (day := first_date(heading))), None)
        return in_order(entries, headed or (self.day[0] if self.day else None)), zone

    def _day(self) -> tuple[date, str] | None:
        sources = self.sources
        for value in (
            *self._labelled("date"),
            *self._labelled("period"),
            *self._labelled("started_at"),
            *self._labelled("when"),
            *sources.dates,
        ):
            day = first_date(value)
            if day is not None:
                return day, value
        return None

    def _zone(self) -> tuple[Zone, bool]:
        sources = self.sources
        stated = list(dict.fromkeys(zone for text in sources.zones if (zone := zone_named(text)) is not None))
        stated = stated or list(dict.fromkeys(zone_statements(sources.text)))
        if stated:
            return stated[0], len({zone.minutes for zone in stated}) > 1
        mentioned = {zone for line in sources.text.split("\n") if len(line) < 2_000 for zone in zones_mentioned(line)}
        mentioned |= {
            zone for timeline in sources.timelines for heading in timeline.headings if (zone := zone_named(heading))
        }
        if mentioned and len({zone.minutes for zone in mentioned}) == 1:
            return min(mentioned, key=lambda zone: zone.name), False
        letters = [sign for sign in sources.text if sign.isalpha()]
        hangul = sum("가" <= sign <= "힣" for sign in letters)
        is_korean = bool(letters) and hangul / len(letters) >= _LANGUAGE_SHARE
        return (KST_ZONE if is_korean else UTC_ZONE), True

    def _year(self) -> int:
        if self.day is not None:
            return self.day[0].year
        found = next((match for text in self.sources.dates for match in _YEAR.findall(text)), "")
        return int(found) if found else 0

    def _check_order(self, found: dict[str, FoundTime]) -> None:
        """Takes out times that a record can't hold: out of its years, or before the start."""
        moments = {role: Moment(moment.value, moment.precision) for role, moment in found.items()}
        low, high = YEAR_RANGE
        impossible = [role for role, moment in moments.items() if not low <= moment.value.year <= high]
        impossible += [role for role, _ in order_problems(moments)]
        for role in dict.fromkeys(impossible):
            moment = found.pop(role)
            self.remarks.append(f"차례가 맞지 않는 시각은 넣지 않았습니다: {display(moment.basis)}")


def _with_zone(reading: Reading, zone: Zone) -> Reading:
    return replace(reading, zone=zone)
