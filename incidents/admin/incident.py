"""The record's form: saved with a version, never over somebody else's work, never deleted once public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.actions import delete_selected
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import QuerySet
from django.forms.formsets import all_valid
from django.forms.widgets import Script
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from incidents.admin.assist import AssistMixin, kept_text
from incidents.admin.concurrency import rebase
from incidents.admin.fields import TermChoiceField
from incidents.admin.forms import IncidentForm, submitted_record
from incidents.admin.imports import ImportsMixin
from incidents.admin.inlines import (
    CauseInline,
    ComponentInline,
    FactorInline,
    RelatedInline,
    SourceInline,
    keep_rows_that_exist,
    terms_of,
)
from incidents.admin.moves import MovesMixin
from incidents.admin.people import person_of
from incidents.admin.proposals import ProposalsMixin
from incidents.lifecycle import commit_version
from incidents.models import DetectionMethod, Incident, IncidentEdit, UnsavedText, parse_public_id
from incidents.record_data import record_data, record_text, with_record_parts
from incidents.record_merge import Merge, changed_fields, dump_record, load_record, merge_record
from incidents.record_words import FIELD_LABELS, labels, value_text
from incidents.records import RecordData
from incidents.states import PUBLIC, Status

TEXT_FIELDS = ("symptom", "trigger", "cause", "contributing_factors", "detection", "actions", "follow_ups", "lesson")


@admin.register(Incident)
class IncidentAdmin(AssistMixin, ImportsMixin, ProposalsMixin, MovesMixin):
    form = IncidentForm
    change_form_template = "admin/incidents/incident/change_form.html"
    list_display = ("shown_id", "title", "organization", "year", "shown_status", "version", "updated_at")
    list_display_links = ("shown_id", "title")
    list_filter = ("status", "detection_method", "causes", "components", "factors", "year")
    list_select_related = ("organization",)
    list_per_page = 50
    search_fields = ("title", "organization__name")
    search_help_text = "IL-0001 같은 번호, 제목, 조직으로 찾습니다."
    ordering = ("-number",)
    date_hierarchy = None
    save_on_top = True
    autocomplete_fields = ("organization",)
    inlines = (CauseInline, ComponentInline, FactorInline, SourceInline, RelatedInline)
    actions = ("withdraw_selected", "delete_selected")
    fieldsets = (
        ("기록", {"fields": ("title", ("organization", "year"))}),
        ("때", {"fields": (("started_at", "detected_at"), ("mitigated_at", "resolved_at")), "classes": ("moments",)}),
        ("분류", {"fields": ("detection_method",), "classes": ("classification",)}),
        ("본문", {"fields": TEXT_FIELDS, "classes": ("texts",)}),
        ("편집자에게만", {"fields": ("editor_note",)}),
        ("저장", {"fields": ("change_reason", "base_state"), "classes": ("saving",)}),
    )

    class Media:
        css: ClassVar = {"all": ("css/admin/editing.css",)}
        js = tuple(Script(f"js/admin/{name}.js", type="module") for name in ("terms", "preview", "keep"))

    # What the list shows

    @admin.display(description=_("번호"), ordering="number")
    def shown_id(self, incident: Incident) -> str:
        return incident.public_id

    @admin.display(description=_("상태"), ordering="status")
    def shown_status(self, incident: Incident) -> str:
        return format_html('<span class="status status--{}">{}</span>', incident.status, incident.get_status_display())

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Incident], search_term: str
    ) -> tuple[QuerySet[Incident], bool]:
        number = parse_public_id(search_term)
        if number is None and search_term.strip().isdecimal() and len(search_term.strip()) <= 9:
            number = int(search_term)
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if number is not None:
            found = found | queryset.filter(number=number)
        return found, may_repeat

    # Who may do what

    def has_change_permission(self, request: HttpRequest, obj: Incident | None = None) -> bool:
        """A public record is changed by who may publish: each change is a new published version."""
        if obj is not None and obj.status in PUBLIC and not request.user.has_perm("incidents.publish_incident"):
            return self._is_proposing(request, obj)
        return super().has_change_permission(request, obj)

    # The form

    def get_fieldsets(self, request: HttpRequest, obj: Incident | None = None) -> Any:
        """The reason for a change is asked only where the change will be public."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is not None and not self.has_change_permission(request, obj):
            return [(name, options) for name, options in fieldsets if name != "저장"]
        if obj is not None and obj.status in PUBLIC:
            return fieldsets
        return [
            (name, {**options, "fields": ("base_state",)} if name == "저장" else options) for name, options in fieldsets
        ]

    def get_form(self, request: HttpRequest, obj: Incident | None = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.merge = getattr(request, "merge", None)
        form.notice = getattr(request, "notice", "")
        return form

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "detection_method":
            return TermChoiceField(
                terms=terms_of(request, DetectionMethod),
                queryset=DetectionMethod.objects.all(),
                label=db_field.verbose_name,
                required=False,
            )
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> Any:
        unknown = next((t for t in terms_of(request, DetectionMethod) if t.slug == DetectionMethod.UNKNOWN), None)
        return {"detection_method": unknown.pk if unknown else None, **super().get_changeform_initial_data(request)}

    def get_formset_kwargs(self, request: HttpRequest, obj: Any, inline: Any, prefix: str) -> dict[str, Any]:
        kwargs = super().get_formset_kwargs(request, obj, inline, prefix)
        if request.method == "POST" and "data" in kwargs and obj is not None and obj.pk:
            data = request.POST.copy()
            rows = inline.model._default_manager.filter(incident=obj).values_list("pk", flat=True)
            keep_rows_that_exist(data, prefix, rows)
            kwargs["data"] = data
        return kwargs

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """Show or save the form. What somebody else saved meanwhile is shown beside what was typed; nothing is lost."""
        context = dict(extra_context or {})
        request.is_proposing = "propose" in request.GET  # type: ignore[attr-defined]
        if request.method != "POST":
            incident = self.get_object(request, unquote(object_id)) if object_id is not None else None
            filled = self.filling(request, incident)
            if filled is not None:
                response = self._show_filled(request, object_id, form_url, context, filled)
            else:
                context["kept"] = kept_text(request.user, incident)
                response = super().changeform_view(request, object_id, form_url, context)
            return self._with_context(response, request)
        if object_id is None:
            return self._with_context(super().changeform_view(request, object_id, form_url, context), request)
        with transaction.atomic():
            Incident.objects.select_for_update(of=("self",)).filter(pk=_key(object_id)).first()
            incident = self.get_object(request, unquote(object_id))
            if incident is not None and self._is_proposing(request, incident):
                answer = self.propose(request, incident)
                if answer is not None:
                    return answer
            merge = self._conflict(request, incident) if incident is not None else None
            if merge is not None and incident is not None:
                request.merge = merge  # type: ignore[attr-defined]
                context["merge"] = self._merge_context(incident, merge)
            response = super().changeform_view(request, object_id, form_url, context)
        if merge is not None:
            response.status_code = 409
        return self._with_context(response, request)

    def _is_proposing(self, request: HttpRequest, incident: Incident) -> bool:
        return getattr(request, "is_proposing", False) and self.may_propose(request, incident)

    def _show_filled(
        self, request: HttpRequest, object_id: str | None, form_url: str, context: Any, filled: tuple[QueryDict, str]
    ) -> Any:
        """Show the form with what `filled` holds. The form's notice keeps it from being valid, so nothing is saved."""
        data, notice = filled
        incident = self.get_object(request, unquote(object_id)) if object_id is not None else None
        if incident is not None:
            if not data.get("base_state"):
                data["base_state"] = dump_record(self.saved_record(incident))
            for formset_class, inline in self.get_formsets_with_inlines(request, incident):
                rows = inline.model._default_manager.filter(incident=incident).values_list("pk", flat=True)
                keep_rows_that_exist(data, formset_class.get_default_prefix(), rows)
        request.notice = notice  # type: ignore[attr-defined]
        posted, method = request.POST, request.method
        request.POST, request.method = data, "POST"  # type: ignore[assignment]  # Django reads a filled form from there
        try:
            return self._changeform_view(request, object_id, form_url, context)  # type: ignore[attr-defined]
        finally:
            request.POST, request.method = posted, method

    def _conflict(self, request: HttpRequest, incident: Incident) -> Merge | None:
        """Return how the posted form meets what others saved since it was opened, bringing the form onto it.

        None where nobody did, where the form has faults of its own (they are shown first), and for a client that
        never opened the form.
        """
        if "base_state" not in request.POST or not self.has_change_permission(request, incident):
            return None
        theirs = self.saved_record(incident)
        base = load_record(request.POST["base_state"])
        if base is not None and not changed_fields(base, theirs):
            return None  # nobody saved anything: the usual case, without reading the form twice
        form, formsets = self.filled(request, request.POST, incident)
        if not (form.is_valid() and all_valid(formsets)):
            return None
        merge = merge_record(base, theirs, submitted_record(form, formsets))
        if merge.is_clean:
            return None
        data = request.POST.copy()
        for formset in formsets:
            keep_rows_that_exist(data, formset.prefix, formset.queryset.values_list("pk", flat=True))
        fresh = self.get_object(request, str(incident.pk))
        if fresh is None:
            return None
        rebase(data, merge, *self.unbound(request, fresh))
        data["base_state"] = dump_record(theirs)
        request.POST = data  # type: ignore[assignment]  # a copy of the same kind
        return merge

    def saved_record(self, incident: Incident) -> RecordData:
        """Return what the record says in the database now."""
        return record_data(with_record_parts(Incident.objects.all()).get(pk=incident.pk))

    def _merge_context(self, incident: Incident, merge: Merge) -> dict[str, Any]:
        saved = self.saved_record(incident)
        last = incident.edits.select_related("author").first()
        return {
            "author": last.author if last else None,
            "at": last.created_at if last else incident.updated_at,
            "taken": [(FIELD_LABELS[name], value_text(name, getattr(saved, name))) for name in merge.taken],
            "conflicts": [
                (FIELD_LABELS[one.field], value_text(one.field, one.theirs), value_text(one.field, one.ours))
                for one in merge.conflicts
            ],
        }

    def _with_context(self, response: Any, request: HttpRequest) -> Any:
        """Put what the template needs into a form that is about to be shown."""
        context = getattr(response, "context_data", None)
        if context is None or "adminform" not in context:
            return response
        form = context["adminform"].form
        incident: Incident | None = context.get("original")
        if "base_state" in form.fields and not form.is_bound:
            form.initial["base_state"] = dump_record(self.saved_record(incident)) if incident else ""
        context["incident"] = incident
        context["moves"] = self.moves_for(request, incident) if incident else ()
        context["may_propose"] = incident is not None and self.may_propose(request, incident)
        context["is_proposing"] = incident is not None and self._is_proposing(request, incident)
        return response

    # Saving

    def save_model(self, request: HttpRequest, obj: Incident, form: Any, change: bool) -> None:
        request.before = self.saved_record(obj) if change else None  # type: ignore[attr-defined]
        obj.edit_number += 1
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save the lists too, and with them the version that readers will see."""
        super().save_related(request, form, formsets, change)
        incident: Incident = form.instance
        author = request.user if isinstance(request.user, User) else None
        before: RecordData | None = request.before  # type: ignore[attr-defined]
        saved = with_record_parts(Incident.objects.all()).get(pk=incident.pk)
        changed = changed_fields(before, record_data(saved)) if before else ()
        reason = form.cleaned_data.get("change_reason") or (f"고친 항목: {labels(changed)}" if changed else "")
        version = commit_version(incident, author=author, reason=reason)
        IncidentEdit.objects.create(incident=saved, number=saved.edit_number, text=record_text(saved), author=author)
        UnsavedText.objects.filter(owner=author, incident=incident if change else None).delete()
        self.accept_proposal(request, incident)
        if version is not None:
            self.message_user(request, f"판 {version.number} 이 되었습니다. 바뀐 항목: {labels(changed) or '없음'}.")

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Show who did what, with every version, move and saved state; any version can be brought back."""
        incident = self.get_object(request, unquote(object_id))
        context = dict(extra_context or {})
        if incident is not None:
            context |= {
                "incident": incident,
                "versions": incident.versions.select_related("author").order_by("-number"),
                "moves_made": incident.status_changes.select_related("author", "merged_into"),
                "edits": incident.edits.select_related("author")[:50],
                "may_change": self.has_change_permission(request, incident),
            }
        return super().history_view(request, object_id, context)

    def saved_state_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        """Show what a record said after one saving, as a file of the library's format."""
        incident = self.get_object(request, str(pk))
        if incident is None or not self.has_view_permission(request, incident):
            raise Http404
        edit = get_object_or_404(incident.edits, number=number)
        return HttpResponse(edit.text, content_type="text/plain; charset=utf-8", headers={"Cache-Control": "no-store"})

    # Deleting is for drafts

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Once-public records among the chosen are not deleted, so that nothing protects them here."""
        never_public = [incident for incident in objs if not _was_public(incident)]
        return super().get_deleted_objects(never_public, request)

    def has_delete_permission(self, request: HttpRequest, obj: Incident | None = None) -> bool:
        """What was public is withdrawn instead, which needs the right to publish; one's own draft needs no right."""
        if obj is not None and _was_public(obj):
            return obj.status == Status.PUBLISHED and self.has_publish_permission(request)
        return super().has_delete_permission(request, obj) or (obj is not None and self._is_own_draft(request, obj))

    def _is_own_draft(self, request: HttpRequest, incident: Incident) -> bool:
        """Whether this person alone wrote the record and never handed it in: then nobody else loses anything."""
        if incident.status != Status.DRAFT or not super().has_change_permission(request, incident):
            return False
        author = person_of(request)
        began = LogEntry.objects.filter(
            content_type=ContentType.objects.get_for_model(Incident),
            object_id=str(incident.pk),
            action_flag=ADDITION,
            user=author,
        )
        was_handed_in = incident.status_changes.exists()
        has_others = incident.edits.exclude(author=author).exists() or incident.proposals.exists()
        return began.exists() and not was_handed_in and not has_others

    @admin.action(description="고른 사례 지우기", permissions=["delete"])
    def delete_selected(self, request: HttpRequest, queryset: QuerySet[Incident]) -> HttpResponse | None:
        """Show Django's confirmation, then delete drafts and withdraw what was public; all or none."""
        if not request.POST.get("post"):
            return delete_selected(self, request, queryset)
        drafts = list(queryset.filter(published_at__isnull=True))
        self.log_deletions(request, queryset.filter(published_at__isnull=True))
        self.delete_queryset(request, queryset)
        if drafts:
            self.message_user(request, f"초안 {len(drafts)}건을 지웠습니다.")
        return None

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        drafts = [incident.pk for incident in queryset if not _was_public(incident)]
        return super().log_deletions(request, Incident.objects.filter(pk__in=drafts))

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        if Incident.objects.filter(pk=obj_id).exists():
            return HttpResponseRedirect(reverse("admin:incidents_incident_changelist"))
        self.message_user(request, "초안을 지웠습니다. 그 번호는 다시 쓰이지 않고, 지운 일은 로그 엔트리에 남습니다.")
        return super().response_delete(request, obj_display, obj_id)

    def delete_model(self, request: HttpRequest, obj: Incident) -> None:
        self._remove(request, [obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Incident]) -> None:
        self._remove(request, list(queryset))

    def _remove(self, request: HttpRequest, incidents: Sequence[Incident]) -> None:
        """Delete drafts; withdraw what was public, so that its address goes on answering."""
        reason = request.POST.get("reason", "").strip() or "목록에서 지움"
        with transaction.atomic():
            for incident in incidents:
                if not _was_public(incident):
                    incident.delete()
                elif incident.status == Status.PUBLISHED:
                    self.make_move(request, incident, Status.WITHDRAWN, reason)
        kept = sum(map(_was_public, incidents))
        if kept:
            self.message_user(
                request,
                f"게시한 적이 있는 기록 {kept}건은 지우지 않고 철회했습니다. 주소는 그대로 남습니다.",
                messages.WARNING,
            )

    def get_urls(self) -> list[URLPattern]:
        saved_state = path(
            "<int:pk>/saved/<int:number>/",
            self.admin_site.admin_view(self.saved_state_view),
            name="incidents_incident_saved_state",
        )
        return [saved_state, *self.assist_urls(), *self.import_urls(), *self.move_urls(), *super().get_urls()]


def _was_public(incident: Incident) -> bool:
    return incident.published_at is not None


def _key(object_id: str) -> int:
    text = unquote(object_id)
    return int(text) if text.isdecimal() and len(text) < 19 else 0
