"""From an error line, an alert or a piece of a log to the incidents that look like it."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["찾기"])
