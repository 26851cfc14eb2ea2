"""What is known of a request wherever its work is done: its ID, for log lines and error reports."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar
from typing import Final

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
_TAKEN: Final = re.compile(r"[A-Za-z0-9._:-]{8,64}")


def request_id(given: str = "") -> str:
    """Return the ID that a trusted proxy gave, where it is one, else a new one of 16 hexadecimal digits."""
    return given if _TAKEN.fullmatch(given) else secrets.token_hex(8)
