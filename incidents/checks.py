"""Checks as pages and API show them: one by its code, and where checks and incidents don't meet."""

from __future__ import annotations

import re
from dataclasses import dataclass

from incidents.catalogue import get_catalogue
from incidents.errors import NotFound
from incidents.models import Check, CheckComponent, Component, Status

CODE = re.compile(r"[Kk][Cc]-?([0-9]{1,9})")
MANY_INCIDENTS = 5  # from so many records on, a component without a check is a gap worth naming


def parse_check_code(text: str) -> str | None:
    """Return `KC-012` for `kc-12`, `KC012` and the like; None where it is no code."""
    match = CODE.fullmatch(text.strip())
    return f"KC-{int(match[1]):03d}" if match else None


def find_check(text: str) -> Check:
    """Return the check of a code in any form, with all its parts. Raises NotFound."""
    from incidents.api.representation import with_check_parts  # the queries of a whole check are kept beside its JSON

    code = parse_check_code(text)
    check = with_check_parts(Check.objects.filter(code=code)).first() if code else None
    if check is None:
        shown = (code or text)[:40]
        raise NotFound(f"알 수 없는 점검입니다: {shown}. 점검 목록에서 고르십시오.", fields={"code": shown})
    return check


@dataclass(frozen=True)
class MatrixCell:
    """A check × component: whether the check looks at it, and how many of the check's cited records have it."""

    is_checked: bool
    incidents: int
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
    counts = catalogue.everything().counts("component")
    cited = catalogue.columns["check"].pairs(catalogue.columns["component"], catalogue.everything().mask)
    cited_by_check = catalogue.everything().counts("check")
    looked_at = set(CheckComponent.objects.values_list("check_item_id", "term_id"))
    checks_of: dict[int, int] = {}
    for _, component in looked_at:
        checks_of[component] = checks_of.get(component, 0) + 1
    columns = tuple(
        MatrixColumn(component, counts.get(component.pk, 0), checks_of.get(component.pk, 0))
        for component in Component.objects.all()
    )
    shown = tuple(column for column in columns if column.checks)
    checks = tuple(Check.objects.all())
    rows = tuple(
        MatrixRow(
            check,
            cited_by_check.get(check.pk, 0),
            tuple(
                MatrixCell(
                    (check.pk, column.component.pk) in looked_at,
                    cited.get((check.pk, column.component.pk), 0),
                    f"check={check.code}&component={column.component.slug}",
                )
                for column in shown
            ),
        )
        for check in checks
    )
    return CheckMatrix(
        columns=shown,
        rows=rows,
        checks_without_incident=tuple(check for check in checks if not cited_by_check.get(check.pk)),
        components_without_check=tuple(
            sorted(
                (column for column in columns if not column.checks and column.incidents >= MANY_INCIDENTS),
                key=lambda column: -column.incidents,
            )
        ),
    )


def published_citations(check: Check) -> int:
    """Return how many of the check's cited records are published."""
    return sum(citation.incident.status == Status.PUBLISHED for citation in check.citations.all())
