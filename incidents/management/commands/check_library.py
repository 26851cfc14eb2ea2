"""check_library: the library's own health."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from incidents.health import examine
from incidents.models import Incident
from incidents.progress import progress
from incidents.states import PUBLIC


class Command(BaseCommand):
    help = "Compare the index with the database; find dangling references, gaps, missing versions. Exit 1 on faults."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="print every finding, not just the first hundred")

    def handle(self, *args: Any, **options: Any) -> None:
        with progress(Incident.objects.filter(status__in=PUBLIC).count(), "점검") as step:
            findings = list(examine(step=step))
        faults = [finding for finding in findings if finding.severity == "fault"]
        notices = [finding for finding in findings if finding.severity == "notice"]
        limit = None if options["all"] else 100
        for finding in faults[:limit]:
            self.stdout.write(f"fault  {finding}")
        for finding in notices[:limit]:
            self.stdout.write(f"notice {finding}")
        self.stdout.write(f"faults {len(faults)}, notices {len(notices)}")
        if faults:
            names = ", ".join(dict.fromkeys(finding.subject for finding in faults[:10]))
            raise CommandError(f"고칠 곳이 있습니다: {names}.")
