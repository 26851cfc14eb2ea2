"""FACETS: the one definition of each facet. Filter, counts, page, feeds, API and export are all made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from incidents.models import VocabularyKind

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True)
class Facet:
    """A property of incidents by which a reader narrows them.

    `name` is the parameter, `column` the attribute path from an incident to the term's primary key, `kind` the
    vocabulary whose slugs are its values (None: the check codes). `is_multiple` facets give an incident several values.
    """

    name: str
    label: StrOrPromise
    column: str
    kind: VocabularyKind | None
    is_multiple: bool = True
    counter: str = "가지"


FACETS: tuple[Facet, ...] = (
    Facet("factor", _("기여 요인"), "factor_tags__term_id", VocabularyKind.FACTOR),
    Facet("component", _("구성 요소"), "component_tags__term_id", VocabularyKind.COMPONENT),
    Facet("cause", _("원인 분류"), "cause_tags__term_id", VocabularyKind.CAUSE),
    Facet("detection", _("감지 방법"), "detection_method_id", VocabularyKind.DETECTION_METHOD, is_multiple=False),
    Facet("organization", _("조직"), "organization_id", VocabularyKind.ORGANIZATION, is_multiple=False, counter="곳"),
    Facet("check", _("점검"), "citations__check_item_id", None, counter="개"),
)
FACETS_BY_NAME = {facet.name: facet for facet in FACETS}
FACETS_BY_KIND = {facet.kind: facet for facet in FACETS if facet.kind is not None}


@dataclass(frozen=True)
class Range:
    """A number of incidents that a reader bounds from both sides, each bound a parameter of its own."""

    name: str
    label: StrOrPromise
    unit: StrOrPromise
    minimum: int
    maximum: int

    @property
    def lower(self) -> str:
        return f"{self.name}_from"

    @property
    def upper(self) -> str:
        return f"{self.name}_to"


RANGES: tuple[Range, ...] = (
    Range("year", _("연도"), _("년"), 1, 9999),
    Range("duration", _("지속 시간"), _("분"), 0, 52_596_000),  # a hundred years of minutes
)
