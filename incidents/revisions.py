"""Marking what readers see as changed: every public change raises the library's revision in its own transaction.

Catalogue, search index and caches compare revisions, so a change is either committed together with its mark or not
at all; no process can miss it, however it ends.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import Q, QuerySet

from incidents.models import Incident, LibraryState
from incidents.states import PUBLIC


def mark_changed(incidents: QuerySet[Incident] | Collection[int]) -> None:
    """Give the public incidents among these a new revision. Without any, nothing changes."""
    condition = Q(pk__in=incidents if not isinstance(incidents, QuerySet) else incidents.order_by().values("pk"))
    # A record that was once public keeps its revision: one taken back must leave the index too.
    public = Incident.objects.filter(condition).filter(Q(status__in=PUBLIC) | Q(revision__gt=0))
    with transaction.atomic():
        if public.exists():
            public.update(revision=LibraryState.objects.next_revision())


def mark_library_changed() -> None:
    """Raise the revision where something changed that belongs to no incident: a term, a check without citations."""
    with transaction.atomic():
        LibraryState.objects.next_revision()
