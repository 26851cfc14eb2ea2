"""Corrections of public records by those who may not publish: they fill in the form, a reviewer saves it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.forms.formsets import all_valid
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from incidents.admin.forms import submitted_record
from incidents.admin.generic import AnyModelAdmin
from incidents.admin.people import person_of
from incidents.models import Incident, Proposal, ProposalState, UnsavedText
from incidents.record_merge import changed_fields
from incidents.record_words import labels
from incidents.states import PUBLIC


class ProposalsMixin(AnyModelAdmin):
    """Proposing a correction, and taking one over."""

    def may_propose(self, request: HttpRequest, incident: Incident) -> bool:
        """Whether this person may write but not publish, and the record is public."""
        user = request.user
        return (
            incident.status in PUBLIC
            and user.has_perm("incidents.change_incident")
            and not user.has_perm("incidents.publish_incident")
        )

    def propose(self, request: HttpRequest, incident: Incident) -> HttpResponse | None:
        """Keep a valid form as a proposal and answer with the way back; None where its faults must be shown first."""
        form, formsets = self.filled(request, request.POST, incident)  # type: ignore[attr-defined]
        if not (form.is_valid() and all_valid(formsets)):
            return None
        saved = self.saved_record(incident)  # type: ignore[attr-defined]
        changed = changed_fields(saved, submitted_record(form, formsets))
        back = HttpResponseRedirect(reverse("admin:incidents_incident_change", args=[incident.pk]))
        if not changed:
            self.message_user(request, "바뀐 항목이 없어 제안하지 않았습니다.")
            return back
        data = request.POST.copy()
        data.pop("csrfmiddlewaretoken", None)
        Proposal.objects.create(
            incident=incident,
            author=person_of(request),
            data=data.urlencode(),
            reason=form.cleaned_data.get("change_reason", ""),
            fields=labels(changed)[:300],
        )
        UnsavedText.objects.filter(owner=person_of(request), incident=incident).delete()
        self.message_user(request, f"검토자에게 제안했습니다. 바뀐 항목: {labels(changed)}.")
        return back

    def accept_proposal(self, request: HttpRequest, incident: Incident) -> None:
        """Mark the proposal that the saved form was filled from as accepted."""
        number = request.GET.get("proposal", "")
        if number.isdecimal():
            incident.proposals.filter(pk=number, state=ProposalState.WAITING).update(
                state=ProposalState.ACCEPTED,
                handled_by=person_of(request),
                handled_at=timezone.now(),
            )


@admin.register(Proposal)
class ProposalAdmin(AnyModelAdmin):
    list_display = ("incident", "fields", "author", "state", "created_at")
    list_filter = ("state",)
    list_select_related = ("incident", "author")
    fields = ("incident", "author", "fields", "reason", "shown_form", "state", "answer")
    readonly_fields = ("incident", "author", "fields", "reason", "shown_form")

    @admin.display(description="제안한 글")
    def shown_form(self, proposal: Proposal) -> str:
        url = reverse("admin:incidents_incident_change", args=[proposal.incident_id])
        return format_html('<a href="{}?proposal={}">양식에 옮겨 견주어 보고 저장하기</a>', url, proposal.pk)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Proposal, form: Any, change: bool) -> None:
        obj.handled_by, obj.handled_at = person_of(request), timezone.now()
        super().save_model(request, obj, form, change)
