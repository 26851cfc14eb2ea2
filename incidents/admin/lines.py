"""A list of short texts as lines to be typed."""

from __future__ import annotations

import unicodedata
from typing import Any

from django import forms
from django.db.models import QuerySet


class LinesField(forms.CharField):
    """A list of short names, one a line."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("required", False)
        kwargs.setdefault("widget", forms.Textarea(attrs={"rows": 3, "cols": 60}))
        kwargs.setdefault("help_text", "한 줄에 하나. 이 이름으로도 찾아집니다.")
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        """Return the names in their order, without doubles."""
        lines = (line.strip() for line in (super().clean(value) or "").splitlines())
        return list(dict.fromkeys(line for line in lines if line))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(list(initial or []) != self.clean(data))


def with_line(queryset: QuerySet[Any], name: str, text: str) -> QuerySet[Any]:
    """Return the rows with a text in one of the lines of a list; none without a text.

    The lines are compared here: SQLite keeps Hangul in JSON as escapes.
    """
    wanted = unicodedata.normalize("NFC", text).casefold().strip()
    if not wanted:
        return queryset.none()
    rows = queryset.values_list("pk", name)
    return queryset.filter(pk__in=[pk for pk, lines in rows if any(wanted in str(one).casefold() for one in lines)])
