"""Bringing in what exists: foreign documents with a preview of their mapping, our own files with a dry run."""

from __future__ import annotations

import io
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from incidents.admin.generic import AnyModelAdmin
from incidents.admin.people import person_of
from incidents.document_import import DocumentFile, earlier_import, read_file, save_draft
from incidents.documents import DocumentDraft, DocumentRefused
from incidents.errors import UserError
from incidents.faults import RecordError
from incidents.importing import ImportReport, import_library
from incidents.library_files import RECORDS_FOLDER
from incidents.library_zip import lay_out, plain_name, zip_entries
from incidents.models import (
    Cause,
    Component,
    Factor,
    Incident,
    IncidentCause,
    IncidentComponent,
    IncidentFactor,
)

MAX_FILES: Final = 2_000
MAX_BYTES: Final = 64 * 1024 * 1024  # unpacked: twenty times the bundled library
KEPT_SECONDS: Final = 24 * 3600  # uploads that nobody confirmed
SHOWN_FAULTS: Final = 200
_TERMS: Final[dict[str, tuple[Any, Any, int]]] = {
    "causes": (IncidentCause, Cause, 3),
    "components": (IncidentComponent, Component, 5),
    "factors": (IncidentFactor, Factor, 6),
}


class ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Any number of files at once."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", ManyFilesInput())
        super().__init__(**kwargs)

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Return the list of files."""
        files = data if isinstance(data, (list, tuple)) else [data]
        return [super(ManyFilesField, self).clean(file, initial) for file in files]


class UploadForm(forms.Form):
    uploads = ManyFilesField(label="파일")


@dataclass(frozen=True)
class ReadDocument:
    """A document on the preview: what it would become, or why it can't be read."""

    name: str
    number: int
    draft: DocumentDraft | None = None
    known: Incident | None = None
    problem: str = ""


class ImportsMixin(AnyModelAdmin):
    """Two ways in, each in two steps: look first, then take."""

    def import_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        return [
            path("import-documents/", wrap(self.import_documents_view), name="incidents_incident_import_documents"),
            path("import-records/", wrap(self.import_records_view), name="incidents_incident_import_records"),
        ]

    def import_documents_view(self, request: HttpRequest) -> HttpResponse:
        """Show what documents become; then save those that were confirmed, with the terms that were confirmed."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = UploadForm()
        documents: list[ReadDocument] = []
        folder: Path | None = None
        if request.method == "POST" and "upload" in request.POST:
            folder = _kept_upload(request)
            return self._save_documents(request, folder)
        if request.method == "POST":
            form = UploadForm(request.POST, request.FILES)
            if form.is_valid():
                folder = _new_folder(request)
                for number, file in enumerate(form.cleaned_data["uploads"]):
                    place = folder / str(number)
                    place.mkdir()
                    _write(place / plain_name(file.name), file)
                documents = _read_documents(folder)
        return self._import_page(
            request,
            "문서에서 초안 만들기",
            "admin/incidents/incident/import_documents.html",
            {"form": form, "documents": documents, "upload": folder.name if folder else ""},
        )

    def _save_documents(self, request: HttpRequest, folder: Path) -> HttpResponse:
        saved = []
        for document in _read_documents(folder):
            if document.draft is None or f"take-{document.number}" not in request.POST:
                continue
            file = next((folder / str(document.number)).iterdir())
            draft, mark = read_file(DocumentFile(file))
            with transaction.atomic():
                incident = save_draft(draft, mark)
                _give_terms(incident, request.POST.getlist(f"terms-{document.number}"))
                self.log_addition(request, incident, f"문서에서 가져옴: {document.name}")
            saved.append(incident)
        shutil.rmtree(folder, ignore_errors=True)
        if not saved:
            self.message_user(request, "가져온 문서가 없습니다.", messages.WARNING)
        else:
            names = ", ".join(incident.public_id for incident in saved)
            self.message_user(request, f"초안 {len(saved)}건을 만들었습니다: {names}. 게시된 것은 없습니다.")
        if len(saved) == 1:
            return HttpResponseRedirect(reverse("admin:incidents_incident_change", args=[saved[0].pk]))
        return HttpResponseRedirect(reverse("admin:incidents_incident_changelist") + "?status__exact=draft")

    def import_records_view(self, request: HttpRequest) -> HttpResponse:
        """Show what files of our own format would change; then take them, all or nothing."""
        if not self.has_publish_permission(request):  # type: ignore[attr-defined]
            raise PermissionDenied
        context: dict[str, Any] = {"form": UploadForm()}
        if request.method == "POST":
            is_confirmed = "upload" in request.POST
            form = UploadForm(request.POST, request.FILES)
            try:
                if is_confirmed:
                    folder = _kept_upload(request)
                elif form.is_valid():
                    folder = _new_folder(request)
                    unpack(form.cleaned_data["uploads"], folder)
                else:
                    return self._import_page(request, *_RECORDS_PAGE, {"form": form})
                is_large = request.POST.get("allow_large_change") == "yes"
                if is_confirmed:
                    report = import_library(folder, allow_large_change=is_large, author=person_of(request))
                    shutil.rmtree(folder, ignore_errors=True)
                    self.message_user(request, f"가져왔습니다: {_summary(report)}.")
                    return HttpResponseRedirect(reverse("admin:incidents_incident_changelist"))
                context |= {
                    "report": import_library(folder, dry_run=True, allow_large_change=True),
                    "upload": folder.name,
                }
                context["summary"] = _summary(context["report"])
                context["large"] = _large_problem(folder)
            except RecordError as error:
                context |= {"faults": error.faults[:SHOWN_FAULTS], "fault_count": len(error.faults)}
            except UserError as error:
                context |= {"problem": error.message}
        return self._import_page(request, *_RECORDS_PAGE, context)

    def _import_page(self, request: HttpRequest, title: str, template: str, context: dict[str, Any]) -> HttpResponse:
        return TemplateResponse(
            request,
            template,
            {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": title,
                "media": self.media,
                **context,
            },
        )


_RECORDS_PAGE: Final = ("기록 파일 가져오기", "admin/incidents/incident/import_records.html")


def unpack(files: Sequence[UploadedFile[bytes]], folder: Path) -> None:
    """Lay out uploaded files as a library folder: records, `taxonomy.yaml`, `checks.yaml`, alone or in ZIP archives.

    Raises UserError for what is too much, is no ZIP archive, or has a name that no library has.
    """
    (folder / RECORDS_FOLDER).mkdir(parents=True, exist_ok=True)
    count = size = 0
    for file in files:
        if str(file.name).lower().endswith(".zip"):
            entries = zip_entries(io.BytesIO(file.read()), str(file.name), most=MAX_FILES, most_bytes=MAX_BYTES)
        else:
            entries = iter([(str(file.name), file.read())])
        for name, content in entries:
            count, size = count + 1, size + len(content)
            if count > MAX_FILES or size > MAX_BYTES:
                raise UserError("파일이 너무 많거나 큽니다. 명령 import_library 로 가져오십시오.")
            lay_out(folder, name, content)


def _uploads() -> Path:
    return Path(settings.DATA_DIR) / "uploads"


def _new_folder(request: HttpRequest) -> Path:
    """Return a new folder for this person's upload, clearing away what nobody confirmed in a day."""
    uploads = _uploads()
    uploads.mkdir(parents=True, exist_ok=True)
    for old in uploads.iterdir():
        if old.stat().st_mtime < time() - KEPT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    folder = uploads / f"{person_of(request).pk}-{secrets.token_hex(12)}"
    folder.mkdir(mode=0o700)
    return folder


