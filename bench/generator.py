"""Realistic records of any number, always the same ones for a seed: `python -m bench.generator FOLDER COUNT [SEED]`.

A made record is a bundled one told anew: its sentences are mixed with those of records with the same main cause, and what
differs between real incidents is drawn anew: services, hosts, versions, regions, times, numbers, people's teams, and
words of its own, so that the vocabulary goes on growing with the library as it does in real texts (some 4 new terms a
record). Words keep about the share of documents that they have in the bundled library.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bench.library import FIXTURES, records
from incidents.records import Moment, RecordData, SourceData, format_record

SEED: Final = 20_261
_SENTENCE: Final = re.compile(r"(?<=[.다])\s+|\n+")
_NUMBER: Final = re.compile(r"(?<![\w.-])\d{1,4}(?![\w.-])")
_LATIN: Final = re.compile(r"(?<![\w`./:-])[A-Z][a-z]{3,}[A-Za-z]*(?![\w`./:-])")
_SYLLABLES: Final = tuple(
    "가나다라마바사아자차카타파하거너더러머버서어저처커터퍼허고노도로모보소오조초코토포호구누두루무부수우주추쿠투푸후기니디리미비시이지치키티피히"
)
_ONSETS: Final = ("b", "br", "c", "cr", "d", "f", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pr", "qu", "r", "s", "st", "t", "tr", "v", "w", "z")  # fmt: skip
_VOWELS: Final = ("a", "e", "i", "o", "u", "ai", "ea", "io")
_CODAS: Final = ("", "n", "r", "s", "l", "m", "x", "th", "ck")
_KINDS: Final = (
    "api",
    "worker",
    "gateway",
    "store",
    "queue",
    "proxy",
    "sync",
    "index",
    "auth",
    "billing",
    "agent",
    "cache",
)
_REGIONS: Final = (
    "us-east-1",
    "us-west-2",
    "eu-west-1",
    "eu-central-1",
    "ap-northeast-2",
    "ap-northeast-1",
    "sa-east-1",
    "ap-south-1",
)
_TEAMS: Final = (
    "결제",
    "검색",
    "배송",
    "광고",
    "인증",
    "정산",
    "데이터",
    "플랫폼",
    "보안",
    "네트워크",
    "모바일",
    "고객 지원",
    "물류",
    "추천",
)
_ADDED: Final = (
    "{service} 는 {region} 의 `{host}` 에서 {number}분 동안 응답하지 않았다.",
    "{team} 팀이 `{service}` {version} 을 되돌렸다.",
    "`{host}` 의 지연이 {number} ms 를 넘었고 {word} 화면에 오류가 보였다.",
    "{word} 처리는 {region} 으로 옮겼다.",
    "오류 `{code}` 가 {service} 로그에 {number}번 남았다.",
    "{team} 팀은 {word} 기능을 끄고 {service} 를 다시 띄웠다.",
)


class Generator:
    """Makes records one after another. The n-th one depends on the seed and n alone."""

    def __init__(self, seed: int = SEED) -> None:
        self.seed = seed
        self._records = records()
        self._by_cause: dict[str, list[RecordData]] = {}
        for record in self._records:
            self._by_cause.setdefault(record.causes[0] if record.causes else "", []).append(record)
        shared = random.Random(seed)
        self._organizations = [record.organization for record in self._records if record.organization]
        self._organizations += [
            f"{_latin(shared).title()} {kind}" for kind in ("Labs", "Cloud", "Pay", "전자", "은행") for _ in range(40)
        ]

    def records(self, count: int) -> Iterator[RecordData]:
        """Yield the first `count` records, IL-0001 and on."""
        for number in range(1, count + 1):
            yield self.record(number)

    def record(self, number: int) -> RecordData:
        """Return the record of a number."""
        draw = random.Random(self.seed * 1_000_003 + number)
        base = draw.choice(self._records)
        kin = self._by_cause[base.causes[0] if base.causes else ""]
        other = draw.choice(kin)
        names = _Names(draw)
        started = datetime(2008, 1, 1, tzinfo=UTC) + timedelta(minutes=draw.randrange(18 * 525_600))
        lasted = int(min(draw.lognormvariate(4.6, 1.4), 40_000)) + 1
        knows_minutes = draw.random() < 0.6
        sources = tuple(
            SourceData(
                title=f"{names.service} {draw.choice(('postmortem', 'incident report', '장애 보고'))} {number}-{n}",
                url=f"https://{_latin(draw)}.example.org/incidents/{number}/{n}",
                publisher="",
                published=f"{started + timedelta(days=3):%Y-%m-%d}",
                archived_url="",
            )
            for n in range(1 + (draw.random() < 0.4))
        )
        return replace(
            base,
            id=f"IL-{number:04d}",
            title=_title(base.title, names, draw),
            organization=draw.choice(self._organizations),
            year=started.year,
            started_at=Moment(started, "minute") if knows_minutes else Moment(_midnight(started), "day"),
            detected_at=Moment(started + timedelta(minutes=lasted // 5), "minute") if knows_minutes else None,
            mitigated_at=None,
            resolved_at=Moment(started + timedelta(minutes=lasted), "minute") if knows_minutes else None,
            components=tuple(dict.fromkeys((*base.components[:2], *other.components[-1:]))),
            factors=tuple(dict.fromkeys((*base.factors[:3], *other.factors[:1]))),
            sources=sources,
            related=(),
            symptom=self._text(base.symptom, other.symptom, names, draw, adds=2),
            trigger=self._text(base.trigger, other.trigger, names, draw, adds=0),
            cause=self._text(base.cause, other.cause, names, draw, adds=1),
            contributing_factors=self._items(base.contributing_factors, other.contributing_factors, names, draw),
            detection=self._text(base.detection, other.detection, names, draw, adds=0),
            actions=(*self._items(base.actions, other.actions, names, draw), names.fill(draw.choice(_ADDED))),
            follow_ups=self._items(base.follow_ups, other.follow_ups, names, draw),
            lesson=self._text(base.lesson, other.lesson, names, draw, adds=0),
        )

    def _text(self, ours: str, theirs: str, names: _Names, draw: random.Random, *, adds: int) -> str:
        """Return two thirds of the one's sentences and a third of the other's, with names and numbers drawn anew."""
        sentences = [s for s in _SENTENCE.split(ours) if s and draw.random() < 0.75][:6]
        sentences += [s for s in _SENTENCE.split(theirs) if s and draw.random() < 0.3][:2]
        if ours and not sentences:
            sentences = _SENTENCE.split(ours)[:1]
        told = [
            _retold(sentence, names, draw)
            for sentence in sentences
            if not sentence.lstrip().startswith(("-", "|", "#", ">", "`"))
        ]
        told += [names.fill(draw.choice(_ADDED)) for _ in range(adds if told else 0)]
        return " ".join(told) if told or not ours else names.fill(_ADDED[0])

    def _items(
        self, ours: tuple[str, ...], theirs: tuple[str, ...], names: _Names, draw: random.Random
    ) -> tuple[str, ...]:
        chosen = [item for item in ours if draw.random() < 0.8] + [item for item in theirs if draw.random() < 0.25]
        return tuple(dict.fromkeys(_retold(item, names, draw) for item in chosen if "\n" not in item))


class _Names:
    """What one incident's texts call things, the same in all of them."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.service = f"{_latin(draw)}-{draw.choice(_KINDS)}"
        self.host = f"{self.service}-{draw.randrange(90):02d}.{draw.choice(_REGIONS)}"
        self.region = draw.choice(_REGIONS)
        self.word = "".join(draw.choices(_SYLLABLES, k=draw.choice((2, 3, 3, 4))))
        self.team = draw.choice(_TEAMS)
        self._others: dict[str, str] = {}

    def other(self, name: str) -> str:
        """Return what a proper name of the model is called here."""
        return self._others.setdefault(name, _latin(self._draw).title() if self._draw.random() < 0.5 else name)

    def fill(self, sentence: str) -> str:
        draw = self._draw
        version = f"v{draw.randrange(1, 9)}.{draw.randrange(30)}.{draw.randrange(12)}"
        code = f"E{draw.randrange(1000, 9999)}"
        return sentence.format(service=self.service, host=self.host, region=self.region, word=self.word, team=self.team,
                               number=draw.randrange(2, 900), version=version, code=code)  # fmt: skip


