"""welcome: what `make run` says before it serves."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandParser

from incidents.models import Incident


class Command(BaseCommand):
    help = "Print where the library is served and how to make the first editor."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", default="8000")

    def handle(self, *args: Any, **options: Any) -> None:
        published = Incident.objects.published().count()
        self.stdout.write(f"사고 사례 라이브러리: http://127.0.0.1:{options['port']}/ (게시된 기록 {published}건)")
        if not get_user_model().objects.filter(is_staff=True).exists():
            self.stdout.write("편집자가 아직 없습니다. 첫 편집자 만들기: .venv/bin/python manage.py createsuperuser")
            self.stdout.write(f"그다음 로그인: http://127.0.0.1:{options['port']}/admin/")
