"""The vocabulary: counts beside each word, renaming and merging with what they touch shown first."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from incidents.admin.generic import AnyModelAdmin, AnyModelForm
from incidents.admin.lines import LinesField, with_line
from incidents.admin.people import person_of
from incidents.catalogue import get_catalogue
from incidents.errors import UserError
from incidents.facets import FACETS_BY_KIND
from incidents.models import Cause, Component, DetectionMethod, Factor, Organization, SlugRedirect
from incidents.vocabulary_edits import Word, merge, rename, touched_by


class WordForm(AnyModelForm):
    aliases = LinesField(label="다른 이름")


class RenameForm(forms.Form):
    """A word's new name and slug."""

    label = forms.CharField(label="이름", max_length=120)
    slug = forms.CharField(label="슬러그", max_length=120, help_text="주소에 쓰입니다. 옛 주소는 새 주소로 이어집니다.")


class MergeForm(forms.Form):
    """The word that stays."""

    into: Any

    def __init__(self, *args: Any, word: Word, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["into"] = forms.ModelChoiceField(
            label="남을 말", queryset=type(word)._default_manager.exclude(pk=word.pk), empty_label="고르십시오"
        )


class WordAdmin(AnyModelAdmin):
    """Words with the number of published records that have them; one that is used can't be deleted."""

    form = WordForm
    change_form_template = "admin/incidents/word/change_form.html"

    @admin.display(description="게시된 사례")
    def shown_count(self, word: Any) -> int:
        """Return the number beside the word in the facets."""
        return get_catalogue().everything().counts(FACETS_BY_KIND[word.kind].name).get(word.pk, 0)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by other names too."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        return found | with_line(queryset, "aliases", search_term), may_repeat

    def get_urls(self) -> list[URLPattern]:
        name = self.opts.model_name
        return [
            path("<int:pk>/rename/", self.admin_site.admin_view(self.rename_view), name=f"incidents_{name}_rename"),
            path("<int:pk>/merge/", self.admin_site.admin_view(self.merge_view), name=f"incidents_{name}_merge"),
            *super().get_urls(),
        ]

    def rename_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show what a new name touches, then give it."""
        word = self._word(request, pk)
        form = RenameForm(request.POST or None, initial={"label": word.label, "slug": word.slug})
        if request.method == "POST" and form.is_valid():
            try:
                touched = rename(word, **form.cleaned_data, author=person_of(request))
            except (UserError, ValidationError) as error:
                form.add_error(None, getattr(error, "message", None) or "; ".join(getattr(error, "messages", ())))
                word.refresh_from_db()
            else:
                self.log_change(request, word, f"이름 바꿈: {word.slug} {word.label}")
                self.message_user(request, f"이름을 바꾸었습니다. 함께 바뀐 게시된 사례: {touched.published}건.")
                return HttpResponseRedirect(reverse(f"admin:incidents_{self.opts.model_name}_change", args=[pk]))
        return self._page(request, word, form, f"이름과 슬러그 바꾸기: {word}", "바꾸기")

    def merge_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show what merging touches, then merge."""
        word = self._word(request, pk)
        if not self.has_delete_permission(request, word):
            raise PermissionDenied
        form = MergeForm(request.POST or None, word=word)
        if request.method == "POST" and form.is_valid():
            into = form.cleaned_data["into"]
            try:
                touched = merge(word, into, author=person_of(request))
            except UserError as error:
                form.add_error(None, error.message)
            else:
                self.log_change(request, into, f"{word.label} ({word.slug}) 을 합침")
                self.message_user(
                    request, f"합쳤습니다. 말이 바뀐 게시된 사례: {touched.published}건.", messages.SUCCESS
                )
                return HttpResponseRedirect(reverse(f"admin:incidents_{self.opts.model_name}_change", args=[into.pk]))
        return self._page(request, word, form, f"다른 말에 합치기: {word}", "합치기")

    def _word(self, request: HttpRequest, pk: int) -> Any:
        word = self.get_object(request, str(pk))
        if word is None:
            raise Http404
        if not self.has_change_permission(request, word):
            raise PermissionDenied
        return word

    def _page(self, request: HttpRequest, word: Any, form: forms.Form, title: str, button: str) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "word": word,
            "touched": touched_by(word),
            "form": form,
            "button": button,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/incidents/word/edit.html", context)


class TermAdmin(WordAdmin):
    list_display = ("label", "slug", "group", "shown_count", "position")
    list_filter = ("group",)
    search_fields = ("label", "slug", "label_en")
    ordering = ("position", "pk")  # counting drops the model's own
    fields = ("label", "slug", "label_en", "group", "about", "aliases", "position")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """A slug is an address: it is changed where the records go along with it."""
        return ("slug",) if obj is not None else ()


admin.site.register([Cause, Component, Factor, DetectionMethod], TermAdmin)


@admin.register(Organization)
class OrganizationAdmin(WordAdmin):
    list_display = ("name", "slug", "shown_count")
    ordering = ("name",)
    search_fields = ("name", "slug")
    fields = ("name", "slug", "aliases")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The name stands in each record's text: it is changed where the records go along with it."""
        return ("name", "slug") if obj is not None else ("slug",)


@admin.register(SlugRedirect)
class SlugRedirectAdmin(AnyModelAdmin):
    list_display = ("kind", "old_slug", "new_slug", "created_at")
    list_filter = ("kind",)
    search_fields = ("old_slug", "new_slug")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
