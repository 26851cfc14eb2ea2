"""The states of a record and the moves between them: the one table that admin, commands and models ask.

Plain values: nothing here reads or writes the database.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Status(TextChoices):
    """Where a record stands between being written and being read."""

    DRAFT = "draft", _("초안")
    IN_REVIEW = "in_review", _("검토 중")
    PUBLISHED = "published", _("게시")
    WITHDRAWN = "withdrawn", _("철회")
    MERGED = "merged", _("병합")


PUBLIC = frozenset({Status.PUBLISHED, Status.WITHDRAWN, Status.MERGED})
"""States that answer at the record's address: what was once published never vanishes."""


@dataclass(frozen=True)
class Move:
    """A legal change of state. `permission` is the codename that a person needs for it.

    `is_import` marks a move that no person makes: a record that comes from a file already withdrawn or merged.
    """

    name: str
    source: Status
    target: Status
    label: str
    permission: str
    needs_reason: bool = False
    is_import: bool = False


MOVES: tuple[Move, ...] = (
    Move("submit", Status.DRAFT, Status.IN_REVIEW, "검토 요청", "change_incident"),
    Move("take_back", Status.IN_REVIEW, Status.DRAFT, "검토 요청 거두기", "change_incident"),
    Move("return", Status.IN_REVIEW, Status.DRAFT, "돌려보내기", "publish_incident", needs_reason=True),
    Move("publish", Status.IN_REVIEW, Status.PUBLISHED, "게시", "publish_incident"),
    Move("publish", Status.DRAFT, Status.PUBLISHED, "바로 게시", "publish_incident"),
    Move("withdraw", Status.PUBLISHED, Status.WITHDRAWN, "철회", "publish_incident", needs_reason=True),
    Move("merge", Status.PUBLISHED, Status.MERGED, "병합", "publish_incident", needs_reason=True),
    Move("merge", Status.WITHDRAWN, Status.MERGED, "병합", "publish_incident", needs_reason=True),
    Move("reinstate", Status.WITHDRAWN, Status.PUBLISHED, "다시 게시", "publish_incident", needs_reason=True),
    Move("unmerge", Status.MERGED, Status.PUBLISHED, "병합 되돌리기", "publish_incident", needs_reason=True),
    Move(
        "bring_withdrawn",
        Status.DRAFT,
        Status.WITHDRAWN,
        "철회된 기록 들여오기",
        "publish_incident",
        True,
        is_import=True,
    ),
    Move("bring_merged", Status.DRAFT, Status.MERGED, "병합된 기록 들여오기", "publish_incident", is_import=True),
)


def find_moves(source: str, target: str) -> tuple[Move, ...]:
    """Return the legal moves from one state to another; empty where there is none."""
    return tuple(move for move in MOVES if move.source == source and move.target == target)


def moves_from(source: str) -> tuple[Move, ...]:
    """Return the moves that a person may make from a state, whatever their permissions."""
    return tuple(move for move in MOVES if move.source == source and not move.is_import)


def is_legal(source: str, target: str) -> bool:
    """Return whether a record may go from `source` to `target`; staying is always legal."""
    return source == target or bool(find_moves(source, target))