def _retold(sentence: str, names: _Names, draw: random.Random) -> str:
    numbers = _NUMBER.sub(lambda match: str(draw.randrange(1, 10 ** len(match[0]))), sentence)
    return _LATIN.sub(lambda match: names.other(match[0]), numbers).strip()


def _title(title: str, names: _Names, draw: random.Random) -> str:
    """Return a title with other names; a quarter name the service."""
    told = _retold(title, names, draw)
    return f"{names.service} 의 {told}" if draw.random() < 0.25 else told


def _latin(draw: random.Random) -> str:
    return "".join(
        draw.choice(_ONSETS) + draw.choice(_VOWELS) + draw.choice(_CODAS) for _ in range(draw.choice((2, 2, 3)))
    )


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0)


def write_library(folder: Path, count: int, seed: int = SEED) -> None:
    """Write `count` records as a folder that `import_library` reads; checks are left out, as they cite bundled records."""
    target = folder / "incidents"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(FIXTURES / "taxonomy.yaml", folder / "taxonomy.yaml")
    for record in Generator(seed).records(count):
        (target / f"{record.id}.md").write_text(format_record(record), "utf-8")


if __name__ == "__main__":
    write_library(Path(sys.argv[1]), int(sys.argv[2]), *(int(seed) for seed in sys.argv[3:4]))
