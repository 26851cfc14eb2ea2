"""A small good record, and edits of it, for the tests of reading."""

from incidents.records import RecordError, parse_record

GOOD = """\
---
id: IL-9001
title: 시험용 배치 서버의 디스크가 가득 차 야간 정산 작업이 두 시간 멈췄다
organization: 누리상회
year: 2024
started_at: 2024-03-02T15:10:00Z
resolved_at: 2024-03-02T17:10:00Z
causes: [capacity-exhaustion]
components: [job-queue]
factors: [monitoring-gap]
detection_method: job-failure
sources:
  - title: 야간 정산 지연 안내
    url: https://status.example.org/posts/1
    publisher: 누리상회
    published: 2024-03-04
---

## 증상
야간 정산 작업이 두 시간 멈췄고 가맹점 화면에는 전날 금액이 남아 있었다.

## 원인
작업 로그가 데이터와 같은 볼륨에 쌓였다. 볼륨이 차자 작업이 중간 파일을 쓰지 못하고 기다렸다.

## 조치
- 오래된 로그를 지우고 작업을 처음부터 다시 돌렸다.

## 교훈
로그와 데이터는 볼륨을 나누고, 남은 공간에는 경보를 건다.
"""


def edited(*edits: tuple[str, str]) -> str:
    """Return the good record with each (old, new) put in once; an old text must stand there once."""
    text = GOOD
    for old, new in edits:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} stands {text.count(old)} times in the record")
        text = text.replace(old, new)
    return text


def line_of(text: str, part: str) -> int:
    """Return the number of the first line that holds `part`."""
    return next(number for number, line in enumerate(text.split("\n"), start=1) if part in line)


def faults_of(text: str | bytes, filename: str = "IL-9001.md") -> list[tuple[int, str]]:
    """Return (line, message) of each fault of a record, empty when it is read."""
    data = text.encode() if isinstance(text, str) else text
    try:
        parse_record(data, filename)
    except RecordError as error:
        return [(fault.line, fault.message) for fault in error.faults]
    return []
