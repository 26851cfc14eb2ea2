"""Moves between states as buttons and as bulk actions, each with a page for its reason."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from incidents.admin.generic import AnyModelAdmin
from incidents.admin.people import person_of
from incidents.errors import UserError
from incidents.lifecycle import available_moves, move, publishing_gaps
from incidents.models import Incident, StatusChange, parse_public_id
from incidents.records import MAX_REASON_CHARS
from incidents.states import Move, Status

BULK_REASON = "편집부의 판단으로 목록에서 철회합니다."


class MoveForm(forms.Form):
    """Why a record is moved, and for a merge into which."""

    reason = forms.CharField(
        label="까닭",
        required=False,
        max_length=MAX_REASON_CHARS,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        help_text="읽는 사람에게 보입니다. 무엇이 어떻게 달라졌는지 한두 문장으로 적습니다.",
    )
    merged_into = forms.CharField(
        label="합쳐져 남을 기록", required=False, max_length=20, help_text="게시된 기록의 번호: IL-0001."
    )

    def __init__(self, *args: Any, move: Move, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = move.needs_reason
        if move.target != Status.MERGED:
            del self.fields["merged_into"]

    def clean_merged_into(self) -> Incident:
        text = self.cleaned_data["merged_into"]
        number = parse_public_id(text) or (int(text) if text.isdecimal() else None)
        survivor: Incident | None = Incident.objects.filter(number=number).first() if number else None
        if survivor is None:
            raise forms.ValidationError(f"알 수 없는 번호입니다: {text or '(비어 있음)'}. IL-0001 처럼 적으십시오.")
        return survivor


class BulkReasonForm(forms.Form):
    """Why several records are withdrawn at once."""

    reason = forms.CharField(
        label="까닭", max_length=MAX_REASON_CHARS, widget=forms.Textarea(attrs={"rows": 3, "cols": 80})
    )


class MovesMixin(AnyModelAdmin):
    """The moves of an incident in the admin."""

    def moves_for(self, request: HttpRequest, incident: Incident) -> tuple[Move, ...]:
        """Return the moves that this person may make now, one a name."""
        if not isinstance(request.user, User):
            return ()
        moves = available_moves(incident, request.user)
        if any(one.name == "return" for one in moves):  # who may return it says why, rather than taking it back
            moves = tuple(one for one in moves if one.name != "take_back")
        return moves

    def make_move(
        self, request: HttpRequest, incident: Incident, target: str, reason: str, merged_into: Incident | None = None
    ) -> StatusChange:
        """Move the record in the name of who asks, and note it in their log. Raises UserError."""
        change = move(incident, target, author=person_of(request), reason=reason, merged_into=merged_into)
        self.log_change(
            request, incident, f"{change.get_before_display()} → {change.get_after_display()}. {reason}".strip()
        )
        return change

    def move_urls(self) -> list[URLPattern]:
        return [
            path(
                "<int:pk>/move/<slug:name>/",
                self.admin_site.admin_view(self.move_view),
                name="incidents_incident_move",
            )
        ]

    def move_view(self, request: HttpRequest, pk: int, name: str) -> HttpResponse:
        """Ask for the reason of a move, then make it."""
        incident = self.get_object(request, str(pk))
        if incident is None:
            raise Http404
        if not self.has_view_permission(request, incident):
            raise PermissionDenied
        chosen = next((one for one in self.moves_for(request, incident) if one.name == name), None)
        back = HttpResponseRedirect(reverse("admin:incidents_incident_change", args=[pk]))
        if chosen is None:
            status = Status(incident.status).label
            self.message_user(request, f"지금은 할 수 없는 일입니다: {name}. 기록의 상태: {status}.", messages.ERROR)
            return back
        form = MoveForm(request.POST if request.method == "POST" else None, move=chosen)
        status_code = 200
        if request.method == "POST" and form.is_valid():
            try:
                self.make_move(
                    request,
                    incident,
                    chosen.target,
                    form.cleaned_data["reason"],
                    form.cleaned_data.get("merged_into"),
                )
            except UserError as error:
                status_code = error.status
                form.add_error(None, error.message)
            else:
                self.message_user(
                    request, f"{chosen.label}: {incident.public_id}. 지금 상태: {incident.get_status_display()}."
                )
                return back
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"{chosen.label}: {incident.public_id}",
            "incident": incident,
            "move": chosen,
            "form": form,
            "gaps": publishing_gaps(incident) if chosen.target == Status.PUBLISHED else (),
            "media": self.media,
        }
        return TemplateResponse(request, "admin/incidents/incident/move.html", context, status=status_code)

    @admin.action(description="고른 사례 철회 (게시 내리기)", permissions=["publish"])
    def withdraw_selected(self, request: HttpRequest, queryset: QuerySet[Incident]) -> HttpResponse | None:
        """Ask for one reason, then withdraw every published record among the chosen; all or none."""
        published = list(queryset.filter(status=Status.PUBLISHED))
        form = BulkReasonForm(request.POST if "confirmed" in request.POST else None, initial={"reason": BULK_REASON})
        if "confirmed" in request.POST and form.is_valid():
            with transaction.atomic():
                for incident in published:
                    self.make_move(request, incident, Status.WITHDRAWN, form.cleaned_data["reason"])
            self.message_user(request, f"사례 {len(published)}건을 철회했습니다. 주소는 그대로 남습니다.")
            return None
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "고른 사례 철회",
            "published": published,
            "others": queryset.exclude(status=Status.PUBLISHED),
            "chosen": list(queryset.values_list("pk", flat=True)),
            "form": form,
            "action_name": "withdraw_selected",
            "media": self.media,
        }
        return TemplateResponse(request, "admin/incidents/incident/withdraw_selected.html", context)

    def has_publish_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("incidents.publish_incident")
