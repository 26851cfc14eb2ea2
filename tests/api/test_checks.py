"""Checks: each shows its incidents, each of which shows the check; and where they don't meet."""

from __future__ import annotations

import re

import pytest

from incidents.checks import check_matrix, parse_check_code
from incidents.checks_file import parse_checks
from incidents.models import Check, CheckComponent, Citation, Component, Status
from tests.factories import make_incident, make_term


def make_check(code: str, *incidents, component: str = "etcd"):
    check = Check.objects.create(
        code=code,
        title=f"{code} 를 본다",
        area="저장소",
        severity="high",
        risk="찬다",
        look="- `df -h`",
        criterion="남는다",
    )
    CheckComponent.objects.create(check_item=check, term=make_term(Component, component))
    for place, incident in enumerate(incidents):
        Citation.objects.create(check_item=check, incident=incident, why=f"까닭 {place + 1}", position=place)
    return check


def test_every_bundled_check_and_its_incidents_show_each_other(client, bundled, get):
    expected = {
        check.code: [(one.id, one.why) for one in check.incidents]
        for check in parse_checks((bundled / "checks.yaml").read_bytes(), "checks.yaml")
    }
    listed = get("checks/")
    assert listed["count"] == len(expected)
    assert {
        check["code"]: [(one["id"], one["why"]) for one in check["incidents"]] for check in listed["results"]
    } == expected
    by_record: dict[str, list[tuple[str, str]]] = {}
    for code, incidents in expected.items():
        for public_id, why in incidents:
            by_record.setdefault(public_id, []).append((code, why))
    for public_id, citing in by_record.items():
        record = get(f"incidents/{public_id}/")
        assert [(one["code"], one["why"]) for one in record["cited_by"]] == sorted(citing)
        assert record["checks"] == sorted(code for code, _ in citing)
    for code in ("KC-001", "KC-012", max(expected)):
        page = client.get(f"/checks/{code}/").content.decode()
        shown = set(re.findall(r'class="citation__pin" href="/incidents/(IL-\d+)/"', page))
        assert shown == {public_id for public_id, _ in expected[code]}
        for public_id, _ in expected[code]:
            assert f"/checks/{code}/" in client.get(f"/incidents/{public_id}/").content.decode()


@pytest.mark.django_db
def test_a_check_answers_to_its_code_in_any_form(client):
    make_check("KC-012", make_incident())
    assert [parse_check_code(text) for text in ("kc-12", "KC012", "KC-0012", "12", "KC-")] == [
        "KC-012", "KC-012", "KC-012", None, None,
    ]  # fmt: skip
    assert client.get("/api/v1/checks/kc-12/").json()["code"] == "KC-012"
    assert client.get("/checks/kc-12/").headers["Location"] == "/checks/KC-012/"
    assert client.get("/checks/KC-999/").status_code == 404


@pytest.mark.django_db
def test_a_withdrawn_reason_is_shown_as_such_and_counts_no_more(client, get):
    incident, gone = make_incident(), make_incident(status=Status.WITHDRAWN, reason="틀렸다")
    make_check("KC-001", incident, gone)
    check = get("checks/KC-001/")
    assert check["incident_count"] == 1
    assert [(one["id"], one["status"]) for one in check["incidents"]] == [
        (incident.public_id, "published"), (gone.public_id, "withdrawn"),
    ]  # fmt: skip
    assert "철회된 기록입니다" in client.get("/checks/KC-001/").content.decode()


@pytest.mark.django_db
def test_the_matrix_shows_both_kinds_of_gap(client):
    incidents = [make_incident(components=["dns"]) for _ in range(5)]
    cited = make_incident(components=["etcd"])
    make_check("KC-001", cited, incidents[0], component="etcd")
    make_check("KC-002", component="job-queue")
    matrix = check_matrix()
    assert [check.code for check in matrix.checks_without_incident] == ["KC-002"]
    assert [(one.component.slug, one.incidents) for one in matrix.components_without_check] == [("dns", 5)]
    cells = {
        (row.check.code, column.component.slug): (cell.is_checked, cell.incidents)
        for row in matrix.rows
        for column, cell in zip(matrix.columns, row.cells, strict=True)
    }
    assert cells == {
        ("KC-001", "etcd"): (True, 1), ("KC-001", "job-queue"): (False, 0),
        ("KC-002", "etcd"): (False, 0), ("KC-002", "job-queue"): (True, 0),
    }  # fmt: skip
    page = client.get("/checks/table/").content.decode()
    (link,) = re.findall(r'href="/incidents/\?(check=KC-001&amp;component=etcd)"[^>]*>(\d+)<', page)
    assert client.get(f"/api/v1/incidents/?{link[0].replace('&amp;', '&')}").json()["count"] == int(link[1]) == 1


@pytest.mark.django_db
def test_pages_and_json_of_checks_cost_the_same_for_one_and_for_three(client, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    for number in (1, 2, 3):
        make_check(f"KC-00{number}", make_incident(), make_incident())
        for path in ("/api/v1/checks/", "/checks/KC-001/"):
            with CaptureQueriesContext(connection) as captured:
                client.get(path)
            counts.append((path, len(captured)))
    assert len({count for path, count in counts if path.startswith("/api")}) == 1
