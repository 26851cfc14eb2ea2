"""What a backup needs of a database engine: a consistent copy while it serves, and putting a copy in its place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from django.db import connection

from incidents.errors import UserError

SESSIONS = "django_session"  # who is signed in is no content; a stolen backup must open no session


class Store(ABC):
    """One kind of database."""

    engine: ClassVar[str]
    member: ClassVar[str]

    @abstractmethod
    def copy(self, target: Path) -> None:
        """Write a consistent copy of the live database to a new file, without sessions. Raises UserError, OSError."""

    @abstractmethod
    def check(self, copy: Path) -> None:
        """Raise UserError unless the copy is a whole database of this library."""

    @abstractmethod
    def migrate(self, copy: Path) -> None:
        """Bring a copy made by an earlier version to today's tables, where that is possible before it is put in."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Whether there is no library yet at this place."""

    @abstractmethod
    def swap(self, copy: Path, keep: Path | None) -> None:
        """Put the copy in the place of the live database in one transaction, with a revision of a new lineage.

        With `keep`, the state before is first written there, while writers already wait: no change that was
        acknowledged is missing from it. Readers see the old library until the end and the new one after it.
        """


def open_store() -> Store:
    """Return the store of the default database. Raises UserError for an engine that has none."""
    if connection.vendor == "sqlite":
        from incidents.backup.sqlite_store import SqliteStore  # one engine's tools don't need the other's

        return SqliteStore(Path(str(connection.settings_dict["NAME"])))
    if connection.vendor == "postgresql":
        from incidents.backup.postgres_store import PostgresStore

        return PostgresStore()
    raise UserError(f"이 데이터베이스는 백업할 수 없습니다: {connection.vendor}. 그 데이터베이스의 도구를 쓰십시오.")