def _kept_upload(request: HttpRequest) -> Path:
    """Return the folder that this person uploaded before. Raises UserError where it is gone or someone else's."""
    name = request.POST.get("upload", "")
    folder = _uploads() / name
    if not name.startswith(f"{person_of(request).pk}-") or not name.replace("-", "").isalnum() or not folder.is_dir():
        raise UserError("올린 파일이 남아 있지 않습니다. 다시 올려 주십시오.")
    return folder


def _write(place: Path, file: UploadedFile[bytes]) -> None:
    with place.open("wb") as target:
        for chunk in file.chunks():
            target.write(chunk)


def _read_documents(folder: Path) -> list[ReadDocument]:
    documents = []
    for place in sorted(folder.iterdir(), key=lambda one: int(one.name)):
        file = next(place.iterdir())
        number = int(place.name)
        try:
            draft, mark = read_file(DocumentFile(file))
        except DocumentRefused as refusal:
            documents.append(ReadDocument(file.name, number, problem=str(refusal)))
        else:
            documents.append(ReadDocument(file.name, number, draft, earlier_import(mark)))
    return documents


def _give_terms(incident: Incident, chosen: Sequence[str]) -> None:
    """Give a draft the suggested terms that the editor confirmed, in their order, as many as a record may have."""
    for kind, (through, model, most) in _TERMS.items():
        slugs = [text.partition(":")[2] for text in chosen if text.partition(":")[0] == kind][:most]
        by_slug = {term.slug: term for term in model._default_manager.filter(slug__in=slugs)}
        for position, slug in enumerate(dict.fromkeys(slugs), start=1):
            if slug in by_slug:
                through._default_manager.create(incident=incident, term=by_slug[slug], position=position)


def _large_problem(folder: Path) -> str:
    """Return what an import without leave for a large change says; empty where none is needed."""
    try:
        import_library(folder, dry_run=True)
    except UserError as error:
        return error.message.partition(" 폴더가")[0]
    return ""


def _summary(report: ImportReport) -> str:
    words = (
        f"새로 {len(report.created)}건",
        f"바뀜 {len(report.changed)}건",
        f"그대로 {report.unchanged}건",
        f"어휘 {report.terms_changed}개",
        f"점검 {report.checks_changed}개",
    )
    return ", ".join(words)
