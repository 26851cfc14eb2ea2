"""What each role may do: the table that the migration of groups and the tests ask. Plain values."""

from __future__ import annotations

EDITOR = "Editor"
REVIEWER = "Reviewer"

_ALL = ("add", "change", "delete", "view")
# An editor writes records with their lists and sources, and meets new organizations while doing so.
_EDITOR: dict[str, tuple[str, ...]] = {
    "incident": ("add", "change", "view"),
    "incidentcause": _ALL,
    "incidentcomponent": _ALL,
    "incidentfactor": _ALL,
    "source": _ALL,
    "relatedincident": _ALL,
    "organization": ("add", "view"),
    **dict.fromkeys(
        ("cause", "component", "factor", "detectionmethod", "check", "slugredirect", "searchterm"), ("view",)
    ),
    **dict.fromkeys(("checkcomponent", "checkfactor", "citation"), ("view",)),
    **dict.fromkeys(("report", "proposal", "searchmiss", "sourcecheck"), ("view",)),
}
# A reviewer answers for what readers see: publishing, the vocabulary, the checks, the readers' reports.
_REVIEWER: dict[str, tuple[str, ...]] = {
    **_EDITOR,
    "incident": ("add", "change", "delete", "view", "publish"),
    "organization": _ALL,
    **dict.fromkeys(("cause", "component", "factor", "detectionmethod", "check", "searchterm"), _ALL),
    **dict.fromkeys(("checkcomponent", "checkfactor", "citation"), _ALL),
    **dict.fromkeys(("report", "proposal", "searchmiss", "sourcecheck"), ("view", "change")),
}

ROLE_PERMISSIONS: dict[str, tuple[str, ...]] = {
    role: tuple(f"{action}_{model}" for model, actions in table.items() for action in actions)
    for role, table in ((EDITOR, _EDITOR), (REVIEWER, _REVIEWER))
}
"""Codenames of the `incidents` app by group."""
