"""The life of a record: what publishing needs, versions of what was published, and the moves between states.

Everything that changes a state or publishes a change goes through here, the admin as well as the commands; the
database's constraints and `Incident.save` refuse what goes past it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from incidents.errors import Conflict, PermissionRefused, UserError
from incidents.models import Incident, IncidentVersion, Status, StatusChange
from incidents.plain_text import canonical_line
from incidents.record_data import content_text, record_data, with_record_parts
from incidents.record_words import FIELD_LABELS, labels
from incidents.records import (
    CAUSES_RANGE,
    COMPONENTS_RANGE,
    FACTORS_RANGE,
    MAX_REASON_CHARS,
    Moment,
    RecordData,
    missing_when_published,
)
from incidents.states import PUBLIC, Move, find_moves, moves_from


@dataclass(frozen=True)
class Gap:
    """Something that publishing still needs: the field's name and a Korean sentence that says what to do."""

    field: str
    message: str


def record_gaps(record: RecordData) -> tuple[Gap, ...]:
    """Return what a record, wherever it comes from, still needs to be published; empty when it is complete."""
    gaps = [Gap(name, f"비어 있습니다: {FIELD_LABELS[name]}.") for name in missing_when_published(record)]
    for name, (_least, most) in (
        ("causes", CAUSES_RANGE),
        ("components", COMPONENTS_RANGE),
        ("factors", FACTORS_RANGE),
    ):
        if (number := len(getattr(record, name))) > most:
            gaps.append(
                Gap(name, f"{most}개까지 고를 수 있습니다: {FIELD_LABELS[name]} {number}개. 주된 것만 남기십시오.")
            )
    return tuple(gaps)


def publishing_gaps(incident: Incident) -> tuple[Gap, ...]:
    """Return what the saved incident still needs to be published."""
    return record_gaps(record_data(incident))


def require_no_gaps(incident: Incident) -> None:
    """Raise UserError, with a message a field, unless the incident may be published."""
    if gaps := publishing_gaps(incident):
        names = labels([gap.field for gap in gaps])
        raise UserError(
            f"게시하려면 더 채워야 합니다: {names}. 채운 뒤 다시 게시하십시오.",
            fields={gap.field: gap.message for gap in gaps},
        )


def available_moves(incident: Incident, author: User) -> tuple[Move, ...]:
    """Return the moves that this person may make now, in the order of the table."""
    return tuple(move for move in moves_from(incident.status) if _may(author, move))


def commit_version(
    incident: Incident, *, author: User | None, reason: str = "", at: datetime | None = None
) -> IncidentVersion | None:
    """Keep what a public record says now as its next version, and return it; None where nothing changed.

    `incident` is saved with all its relations; its `version`, `updated_at` and `published_at` are set here, in the row
    too. A record that isn't public has no versions: None. Raises UserError where a published record lost something
    that publishing needs; the caller's transaction must then be rolled back.
    """
    with transaction.atomic():
        saved = _lock(incident)
        if saved.status not in PUBLIC:
            return None
        if saved.status == Status.PUBLISHED:
            require_no_gaps(saved)
        version = _commit(saved, author=author, reason=reason, at=at or timezone.now())
        if version is not None:
            saved.save(update_fields=["version", "updated_at", "published_at"])
        _take_over(incident, saved)
        return version


def move(
    incident: Incident,
    target: str,
    *,
    author: User | None,
    reason: str = "",
    merged_into: Incident | None = None,
    at: Moment | None = None,
) -> StatusChange:
    """Bring a saved incident into another state and return the record of it. The only way to change a state.

    `author` is who does it: their permission is asked; None is the library's own doing (import). `reason` is one
    line; `merged_into` the survivor of a merge; `at` when it happened, as far as a file tells it (default now).
    A record that becomes public gets its version. Everything is one transaction.

    Raises Conflict for an illegal move, PermissionRefused without the right, UserError for a missing reason, missing
    contents (`fields` names them) or an unfit survivor.
    """
    reason = canonical_line(reason)
    if len(reason) > MAX_REASON_CHARS:
        raise UserError(
            f"까닭이 너무 깁니다({len(reason):,}자). {MAX_REASON_CHARS}자 안으로 줄이십시오.",
            fields={"reason": f"{MAX_REASON_CHARS}자 안으로 줄이십시오."},
        )
    with transaction.atomic():
        saved = _lock(incident)
        chosen = _choose(saved, Status(target), author, reason)
        before = saved.status
        now = timezone.now()
        if chosen.target == Status.PUBLISHED:
            require_no_gaps(saved)
        if chosen.target == Status.MERGED:
            saved.merged_into = _survivor(saved, merged_into)
        else:
            saved.merged_into = None
        saved.status = chosen.target
        saved.status_reason = reason
        saved.status_changed_at = at.value if at else now
        saved.status_precision = at.precision if at else "" if author is None else "minute"
        if chosen.target in PUBLIC:
            _commit(saved, author=author, reason=reason, at=now)
            saved.updated_at = now
        saved._is_moving = True
        saved.save()
        change = StatusChange.objects.create(
            incident=saved,
            before=before,
            after=saved.status,
            reason=reason,
            author=author,
            move=chosen.name,
            merged_into=saved.merged_into,
        )
        if chosen.name == "merge":
            _redirect_followers(saved, change)
        elif chosen.name == "unmerge":
            _recall_followers(saved, author)
        _take_over(incident, saved)
    return change


