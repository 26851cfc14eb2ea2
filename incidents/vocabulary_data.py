"""Vocabulary and check rows → the values that files are written from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from incidents.checks_file import CheckData, CheckIncidentData
from incidents.models import TERM_MODELS, Check, Term, VocabularyKind
from incidents.taxonomy_file import TaxonomyData, TermData

# The file's names of the vocabularies, which say what a record's keys say.
KINDS: Final[Mapping[str, VocabularyKind]] = {
    "causes": VocabularyKind.CAUSE,
    "components": VocabularyKind.COMPONENT,
    "factors": VocabularyKind.FACTOR,
    "detection_methods": VocabularyKind.DETECTION_METHOD,
}


def taxonomy_data() -> TaxonomyData:
    """Return the library's vocabulary, each part in its order."""
    return TaxonomyData(**{name: tuple(map(term_data, terms_of(kind))) for name, kind in KINDS.items()})


def terms_of(kind: VocabularyKind) -> Iterator[Term]:
    """Yield the terms of a vocabulary in their order."""
    yield from TERM_MODELS[kind].objects.order_by("position", "pk")  # type: ignore[attr-defined]


def term_data(term: Term) -> TermData:
    """Return a term as files hold it."""
    return TermData(
        slug=term.slug,
        label=term.label,
        group=term.group,
        about=term.about,
        aliases=tuple(term.aliases),
        label_en=term.label_en,
    )


def checks_data() -> tuple[CheckData, ...]:
    """Return the library's checks in their order."""
    checks = Check.objects.order_by("position", "code").prefetch_related(
        "component_tags__term", "factor_tags__term", "citations__incident"
    )
    return tuple(map(check_data, checks))


def check_data(check: Check) -> CheckData:
    """Return a check as files hold it."""
    return CheckData(
        code=check.code,
        title=check.title,
        area=check.area,
        components=tuple(tag.term.slug for tag in check.component_tags.all()),
        factors=tuple(tag.term.slug for tag in check.factor_tags.all()),
        severity=check.severity,
        risk=check.risk,
        look=check.look,
        pass_=check.criterion,
        incidents=tuple(CheckIncidentData(c.incident.public_id, c.why) for c in check.citations.all()),
    )
