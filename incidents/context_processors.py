"""What every page knows."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

THEMES = ("light", "dark")


def site(request: HttpRequest) -> dict[str, Any]:
    """Return the chosen theme (empty: the device's), the public base address, and this page's own address."""
    theme = request.COOKIES.get("theme", "")
    return {
        "theme": theme if theme in THEMES else "",
        "base_url": settings.BASE_URL,
        "here": request.get_full_path(),
    }
