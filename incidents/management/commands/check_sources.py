"""check_sources: look at the addresses of sources and store what was found. Only ever when asked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from incidents.link_checks import Limits, check_sources, due_sources
from incidents.models import LinkState, SourceCheck
from incidents.progress import progress


class Command(BaseCommand):
    help = "Look at the web addresses of sources: which still answer, which moved, which have an archived copy."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--limit", type=int, default=0, help="look at so many at most (default: all that are due)")
        parser.add_argument(
            "--older-than", type=int, default=30, metavar="DAYS", help="again after so many days (default 30)"
        )
        parser.add_argument("--concurrency", type=int, default=8, help="how many at once, over all hosts (default 8)")
        parser.add_argument(
            "--pause", type=float, default=1.0, metavar="SECONDS", help="between two of one host (default 1)"
        )
        parser.add_argument(
            "--timeout", type=float, default=15.0, metavar="SECONDS", help="for one answer (default 15)"
        )
        parser.add_argument("--drafts", action="store_true", help="sources of drafts too")
        parser.add_argument("--allow-private", action="store_true", help="addresses of inner networks too")
        parser.add_argument(
            "--archive-api",
            default="",
            metavar="URL",
            help="ask an archive here for copies of what has none (the Wayback Machine's availability API)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["limit"] < 0 or options["older_than"] < 0 or options["pause"] < 0:
            raise CommandError("--limit, --older-than, --pause 에는 0 이상의 수를 적으십시오.")
        if not 1 <= options["concurrency"] <= 64 or options["timeout"] <= 0:
            raise CommandError("--concurrency 는 1~64, --timeout 은 0보다 큰 수로 적으십시오.")
        sources = due_sources(older_than=timedelta(days=options["older_than"]), include_drafts=options["drafts"])
        if options["limit"]:
            sources = sources[: options["limit"]]
        limits = Limits(
            timeout=options["timeout"],
            concurrency=options["concurrency"],
            pause_per_host=options["pause"],
            allow_private=options["allow_private"],
            archive_api=options["archive_api"],
        )
        counts = dict.fromkeys(LinkState, 0)
        dead: list[SourceCheck] = []
        with progress(len(sources), "출처 살피기") as step:

            def note(check: SourceCheck) -> None:
                counts[LinkState(check.state)] += 1
                if check.state == LinkState.DEAD:
                    dead.append(check)
                step()

            try:
                check_sources(sources, limits, step=note)
            except KeyboardInterrupt:
                self.stderr.write("멈추었습니다. 살핀 것은 저장했고, 다시 부르면 이어서 살핍니다.")
        for check in dead:
            incident = check.source.incident
            self.stdout.write(f"{incident.public_id}: {check.url}: {check.detail} {check.proposed_archive}".rstrip())
        self.stdout.write(", ".join(f"{state.value} {count}" for state, count in counts.items()))
