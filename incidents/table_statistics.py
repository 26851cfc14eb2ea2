"""What PostgreSQL knows of its tables' sizes, after many rows were written at once."""

from __future__ import annotations

from django.apps import apps
from django.db import connection


def refresh_table_statistics() -> None:
    """Let PostgreSQL count the library's tables now, in the transaction that filled them.

    It does so by itself a minute after a commit. Until then it plans for the tables as they were: a listing of a library
    just imported into an empty database takes minutes instead of milliseconds.
    """
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for model in apps.get_app_config("incidents").get_models(include_auto_created=True):
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")
