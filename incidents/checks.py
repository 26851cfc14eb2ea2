"""Checks as pages and API show them: one by its code, all by area, and where checks and incidents don't meet."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _

from incidents.catalogue import get_catalogue
from incidents.errors import NotFound
from incidents.models import Check, CheckComponent, CheckFactor, Citation, Component
from incidents.states import PUBLIC

CODE = re.compile(r"[Kk][Cc]-?([0-9]{1,9})")
MANY_INCIDENTS = 5  # from so many records on, a component without a check is a gap worth naming


def parse_check_code(text: str) -> str | None:
    """Return `KC-012` for `kc-12`, `KC012` and the like; None where it is no code."""
    match = CODE.fullmatch(text.strip())
    return f"KC-{int(match[1]):03d}" if match else None


def with_check_parts(checks: QuerySet[Check]) -> QuerySet[Check]:
    """Return the checks with their terms and the records that they cite, in a constant number of queries."""
    cited = Citation.objects.select_related("incident__merged_into", "incident__organization")
    return checks.prefetch_related(
        Prefetch("component_tags", queryset=CheckComponent.objects.select_related("term")),
        Prefetch("factor_tags", queryset=CheckFactor.objects.select_related("term")),
        Prefetch("citations", queryset=cited),
    )


def find_check(text: str) -> Check:
    """Return the check of a code in any form, with all its parts. Raises NotFound."""
    code = parse_check_code(text)
    check = with_check_parts(Check.objects.filter(code=code)).first() if code else None
    if check is None:
        shown = (code or text)[:40]
        message = _("알 수 없는 점검입니다: %(code)s. 점검 목록에서 고르십시오.") % {"code": shown}
        raise NotFound(message, fields={"code": message})
    return check


def evidence_of(check: Check) -> tuple[Citation, ...]:
    """Return the citations whose records a reader may see, in the editor's order."""
    return tuple(citation for citation in check.citations.all() if citation.incident.status in PUBLIC)


@dataclass(frozen=True)
class CheckEntry:
    """A check in the index: `incidents` are the published records that it cites."""

    check: Check
    incidents: int


@dataclass(frozen=True)
class CheckArea:
    """The checks of one area, in their order."""

    name: str
    entries: tuple[CheckEntry, ...]


def check_areas() -> tuple[CheckArea, ...]:
    """Return all checks under their areas, in the order of the file."""
    counts = get_catalogue().everything().counts("check")
    areas: dict[str, list[CheckEntry]] = {}
    for check in Check.objects.all():
        areas.setdefault(check.area, []).append(CheckEntry(check, counts.get(check.pk, 0)))
    return tuple(CheckArea(name, tuple(entries)) for name, entries in areas.items())


@dataclass(frozen=True)
class MatrixCell:
    """A check × component: whether the check looks at it, and how many of the check's cited records have it."""

    is_checked: bool
    incidents: int
    step: int  # 0 to 5, how dark
    query: str


@dataclass(frozen=True)
class MatrixRow:
    """A check and its cells, one for each column of the matrix."""

    check: Check
    incidents: int
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True)
class MatrixColumn:
    """A component with its published records and its checks."""

    component: Component
    incidents: int
    checks: int


@dataclass(frozen=True)
class CheckMatrix:
    """All checks against the components that they look at, with both kinds of gap."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]
    checks_without_incident: tuple[Check, ...]
    components_without_check: tuple[MatrixColumn, ...]


def check_matrix() -> CheckMatrix:
    """Return the matrix as the library stands now."""
    catalogue = get_catalogue()
    everything = catalogue.everything()
    counts = everything.counts("component")
    cited = catalogue.columns["check"].pairs(catalogue.columns["component"], everything.mask)
    cited_by_check = everything.counts("check")
    looked_at = set(CheckComponent.objects.values_list("check_item_id", "term_id"))
    checks_of: dict[int, int] = {}
    for _check, component in looked_at:
        checks_of[component] = checks_of.get(component, 0) + 1
    columns = tuple(
        MatrixColumn(component, counts.get(component.pk, 0), checks_of.get(component.pk, 0))
        for component in Component.objects.all()
    )
    shown = tuple(column for column in columns if column.checks)
    checks = tuple(Check.objects.all())
    most = max((cited.get(pair, 0) for pair in looked_at), default=0)
    unchecked = [column for column in columns if not column.checks and column.incidents >= MANY_INCIDENTS]
    return CheckMatrix(
        columns=shown,
        rows=tuple(_row(check, shown, cited, looked_at, cited_by_check.get(check.pk, 0), most) for check in checks),
        checks_without_incident=tuple(check for check in checks if not cited_by_check.get(check.pk)),
        components_without_check=tuple(sorted(unchecked, key=lambda column: -column.incidents)),
    )


def _row(
    check: Check,
    columns: tuple[MatrixColumn, ...],
    cited: dict[tuple[int, int], int],
    looked_at: set[tuple[int, int]],
    incidents: int,
    most: int,
) -> MatrixRow:
    cells = []
    for column in columns:
        pair = (check.pk, column.component.pk)
        count = cited.get(pair, 0)
        query = f"check={check.code}&component={column.component.slug}"
        cells.append(MatrixCell(pair in looked_at, count, -(-5 * count // most) if most else 0, query))
    return MatrixRow(check, incidents, tuple(cells))
