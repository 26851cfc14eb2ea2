"""import_library and export_library as their user runs them."""

from __future__ import annotations

import filecmp
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.http import QueryDict

from incidents.listing import build_listing
from incidents.models import Check, Incident, IncidentVersion, LibraryState, Status
from tests.conftest import FIXTURES

BASE = """\
---
id: IL-9001
title: 시험용 배치 서버의 디스크가 가득 차 야간 정산 작업이 두 시간 멈췄다
organization: 누리상회
year: 2024
started_at: 2024-03-02T15:10:00Z
resolved_at: 2024-03-02T17:10:00Z
causes: [capacity-exhaustion]
components: [job-queue]
factors: [monitoring-gap]
detection_method: job-failure
sources:
  - title: 야간 정산 지연 안내
    url: https://status.example.org/posts/1
    publisher: 누리상회
    published: 2024-03-04
---

## 증상
야간 정산 작업이 두 시간 멈췄고 가맹점 화면에는 전날 금액이 남아 있었다.

## 원인
작업 로그가 데이터와 같은 볼륨에 쌓였다. 볼륨이 차자 작업이 중간 파일을 쓰지 못하고 기다렸다.

## 조치
- 오래된 로그를 지우고 작업을 처음부터 다시 돌렸다.

## 교훈
로그와 데이터는 볼륨을 나누고, 남은 공간에는 경보를 건다.
"""


