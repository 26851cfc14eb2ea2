"""Words for the search: which mean the same, which is a word of its own. A saved one counts from the next search on."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.forms import Textarea
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from incidents.admin.generic import AnyModelAdmin, AnyModelForm
from incidents.admin.lines import LinesField, with_line
from incidents.admin.people import person_of
from incidents.models import SearchTerm, TermRelation
from incidents.search import shipped_rows, written


class SearchTermForm(AnyModelForm):
    terms = LinesField(
        label="말",
        widget=Textarea(attrs={"rows": 6, "cols": 40}),
        help_text=SearchTerm._meta.get_field("terms").help_text,
    )


@admin.register(SearchTerm)
class SearchTermAdmin(AnyModelAdmin):
    form = SearchTermForm
    list_display = ("__str__", "relation", "is_active", "changed_by", "changed_at")
    list_filter = ("relation", "is_active")
    list_select_related = ("changed_by",)
    search_fields = ("note",)
    search_help_text = "말과 까닭에서 찾습니다."
    fields = ("terms", "relation", "is_active", "note", "changed_by", "changed_at")
    readonly_fields = ("changed_by", "changed_at")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by the words too."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        return found | with_line(queryset, "terms", search_term), may_repeat

    def get_urls(self) -> list[URLPattern]:
        shipped = path("shipped/", self.admin_site.admin_view(self.shipped_view), name="incidents_searchterm_shipped")
        return [shipped, *super().get_urls()]

    def shipped_view(self, request: HttpRequest) -> HttpResponse:
        """Show the groups that ship with the program, those with a word where one is asked for."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        wanted = written(request.GET.get("q", ""))
        form = reverse("admin:incidents_searchterm_add") if self.has_add_permission(request) else ""
        groups = []
        for row in shipped_rows():
            if not wanted or any(wanted in written(term) for term in row.terms):
                group = SearchTerm(terms=list(row.terms), relation=row.relation)
                given = urlencode({"terms": "\n".join(row.terms), "relation": TermRelation.APART.value})
                groups.append((group.get_relation_display(), str(group), f"{form}?{given}" if form else ""))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "프로그램에 실린 묶음",
            "apart": TermRelation.APART.label,
            "groups": groups,
            "q": request.GET.get("q", ""),
        }
        return TemplateResponse(request, "admin/incidents/searchterm/shipped.html", context)

    def save_model(self, request: HttpRequest, obj: SearchTerm, form: Any, change: bool) -> None:
        obj.changed_by = person_of(request)
        super().save_model(request, obj, form, change)
