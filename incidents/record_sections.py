"""A record as its page reads it: sections in their order, each with its statements numbered for linking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from incidents.markdown_html import Statement, StatementBlock, bind_particles, render_item, render_statements

SECTION_NAMES: Final = {
    "symptom": _("증상"),
    "trigger": _("촉발"),
    "cause": _("원인"),
    "components": _("구성 요소"),
    "factors": _("기여 요인"),
    "detection": pgettext_lazy("section", "감지"),
    "actions": _("조치"),
    "follow-ups": _("후속 조치"),
    "lesson": _("교훈"),
}
"""The anchors of a record's sections, in order, with their names."""


@dataclass(frozen=True)
class Tag:
    """A term of the vocabulary on a record, with the parameter that filters by it."""

    parameter: str
    slug: str
    label: str


@dataclass(frozen=True)
class Section:
    """A section of a record: prose in `blocks`, a list in `items`, or `tags` alone; `tags` classify the others too."""

    anchor: str
    name: str
    tags: tuple[Tag, ...]
    blocks: tuple[StatementBlock, ...] = ()
    items: tuple[Statement, ...] = ()

    @property
    def count(self) -> int:
        """How many statements it has; of a section of tags alone, how many tags."""
        in_blocks = sum(len(block.statements) for block in self.blocks)
        return in_blocks or len(self.items) or len(self.tags)


def build_sections(incident: Any) -> tuple[Section, ...]:
    """Return the sections of an incident that have something in them. `incident` needs its tags prefetched."""
    texts: dict[str, str] = {
        name: getattr(incident, name) for name in ("symptom", "trigger", "cause", "detection", "lesson")
    }
    lists: dict[str, Sequence[str]] = {
        "factors": incident.contributing_factors,
        "actions": incident.actions,
        "follow-ups": incident.follow_ups,
    }
    tags = {
        "cause": _tags("cause", (tag.term for tag in incident.cause_tags.all())),
        "components": _tags("component", (tag.term for tag in incident.component_tags.all())),
        "factors": _tags("factor", (tag.term for tag in incident.factor_tags.all())),
        "detection": _tags("detection", [incident.detection_method] if incident.detection_method else []),
    }
    sections = []
    for anchor, name in SECTION_NAMES.items():
        section = Section(
            anchor,
            str(name),
            tags.get(anchor, ()),
            render_statements(texts.get(anchor, "")),
            tuple(
                Statement(number, bind_particles(render_item(item)))
                for number, item in enumerate(lists.get(anchor, ()), start=1)
            ),
        )
        # How it was noticed stands among the facts; without a text of its own the section would say it again.
        if section.blocks or section.items or (section.tags and anchor != "detection"):
            sections.append(section)
    return tuple(sections)


def _tags(parameter: str, terms: Iterable[Any]) -> tuple[Tag, ...]:
    return tuple(Tag(parameter, term.slug, term.local_label) for term in terms)