class Folder:
    """A library folder that a test fills."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "incidents").mkdir(parents=True)
        shutil.copy(FIXTURES / "taxonomy.yaml", root)

    def put(self, number: int, *changes: tuple[str, str], text: str = BASE) -> None:
        text = text.replace("IL-9001", f"IL-{number:04d}", 1)
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        self.file(number).write_text(text, encoding="utf-8")

    def file(self, number: int) -> Path:
        return self.root / "incidents" / f"IL-{number:04d}.md"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "given")


def run(*args: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(*args, stdout=out, stderr=err)
    return out.getvalue().strip(), err.getvalue().strip()


def test_the_bundled_library_comes_out_byte_for_byte(bundled: Path, tmp_path: Path) -> None:
    run("export_library", str(tmp_path / "out"))
    names = [str(file.relative_to(FIXTURES)) for file in FIXTURES.rglob("*") if file.is_file()]
    _, different, missing = filecmp.cmpfiles(FIXTURES, tmp_path / "out", names, shallow=False)
    assert (different, missing) == ([], [])
    assert sorted(names) == sorted(
        str(f.relative_to(tmp_path / "out")) for f in (tmp_path / "out").rglob("*") if f.is_file()
    )


def test_the_bundled_library_imported_again_changes_nothing(bundled: Path) -> None:
    revision = LibraryState.objects.current_revision()
    out, _ = run("import_library", str(FIXTURES))
    total = len(list((FIXTURES / "incidents").glob("*.md")))
    assert out == f"created 0, changed 0, unchanged {total}, failed 0"
    assert LibraryState.objects.current_revision() == revision


@pytest.mark.django_db
class TestImport:
    def test_a_dry_run_counts_and_writes_nothing(self, folder: Folder) -> None:
        for number in (9001, 9002, 9003):
            folder.put(number)
        out, _ = run("import_library", str(folder.root), "--dry-run")
        assert out == "created 3, changed 0, unchanged 0, failed 0"
        assert (Incident.objects.count(), LibraryState.objects.current_revision()) == (0, 0)
        assert run("import_library", str(folder.root))[0] == out
        assert build_listing(QueryDict("q=정산")).count == 3

    def test_one_fault_keeps_everything_out(self, folder: Folder) -> None:
        folder.put(9001)
        folder.put(9002, ("[capacity-exhaustion]", "[nope]"))
        err = StringIO()
        with pytest.raises(CommandError, match="아무것도 가져오지 않았습니다"):
            call_command("import_library", str(folder.root), stdout=StringIO(), stderr=err)
        assert err.getvalue().startswith("incidents/IL-9002.md:8: ")
        assert Incident.objects.count() == 0

    def test_again_changes_nothing_and_keeps_the_version(self, folder: Folder) -> None:
        folder.put(9001)
        run("import_library", str(folder.root))
        before = Incident.objects.values("version", "updated_at", "revision").get()
        assert run("import_library", str(folder.root))[0] == "created 0, changed 0, unchanged 1, failed 0"
        assert Incident.objects.values("version", "updated_at", "revision").get() == before

    def test_a_changed_file_makes_a_new_version(self, folder: Folder) -> None:
        folder.put(9001)
        run("import_library", str(folder.root))
        folder.put(9001, ("두 시간 멈췄고", "세 시간 멈췄고"), ("[monitoring-gap]", "[retry-storm, monitoring-gap]"))
        assert run("import_library", str(folder.root))[0] == "created 0, changed 1, unchanged 0, failed 0"
        incident = Incident.objects.get()
        assert incident.version == 2
        assert list(IncidentVersion.objects.values_list("number", flat=True)) == [1, 2]
        assert [tag.term.slug for tag in incident.factor_tags.all()] == ["retry-storm", "monitoring-gap"]
        assert build_listing(QueryDict("factor=retry-storm&q=세 시간")).count == 1

    def test_draft_withdrawn_and_merged_records_come_as_they_went(self, folder: Folder, tmp_path: Path) -> None:
        folder.put(9001)
        folder.put(9002, ("detection_method: job-failure\n", "detection_method: job-failure\nstatus: draft\n"))
        folder.put(
            9003,
            ("detection_method: job-failure\n", "detection_method: job-failure\nstatus: withdrawn\nstatus_at: 2026-01-02\nstatus_reason: 출처가 글을 거둠\n"),
        )  # fmt: skip
        folder.put(
            9004,
            ("detection_method: job-failure\n", "detection_method: job-failure\nstatus: merged\nstatus_at: 2026-01-02\nstatus_reason: 같은 사고\nmerged_into: IL-9001\n"),
        )  # fmt: skip
        run("import_library", str(folder.root))
        assert dict(Incident.objects.values_list("number", "status")) == {
            9001: Status.PUBLISHED, 9002: Status.DRAFT, 9003: Status.WITHDRAWN, 9004: Status.MERGED,
        }  # fmt: skip
        run("export_library", str(tmp_path / "out"), "--with-drafts")
        _, different, missing = filecmp.cmpfiles(
            folder.root / "incidents",
            tmp_path / "out" / "incidents",
            [f"IL-{n}.md" for n in range(9001, 9005)],
            shallow=False,
        )
        assert (different, missing) == ([], [])
        assert build_listing(QueryDict("")).count == 1

    def test_new_numbers_follow_the_imported_ones(self, folder: Folder) -> None:
        folder.put(9001)
        run("import_library", str(folder.root))
        draft = Incident.objects.create(title="새 초안")
        assert draft.public_id == "IL-9002"

    def test_a_published_record_does_not_become_a_draft_again(self, folder: Folder) -> None:
        folder.put(9001)
        run("import_library", str(folder.root))
        folder.put(9001, ("detection_method: job-failure\n", "detection_method: job-failure\nstatus: draft\n"))
        with pytest.raises(CommandError):
            run("import_library", str(folder.root))
        assert Incident.objects.get().status == Status.PUBLISHED

    def test_overwriting_much_of_the_library_asks_for_the_flag(self, folder: Folder) -> None:
        for number in range(9001, 9031):
            folder.put(number)
        run("import_library", str(folder.root))
        for number in range(9001, 9031):
            folder.put(number, ("두 시간 멈췄고", "세 시간 멈췄고"))
        with pytest.raises(CommandError, match="--allow-large-change"):
            run("import_library", str(folder.root))
        assert set(Incident.objects.values_list("version", flat=True)) == {1}
        assert (
            run("import_library", str(folder.root), "--allow-large-change")[0]
            == "created 0, changed 30, unchanged 0, failed 0"
        )

    def test_checks_come_with_their_citations_in_order(self, folder: Folder) -> None:
        folder.put(9001)
        (folder.root / "checks.yaml").write_text(
            "checks:\n"
            "- code: KC-001\n  title: 남은 디스크 공간에 경보가 걸려 있다고 할 수 있다\n  area: 저장소\n"
            "  components: [job-queue]\n  factors: [monitoring-gap]\n  severity: high\n"
            "  risk: 볼륨이 차면 작업이 멈춘다.\n  look: |-\n    - `df -h` 를 본다.\n  pass: 남은 공간이 20% 를 넘는다.\n"
            "  incidents:\n  - {id: IL-9001, why: 로그가 볼륨을 채웠다.}\n",
            encoding="utf-8",
        )
        run("import_library", str(folder.root))
        check = Check.objects.get()
        assert [(c.incident.public_id, c.why) for c in check.citations.all()] == [("IL-9001", "로그가 볼륨을 채웠다.")]
        assert build_listing(QueryDict("check=KC-001")).count == 1

    @pytest.mark.parametrize(("encoding", "line"), [("cp949", 3), ("utf-16", 1)])
    def test_a_file_in_another_encoding_is_refused_by_name(self, folder: Folder, encoding: str, line: int) -> None:
        folder.put(9002)
        folder.file(9001).write_bytes(BASE.encode(encoding, "replace"))
        err = StringIO()
        with pytest.raises(CommandError):
            call_command("import_library", str(folder.root), stdout=StringIO(), stderr=err)
        assert err.getvalue().startswith(f"incidents/IL-9001.md:{line}: ")
        assert "UTF-8" in err.getvalue()
        assert Incident.objects.count() == 0
