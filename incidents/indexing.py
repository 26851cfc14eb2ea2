"""Keeping the search index in step with the database.

The database is the truth. Every public change carries a revision, written in its own transaction; the index knows the
revision that it has reached. Whoever finds it behind, a writer after its commit or a reader at its next request,
brings in what changed since. A killed process leaves the index behind, never wrong: the next one catches up.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final
from weakref import WeakKeyDictionary

from django.db import DatabaseError

from incidents.errors import SearchUnavailable
from incidents.models import Incident, LibraryState, is_followed_by
from incidents.search import SearchBackend, SearchDocument, get_search_backend
from incidents.search_documents import iterate_documents
from incidents.search_terms import terms_at
from incidents.states import Status
from kb.router import reading_from_primary

logger = logging.getLogger(__name__)

Step = Callable[[], object]

PAUSE_SECONDS: Final = 3.0  # after an index that could not be written: a full disk isn't asked again at each request
NOT_WRITABLE: Final = "검색 색인을 만들지 못하고 있습니다. 잠시 뒤에 다시 시도해 주세요. 목록은 그대로 볼 수 있습니다."

_not_before: WeakKeyDictionary[SearchBackend, float] = WeakKeyDictionary()  # when an engine's index is tried again


def fresh_backend() -> SearchBackend:
    """Return the search backend after making sure that it knows the library's present revision and the editors' words.

    Where another process is just writing, or the disk is full, the last good index answers.
    Raises SearchUnavailable where there is none.
    """
    backend = get_search_backend()
    revision = LibraryState.objects.current_revision()
    terms = terms_at(revision)
    backend.use_terms(lambda: terms)
    is_usable = backend.is_usable()
    if is_usable and backend.revision() == revision:
        return backend
    if time.monotonic() < _not_before.get(backend, 0.0):
        if is_usable:
            return backend
        raise SearchUnavailable(NOT_WRITABLE)
    try:
        sync_index()
    except DatabaseError:
        raise
    except Exception as error:  # the engine raises what damaged bytes and full disks lead to
        _not_before[backend] = time.monotonic() + PAUSE_SECONDS
        logger.exception("the search index could not be brought up to date")
        if backend.is_usable():
            return backend
        if isinstance(error, SearchUnavailable):
            raise
        raise SearchUnavailable(NOT_WRITABLE) from error
    return backend


def sync_index(*, step: Step | None = None) -> int:
    """Bring the index up to the library's revision and return that; build it where there is none that can be used.

    Safe to be called by any number of processes at once: each looks again once it may write, so that of two that want
    to build one does. Raises SearchUnavailable and OSError.
    """
    with reading_from_primary():  # what a replica hasn't got yet may not be missing from the index
        return _sync(get_search_backend(), step)


def _sync(backend: SearchBackend, step: Step | None) -> int:
    revision = LibraryState.objects.current_revision()
    if not _can_catch_up(backend, revision):
        return _rebuild(step, is_wanted=lambda: not _can_catch_up(backend, LibraryState.objects.current_revision()))
    if backend.revision() < revision:
        changed = Incident.objects.filter(revision__gt=backend.revision())
        published = changed.filter(status=Status.PUBLISHED)
        removed = list(changed.exclude(status=Status.PUBLISHED).values_list("pk", flat=True))
        try:
            backend.update(_counted(iterate_documents(published), step), removed, revision=revision)
        except SearchUnavailable:
            if backend.is_usable():
                raise
            return _rebuild(step, is_wanted=lambda: not _can_catch_up(backend, revision))
    return revision


def rebuild_index(*, step: Step | None = None) -> int:
    """Build the index anew beside the old one, swap them, and return the revision it has."""
    with reading_from_primary():
        return _rebuild(step, is_wanted=None)


def _can_catch_up(backend: SearchBackend, revision: int) -> bool:
    return backend.is_usable() and is_followed_by(backend.revision(), revision)


def _rebuild(step: Step | None, *, is_wanted: Callable[[], bool] | None) -> int:
    revision = LibraryState.objects.current_revision()
    published = Incident.objects.filter(status=Status.PUBLISHED).order_by("pk")
    documents = _counted(iterate_documents(published), step)
    get_search_backend().rebuild(documents, revision=revision, is_wanted=is_wanted)
    return revision


def _counted(documents: Iterable[SearchDocument], step: Step | None) -> Iterator[SearchDocument]:
    for document in documents:
        yield document
        if step is not None:
            step()
