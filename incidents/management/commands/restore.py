"""restore FILE: the library as a backup holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from incidents.backup import restore_backup
from incidents.errors import UserError
from incidents.progress import progress


class Command(BaseCommand):
    help = "Check a backup, prepare it beside the library and exchange the two in one transaction; the server may run."
    # The tables may be missing or of another version: that is what a restore is for.
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a file that `backup` wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with progress(None, "색인") as step:
                report = restore_backup(options["file"], step=step)
        except UserError as error:
            raise CommandError(str(error)) from error
        counts = report.manifest.counts
        self.stdout.write(
            f"{report.manifest.created_at} 의 상태로 되돌렸습니다: "
            f"기록 {counts['records']}건(게시 {counts['published']})."
        )
        if report.is_migrated:
            self.stdout.write("이전 판의 백업이라 표를 지금 판으로 올렸습니다.")
        if report.kept is not None:
            self.stdout.write(f"되돌리기 전의 상태는 여기에 있습니다: {report.kept}")
        self.stdout.write(
            "쪽은 이미 이 상태를 보입니다. 편집자는 다시 로그인해야 하며, 서버도 한가할 때 다시 시작하십시오."
        )
