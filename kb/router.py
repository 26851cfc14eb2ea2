"""Reading from a replica: who may be answered from one, and which database a query goes to.

A replica is a moment behind. That is no harm to a reader who doesn't know what is new, since a page and its tag come
from one database. Whoever has just written, or is signed in to write, reads from the primary.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

logger = logging.getLogger(__name__)

REPLICA: Final = "replica"
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
COOKIE: Final = "wrote"
COOKIE_SECONDS: Final = 60  # far more than a healthy replica is behind
PAUSE_SECONDS: Final = 10.0  # a replica that doesn't answer is asked again after this time

# Commands, tests and everything outside a request read from the primary.
_reads_replica: ContextVar[bool] = ContextVar("reads_replica", default=False)


class ReplicaRouter:
    """Sends reads of some requests to the replica, and everything else to the primary."""

    def db_for_read(self, model: Any, **hints: Any) -> str:
        instance = hints.get("instance")
        if instance is not None and instance._state.db is not None:
            return str(instance._state.db)  # what belongs to a row is read where the row was
        if _reads_replica.get() and not connections[DEFAULT_DB_ALIAS].in_atomic_block:
            return REPLICA
        return DEFAULT_DB_ALIAS

    def db_for_write(self, model: Any, **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool:
        return True  # both databases hold the same rows

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db != REPLICA


@contextmanager
def reading_from_primary() -> Iterator[None]:
    """Read from the primary inside, whatever the request reads from: for what is written on the ground of it."""
    token = _reads_replica.set(False)
    try:
        yield
    finally:
        _reads_replica.reset(token)


class ReplicaMiddleware:
    """Lets anonymous reads be answered by the replica, as long as it answers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if REPLICA not in settings.DATABASES:
            raise MiddlewareNotUsed
        self.get_response = get_response
        self._not_before = 0.0

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = _reads_replica.set(self._may_be_behind(request) and self._is_up())
        try:
            response = self.get_response(request)
        finally:
            _reads_replica.reset(token)
        if request.method not in SAFE and not request.path_info.startswith(("/api/", "/mcp")):
            response.set_cookie(
                COOKIE, "1", max_age=COOKIE_SECONDS, httponly=True, samesite="Lax", secure=settings.IS_TLS
            )
        return response

    @staticmethod
    def _may_be_behind(request: HttpRequest) -> bool:
        if request.method not in SAFE:
            return False
        if "HTTP_COOKIE" not in request.META:
            return True
        return settings.SESSION_COOKIE_NAME not in request.COOKIES and COOKIE not in request.COOKIES

    def _is_up(self) -> bool:
        if time.monotonic() < self._not_before:
            return False
        try:
            connections[REPLICA].ensure_connection()
            if not connections[REPLICA].is_usable():
                connections[REPLICA].close()
                connections[REPLICA].ensure_connection()
        except DatabaseError as error:
            self._not_before = time.monotonic() + PAUSE_SECONDS
            logger.warning("the replica does not answer, the primary is asked instead: %s", error)
            return False
        return True