def _lock(incident: Incident) -> Incident:
    """Return the row as it stands, locked until the transaction ends, with its relations."""
    Incident.objects.select_for_update(of=("self",)).only("pk").get(pk=incident.pk)
    return with_record_parts(Incident.objects.all()).get(pk=incident.pk)


def _take_over(incident: Incident, saved: Incident) -> None:
    """Bring the caller's object to what was saved, without touching what else it holds."""
    for name in (
        "status",
        "status_reason",
        "status_changed_at",
        "status_precision",
        "merged_into_id",
        "version",
        "updated_at",
        "published_at",
    ):
        setattr(incident, name, getattr(saved, name))
    incident._loaded_status = saved.status


def _commit(saved: Incident, *, author: User | None, reason: str, at: datetime) -> IncidentVersion | None:
    """Add the next version where the text differs from the last one; the row itself isn't saved yet."""
    text = content_text(saved)
    last = saved.versions.order_by("-number").first()
    if last is not None and last.text == text:
        return None
    saved.version = last.number + 1 if last is not None else 1
    saved.updated_at = at
    saved.published_at = saved.published_at or at
    return IncidentVersion.objects.create(
        incident=saved,
        number=saved.version,
        text=text,
        reason=canonical_line(reason)[:MAX_REASON_CHARS],
        author=author,
        created_at=at,
    )


def _may(author: User, move: Move) -> bool:
    return author.has_perm(f"incidents.{move.permission}")


def _choose(saved: Incident, target: Status, author: User | None, reason: str) -> Move:
    """Return the move to make: one that the author may make, and of several the one that takes the reason."""
    moves = [move for move in find_moves(saved.status, target) if author is None or not move.is_import]
    if not moves:
        raise Conflict(
            f"이 상태로는 바꿀 수 없습니다: {Status(saved.status).label} → {target.label}. "
            f"지금 할 수 있는 일: {', '.join(move.label for move in moves_from(saved.status)) or '없음'}.",
            fields={"status": "지금 상태를 다시 확인하십시오."},
        )
    permitted = [move for move in moves if author is None or _may(author, move)]
    if not permitted:
        raise PermissionRefused(f"이 일을 할 권한이 없습니다: {moves[0].label}. 검토자에게 부탁하십시오.")
    with_reason = [move for move in permitted if move.needs_reason]
    without = [move for move in permitted if not move.needs_reason]
    if reason and with_reason:
        return with_reason[0]
    if not without:
        raise UserError(f"까닭을 적으십시오: {permitted[0].label}.", fields={"reason": "까닭을 적으십시오."})
    return without[0]


def _survivor(saved: Incident, merged_into: Incident | None) -> Incident:
    if merged_into is None:
        raise UserError(
            "어느 기록에 합칠지 고르십시오.", fields={"merged_into": "합쳐져 남을 기록을 IL-0001 처럼 적으십시오."}
        )
    survivor: Incident = Incident.objects.select_for_update(of=("self",)).get(pk=merged_into.pk)
    if survivor.pk == saved.pk:
        problem = f"자기 자신과 합칠 수 없습니다: {survivor.public_id}."
    elif survivor.status != Status.PUBLISHED:
        problem = f"게시된 기록에만 합칠 수 있습니다: {survivor.public_id} ({Status(survivor.status).label})."
    else:
        return survivor
    raise UserError(problem, fields={"merged_into": problem})


def _redirect_followers(merged: Incident, change: StatusChange) -> None:
    """Point what was merged into this record to its survivor, so that a pointer always leads to a living record."""
    for follower in Incident.objects.filter(merged_into=merged):
        _repoint(follower, change.merged_into, change.author, f"{merged.public_id} 기록이 병합되어 함께 옮겼습니다.")


def _recall_followers(unmerged: Incident, author: User | None) -> None:
    """Give back the records that had been merged into this one before it was merged itself."""
    for follower in Incident.objects.filter(status=Status.MERGED).exclude(merged_into=unmerged):
        changes = list(follower.status_changes.filter(after=Status.MERGED)[:2])
        if len(changes) == 2 and changes[0].move == "repoint" and changes[1].merged_into_id == unmerged.pk:
            _repoint(follower, unmerged, author, f"{unmerged.public_id} 기록의 병합을 되돌려 함께 옮겼습니다.")


def _repoint(follower: Incident, target: Incident | None, author: User | None, reason: str) -> None:
    follower.merged_into = target
    follower.updated_at = timezone.now()
    follower.save(update_fields=["merged_into", "updated_at"])
    StatusChange.objects.create(
        incident=follower,
        before=Status.MERGED,
        after=Status.MERGED,
        reason=reason,
        author=author,
        move="repoint",
        merged_into=target,
    )
