"""check_library finds each promise that is broken, by name, and leaves editors' work as notices."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from incidents.indexing import sync_index
from incidents.lifecycle import move
from incidents.models import Check, Citation, Incident, IncidentCause, IncidentVersion, LibraryState, Status
from incidents.search import get_search_backend
from tests.factories import make_draft, make_incident


@pytest.fixture
def library(own_database: Path) -> None:
    with transaction.atomic():
        for number in range(3):
            make_incident(symptom=f"{number + 1}번 랙의 전원이 꺼졌다.")
        make_draft()
        check = Check.objects.create(
            code="KC-001", title="점검", area="분야", severity="low", risk="위험", look="확인", criterion="기준"
        )
        Citation.objects.create(check_item=check, incident=Incident.objects.get(number=1), why="까닭")
    sync_index()


def check() -> tuple[str, str]:
    """Return what the command prints, and its error ("" where it exits with 0)."""
    out = StringIO()
    try:
        call_command("check_library", stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


def test_whole_library_has_no_fault(library: None) -> None:
    printed, error = check()
    assert error == ""
    assert printed == "notice sources: 보관된 사본이 없는 출처: 3개 / 3개.\nfaults 0, notices 1\n"


def text_past_its_version() -> str:
    Incident.objects.filter(number=1).update(lesson="판을 거치지 않고 바뀐 교훈이다.")
    return "IL-0001"


def missing_version() -> str:
    IncidentVersion.objects.filter(incident__number=2).delete()
    return "IL-0002"


def missing_cause() -> str:
    IncidentCause.objects.filter(incident__number=1).delete()
    return "IL-0001"


def unreadable_as_a_file() -> str:
    Incident.objects.filter(number=3).update(symptom="## 증상\n머리글이 글 안에 있다.")
    return "IL-0003"


def citation_of_a_draft() -> str:
    Citation.objects.create(check_item=Check.objects.get(), incident=Incident.objects.get(number=4), why="까닭")
    return "KC-001"


def text_that_names_no_record() -> str:
    make_incident(symptom="IL-0001 과 같고 IL-9999에서 되풀이된 일이다.")
    return "IL-0005"


def number_to_be_given_twice() -> str:
    LibraryState.objects.update(next_number=2)
    return "numbers"


def record_missing_from_the_index() -> str:
    backend = get_search_backend()
    backend.update([], [Incident.objects.get(number=2).pk])
    return "index"


def record_of_the_future() -> str:
    Incident.objects.filter(number=1).update(revision=10_000)
    return "revision"


def row_without_its_parent() -> str:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA foreign_keys=OFF")
        cursor.execute("INSERT INTO incidents_incidentcause (position, incident_id, term_id) VALUES (0, 999, 999)")
    return "database"


@pytest.mark.parametrize(
    "damage",
    [
        text_past_its_version, missing_version, missing_cause, unreadable_as_a_file, citation_of_a_draft,
        text_that_names_no_record, number_to_be_given_twice, record_missing_from_the_index, record_of_the_future,
        row_without_its_parent,
    ],
)  # fmt: skip
def test_each_fault_is_named(library: None, damage: Callable[[], str]) -> None:
    name = damage()
    printed, error = check()
    assert f"fault  {name}: " in printed
    assert name in error


def test_citation_of_a_withdrawn_record_is_a_notice(library: None) -> None:
    move(Incident.objects.get(number=1), Status.WITHDRAWN, author=None, reason="시험")
    printed, error = check()
    assert error == ""
    assert "notice KC-001: 철회된 기록을 인용합니다: IL-0001." in printed


def test_index_that_is_only_behind_catches_up(library: None) -> None:
    make_incident(symptom="색인이 아직 모르는 기록이다.")
    assert check()[1] == ""
    assert get_search_backend().revision() == LibraryState.objects.current_revision()
