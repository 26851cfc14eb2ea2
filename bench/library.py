"""The bundled library as search documents, read from its files, and libraries of any size made of its sentences."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from pathlib import Path

from incidents.markdown_html import plain_text
from incidents.records import RecordData, parse_record
from incidents.search import SearchDocument
from incidents.taxonomy_file import TaxonomyData, TermData, parse_taxonomy

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
SECTIONS = ("symptom", "trigger", "cause", "contributing_factors", "detection", "actions", "follow_ups", "lesson")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


@lru_cache(maxsize=1)
def taxonomy() -> TaxonomyData:
    """Return the bundled vocabulary."""
    path = FIXTURES / "taxonomy.yaml"
    return parse_taxonomy(path.read_bytes(), path.name)


@lru_cache(maxsize=1)
def records() -> tuple[RecordData, ...]:
    """Return the bundled published records, by ID."""
    found = [parse_record(path.read_bytes(), path.name) for path in sorted((FIXTURES / "incidents").glob("IL-*.md"))]
    return tuple(record for record in found if record.status == "published")


@lru_cache(maxsize=1)
def library() -> tuple[SearchDocument, ...]:
    """Return the bundled library as the site indexes it."""
    return tuple(document_of(record) for record in records())


def document_of(record: RecordData) -> SearchDocument:
    vocabulary = taxonomy()
    terms: list[TermData] = []
    for group, slugs in (
        (vocabulary.causes, record.causes),
        (vocabulary.components, record.components),
        (vocabulary.factors, record.factors),
        (vocabulary.detection_methods, (record.detection_method,)),
    ):
        by_slug = {term.slug: term for term in group}
        terms += [by_slug[slug] for slug in slugs if slug in by_slug and slug != "unknown"]
    number = int(record.id.partition("-")[2])
    return SearchDocument(
        id=number,
        public_id=record.id,
        title=record.title,
        organization=record.organization,
        labels=tuple(term.label for term in terms),
        aliases=tuple(alias for term in terms for alias in term.aliases),
        sections={name: _plain(getattr(record, name)) for name in SECTIONS},
        sources=tuple(t for s in record.sources for t in (s.url, s.title, s.publisher) if t),
        year=record.year or 0,
        sort_date=_day(record),
        revision=1,
    )


def _plain(value: str | tuple[str, ...]) -> str:
    return plain_text(value) if isinstance(value, str) else "\n".join(map(plain_text, value))


def _day(record: RecordData) -> int:
    if record.started_at is not None:
        return record.started_at.value.toordinal()
    return date(record.year or 1, 1, 1).toordinal()


def made_library(count: int, seed: int = 1) -> Iterator[SearchDocument]:
    """Yield `count` documents, each a shuffle of sentences of the bundled library section by section.

    Words are as frequent in records, and records as long, as in the bundled library.
    """
    rng = random.Random(seed)
    source = library()
    sentences = {name: [s for d in source for s in _SENTENCE.split(d.sections[name]) if s] for name in SECTIONS}
    sizes = {name: [sum(1 for s in _SENTENCE.split(d.sections[name]) if s) for d in source] for name in SECTIONS}
    for number in range(1, count + 1):
        like = rng.choice(source)
        yield SearchDocument(
            id=number,
            public_id=f"IL-{number:04d}" if number < 10_000 else f"IL-{number}",
            title=rng.choice(source).title,
            organization=like.organization,
            labels=like.labels,
            aliases=like.aliases,
            sections={name: " ".join(rng.choices(sentences[name], k=rng.choice(sizes[name]))) for name in SECTIONS},
            sources=like.sources,
            year=like.year,
            sort_date=like.sort_date + rng.randrange(-180, 180),
            revision=1,
        )
