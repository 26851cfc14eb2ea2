"""Bringing in documents and files of our own through the admin: look first, then take, all or nothing."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from incidents.lifecycle import move
from incidents.models import Cause, Incident
from incidents.record_data import record_text
from incidents.roles import EDITOR
from tests.admin.forms import form_values
from tests.conftest import PASSWORD
from tests.factories import make_draft, make_incident, make_term

pytestmark = pytest.mark.django_db

DOCUMENTS = "/admin/incidents/incident/import-documents/"
RECORDS = "/admin/incidents/incident/import-records/"
POST_MORTEM = """# 결제 장애 회고

## 요약
결제가 20분 동안 멈췄다.

## 근본 원인
DNS 레코드를 잘못 지웠다.

## 조치 사항
- 레코드를 되살렸다.

## 교훈
지우기 전에 한 사람이 더 본다.

## 회식 장소
근처 국밥집
"""


@pytest.fixture
def desk(client: Client, superuser: User) -> Client:
    client.force_login(superuser)
    return client


def upload(name: str, content: str | bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def as_zip(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def test_a_document_is_shown_before_it_becomes_a_draft(desk: Client) -> None:
    make_term(Cause, "dns-error", aliases=["DNS"])
    shown = desk.post(DOCUMENTS, {"uploads": [upload("회고.md", POST_MORTEM), upload("그림.png", b"\x89PNG")]})
    text = shown.content.decode()
    assert "근본 원인" in text
    assert "그림.png" in text
    assert Incident.objects.count() == 0

    values = {**form_values(shown, "confirm-form"), "terms-0": ["causes:dns-error", "causes:nonsense"]}
    answer = desk.post(DOCUMENTS, values)
    draft = Incident.objects.get()
    assert answer["Location"] == f"/admin/incidents/incident/{draft.pk}/change/"
    assert (draft.status, draft.cause) == ("draft", "DNS 레코드를 잘못 지웠다.")
    assert "근처 국밥집" in draft.editor_note
    assert [tag.term.slug for tag in draft.cause_tags.all()] == ["dns-error"]
    assert list((Path(settings.DATA_DIR) / "uploads").iterdir()) == []

    again = desk.post(DOCUMENTS, {"uploads": [upload("회고.md", POST_MORTEM)]})
    assert "이미 가져온 문서입니다" in again.content.decode()
    desk.post(DOCUMENTS, form_values(again, "confirm-form"))
    assert Incident.objects.count() == 1


def test_an_upload_is_confirmed_by_who_made_it_alone(desk: Client) -> None:
    shown = desk.post(DOCUMENTS, {"uploads": [upload("회고.md", POST_MORTEM)]})
    other = Client()
    other.force_login(User.objects.create_superuser("other", password=PASSWORD))
    for name in (form_values(shown, "confirm-form")["upload"], "../etc", "", "1-../../x"):
        assert other.post(DOCUMENTS, {"upload": name, "take-0": "yes"}).status_code == 400
    assert Incident.objects.count() == 0


def test_own_files_are_tried_first_and_then_taken(desk: Client) -> None:
    incident, other = make_incident(), make_incident()
    changed = record_text(Incident.objects.get(pk=incident.pk)).replace("로그와 데이터는", "로그와 자료는")
    archive = as_zip(
        **{
            "library/incidents/IL-0001.md": changed,
            "library/incidents/IL-0002.md": record_text(other),
            "README.md": "가",
        }
    )
    shown = desk.post(RECORDS, {"uploads": [upload("library.zip", archive)]})
    assert "새로 0건, 바뀜 1건, 그대로 1건" in shown.content.decode()
    assert Incident.objects.get(pk=incident.pk).version == 1
    assert desk.post(RECORDS, form_values(shown, "confirm-form")).status_code == 302
    saved = Incident.objects.get(pk=incident.pk)
    assert (saved.version, saved.lesson.startswith("로그와 자료는")) == (2, True)
    assert saved.versions.get(number=2).author.username == "admin"  # type: ignore[union-attr]


def test_faults_are_named_by_file_and_line_and_nothing_is_taken(desk: Client) -> None:
    good = record_text(make_incident())
    bad = good.replace("IL-0001", "IL-0002").replace("## 원인", "## 근본 원인")
    shown = desk.post(RECORDS, {"uploads": [upload("IL-0001.md", good), upload("IL-0002.md", bad)]})
    assert "incidents/IL-0002.md:" in shown.content.decode()
    assert Incident.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("library.zip", b"PK nonsense", "열 수 없는 ZIP 파일입니다"),
        ("notes.txt", b"x", "기록이 아닌 파일입니다"),
        ("evil.zip", as_zip(**{"../../x.sh": "x"}), "기록이 아닌 파일입니다: x.sh"),
        ("empty.zip", as_zip(), "읽을 것이 없습니다"),
    ],
)
def test_what_is_no_library_is_refused(desk: Client, name: str, content: bytes, words: str) -> None:
    shown = desk.post(RECORDS, {"uploads": [upload(name, content)]})
    assert shown.status_code == 200
    assert words in shown.content.decode()


def test_a_large_change_asks_for_leave(desk: Client) -> None:
    records = [make_incident() for _ in range(22)]
    files = {
        f"incidents/{one.public_id}.md": record_text(Incident.objects.get(pk=one.pk)).replace("볼륨", "디스크")
        for one in records
    }
    shown = desk.post(RECORDS, {"uploads": [upload("library.zip", as_zip(**files))]})
    assert "게시된 기록 22건 가운데 22건을" in shown.content.decode()
    values = form_values(shown, "confirm-form")
    assert "게시된 기록 22건 가운데 22건을" in desk.post(RECORDS, values).content.decode()
    assert Incident.objects.filter(version=2).count() == 0
    assert desk.post(RECORDS, {**values, "allow_large_change": "yes"}).status_code == 302
    assert Incident.objects.filter(version=2).count() == 22


def test_an_illegal_change_of_state_in_a_file_is_refused(desk: Client, superuser: User) -> None:
    incident = make_incident()
    text = record_text(Incident.objects.get(pk=incident.pk)).replace(
        "detection_method:", "status: draft\ndetection_method:", 1
    )
    text = text.replace("status: draft\ndetection_method: job-failure", "detection_method: job-failure\nstatus: draft")
    shown = desk.post(RECORDS, {"uploads": [upload("IL-0001.md", text)]})
    assert "IL-0001.md" in shown.content.decode()
    assert Incident.objects.get().status == "published"
    move(incident, "withdrawn", author=superuser, reason="시험")


def test_files_of_our_own_are_for_reviewers_and_documents_for_editors(client: Client) -> None:
    editor = User.objects.create_user("editor", password=PASSWORD, is_staff=True)
    editor.groups.add(Group.objects.get(name=EDITOR))
    client.force_login(editor)
    make_draft()
    assert client.get(RECORDS).status_code == 403
    assert client.get(DOCUMENTS).status_code == 200
    page = client.get("/admin/incidents/incident/").content.decode()
    assert "문서에서 초안 만들기" in page
    assert "기록 파일 가져오기" not in page
