"""import_document as its user runs it: drafts, one result a document, and nothing in public."""

from __future__ import annotations

import shutil
import unicodedata
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.http import QueryDict
from django.test import Client

from incidents.importing import import_library
from incidents.listing import build_listing
from incidents.models import Incident, IncidentVersion, LibraryState, Status
from tests.conftest import FIXTURES
from tests.unit.document_samples import DOCUMENTS, GIVEN, korean_form

pytestmark = pytest.mark.django_db


@pytest.fixture
def vocabulary() -> None:
    import_library(FIXTURES / "taxonomy.yaml")


def run(*paths: Path, **options: bool) -> tuple[str, str, str]:
    """Standard output, standard error and the refusal (empty for exit 0) of one run."""
    out, err = StringIO(), StringIO()
    try:
        call_command("import_document", *paths, stdout=out, stderr=err, **options)
    except CommandError as error:
        return out.getvalue(), err.getvalue(), str(error)
    return out.getvalue(), err.getvalue(), ""


@pytest.mark.usefixtures("vocabulary")
def test_folder_becomes_drafts_each_with_its_own_report() -> None:
    out, err, refusal = run(GIVEN)
    assert (err, refusal) == ("", "")
    drafts = {incident.title: incident for incident in Incident.objects.all()}
    assert set(drafts) == {
        "Checkout queue stalled behind a full disk",
        "Ingress answers 404 for some hosts",
        "좌석 예매 화면 멈춤",
        "야간 배치가 두 번 돌아 정산이 겹쳤던 일",
        "Search returned nothing for 3 hours",
    }
    assert {incident.status for incident in drafts.values()} == {Status.DRAFT}
    assert out.rstrip().endswith("created 5, already imported 0, refused 0")
    assert "  문서에 없는 항목: 촉발, 원인, 조치\n" in out
    seats = drafts["좌석 예매 화면 멈춤"]
    assert seats.time_text("started") == "2023-11-14T15:05:00Z"
    assert seats.time_text("resolved") == "2023-11-14T17:20:00Z"
    assert (seats.year, seats.organization) == (2023, None)
    assert len(seats.actions) == 2
    assert seats.detection_method is not None
    assert seats.detection_method.slug == "alert"
    assert "2등급" in seats.editor_note
    assert not seats.causes.exists()


@pytest.mark.usefixtures("vocabulary")
def test_drafts_are_nowhere_in_public(client: Client) -> None:
    revision = LibraryState.objects.current_revision()
    run(GIVEN)
    incident = Incident.objects.get(title="좌석 예매 화면 멈춤")
    assert build_listing(QueryDict("")).count == 0
    assert not IncidentVersion.objects.exists()
    assert LibraryState.objects.current_revision() == revision
    assert client.get(incident.get_absolute_url()).status_code == 404
    assert client.get(f"/api/v1/incidents/{incident.public_id}/").status_code == 404


def test_odd_files_are_refused_by_name_and_the_others_are_taken(tmp_path: Path) -> None:
    good = tmp_path / "02 good.md"
    shutil.copy(GIVEN / "01-sre-book.md", good)
    korean = (GIVEN / "05-korean-report-table.md").read_text(encoding="utf-8").replace("—", "-")
    odd = tmp_path / "01 cp949.md"
    odd.write_bytes(korean.encode("cp949"))
    form = tmp_path / "03 form.docx"
    form.write_bytes(korean_form())
    broken = tmp_path / "04 broken.docx"
    broken.write_bytes(korean_form()[:2000])

    out, err, refusal = run(tmp_path, tmp_path / "none.md")

    assert err.splitlines() == [
        "01 cp949.md: 1번째 줄부터 UTF-8 이 아닙니다(CP949, EUC-KR 로 보입니다). "
        "편집기에서 UTF-8 로 다시 저장해 주십시오.",
        "04 broken.docx: DOCX 문서가 아니거나 손상되었습니다. Word 에서 열어 .docx 로 다시 저장해 주십시오.",
        "none.md: 없는 파일입니다. 이름과 자리를 확인해 주십시오.",
    ]
    assert refusal == "읽지 못한 문서가 3개 있습니다. 나머지는 위와 같이 처리했습니다."
    assert sorted(Incident.objects.values_list("title", flat=True)) == [
        "Checkout queue stalled behind a full disk",
        "배송 조회가 여섯 시간 멈춤",
    ]
    assert "created 2, already imported 0, refused 3" in out


def test_second_run_makes_no_second_draft_unless_asked(tmp_path: Path) -> None:
    shutil.copy(GIVEN / "01-sre-book.md", tmp_path)
    run(tmp_path)
    first = Incident.objects.get()
    out, _, refusal = run(tmp_path)
    assert refusal == ""
    assert f"01-sre-book.md: 이미 가져온 문서입니다: {first.public_id} (다시 만들려면 --again)" in out
    assert Incident.objects.count() == 1
    run(tmp_path, again=True)
    assert Incident.objects.count() == 2


def test_dry_run_reports_and_saves_nothing() -> None:
    number = LibraryState.objects.current_revision()
    out, _, refusal = run(DOCUMENTS / "atlassian.md", dry_run=True)
    assert refusal == ""
    assert "atlassian.md: 초안이 될 문서(저장하지 않음)" in out
    assert "  Leadup → 촉발" in out
    assert "would create 1, already imported 0, refused 0" in out
    assert not Incident.objects.exists()
    assert LibraryState.objects.current_revision() == number


def test_guessed_zone_and_suggestions_stand_in_the_note(vocabulary: None) -> None:
    out, _, _ = run(DOCUMENTS / "bilingual-two-languages.md")
    incident = Incident.objects.get()
    assert "시작: 2023-07-21T04:22Z (시간대 추정: KST. 확인해 주십시오)" in out
    assert "- 확인: 문서에 시간대가 없어 추정했습니다(KST)." in incident.editor_note
    assert "- 원인 분류(제안): 인증서·키 만료 (certificate-expiry) ← 인증서" in incident.editor_note


def test_name_in_nfd_is_shown_and_kept_in_nfc(tmp_path: Path) -> None:
    file = tmp_path / unicodedata.normalize("NFD", "장애회고.md")
    shutil.copy(GIVEN / "07-korean-retro-nfd-bom.md", file)
    out, _, _ = run(file)
    assert out.startswith("장애회고.md: 초안 IL-")
    assert Incident.objects.get().editor_note.startswith("가져온 문서: 장애회고.md")


def test_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "expected.yaml").write_text("docs: []")
    _, err, refusal = run(tmp_path / "notes")
    assert err == "notes: 문서가 없는 폴더입니다. Markdown, HTML, DOCX 파일이 든 폴더를 골라 주십시오.\n"
    assert refusal == "읽지 못한 문서가 1개 있습니다. 나머지는 위와 같이 처리했습니다."
