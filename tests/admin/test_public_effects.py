"""What the admin saves, readers get at once and everywhere: pages, search, counts, feeds, exports, citations, files."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from incidents.exporting import export_library
from incidents.importing import import_library
from incidents.models import Cause, Check, Citation, Incident
from tests.admin.forms import form_values, open_form, save_form
from tests.conftest import FIXTURES
from tests.factories import make_draft, make_incident, make_term

pytestmark = pytest.mark.django_db

SAMPLE = ("IL-0001", "IL-0044", "IL-0135", "IL-0150", "IL-0223", "IL-0268", "IL-0345", "IL-0459")


@pytest.fixture
def desk(client: Client, superuser: User) -> Client:
    client.force_login(superuser)
    return client


def answer(client: Client, path: str) -> Any:
    return client.get(f"/api/v1/{path}").json()


def ids(client: Client, query: str) -> list[str]:
    return [record["id"] for record in answer(client, f"incidents/?{query}")["results"]]


def everywhere(client: Client) -> dict[str, str]:
    """Return the bodies of what lists all published records."""
    found = {}
    for address in ("/feed/", "/sitemap.xml", "/api/v1/export/library.ndjson", "/api/v1/export/library.csv"):
        whole: Any = client.get(address)
        found[address] = (b"".join(whole.streaming_content) if whole.streaming else whole.content).decode()
    return found


def move(client: Client, incident: Incident, name: str, **values: str) -> None:
    assert client.post(f"/admin/incidents/incident/{incident.pk}/move/{name}/", values).status_code == 302


def test_terms_and_sources_of_one_save_are_found_at_once(desk: Client) -> None:
    incident = make_incident(causes=("power-cooling",), title="서버실이 더워 결제가 멈췄다")
    reader = Client()
    assert ids(reader, "cause=power-cooling") == ["IL-0001"]
    dns = make_term(Cause, "dns-error")
    changes = {
        "cause_tags-0-term": str(dns.pk),
        "sources-1-title": "나중 보고서",
        "sources-1-url": "https://status.example.org/posts/2",
    }
    save_form(desk, incident, open_form(desk, incident), **changes)
    assert (ids(reader, "cause=dns-error"), ids(reader, "cause=power-cooling")) == (["IL-0001"], [])
    assert ids(reader, "q=DNS 오류") == ["IL-0001"]
    assert answer(reader, "causes/dns-error/")["count"] == 1
    assert "서버실이 더워" in reader.get("/causes/dns-error/").content.decode()
    assert [source["title"] for source in answer(reader, "incidents/IL-0001/")["sources"]] == [
        "야간 정산 지연 안내",
        "나중 보고서",
    ]


def test_records_taken_away_in_bulk_are_gone_everywhere_at_once(desk: Client) -> None:
    records = [make_incident(title=f"얼룩말 큐가 막힌 기록 {number}") for number in range(1, 8)]
    reader = Client()
    assert answer(reader, "incidents/?q=얼룩말")["count"] == 7
    page = desk.post(
        "/admin/incidents/incident/",
        {"action": "withdraw_selected", "_selected_action": [one.pk for one in records[:3]]},
    )
    desk.post("/admin/incidents/incident/", form_values(page))
    chosen = {"action": "delete_selected", "_selected_action": [one.pk for one in records[3:6]], "post": "yes"}
    desk.post("/admin/incidents/incident/", chosen)

    assert ids(reader, "q=얼룩말") == ["IL-0007"]
    found = answer(reader, "incidents/?q=얼룩말")
    assert found["count"] == 1
    assert {option["count"] for option in found["facets"]["component"] if option["value"] == "job-queue"} == {1}
    for address, body in everywhere(reader).items():
        assert [f"IL-000{number}" in body for number in range(1, 8)] == [False] * 6 + [True], address
    citations = answer(reader, "citations/?" + "&".join(f"id=IL-000{number}" for number in range(1, 8)))["citations"]
    assert [citation["status"] for citation in citations] == ["withdrawn"] * 6 + ["published"]
    assert "철회된 기록입니다" in reader.get("/incidents/IL-0004/").content.decode()


def test_a_merged_record_leads_on_from_its_own_address(desk: Client) -> None:
    merged, survivor = make_incident(title="얼룩말 큐가 막힌 기록"), make_incident(title="남는 기록")
    check = Check.objects.create(
        code="KC-001", title="점검", area="분야", severity="low", risk="가", look="나", criterion="다"
    )
    Citation.objects.create(check_item=check, incident=merged, why="까닭이다.")
    move(desk, merged, "merge", reason="같은 사건이다", merged_into=survivor.public_id)
    reader = Client()
    citation = answer(reader, "citations/?id=IL-0001")["citations"][0]
    assert (citation["status"], citation["merged_into"]) == ("merged", "IL-0002")
    for address in ("incidents/IL-0001/",):
        record = answer(reader, address)
        assert (record["status"], record["merged_into"]) == ("merged", "IL-0002")
    assert reader.get("/incidents/IL-0001.json").json()["merged_into"] == "IL-0002"
    page = reader.get("/incidents/IL-0001/").content.decode()
    assert "병합된 기록입니다: IL-0002" in page
    assert ids(reader, "q=얼룩말") == []
    assert "IL-0001" not in everywhere(reader)["/sitemap.xml"]
    assert "IL-0002" in reader.get("/checks/KC-001/").content.decode()


def test_a_freshly_published_record_can_be_cited_at_once(desk: Client) -> None:
    draft = make_draft()
    reader = Client()
    first = reader.get("/api/v1/citations/?id=IL-0001")
    assert first.json()["citations"][0]["status"] == "unknown"
    move(desk, draft, "publish")
    again = reader.get("/api/v1/citations/?id=IL-0001", headers={"If-None-Match": first.get("ETag", '"x"')})
    assert again.status_code == 200
    citation = again.json()["citations"][0]
    assert (citation["status"], citation["version"], citation["title"]) == ("published", 1, draft.title)


def test_one_changed_word_changes_one_line_of_one_exported_file(desk: Client, tmp_path: Path) -> None:
    source = tmp_path / "library"
    (source / "incidents").mkdir(parents=True)
    shutil.copy(FIXTURES / "taxonomy.yaml", source)
    for public_id in SAMPLE:
        text = (FIXTURES / "incidents" / f"{public_id}.md").read_text()
        kept = [line for line in text.splitlines(keepends=True) if not line.startswith(("related:", "  - {id: IL-"))]
        (source / "incidents" / f"{public_id}.md").write_text("".join(kept))
    import_library(source)
    for public_id in SAMPLE[1:]:  # an untouched form, saved, is no change
        incident = Incident.objects.get(number=int(public_id[3:]))
        assert save_form(desk, incident, open_form(desk, incident)).status_code == 302
    first = Incident.objects.get(number=1)
    values = open_form(desk, first)
    word = values["lesson"].split()[0]
    save_form(desk, first, values, lesson=values["lesson"].replace(word, "바뀐말", 1))

    out = tmp_path / "export"
    export_library(out)
    for public_id in SAMPLE:
        before = (source / "incidents" / f"{public_id}.md").read_bytes().splitlines()
        after = (out / "incidents" / f"{public_id}.md").read_bytes().splitlines()
        changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
        assert len(changed) == (1 if public_id == "IL-0001" else 0), public_id
    assert list(Incident.objects.filter(version__gt=1).values_list("number", flat=True)) == [1]


def test_history_in_the_admin_shows_versions_and_saved_states(desk: Client) -> None:
    incident = make_incident()
    save_form(desk, incident, open_form(desk, incident), lesson="새 교훈이다.", change_reason="줄였다")
    page = desk.get(f"/admin/incidents/incident/{incident.pk}/history/").content.decode()
    assert "줄였다" in page
    assert f"/admin/incidents/incident/{incident.pk}/change/?restore=1" in page
    saved = desk.get(f"/admin/incidents/incident/{incident.pk}/saved/1/")
    assert saved.content.decode().splitlines()[-1] == "새 교훈이다."
    assert Client().get(f"/admin/incidents/incident/{incident.pk}/saved/1/").status_code == 302
