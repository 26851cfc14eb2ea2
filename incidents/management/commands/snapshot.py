"""A dated snapshot of the library in every form, with a manifest of sums and counts."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from incidents.errors import UserError
from incidents.snapshots import take_snapshot


class Command(BaseCommand):
    help = "라이브러리를 모든 꼴로 내보내 날짜가 있는 폴더에 두고, sha256 과 건수를 manifest.json 에 적습니다."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="스냅숏들을 두는 폴더")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            snapshot = take_snapshot(options["folder"])
        except UserError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            reason = error.strerror or "알 수 없는 까닭"
            raise CommandError(f"쓰지 못했습니다: {error.filename} ({reason}). 자리와 권한을 확인하십시오.") from error
        self.stdout.write(f"{snapshot.folder}: 기록 {snapshot.records}건, 파일 {snapshot.files}개")
