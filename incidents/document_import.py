"""Foreign documents → draft rows, for the command and the admin. Reading is in incidents.documents, and pure.

Nothing is published. What the document doesn't say stays empty; suggested terms stand in the editor's note until an
editor takes them.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.core.exceptions import ValidationError
from django.db import transaction

from incidents.documents import SUFFIXES, DocumentDraft, DocumentRefused, read_document
from incidents.documents.reading import MOST_BYTES
from incidents.documents.vocabulary import FIELDS, LIST_FIELDS
from incidents.models import DetectionMethod, Incident, Status
from incidents.vocabulary_data import taxonomy_data

_KINDS = {"causes": "원인 분류", "components": "구성 요소", "factors": "기여 요인 분류"}
_TIMES = ("started", "detected", "mitigated", "resolved")


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A file to read; `problem` says in Korean why it can't be, with what to do."""

    path: Path
    problem: str = ""

    @property
    def name(self) -> str:
        """The file's name as people see it (NFC)."""
        return unicodedata.normalize("NFC", self.path.name) or str(self.path)


def find_documents(paths: Iterable[Path]) -> list[DocumentFile]:
    """The documents that files and folders hold, in order, each once; a folder's other files aren't documents.

    What is named but can't be read comes with its problem, so that one odd file doesn't stop the others.
    """
    found: dict[Path, DocumentFile] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if _is_document(file, path))
            if not inside:
                problem = "문서가 없는 폴더입니다. Markdown, HTML, DOCX 파일이 든 폴더를 골라 주십시오."
                found.setdefault(path, DocumentFile(path, problem))
            for file in inside:
                found.setdefault(file, DocumentFile(file))
        elif path.exists():
            found.setdefault(path, DocumentFile(path))
        else:
            found.setdefault(path, DocumentFile(path, "없는 파일입니다. 이름과 자리를 확인해 주십시오."))
    return list(found.values())


def _is_document(file: Path, folder: Path) -> bool:
    hidden = any(part.startswith((".", "~$")) for part in file.relative_to(folder).parts)
    return file.suffix.lower() in SUFFIXES and not hidden and file.is_file()


def read_file(file: DocumentFile) -> tuple[DocumentDraft, str]:
    """The draft of a file and the fingerprint of its name and content. Raises DocumentRefused."""
    if file.problem:
        raise DocumentRefused(file.name, file.problem)
    try:
        with file.path.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise DocumentRefused(file.name, "파일을 열 수 없습니다. 읽기 권한을 확인해 주십시오.") from error
    return read_document(data, file.name, taxonomy_data()), fingerprint(data, file.name)


def fingerprint(data: bytes, filename: str) -> str:
    """Sixteen hexadecimal digits that tell a document, by name and content, from every other."""
    name = unicodedata.normalize("NFC", filename).encode("utf-8", "surrogateescape")
    return hashlib.sha256(name + b"\0" + data).hexdigest()[:16]


def earlier_import(mark: str) -> Incident | None:
    """The record that was made from the document with this fingerprint, if its note still says so."""
    return Incident.objects.filter(editor_note__contains=_mark_line(mark)).order_by("number").first()


def save_draft(draft: DocumentDraft, mark: str = "") -> Incident:
    """Save a draft record with everything that was read; suggestions and leftovers go to its editor's note.

    Raises DocumentRefused, with nothing saved, when a record can't hold the text.
    """
    incident = Incident(title=draft.title, year=draft.year, status=Status.DRAFT, editor_note=note_of(draft, mark))
    for name in FIELDS:
        value = getattr(draft, name)
        setattr(incident, name, list(value) if name in LIST_FIELDS else value)
    for name in _TIMES:
        moment = getattr(draft, f"{name}_at")
        if moment is not None:
            setattr(incident, f"{name}_at", moment.value)
            setattr(incident, f"{name}_precision", moment.precision)
    incident.detection_method = DetectionMethod.objects.filter(slug=draft.detection_method).first()
    try:
        incident.clean()
    except ValidationError as error:
        raise DocumentRefused(draft.filename, " ".join(error.messages)) from error
    with transaction.atomic():
        incident.save()
    return incident


def note_of(draft: DocumentDraft, mark: str = "") -> str:
    """The editor's note of an imported draft: leftovers, what is missing, what was guessed, what is suggested."""
    parts = [draft.editor_note]
    points = [f"- 확인: {remark}" for remark in draft.remarks]
    if draft.zone_flag:
        zones = sorted({moment.zone for moment in draft.times.values() if moment.zone_is_guess})
        points.append(f"- 확인: 문서에 시간대가 없어 추정했습니다({', '.join(zones)}).")
    if draft.detection_suggestion.basis:
        points.append(f"- 감지 방법(제안): {draft.detection_method} ← {draft.detection_suggestion.basis}")
    for kind, label in _KINDS.items():
        points.extend(
            f"- {label}(제안): {found.label} ({found.slug}) ← {', '.join(found.words)}"
            for found in draft.suggestions
            if found.kind == kind
        )
    if points:
        parts.append("# 확인할 것과 제안\n\n" + "\n".join(points))
    if mark:
        parts.append(_mark_line(mark))
    return "\n\n".join(parts)


def _mark_line(mark: str) -> str:
    return f"문서 지문: {mark}"
