"""Keeping the search index in step with the database.

The database is the truth. Every public change carries a revision, written in its own transaction; the index knows the
revision that it has reached. Whoever finds it behind, a writer after its commit or a reader at its next request,
brings in what changed since. A killed process leaves the index behind, never wrong: the next one catches up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

from incidents.errors import SearchUnavailable
from incidents.models import Incident, LibraryState
from incidents.search import SearchBackend, SearchDocument, get_search_backend
from incidents.search_documents import iterate_documents
from incidents.states import Status

logger = logging.getLogger(__name__)

Step = Callable[[], object]


def fresh_backend() -> SearchBackend:
    """Return the search backend after making sure that it knows the library's present revision.

    Where another process is just writing, or the disk is full, the last good index answers.
    Raises SearchUnavailable where there is none.
    """
    backend = get_search_backend()
    if not backend.is_usable() or backend.revision() != LibraryState.objects.current_revision():
        try:
            sync_index()
        except (SearchUnavailable, OSError):
            if not backend.is_usable():
                raise
            logger.exception("the search index could not be brought up to date; the last good one answers")
    return backend


def sync_index(*, step: Step | None = None) -> int:
    """Bring the index up to the library's revision and return that; build it where there is none that can be used."""
    backend = get_search_backend()
    revision = LibraryState.objects.current_revision()
    if not backend.is_usable() or backend.revision() > revision:
        return rebuild_index(step=step)
    if backend.revision() < revision:
        changed = Incident.objects.filter(revision__gt=backend.revision())
        published = changed.filter(status=Status.PUBLISHED)
        removed = list(changed.exclude(status=Status.PUBLISHED).values_list("pk", flat=True))
        backend.update(_counted(iterate_documents(published), step), removed, revision=revision)
    return revision


def rebuild_index(*, step: Step | None = None) -> int:
    """Build the index anew beside the old one, swap them, and return the revision it has."""
    revision = LibraryState.objects.current_revision()
    published = Incident.objects.filter(status=Status.PUBLISHED).order_by("pk")
    get_search_backend().rebuild(_counted(iterate_documents(published), step), revision=revision)
    return revision


def _counted(documents: Iterable[SearchDocument], step: Step | None) -> Iterator[SearchDocument]:
    for document in documents:
        yield document
        if step is not None:
            step()
