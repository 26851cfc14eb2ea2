"""The API's OpenAPI document on standard output, without the server's own address."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand

from incidents.api.openapi import openapi_schema


class Command(BaseCommand):
    help = "API 의 OpenAPI 문서를 표준 출력에 적습니다."

    def handle(self, *args: Any, **options: Any) -> None:
        document = {**openapi_schema(), "servers": []}
        self.stdout.write(json.dumps(document, ensure_ascii=False, indent=1))
