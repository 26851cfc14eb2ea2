"""The admin's own name, its log-in, and the view of who did what."""

from __future__ import annotations

from typing import Any

from axes.models import AccessAttempt
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.http import HttpRequest

from incidents.admin.generic import AnyModelAdmin
from incidents.admin.two_factor import LoginForm
from incidents.models import StatusChange

admin.site.site_header = "사고 사례 라이브러리"
admin.site.site_title = "사고 사례 라이브러리"
admin.site.index_title = "편집"
admin.site.login_form = LoginForm


class AuditAdmin(AnyModelAdmin):
    """What happened, read-only for everybody."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(LogEntry)
class LogEntryAdmin(AuditAdmin):
    list_display = ("action_time", "user", "action_flag", "content_type", "object_repr", "shown_message")
    list_filter = ("action_flag", "content_type", "user")
    list_select_related = ("user", "content_type")
    search_fields = ("object_repr", "change_message", "user__username")
    date_hierarchy = "action_time"

    @admin.display(description="내용")
    def shown_message(self, entry: LogEntry) -> str:
        return entry.get_change_message()


@admin.register(StatusChange)
class StatusChangeAdmin(AuditAdmin):
    list_display = ("created_at", "incident", "before", "after", "author", "reason")
    list_filter = ("after", "before", "author")
    list_select_related = ("incident", "author")
    search_fields = ("incident__title", "reason", "author__username")
    date_hierarchy = "created_at"


@admin.register(AccessAttempt)
class AccessAttemptAdmin(AuditAdmin):
    list_display = ("attempt_time", "username", "ip_address", "failures_since_start", "path_info")
    search_fields = ("username", "ip_address")
