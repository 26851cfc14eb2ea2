"""copy_database URL: a library from another database into this one."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from incidents.database_copy import copy_database, count_rows
from incidents.errors import UserError
from incidents.indexing import rebuild_index
from incidents.progress import progress


class Command(BaseCommand):
    help = (
        "Copy a whole library, people and history included, from another database (SQLite to PostgreSQL) into this one."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", help="the database to copy from: sqlite:////var/lib/library/library.sqlite3")

    def handle(self, *args: Any, **options: Any) -> None:
        url: str = options["url"]
        try:
            with progress(count_rows(url), "옮기기") as step:
                copied = copy_database(url, step=step)
            with progress(copied["incidents_incident"], "색인") as step:
                rebuild_index(step=step)
        except UserError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"기록 {copied['incidents_incident']}건, 모두 {sum(copied.values())}행을 옮기고 색인했습니다."
        )
