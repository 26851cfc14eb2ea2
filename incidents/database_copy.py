"""A whole library from one database into another of any kind: every row with its key, its times and its relations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import dj_database_url
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.management.color import no_style
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, models, transaction
from django.db.migrations.executor import MigrationExecutor

from incidents.errors import UserError
from incidents.models import Incident, LibraryState
from incidents.table_statistics import refresh_table_statistics

SOURCE: Final = "source"
BATCH: Final = 500

Step = Callable[[], object]


def copy_database(url: str, *, step: Step | None = None) -> dict[str, int]:
    """Copy everything from the database at `url` into this library's and return {table: rows}.

    The source is only read, in one transaction. The target must have the tables of the same version and no records; after
    an error it is as it was. Sign-ins aren't taken along. Raises UserError where something of this is not so.
    """
    _open_source(url)
    try:
        with transaction.atomic(SOURCE):
            _refuse_other_version()
            if Incident.objects.exists():
                raise UserError(
                    "옮겨 갈 데이터베이스에 이미 기록이 있습니다. 빈 데이터베이스를 DATABASE_URL 에 적으십시오."
                )
            with transaction.atomic():
                return _copy_all(step)
    finally:
        connections[SOURCE].close()
        del connections[SOURCE]
        del connections.databases[SOURCE]


def count_rows(url: str) -> int:
    """Return the number of rows that `copy_database` would copy, for a progress bar."""
    _open_source(url)
    try:
        return sum(model._base_manager.using(SOURCE).count() for model in _models())
    finally:
        connections[SOURCE].close()
        del connections[SOURCE]
        del connections.databases[SOURCE]


def _open_source(url: str) -> None:
    try:
        connections.databases[SOURCE] = connections.configure_settings(
            {DEFAULT_DB_ALIAS: {}, SOURCE: {**dj_database_url.parse(url)}}
        )[SOURCE]
        connections[SOURCE].ensure_connection()
        tables = connections[SOURCE].introspection.table_names()
    except (DatabaseError, dj_database_url.ParseError, dj_database_url.UnknownSchemeError, ValueError) as error:
        raise UserError(f"가져올 데이터베이스를 열지 못했습니다: {error}") from error
    if LibraryState._meta.db_table not in tables:
        raise UserError("가져올 데이터베이스에 라이브러리가 없습니다. 주소를 확인하십시오.")


def _refuse_other_version() -> None:
    applied = [
        set(MigrationExecutor(connections[alias]).loader.applied_migrations) for alias in (SOURCE, DEFAULT_DB_ALIAS)
    ]
    if applied[0] != applied[1]:
        raise UserError("두 데이터베이스의 판이 다릅니다. 둘 다 migrate 명령으로 이 판에 맞춘 뒤 다시 하십시오.")


def _models() -> list[type[models.Model]]:
    """Return every table's model but that of sessions."""
    found = apps.get_models(include_auto_created=True)
    return [model for model in found if model._meta.managed and not model._meta.proxy and model is not Session]


def _copy_all(step: Step | None) -> dict[str, int]:
    target = connections[DEFAULT_DB_ALIAS]
    copied: dict[str, int] = {}
    with target.constraint_checks_disabled():
        for model in _models():
            model._base_manager.using(DEFAULT_DB_ALIAS).all()._raw_delete(DEFAULT_DB_ALIAS)
        for model in _models():
            copied[model._meta.db_table] = _copy_table(model, step)
    target.check_constraints()
    with target.cursor() as cursor:
        for statement in target.ops.sequence_reset_sql(no_style(), _models()):
            cursor.execute(statement)
    refresh_table_statistics()
    return copied


def _copy_table(model: type[models.Model], step: Step | None) -> int:
    fields = model._meta.local_concrete_fields
    rows: list[Any] = []
    count = 0

    def write() -> None:
        # Raw, so that no field sets its own time and no signal raises a revision: the copy is the original.
        query = model._base_manager.using(DEFAULT_DB_ALIAS)
        query._insert(rows, fields=fields, raw=True, using=DEFAULT_DB_ALIAS)  # type: ignore[attr-defined]
        rows.clear()

    for row in model._base_manager.using(SOURCE).order_by("pk").iterator(chunk_size=BATCH):
        rows.append(row)
        count += 1
        if step is not None:
            step()
        if len(rows) == BATCH:
            write()
    if rows:
        write()
    return count
