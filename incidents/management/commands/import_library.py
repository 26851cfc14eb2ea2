"""import_library PATH: records, taxonomy and checks from files into the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from incidents.errors import UserError
from incidents.faults import RecordError
from incidents.importing import ImportReport, import_library
from incidents.indexing import sync_index
from incidents.library_files import find_library
from incidents.library_zip import library_at
from incidents.models import Incident
from incidents.progress import progress


class Command(BaseCommand):
    help = "Read Markdown records, a taxonomy and checks: all of it or, on any fault, nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path", type=Path, help="a library folder or its ZIP, or one record, taxonomy.yaml or checks.yaml"
        )
        parser.add_argument("--dry-run", action="store_true", help="check and count, change nothing")
        parser.add_argument("--if-empty", action="store_true", help="do nothing when the library has records")
        parser.add_argument(
            "--allow-large-change", action="store_true", help="overwrite or withdraw more than a tenth of the library"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["if_empty"] and Incident.objects.exists():
            return
        try:
            with (
                library_at(options["path"]) as path,
                progress(len(find_library(path)) * (1 if options["dry_run"] else 2), "가져오기") as step,
            ):
                report = import_library(
                    path,
                    dry_run=options["dry_run"],
                    allow_large_change=options["allow_large_change"],
                    step=step,
                )
        except RecordError as error:
            for fault in error.faults:
                self.stderr.write(str(fault))
            failed = len({fault.file for fault in error.faults})
            self._print(ImportReport(), failed)
            raise CommandError(f"파일 {failed}개에 고칠 곳이 있어 아무것도 가져오지 않았습니다.") from error
        except UserError as error:
            raise CommandError(str(error)) from error
        if not options["dry_run"]:
            with progress(len(report.created) + len(report.changed), "색인") as step:
                sync_index(step=step)
        self._print(report, 0)

    def _print(self, report: ImportReport, failed: int) -> None:
        self.stdout.write(
            f"created {len(report.created)}, changed {len(report.changed)}, "
            f"unchanged {report.unchanged}, failed {failed}"
        )
