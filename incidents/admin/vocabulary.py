"""The vocabulary: counts beside each word, names that readers see, other names a line each."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from incidents.admin.generic import AnyModelAdmin, AnyModelForm
from incidents.models import Cause, Component, DetectionMethod, Factor, Organization, SlugRedirect, Status, Term


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


class WordForm(AnyModelForm):
    aliases = LinesField(label="다른 이름")


class CountedAdmin(AnyModelAdmin):
    """Words with the number of published records that have them; one that is used can't be deleted."""

    form = WordForm

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        published = Count("incidents", filter=Q(incidents__status=Status.PUBLISHED), distinct=True)
        words: QuerySet[Any] = super().get_queryset(request).annotate(published_count=published)
        return words

    @admin.display(description="게시된 사례", ordering="published_count")
    def shown_count(self, word: Any) -> int:
        return int(word.published_count)


class TermAdmin(CountedAdmin):
    list_display = ("label", "slug", "group", "shown_count", "position")
    list_filter = ("group",)
    search_fields = ("label", "slug", "label_en", "aliases")
    fields = ("label", "slug", "label_en", "group", "about", "aliases", "position")

    def get_readonly_fields(self, request: HttpRequest, obj: Term | None = None) -> Any:
        """A slug is an address: it is changed where the records go along with it."""
        return ("slug",) if obj is not None else ()


admin.site.register([Cause, Component, Factor, DetectionMethod], TermAdmin)


@admin.register(Organization)
class OrganizationAdmin(CountedAdmin):
    list_display = ("name", "slug", "shown_count")
    search_fields = ("name", "slug", "aliases")
    fields = ("name", "aliases")


@admin.register(SlugRedirect)
class SlugRedirectAdmin(AnyModelAdmin):
    list_display = ("kind", "old_slug", "new_slug", "created_at")
    list_filter = ("kind",)
    search_fields = ("old_slug", "new_slug")

    def has_change_permission(self, request: HttpRequest, obj: SlugRedirect | None = None) -> bool:
        return False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
