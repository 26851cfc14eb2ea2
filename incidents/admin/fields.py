"""Form fields of a record: Markdown kept as typed, lists with an item a line, times as far as they are known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import ModelChoiceIterator, ModelChoiceIteratorValue

from incidents.admin.generic import AnyModelChoiceField
from incidents.item_lines import read_items, write_items
from incidents.models import Term
from incidents.records import Moment, parse_moment

_SEOUL = re.compile(r"\s*(?:KST|한국\s*시각|한국시간)\s*\Z", re.IGNORECASE)
_SPACED_ZONE = re.compile(r"\s+(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})\Z", re.IGNORECASE)


class MarkdownField(forms.CharField):
    """A text with its white space: indentation at its beginning is Markdown too."""

    def __init__(self, *, rows: int = 6, **kwargs: Any) -> None:
        kwargs.setdefault("strip", False)
        kwargs.setdefault("required", False)
        kwargs.setdefault("widget", forms.Textarea(attrs={"rows": rows, "cols": 80, "data-markdown": "text"}))
        super().__init__(**kwargs)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return _line_feeds(initial or "") != _line_feeds(data or "")


class ItemsField(forms.CharField):
    """A list of Markdown items, one a line; what belongs to the item above is indented."""

    def __init__(self, *, rows: int = 6, **kwargs: Any) -> None:
        kwargs.setdefault("strip", False)
        kwargs.setdefault("required", False)
        kwargs.setdefault("help_text", "한 줄에 한 항목. 항목 안에서 줄을 바꾸려면 다음 줄을 두 칸 들여 씁니다.")
        kwargs.setdefault("widget", forms.Textarea(attrs={"rows": rows, "cols": 80, "data-markdown": "items"}))
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        return write_items(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        """Return the items as a list of strings."""
        return read_items(super().clean(value) or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != read_items(data or "")


class MomentField(forms.CharField):
    """A time as far as the report gives it: `2023-11-15T20:31:00Z`, with an offset, a day, or a year."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("required", False)
        kwargs.setdefault("widget", forms.TextInput(attrs={"size": 28, "placeholder": "2023-11-15T20:31:00Z"}))
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        return str(value) if isinstance(value, Moment) else value

    def clean(self, value: Any) -> Any:
        """Return a Moment, or None where the field is empty."""
        text = super().clean(value).strip()
        if not text:
            return None
        text = _SPACED_ZONE.sub(lambda match: match[1], _SEOUL.sub("+09:00", text))
        text = re.sub(r"(?:UTC|GMT)\Z", "Z", text, flags=re.IGNORECASE)
        text = re.sub(r"([+-][0-9]{2})([0-9]{2})\Z", r"\1:\2", text) if ":" in text else text
        try:
            return parse_moment(text)
        except ValueError as error:
            raise ValidationError(str(error)) from None

    def has_changed(self, initial: Any, data: Any) -> bool:
        return str(initial or "") != str(data or "").strip()


class TermSelect(forms.Select):
    """A select whose options carry what a term means, for the hints.

    Works without JavaScript; with it, typing filters by name, slug and other names.
    """

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"class": "term-select", **(attrs or {})})

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        term = getattr(value, "instance", None)
        if isinstance(term, Term):
            option["attrs"]["data-about"] = term.about
            option["attrs"]["data-names"] = " ".join([term.slug, term.label_en, *map(str, term.aliases)])
        return option


class _TermIterator(ModelChoiceIterator):  # type: ignore[type-arg]  # not generic at run time
    """The choices of a TermChoiceField under their groups, without a query of its own."""

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        yield "", self.field.empty_label or ""
        for group, terms in groupby(self.field.terms, key=lambda term: term.group):  # type: ignore[attr-defined]
            options = [(ModelChoiceIteratorValue(term.pk, term), f"{term.label} ({term.slug})") for term in terms]
            if group:
                yield group, options
            else:
                yield from options


class TermChoiceField(AnyModelChoiceField):
    """A choice among terms that were read once for the whole page; `terms` in their order, groups together."""

    iterator = _TermIterator

    def __init__(self, *, terms: Sequence[Term], **kwargs: Any) -> None:
        self.terms = terms
        super().__init__(widget=TermSelect(), **kwargs)

    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return None
        for term in self.terms:
            if str(term.pk) == str(getattr(value, "pk", value)):
                return term
        raise ValidationError(self.error_messages["invalid_choice"], code="invalid_choice", params={"value": value})


def _line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
