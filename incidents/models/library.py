"""The library's own state: its revision and the next public number."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.db import connections, models, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

LINEAGE = 1_000_000_000


def is_followed_by(earlier: int, later: int) -> bool:
    """Return whether the changes after `earlier` lead to `later`, so that what knows the one need only catch up.

    A restore puts other rows in the place of all, some of them older and some gone. It begins a new lineage, the next
    whole LINEAGE, over which nothing is caught up: snapshots and indexes from before are made anew.
    """
    return earlier <= later and earlier // LINEAGE == later // LINEAGE


def next_lineage(revision: int) -> int:
    """Return the first revision of the lineage after that of `revision`."""
    return (revision // LINEAGE + 1) * LINEAGE


REVISION_SQL = "SELECT revision FROM incidents_librarystate WHERE id = %s"


class LibraryStateManager(models.Manager["LibraryState"]):
    """Questions and moves of the single row. A migration makes it; nothing deletes it."""

    def current_revision(self) -> int:
        """Return the revision that readers see now; 0 in a library without published records.

        Every request asks this first, so it is plain SQL: a third of the queryset's time.
        """
        with connections[self.db].cursor() as cursor:
            cursor.execute(REVISION_SQL, [LibraryState.SINGLE])
            row = cursor.fetchone()
        if row is None:
            raise LibraryState.DoesNotExist("the library's state has no row; `manage.py migrate` makes it")
        return int(row[0])

    def changed_at(self) -> datetime | None:
        """Return when readers last saw something change; None in a library where nothing was ever published."""
        return self.values_list("changed_at", flat=True).get(pk=LibraryState.SINGLE)

    def next_revision(self) -> int:
        """Raise the revision by one and return it.

        The row stays locked until the surrounding transaction ends, so revisions become visible in their order: a
        reader that has seen revision n has seen every change up to n. Must be called inside a transaction.
        """
        self._require_transaction()
        self.filter(pk=LibraryState.SINGLE).update(revision=F("revision") + 1, changed_at=timezone.now())
        return self.current_revision()

    def next_number(self) -> int:
        """Take the next free public number (421 of `IL-0421`) and return it; a number is never given twice."""
        self._require_transaction()
        self.filter(pk=LibraryState.SINGLE).update(next_number=F("next_number") + 1)
        return self.values_list("next_number", flat=True).get(pk=LibraryState.SINGLE) - 1

    def reserve_numbers_up_to(self, number: int) -> None:
        """Make sure that `number`, taken by an imported record, is not given again."""
        self._require_transaction()
        self.filter(pk=LibraryState.SINGLE, next_number__lte=number).update(next_number=number + 1)

    @staticmethod
    def _require_transaction() -> None:
        if not transaction.get_connection().in_atomic_block:
            raise transaction.TransactionManagementError("the library's state changes only inside a transaction")


class LibraryState(models.Model):
    """One row: counters that every process shares."""

    SINGLE = 1

    revision = models.PositiveBigIntegerField(_("판"), default=0)
    next_number = models.PositiveIntegerField(_("다음 번호"), default=1)
    changed_at = models.DateTimeField(_("바뀐 때"), null=True, blank=True)

    objects: ClassVar[LibraryStateManager] = LibraryStateManager()

    class Meta:
        verbose_name = _("라이브러리 상태")
        verbose_name_plural = _("라이브러리 상태")
        constraints = [
            models.CheckConstraint(condition=models.Q(pk=1), name="library_state_is_single"),
        ]

    def __str__(self) -> str:
        return f"revision {self.revision}"
