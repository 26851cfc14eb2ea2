"""Pure formatting for templates: durations, dates as precisely as they are known, record text, the ruler's geometry."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from incidents.charts import DurationChart, YearChart
from incidents.charts import duration_chart as draw_durations
from incidents.charts import year_chart as draw_years
from incidents.citation_formats import CitationForm, CitedRecord, citation_forms
from incidents.durations import duration_text
from incidents.markdown_html import bind_particles, plain_text, render_inline, render_item, render_text
from incidents.record_sections import SECTION_NAMES, Section, build_sections
from incidents.ruler import TICKS, Tick, Timeline, build_timeline, percent, place
from incidents.stats import DurationFigure, YearFigure, group_label

register = template.Library()

STEP_NAMES = {"started": "시작", "detected": "감지", "mitigated": "완화", "resolved": "해소"}
FIELD_ANCHORS = {"contributing_factors": "factors", "follow_ups": "follow-ups"}


@register.filter
def duration(minutes: int | None) -> str:
    """Return minutes in words; empty for None, so that a template says what isn't known."""
    return "" if minutes is None else duration_text(minutes)


@register.filter
def day(at: datetime | None) -> str:
    """Return `2026-11-29` in UTC; empty for None."""
    return "" if at is None else at.astimezone(UTC).date().isoformat()


@register.simple_tag
def moment(at: datetime | None, precision: str) -> str:
    """Return `2024년`, `2024년 1월 24일` or that with `07:20 UTC`, as precisely as it is known; empty for None."""
    if at is None:
        return ""
    utc = at.astimezone(UTC)
    if get_language() == "en" and precision != "year":
        return f"{utc:%Y-%m-%d}" if precision == "day" else f"{utc:%Y-%m-%d %H:%M} UTC"
    values = {"year": utc.year, "month": utc.month, "day": utc.day, "time": f"{utc:%H:%M}"}
    if precision == "year":
        return gettext("%(year)s년") % values
    if precision == "day":
        return gettext("%(year)s년 %(month)s월 %(day)s일") % values
    return gettext("%(year)s년 %(month)s월 %(day)s일 %(time)s UTC") % values


@register.simple_tag
def machine_time(at: datetime, precision: str) -> str:
    """Return what `<time datetime>` takes: `2024`, `2024-01-24` or `2024-01-24T07:20Z`."""
    utc = at.astimezone(UTC)
    return {"year": f"{utc:%Y}", "day": f"{utc:%Y-%m-%d}"}.get(precision, f"{utc:%Y-%m-%dT%H:%MZ}")


@register.filter
def josa(text: str) -> SafeString:
    """Return text (escaped) or safe HTML with Latin words bound to their particles."""
    return bind_particles(conditional_escape(text))


@register.filter
def markdown(text: str) -> SafeString:
    """Return a field's HTML, particles bound."""
    return bind_particles(render_text(text))


@register.filter
def markdown_inline(text: str) -> SafeString:
    """Return one line's HTML, particles bound."""
    return bind_particles(render_inline(text))


@register.filter
def markdown_item(text: str) -> SafeString:
    """Return a list item's HTML, particles bound."""
    return bind_particles(render_item(text))


@register.filter
def plain(text: str) -> str:
    """Return a field's words on one line, without markup: for descriptions."""
    return " ".join(plain_text(text).split())


@register.simple_tag
def record_sections(incident: Any) -> tuple[Section, ...]:
    """Return the record's sections that aren't empty."""
    return build_sections(incident)


@register.filter
def field_name(field: str) -> str:
    """Return the Korean name of a field as search names it (`contributing_factors`); empty for the title's."""
    return str(SECTION_NAMES.get(FIELD_ANCHORS.get(field, field), ""))


@register.filter
def field_anchor(field: str) -> str:
    """Return the anchor of a field's section; empty where it has none."""
    anchor = FIELD_ANCHORS.get(field, field)
    return anchor if anchor in SECTION_NAMES else ""


@register.simple_tag
def timeline(incident: Any) -> Timeline | None:
    """Return when it began, was noticed, eased and ended; None where fewer than two times are known to the minute."""
    return build_timeline(incident)


@register.simple_tag
def ruler_ticks() -> tuple[Tick, ...]:
    """Return the marks of the ruler."""
    return TICKS


@register.filter
def tick_label(minutes: int) -> str:
    """Return the short label of a tick: `1주`, `30일`, or the duration in words."""
    return {1440: gettext("1일"), 10080: gettext("1주"), 43200: gettext("30일")}.get(minutes) or duration_text(minutes)


@register.filter
def ruler_width(minutes: int) -> str:
    """Return the length of a duration's bar in a ruler 120 units wide; at least 1, so that a minute can be seen."""
    return f"{max(1.0, place(minutes) * 120):.1f}"


@register.filter
def as_percent(fraction: float) -> str:
    """Return `32.47%` for 0.3247."""
    return percent(fraction)


@register.filter
def step_name(name: str) -> str:
    """Return the name of a moment: `시작`, `감지`, `완화`, `해소`."""
    return gettext(STEP_NAMES[name])


@register.filter
def korean_time(at: datetime) -> str:
    """Return `01-24 16:20` of a time that is already in Korea's zone."""
    return f"{at:%m-%d %H:%M}"


@register.simple_tag
def year_chart(figure: YearFigure) -> YearChart | None:
    """Return the columns of bricks by year; None without records."""
    return draw_years(figure)


@register.simple_tag
def duration_chart(figure: DurationFigure) -> DurationChart | None:
    """Return the stack of bricks on the ruler; None where no duration is known."""
    return draw_durations(figure)


@register.simple_tag
def citations(incident: Any) -> tuple[CitationForm, ...]:
    """Return the six ways to cite the record, read today."""
    source = next(iter(incident.sources.all()), None)
    return citation_forms(
        CitedRecord(
            id=incident.public_id,
            title=incident.title,
            version=incident.version,
            year=incident.year,
            url=settings.BASE_URL + incident.get_absolute_url(),
            updated_on=incident.updated_at.astimezone(UTC).date() if incident.updated_at else None,
            read_on=timezone.now().astimezone(UTC).date(),
            source_title=source.title if source else "",
            source_publisher=source.publisher if source else "",
            source_url=source.url if source else "",
            source_published=source.published if source else "",
        )
    )


@register.filter
def term_group(group: str) -> str:
    """Return the name of a vocabulary's group in the interface's language."""
    return group_label(group)


@register.filter
def split(words: str) -> list[str]:
    """Return the words of a text, for a loop over a few fixed names."""
    return words.split()


@register.simple_tag
def static_component(name: str) -> str:
    """Return the address of a component's style sheet."""
    return static(f"css/components/{name}.css")


@register.filter
def is_web(url: str) -> bool:
    """Whether an address may stand in `href`: http and https alone."""
    return url.lower().startswith(("http://", "https://"))
