"""What helps while writing: the site's own preview, what publishing still needs, doubles, text that is never lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from incidents.admin.filling import record_as_form_data
from incidents.admin.forms import IncidentForm, submitted_record
from incidents.admin.generic import AnyModelAdmin
from incidents.admin.people import person_of
from incidents.doubles import find_doubles
from incidents.history import read_version
from incidents.item_lines import read_items
from incidents.lifecycle import record_gaps
from incidents.markdown_html import bind_particles, render_item, render_text
from incidents.models import Incident, UnsavedText
from incidents.record_data import with_record_parts
from incidents.record_page import citations_of, relations_of
from incidents.style_hints import style_hints

MAX_KEPT_CHARS = 2_000_000


class AssistMixin(AnyModelAdmin):
    """Addresses that the form's script asks while somebody types, and the preview on the site."""

    def assist_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        return [
            path("render/", wrap(require_POST(self.render_view)), name="incidents_incident_render"),
            path("assist/", wrap(require_POST(self.assist_view)), name="incidents_incident_assist"),
            path("forget/", wrap(require_POST(self.forget_view)), name="incidents_incident_forget"),
            path("<int:pk>/site/", wrap(require_safe(self.site_view)), name="incidents_incident_site"),
        ]

    def render_view(self, request: HttpRequest) -> HttpResponse:
        """Return a text as HTML, rendered as on the site. `kind` is text or items."""
        text = request.POST.get("text", "")
        if request.POST.get("kind") == "items":
            items = "".join(f"<li>{render_item(item)}</li>" for item in read_items(text))
            html = f"<ul>{items}</ul>" if items else ""
        else:
            html = render_text(text)
        return JsonResponse({"html": bind_particles(html)})

    def assist_view(self, request: HttpRequest) -> HttpResponse:
        """Keep the form as it stands and say what it still needs. `object_id` is empty for a new record."""
        request.is_proposing = True  # type: ignore[attr-defined]  # who may propose sees the form whole
        incident = self._incident_of(request)
        if incident is None and not self.has_add_permission(request):
            raise PermissionDenied
        if incident is not None and not self.has_view_permission(request, incident):
            raise PermissionDenied
        data = request.POST.copy()
        for name in ("csrfmiddlewaretoken", "object_id", "keep"):
            data.pop(name, None)
        if request.POST.get("keep") == "yes":
            text = data.urlencode()
            if len(text) > MAX_KEPT_CHARS:
                return JsonResponse({"error": "글이 너무 길어 임시로 간직하지 못했습니다."}, status=413)
            UnsavedText.objects.update_or_create(owner=person_of(request), incident=incident, defaults={"data": text})
        form, formsets = self.filled(request, data, incident)
        form.is_valid()
        for formset in formsets:
            formset.is_valid()
        record = submitted_record(form, formsets)
        return JsonResponse(
            {
                "kept_at": timezone.now().isoformat() if request.POST.get("keep") == "yes" else None,
                "gaps": [{"field": gap.field, "message": gap.message} for gap in record_gaps(record)],
                "hints": [{"field": hint.field, "message": hint.message} for hint in style_hints(record)],
                "doubles": [
                    {
                        "id": double.incident.public_id,
                        "title": double.incident.title,
                        "status": double.incident.get_status_display(),
                        "reason": double.reason,
                        "certain": double.is_certain,
                        "url": reverse("admin:incidents_incident_change", args=[double.incident.pk]),
                    }
                    for double in find_doubles(record, exclude=incident.pk if incident else None)
                ],
            }
        )

    def forget_view(self, request: HttpRequest) -> HttpResponse:
        """Drop what was kept of a form and go back to it."""
        incident = self._incident_of(request)
        UnsavedText.objects.filter(owner=person_of(request), incident=incident).delete()
        if incident is None:
            return HttpResponseRedirect(reverse("admin:incidents_incident_add"))
        return HttpResponseRedirect(reverse("admin:incidents_incident_change", args=[incident.pk]))

    def site_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Return the record as its page will look. For those who may see it in the admin alone, and never cached."""
        incident: Any = with_record_parts(Incident.objects.all()).filter(pk=pk).first()
        if incident is None:
            raise Http404
        if not self.has_view_permission(request, incident):
            raise PermissionDenied
        context = {
            "incident": incident,
            "related": relations_of(incident),
            "similar": (),
            "citations": citations_of(incident),
            "neighbours": None,
            "preview_of": reverse("admin:incidents_incident_change", args=[pk]),
        }
        response = render(request, "admin/incidents/incident/site_preview.html", context)
        response["X-Robots-Tag"] = "noindex, nofollow"
        response["Cache-Control"] = "no-store"
        return response

    def _incident_of(self, request: HttpRequest) -> Incident | None:
        object_id = request.POST.get("object_id", "")
        if not object_id:
            return None
        incident: Incident | None = self.get_object(request, object_id)
        if incident is None:
            raise Http404
        return incident

    # Forms that are filled in by something else than their reader

    def filled(
        self, request: HttpRequest, data: QueryDict, incident: Incident | None
    ) -> tuple[IncidentForm, Sequence[Any]]:
        """Return the form and its lists bound to `data`; nothing of it is saved."""
        posted, method = request.POST, request.method
        request.POST, request.method = data, "POST"  # type: ignore[assignment]  # Django reads the lists from there
        try:
            copy = Incident.objects.get(pk=incident.pk) if incident is not None else Incident()
            form: Any = self.get_form(request, incident, change=incident is not None)(data, instance=copy)
            formsets, _ = self._create_formsets(request, copy, change=incident is not None)  # type: ignore[attr-defined]
        finally:
            request.POST, request.method = posted, method
        return form, formsets

    def unbound(self, request: HttpRequest, incident: Incident) -> tuple[IncidentForm, Sequence[Any]]:
        """Return the form and its lists as they show what is saved."""
        form: Any = self.get_form(request, incident, change=True)(instance=incident)
        formsets = [
            formset_class(
                instance=incident, prefix=formset_class.get_default_prefix(), queryset=inline.get_queryset(request)
            )
            for formset_class, inline in self.get_formsets_with_inlines(request, incident)
        ]
        return form, formsets

    def filling(self, request: HttpRequest, incident: Incident | None) -> tuple[QueryDict, str] | None:
        """Return what the address asks to fill the form with, and a sentence that says so; None for a plain form."""
        if "recover" in request.GET:
            kept = UnsavedText.objects.filter(owner=person_of(request), incident=incident).first()
            if kept is None:
                return None
            return QueryDict(
                kept.data, mutable=True
            ), "간직해 둔 글을 되살렸습니다. 아직 저장하지 않았습니다. 살펴보고 저장하십시오."
        if incident is None:
            return None
        if number := request.GET.get("restore"):
            version = incident.versions.filter(number=number).first() if number.isdecimal() else None
            record = None
            if version is not None:
                version.incident = incident
                record = read_version(version)
            if record is None:
                self.message_user(request, f"되돌릴 수 없는 판입니다: {number[:20]}", messages.ERROR)
                return None
            data = record_as_form_data(record, *self.unbound(request, incident))
            data["change_reason"] = f"판 {number} 의 내용으로 되돌림"
            return data, f"판 {number} 의 내용을 옮겨 두었습니다. 아직 저장하지 않았습니다. 저장하면 새 판이 됩니다."
        if number := request.GET.get("proposal"):
            proposal = incident.proposals.filter(pk=number).first() if number.isdecimal() else None
            if proposal is None:
                return None
            data = QueryDict(proposal.data, mutable=True)
            data["change_reason"] = proposal.reason
            return data, f"{proposal.author} 님의 제안을 옮겨 두었습니다. 저장하면 받아들여집니다."
        return None


def kept_text(user: Any, incident: Incident | None) -> UnsavedText | None:
    """Return what this person typed into the record's form without saving."""
    if not isinstance(user, User):
        return None
    return UnsavedText.objects.filter(owner=user, incident=incident).first()
