"""The desk: worklists at one glance, and what readers and links have brought."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from incidents.admin.generic import AnyModelAdmin
from incidents.admin.people import person_of
from incidents.models import Report, ReportState, SearchMiss, SourceCheck, UnsavedText
from incidents.search_misses import gather_misses
from incidents.worklists import WORKLISTS, WORKLISTS_BY_NAME

PAGE_SIZE = 100


def desk_view(request: HttpRequest) -> HttpResponse:
    """Show how much waits in each worklist, and the first of it."""
    if not request.user.has_perm("incidents.view_incident"):
        raise Http404
    gather_misses()
    lists = [{"list": one, "count": one.count(), "tasks": one.tasks()} for one in WORKLISTS]
    context = {
        **admin.site.each_context(request),
        "title": "책상",
        "lists": lists,
        "unsaved": UnsavedText.objects.filter(owner=person_of(request)).select_related("incident"),
    }
    return TemplateResponse(request, "admin/desk.html", context)


def worklist_view(request: HttpRequest, name: str) -> HttpResponse:
    """Show one worklist whole, a hundred lines a page."""
    worklist = WORKLISTS_BY_NAME.get(name)
    if worklist is None or not request.user.has_perm("incidents.view_incident"):
        raise Http404
    text = request.GET.get("p", "1")
    page = int(text) if text.isdecimal() and 1 <= len(text) <= 6 else 1
    count = worklist.count()
    last = max(1, -(-count // PAGE_SIZE))
    page = min(max(page, 1), last)
    context = {
        **admin.site.each_context(request),
        "title": worklist.label,
        "list": worklist,
        "count": count,
        "tasks": worklist.tasks((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
        "page": page,
        "last": last,
    }
    return TemplateResponse(request, "admin/worklist.html", context)


class ReceivedAdmin(AnyModelAdmin):
    """What came in from outside: read, answered, never made or deleted here."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Report)
class ReportAdmin(ReceivedAdmin):
    list_display = ("incident", "field", "text", "state", "created_at", "handled_by")
    list_filter = ("state",)
    list_select_related = ("incident", "handled_by")
    search_fields = ("text", "incident__title")
    fields = ("incident", "version", "field", "text", "evidence_url", "sender", "created_at", "state", "answer")
    readonly_fields = ("incident", "version", "field", "text", "evidence_url", "sender", "created_at")

    def save_model(self, request: HttpRequest, obj: Report, form: Any, change: bool) -> None:
        is_open = obj.state == ReportState.RECEIVED
        obj.handled_by, obj.handled_at = (None, None) if is_open else (person_of(request), timezone.now())
        super().save_model(request, obj, form, change)


@admin.register(SearchMiss)
class SearchMissAdmin(ReceivedAdmin):
    list_display = ("query", "count", "is_done", "last_at")
    list_filter = ("is_done",)
    search_fields = ("query",)
    readonly_fields = ("query", "count", "first_at", "last_at")


@admin.register(SourceCheck)
class SourceCheckAdmin(ReceivedAdmin):
    list_display = ("url", "state", "http_status", "failures", "archived_state", "checked_at")
    list_filter = ("state", "archived_state")
    search_fields = ("url", "source__incident__title")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
