"""The records that all candidates hold, in the forms that they read, and the queries that all are asked."""

from __future__ import annotations

import json
import random
import re
from functools import lru_cache
from pathlib import Path

from bench.environment import FOLDER
from bench.generator import SEED, Generator, write_library
from bench.library import taxonomy
from incidents.markdown_html import plain_text
from incidents.records import RecordData

QUERIES = 120
COMMON = ("장애", "배포", "서버", "데이터베이스", "네트워크", "인증서", "etcd", "DNS", "쿠버네티스", "롤백")
_WORD = re.compile(r"[가-힣]{2,6}|[A-Za-z][A-Za-z-]{3,}")


def library_folder(size: int) -> Path:
    """Return the folder of `size` generated records, written once."""
    folder = FOLDER / "data" / f"records-{size}"
    if not (folder / "whole").exists():
        write_library(folder, size)
        rows = folder / "records.ndjson"
        with rows.open("w", encoding="utf-8") as file:
            for record in Generator(SEED).records(size):
                file.write(json.dumps(_row(record), ensure_ascii=False) + "\n")
        (folder / "queries.json").write_text(json.dumps(queries(size), ensure_ascii=False), "utf-8")
        (folder / "whole").touch()
    return folder


@lru_cache(maxsize=1)
def _labels() -> dict[str, str]:
    vocabulary = taxonomy()
    return {term.slug: term.label for terms in (vocabulary.causes, vocabulary.components) for term in terms}


def _row(record: RecordData) -> dict[str, object]:
    texts = (record.symptom, record.trigger, record.cause, *record.contributing_factors, record.detection, *record.actions,
             *record.follow_ups, record.lesson)  # fmt: skip
    labels = _labels()
    return {
        "id": int(record.id.partition("-")[2]),
        "title": record.title,
        "body": "\n".join(plain_text(text) for text in texts if text),
        "cause": labels.get(record.causes[0], "") if record.causes else "",
        "component": labels.get(record.components[0], "") if record.components else "",
        "organization": record.organization,
        "year": record.year or 0,
    }


def queries(size: int) -> list[str]:
    """Return distinct queries: common words, and one to three words of single records as they write them."""
    draw = random.Random(SEED + size)
    made = Generator(SEED)
    chosen = list(COMMON)
    while len(chosen) < QUERIES:
        record = made.record(draw.randrange(1, size + 1))
        words = list(dict.fromkeys(_WORD.findall(f"{record.title} {record.cause}")))
        if len(words) < 3:
            continue
        text = " ".join(draw.sample(words, draw.choice((1, 1, 2, 2, 2, 3))))
        if text not in chosen:
            chosen.append(text)
    draw.shuffle(chosen)
    return chosen
