"""rebuild_index: the search index anew, beside the old one, then swapped."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from incidents.errors import SearchUnavailable
from incidents.indexing import rebuild_index
from incidents.models import Incident
from incidents.progress import progress


class Command(BaseCommand):
    help = "Build the search index anew beside the old one, then swap; readers never see a gap."

    def handle(self, *args: Any, **options: Any) -> None:
        total = Incident.objects.published().count()
        try:
            with progress(total, "색인") as step:
                revision = rebuild_index(step=step)
        except (SearchUnavailable, OSError) as error:
            raise CommandError(f"색인을 만들지 못했습니다: {error}. 자리와 권한을 확인하고 다시 하십시오.") from error
        self.stdout.write(f"{total}건을 색인했습니다. revision {revision}")
