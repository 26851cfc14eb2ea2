"""backup FILE: everything that the library holds in one file, while it serves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from incidents.backup import make_backup, prune
from incidents.errors import UserError


class Command(BaseCommand):
    help = "Write everything that the library holds into one file, consistent while it serves and is edited."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write, or a folder that gets one named by time")
        parser.add_argument("--overwrite", action="store_true", help="replace the file if it exists")
        parser.add_argument("--keep", type=int, default=0, help="in a folder: keep this many, remove older ones")

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path = options["file"]
        if options["keep"] < 0 or (options["keep"] and not target.is_dir()):
            raise CommandError("--keep 은 폴더에 쓸 때 1 이상의 수로 줍니다.")
        try:
            report = make_backup(target, overwrite=options["overwrite"])
        except UserError as error:
            raise CommandError(str(error)) from error
        counts = report.manifest.counts
        self.stdout.write(
            f"{report.path}: 기록 {counts['records']}건(게시 {counts['published']}), 판 {counts['versions']}개, "
            f"{report.size:,} bytes"
        )
        if options["keep"]:
            for path in prune(target, options["keep"]):
                self.stdout.write(f"지웠습니다: {path}")
