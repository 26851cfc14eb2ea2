"""The Model Context Protocol server on stdio, for coding agents on this machine."""

from __future__ import annotations

import logging
import sys
from typing import Any

import anyio
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "MCP 서버를 표준 입출력으로 띄웁니다. 코딩 도구의 설정에 이 명령을 적으십시오."
    requires_system_checks: list[str] = []  # Django's own attribute; nothing may be printed before the first message
    stealth_options = ()

    def handle(self, *args: Any, **options: Any) -> None:
        from incidents.mcp_server.stdio import serve  # the SDK takes a second to load, which other commands needn't pay

        logging.basicConfig(stream=sys.stderr)
        anyio.run(serve)
