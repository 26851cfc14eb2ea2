"""import_document FILE…: foreign post-mortems become drafts, each with its own result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from incidents.document_import import DocumentFile, earlier_import, find_documents, read_file, save_draft
from incidents.documents import DocumentRefused
from incidents.progress import progress


class Command(BaseCommand):
    help = (
        "Read post-mortems (Markdown, HTML, DOCX; files or folders) as drafts. Nothing is published, no text is lost."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="FILE", help="a document, or a folder of documents")
        parser.add_argument("--dry-run", action="store_true", help="show what each document becomes, save nothing")
        parser.add_argument(
            "--again", action="store_true", help="make another draft of a document that was imported before"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        files = find_documents(options["paths"])
        counts = {"created": 0, "known": 0, "refused": 0}
        with progress(len(files), "가져오기") as step:
            for file in files:
                counts[self._take(file, dry_run=options["dry_run"], again=options["again"])] += 1
                step()
        planned = "would create" if options["dry_run"] else "created"
        self.stdout.write(
            f"{planned} {counts['created']}, already imported {counts['known']}, refused {counts['refused']}"
        )
        if counts["refused"]:
            raise CommandError(f"읽지 못한 문서가 {counts['refused']}개 있습니다. 나머지는 위와 같이 처리했습니다.")

    def _take(self, file: DocumentFile, *, dry_run: bool, again: bool) -> str:
        """Read, report and save one document; returns which count it belongs to."""
        try:
            draft, mark = read_file(file)
            before = None if again else earlier_import(mark)
            if before is not None:
                self.stdout.write(f"{file.name}: 이미 가져온 문서입니다: {before.public_id} (다시 만들려면 --again)")
                return "known"
            incident = None if dry_run else save_draft(draft, mark)
        except DocumentRefused as error:
            self.stderr.write(str(error))
            return "refused"
        made = f"초안 {incident.public_id}" if incident else "초안이 될 문서(저장하지 않음)"
        self.stdout.write(f"{file.name}: {made}")
        for line in draft.report():
            self.stdout.write(f"  {line}")
        return "created"
