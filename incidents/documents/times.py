"""Times in foreign text → UTC. Pure text.

A time needs a date and a zone; both may stand elsewhere in the document (in the heading of its timeline, in its title).
A zone that no part of the document names is a guess and is marked as one (`FoundTime.zone_is_guess`).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

import yaml

Precision = Literal["day", "minute"]

_DATA: Final = yaml.safe_load(Path(__file__).with_name("zones.yaml").read_text(encoding="utf-8"))
# Minutes east of UTC; those of `US_ZONES` change with the day.
ZONES: Final[dict[str, int]] = _DATA["fixed"]
US_ZONES: Final[dict[str, int]] = _DATA["us"]
_REGIONS: Final[dict[str, str]] = _DATA["regions"]
_SPELLINGS: Final[dict[str, str]] = _DATA["spellings"]

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"),
        1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"""
    (?<![\d.\-/])(?P<y1>(?:19|20)\d\d)\s?[-./]\s?(?P<m1>\d{{1,2}})\s?[-./]\s?(?P<d1>\d{{1,2}})(?=\D|$)\.?
    | (?P<y2>(?:19|20)\d\d)\s*년\s*(?P<m2>\d{{1,2}})\s*월\s*(?P<d2>\d{{1,2}})\s*일
    | (?<![\d.])(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?(?P<m3>{_MONTH})\.?,?[\s-]+(?P<y3>(?:19|20)\d\d)\b
    | \b(?P<m4>{_MONTH})\.?\s+(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y4>(?:19|20)\d\d)\b
    | (?<![\d./])(?P<a5>\d{{1,2}})[/.](?P<b5>\d{{1,2}})[/.](?P<y5>(?:19|20)\d\d)\b
    | (?<!\d)(?P<y6>20\d\d)(?P<m6>0[1-9]|1[0-2])(?P<d6>0[1-9]|[12]\d|3[01])(?=T\d|\D|$)
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A day without its year: only beside a date that has one.
_SHORT_DATE = re.compile(
    rf"""(?<![\d./\-])(?:(?P<m1>\d{{1,2}})\s*월\s*(?P<d1>\d{{1,2}})\s*일
    | \b(?P<m2>{_MONTH})\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])
    | (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<m3>{_MONTH})\b
    | (?P<m4>\d{{1,2}})/(?P<d4>\d{{1,2}})(?![\d/])(?=[\s(,]+(?:오전|오후|\d{{1,2}}:\d\d|\())
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_ZONE_NAMES = "|".join(
    sorted((re.escape(z) for z in (*ZONES, *US_ZONES) if z.isascii() and z != "z"), key=len, reverse=True)
)
_ZONE = re.compile(
    rf"\b(?P<name>{_ZONE_NAMES})\b(?:\s?(?P<plus>[+-]\d{{1,2}}(?::?\d\d)?))?(?:\s+(?:standard |daylight )?time\b)?"
    r"|(?P<korean>한국\s?(?:표준\s?)?시간?|한국\s?표준시|서울\s?시간|협정\s?세계시|세계시|일본\s?시간|(?:미국\s?)?태평양\s?(?:표준\s?)?시간?|(?:미국\s?)?동부\s?(?:표준\s?)?시간?)"
    r"|(?P<region>Asia/Seoul|Asia/Tokyo|Etc/UTC|America/Los_Angeles|America/New_York|America/Chicago|Europe/London)",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"""
    (?<![\d:.,$€₩/+])(?<![A-Za-z]-)(?P<half>오전|오후|새벽|아침|저녁|밤|낮|정오|자정)?\s*
    (?: (?P<h1>[01]?\d|2[0-4])\s?:\s?(?P<m1>[0-5]\d)(?::(?P<s1>[0-5]\d)(?:[.,]\d{1,6})?)?(?!\d|:\d)
        (?:\s?(?P<ampm1>[ap]\.?m\b\.?))?
      | (?P<h2>[01]?\d|2[0-4])\s?시(?!간|\w*스템)(?:\s?(?P<m2>[0-5]?\d)\s?분(?!간))?
      | (?P<h3>1[0-2]|0?[1-9])\s?(?P<ampm3>[ap]\.?m\b\.?)
      | (?P<h4>[01]\d|2[0-3])(?P<m4>[0-5]\d)(?=\s?(?:Z|UTC|GMT|KST|h|hrs|hours)\b)
    )
    (?P<iso>\s?Z\b|\s?[+-](?:0\d|1[0-4]):?[0-5]\d(?![\d:-]))?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ISO_ZONE = re.compile(r"\d\s?(?:Z\b|[+-]\d\d:?\d\d)", re.IGNORECASE)
_ISO_T = re.compile(r"(?<=\d)[Tt_](?=\d\d:?\d\d)")
_STATEMENT = re.compile(
    r"(?:\b(?:times?|timestamps?|hours|timezone)\b[^.\n|\d]{0,30}|(?:시각|시간|일시|시간대)[^.\n|\d]{0,14})$",
    re.IGNORECASE,
)
_RANGE_WORD = re.compile(r"[~∼～–—→]|->|\bto\b|\buntil\b|\bbetween\b.*\band\b|부터|까지", re.DOTALL)
_MARKUP = str.maketrans("*_`", "   ")
_BASIS_KOREAN = re.compile(r"^\s*(?:입니다|이다|기준|로\s*적|으로\s*적|로\s*표기|으로\s*표기)")
_RANGE_SIGN = re.compile(r"^\s*(?:~|∼|～|–|—|→|->|-|to|until|till|through|부터|에서)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Zone:
    """Minutes east of UTC; `is_us` adds an hour in the summer of the United States."""

    minutes: int
    name: str
    is_us: bool = False

    def to_utc(self, local: datetime) -> datetime:
        """The UTC moment of a naive local time."""
        minutes = self.minutes + (60 if self.is_us and _is_us_summer(local) else 0)
        return (local - timedelta(minutes=minutes)).replace(tzinfo=UTC)

    def to_local(self, moment: datetime) -> datetime:
        """The naive local time of a UTC moment; the hour in which clocks go back is taken as summer."""
        local = moment.replace(tzinfo=None) + timedelta(minutes=self.minutes)
        return local + timedelta(hours=1) if self.is_us and _is_us_summer(local + timedelta(hours=1)) else local


UTC_ZONE: Final = Zone(0, "UTC")
KST_ZONE: Final = Zone(540, "KST")


@dataclass(frozen=True, slots=True)
class FoundTime:
    """A moment found in a document.

    `value` is aware UTC (midnight where only the day is known), `zone_is_guess` says that no part of the document names
    the zone, `basis` quotes what it was read from.
    """

    value: datetime
    precision: Precision
    zone_is_guess: bool
    zone: str
    basis: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A date or time as it stands in a text: any part may be missing."""

    day: date | None = None
    minute: int | None = None  # of the day; 1440 is midnight at its end
    zone: Zone | None = None
    start: int = 0
    end: int = 0
    month_day: tuple[int, int] | None = None  # a day without its year
    half: Literal["", "am", "pm"] = ""  # which half of the day it names

    def dated(self, day: date | None) -> "Reading":
        """The same with a date where it has none; a day without a year takes the year of `day`."""
        if self.day is not None or day is None:
            return self
        if self.month_day is not None:
            return replace(self, day=_day(day.year, *self.month_day) or day)
        return replace(self, day=day)

    def found(self, zone: Zone, *, is_guess: bool, basis: str) -> FoundTime | None:
        """The moment, in its own zone or else in `zone`; None without a date."""
        if self.day is None:
            return None
        own = self.zone or zone
        quoted = " ".join(basis.split())[:120]
        if self.minute is None:
            midnight = datetime(self.day.year, self.day.month, self.day.day, tzinfo=UTC)
            return FoundTime(midnight, "day", False, "", quoted)
        try:
            local = datetime(self.day.year, self.day.month, self.day.day) + timedelta(minutes=self.minute)
            return FoundTime(own.to_utc(local), "minute", is_guess and self.zone is None, own.name, quoted)
        except OverflowError:
            return None


def readings(text: str) -> list[Reading]:
    """Dates and times of a text in order; a time joins the date and the zone beside it."""
    text = _plain(text)
    dates = list(_dates(text))
    found: list[Reading] = []
    used: set[int] = set()
    for time in _TIME.finditer(text):
        minute = _minute(time)
        if minute is None or any(start < time.end() and time.start() < end for _, _, start, end in dates):
            continue
        zone, end = _zone_after(text, time)
        before = [number for number, (_, _, _, date_end) in enumerate(dates) if date_end <= time.start()]
        day = month_day = None
        start = time.start()
        if before and before[-1] not in used and _is_beside(text[dates[before[-1]][3] : time.start()]):
            used.add(before[-1])
            day, month_day, start, _ = dates[before[-1]]
        else:
            after = [number for number, (_, _, date_start, _) in enumerate(dates) if date_start >= end]
            if (
                after
                and after[0] not in used
                and re.fullmatch(r"\s*(?:,|on|\()?\s*", text[end : dates[after[0]][2]], re.I)
            ):
                used.add(after[0])
                day, month_day, _, end = dates[after[0]]
                zone = zone or _zone_of(text[end : end + 12])
        found.append(Reading(day, minute, zone, start, end, month_day, _half(time)))
    found.extend(
        Reading(day, None, None, start, end, month_day)
        for number, (day, month_day, start, end) in enumerate(dates)
        if number not in used
    )
    return sorted(found, key=lambda reading: reading.start)


def period(text: str) -> tuple[Reading | None, Reading | None]:
    """The first time of a value, and the second where the value is a range (`00:05 ~ 02:20 KST`).

    The end takes the date, and either takes the zone, of the other.
    """
    found = readings(text)
    if not found:
        return None, None
    first = found[0]
    timed = [reading for reading in found if reading.minute is not None]
    if first.minute is None and timed and first.day is not None:
        # "2023-11-15 (수) 00:05": a date, then the time at a distance.
        day = first.day
        first = timed[0].dated(day)
        found = [first, *(reading for reading in found if reading.start > timed[0].start)]
    if len(found) < 2:
        return first, None
    second = found[1]
    if first.day is None and first.month_day is None:
        first = first.dated(second.day)
    if not _RANGE_SIGN.match(_plain(text)[first.end :].lstrip(" )")) and not _RANGE_WORD.search(text):
        return first, None
    second = second.dated(first.day)
    if first.half == "pm" and not second.half and second.minute is not None:
        # "오후 3시부터 4시까지": the end is in the half of the start.
        later = second.minute + 12 * 60
        second = replace(second, minute=later) if (first.minute or 0) < later < 24 * 60 else second
    if second.minute is None and first.minute is not None:
        return first, None
    if second.zone is None:
        second = replace(second, zone=first.zone)
    if first.zone is None:
        first = replace(first, zone=second.zone)
    return first, after(first, second)


def after(first: Reading, second: Reading) -> Reading:
    """`second` on the next day when it would lie before `first` on the same one."""
    if (
        first.day
        and second.day == first.day
        and (first.minute or 0) > (second.minute or 0)
        and second.minute is not None
    ):
        return replace(second, day=_next_day(second.day))
    return second


def first_date(text: str) -> date | None:
    """The first full date (with its year) of a text."""
    return next((day for day, _, _, _ in _dates(text) if day is not None), None)


def zone_named(text: str) -> Zone | None:
    """The zone of a short text such as a heading or a column's head (`Timeline (PDT)`)."""
    return _zone_of(text)


def zone_statements(text: str) -> Iterator[Zone]:
    """Zones that the document states for all its times (`All times in UTC`, `시각은 KST`)."""
    for line in _plain(text).split("\n"):
        for found in _ZONE.finditer(line):
            zone = _zone_from(found)
            if zone is None:
                continue
            ahead, behind = line[: found.start()], line[found.end() :]
            if _STATEMENT.search(ahead[-80:]) or _BASIS_KOREAN.match(behind):
                yield zone


def zones_mentioned(text: str) -> set[Zone]:
    """Zones that stand right behind a time somewhere in the text."""
    if not (_ZONE.search(text) or _ISO_ZONE.search(text)):
        return set()
    return {reading.zone for reading in readings(text) if reading.zone is not None}


def in_order(entries: Iterable[tuple[str, Reading]], day: date | None) -> list[tuple[str, Reading]]:
    """Entries of a timeline with their dates: a time earlier than the one before it is on the next day."""
    dated: list[tuple[str, Reading]] = []
    for text, reading in entries:
        if reading.day is not None:
            day = reading.day
        elif reading.month_day is not None and day is not None:
            day = _day(day.year, *reading.month_day) or day
        elif dated and day is not None and _is_next_day(dated[-1][1], reading, day):
            day = _next_day(day)
        dated.append((text, replace(reading, day=reading.day or day)))
    return dated


def _is_next_day(before: Reading, reading: Reading, day: date) -> bool:
    """Whether a time without a date jumps back by hours; small jumps are lines out of order."""
    if reading.minute is None or before.minute is None or before.day != day:
        return False
    return reading.minute + 6 * 60 < before.minute


def _plain(text: str) -> str:
    """The text with spaces for emphasis and for the T of ISO times: nothing moves."""
    return _ISO_T.sub(" ", text).translate(_MARKUP)


def _next_day(day: date) -> date:
    return day + timedelta(days=1) if day < date.max else day


def _day(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None


def _dates(text: str) -> Iterator[tuple[date | None, tuple[int, int] | None, int, int]]:
    """(day, None, start, end) for full dates, (None, (month, day), start, end) for those without a year."""
    spans: list[tuple[int, int]] = []
    for found in _DATE.finditer(text):
        parts = {name: value for name, value in found.groupdict().items() if value}
        day = _full_date(parts)
        if day is not None:
            spans.append(found.span())
            yield day, None, found.start(), found.end()
    for found in _SHORT_DATE.finditer(text):
        if any(start < found.end() and found.start() < end for start, end in spans):
            continue
        parts = {name[0]: value for name, value in found.groupdict().items() if value}
        month = (
            _MONTHS.get(parts["m"].lower()) or int(parts["m"])
            if parts["m"].isdigit() or parts["m"].lower() in _MONTHS
            else 0
        )
        if _day(2000, month, int(parts["d"])):
            yield None, (month, int(parts["d"])), found.start(), found.end()


def _full_date(parts: dict[str, str]) -> date | None:
    if "a5" in parts:
        first, second = int(parts["a5"]), int(parts["b5"])
        month, number = (second, first) if first > 12 else (first, second)
        return _day(int(parts["y5"]), month, number)
    by_name = {name[0]: value for name, value in parts.items()}
    month_text = by_name["m"].lower()
    month = int(month_text) if month_text.isdigit() else _MONTHS[month_text]
    return _day(int(by_name["y"]), month, int(by_name["d"]))


def _minute(time: re.Match[str]) -> int | None:
    hour_text = time["h1"] or time["h2"] or time["h3"] or time["h4"]
    hour, minute = int(hour_text), int(time["m1"] or time["m2"] or time["m4"] or 0)
    half, named = _half(time), time["half"] or ""
    if half == "pm" and hour < 12 and not (named == "밤" and hour < 6) and not (named == "낮" and hour > 6):
        hour += 12
    elif hour == 12 and (half == "am" or named == "밤"):
        hour = 0
    total = 60 * hour + minute
    return total if total <= 24 * 60 else None


def _half(time: re.Match[str]) -> Literal["", "am", "pm"]:
    """Which half of the day a time names, by am and pm or by a Korean word."""
    named = time["half"] or time["ampm1"] or time["ampm3"] or ""
    if named in ("오후", "저녁", "밤", "낮") or named.lower().startswith("p"):
        return "pm"
    return "am" if named in ("오전", "새벽", "아침", "자정") or named.lower().startswith("a") else ""


def _is_beside(between: str) -> bool:
    """Whether only a weekday, a comma or the like stands between a date and its time."""
    return bool(
        re.fullmatch(
            r"\s*(?:[,·]|at|@|T|경|\(?\s*(?:[월화수목금토일]|mon|tue|wed|thu|fri|sat|sun)[a-z]*(?:요일)?\s*\)?,?)?\s*[,\-–—]?\s*(?:at\s*)?",
            between,
            re.I,
        )
    )


def _zone_after(text: str, time: re.Match[str]) -> tuple[Zone | None, int]:
    iso = (time["iso"] or "").strip()
    if iso in ("Z", "z"):
        return UTC_ZONE, time.end()
    if iso:
        return _offset(iso), time.end()
    found = _ZONE.match(text, re.compile(r"[\s(\[*_`]*").match(text, time.end()).end())  # type: ignore[union-attr]  # matches always
    if found:
        return _zone_from(found), found.end()
    return None, time.end()


def _zone_of(text: str) -> Zone | None:
    found = _ZONE.search(text)
    return _zone_from(found) if found else None


def _zone_from(found: re.Match[str]) -> Zone | None:
    name = found["name"] or found["korean"] or _REGIONS[found["region"].lower()]
    key = "".join(name.split()).lower().replace("미국", "").replace("표준시간", "시간").replace("표준시", "시간")
    key = _SPELLINGS.get(key, key)
    if found["name"] and name.islower():
        return None  # "est", "pt", "et", "art" in running text are words
    if key in ("central", "eastern", "mountain", "pacific") and not found.group().lower().rstrip().endswith("time"):
        return None
    plus = found["plus"]
    if plus and key in ("utc", "gmt"):
        return _offset(plus)
    if key in US_ZONES:
        return Zone(US_ZONES[key], name, is_us=True)
    return Zone(ZONES[key], name.upper() if name.isascii() else name) if key in ZONES else None


def _offset(text: str) -> Zone:
    digits = text[1:].replace(":", "")
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)
    total = min(60 * hours + minutes, 14 * 60)
    return Zone(-total if text[0] == "-" else total, f"UTC{text}")


def _is_us_summer(local: datetime) -> bool:
    """Second Sunday of March to first Sunday of November, 02:00 local time."""
    march, november = datetime(local.year, 3, 8, 2), datetime(local.year, 11, 1, 2)
    begins = march + timedelta(days=(6 - march.weekday()) % 7)
    ends = november + timedelta(days=(6 - november.weekday()) % 7)
    return begins <= local < ends
