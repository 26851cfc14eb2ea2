"""export_library PATH: the library as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from incidents.errors import UserError
from incidents.exporting import export_library
from incidents.models import Incident
from incidents.progress import progress


class Command(BaseCommand):
    help = "Write every public record, the taxonomy and the checks as files; importing them changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the folder to write to; it is made when it isn't there")
        parser.add_argument("--with-drafts", action="store_true", help="write unpublished records too")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with progress(Incident.objects.count(), "내보내기") as step:
                report = export_library(options["path"], with_drafts=options["with_drafts"], step=step)
        except UserError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"records {report.records}")
        for name in report.strangers:
            self.stderr.write(f"이 라이브러리에 없는 파일이 폴더에 있어 그대로 두었습니다: {name}")
