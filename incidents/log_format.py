"""Log records as lines for people or as JSON for collectors, each with the ID of its request.

What readers type never comes into a line of its own: paths are logged without their query, bodies and headers not at
all.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Final

from incidents.request_context import REQUEST_ID

FIELDS: Final = ("method", "path", "status", "milliseconds", "view")


class RequestIdFilter(logging.Filter):
    """Gives each record the ID of the request that is being answered; `-` outside of one."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = REQUEST_ID.get() or "-"
        return True


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, request_id, and what a request line knows."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": getattr(record, "request_id", "-"),
        }
        entry |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)
