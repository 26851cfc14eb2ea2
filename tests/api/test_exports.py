"""Exports: all forms say the same of each record, safely for spreadsheets, in bounded memory."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sqlite3
import zipfile

import pytest
from django.core.management import call_command
from django.http import QueryDict

from incidents.api.representation import record_out
from incidents.api.schemas import RecordOut
from incidents.catalogue import forget_catalogue
from incidents.exports import read_choice
from incidents.exports.csv_file import COLUMNS, csv_chunks, record_row, safe_cell
from incidents.importing import import_library
from incidents.models import Incident, Status
from incidents.record_data import record_data, record_text
from incidents.records import parse_record
from tests.api.conftest import body_of
from tests.factories import make_incident


def export(client, name, query=""):
    response = client.get(f"/api/v1/export/{name}{query}")
    assert response.status_code == 200
    return response, body_of(response)


def csv_rows(body: bytes) -> list[dict[str, str]]:
    assert body.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(body.decode("utf-8-sig"), newline="")))


def test_all_forms_of_the_bundled_library_agree_record_by_record(client, bundled, tmp_path, get):
    records = [json.loads(line) for line in export(client, "library.ndjson")[1].splitlines()]
    by_id = {record["id"]: record for record in records}
    assert len(by_id) == len(records) == Incident.objects.published().count()

    url, walked = "/api/v1/incidents/?cursor=*&page_size=100&exclude=match,snippet,facets", []
    while url:
        answer = client.get(url).json()
        walked += answer["results"]
        url = answer["next"] and "/api/" + answer["next"].split("/api/", 1)[1]
    assert walked == records

    rows = csv_rows(export(client, "library.csv")[1])
    assert [row["id"] for row in rows] == list(by_id)
    for row in rows:
        bare = dict(zip(COLUMNS, record_row(RecordOut(**by_id[row["id"]])), strict=True))
        assert row == {name: safe_cell(text).replace("\r\n", "\n") for name, text in bare.items()}

    archive = zipfile.ZipFile(io.BytesIO(export(client, "library.zip")[1]))
    assert archive.testzip() is None
    files = {name.rsplit("/", 1)[1]: archive.read(name) for name in archive.namelist() if "/incidents/" in name}
    assert set(files) == {f"{public_id}.md" for public_id in by_id}
    for incident in Incident.objects.published().for_records():
        assert parse_record(files[f"{incident.public_id}.md"], f"{incident.public_id}.md") == record_data(incident)

    path = tmp_path / "library.sqlite"
    path.write_bytes(export(client, "library.sqlite")[1])
    with sqlite3.connect(path) as connection:
        kept = dict(connection.execute("SELECT id, json FROM records"))
        assert {public_id: json.loads(text) for public_id, text in kept.items()} == by_id
        terms = connection.execute(
            "SELECT record_id, slug FROM terms WHERE kind = 'cause' ORDER BY record_id, position"
        )
        causes: dict[str, list[str]] = {}
        for public_id, slug in terms:
            causes.setdefault(public_id, []).append(slug)
        assert causes == {one["id"]: [term["slug"] for term in one["causes"]] for one in records}
        found = connection.execute("SELECT count(*) FROM search WHERE search MATCH '인증서*'").fetchone()[0]
        assert found == sum(
            "인증서" in text
            for text in map(str, (json.dumps(one, ensure_ascii=False) for one in records))
            if _has_word(text, "인증서")
        )


def _has_word(record: str, start: str) -> bool:
    """Whether one of the searched fields has a word that begins so, as SQLite's tokenizer splits words."""
    import re

    one = json.loads(record)
    fields = (
        "title",
        "symptom",
        "trigger",
        "cause",
        "contributing_factors",
        "detection",
        "actions",
        "follow_ups",
        "lesson",
    )
    text = " ".join(str(one[name]) if isinstance(one[name], str) else " ".join(one[name]) for name in fields)
    return any(word.startswith(start) for word in re.findall(r"[^\W_]+", text))


def test_a_filtered_export_is_the_filtered_listing(client, bundled, get):
    for query in ("component=etcd", "q=인증서 만료&year_from=2018", "cause=dns-error&cause=config-error"):
        response, body = export(client, "library.ndjson", f"?{query}")
        ids = [json.loads(line)["id"] for line in body.splitlines()]
        assert len(ids) == len(set(ids)) == client.get(f"/api/v1/incidents/?{query}").json()["count"]
        assert response.headers["X-Total-Count"] == str(len(ids))
        assert client.get(f"/api/v1/export/?{query}").json()["total"] == len(ids)
    assert 'rel="license"' in response.headers["Link"]
    assert response.headers["X-Export-Filter"] == "cause=dns-error&cause=config-error"


def test_the_archive_makes_the_same_library_again(client, bundled, tmp_path):
    _, body = export(client, "library.zip", "?include=withdrawn,merged")
    zipfile.ZipFile(io.BytesIO(body)).extractall(tmp_path)
    report = import_library(tmp_path / "library", dry_run=True)
    assert report.is_empty
    assert report.unchanged == Incident.objects.public().count()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "title", ['=HYPERLINK("https://x.example","눌러")', "@SUM(1)", "+82-2-000", "-2+3", "\t=1+1", "\r=1+1"]
)
def test_no_cell_runs_in_a_spreadsheet_and_the_text_stays_bare_elsewhere(client, title):
    incident = make_incident()
    Incident.objects.filter(pk=incident.pk).update(title=title, symptom=f"{title}\n둘째 줄")
    forget_catalogue()
    rows = csv_rows(export(client, "library.csv")[1])
    assert len(rows) == 1
    for cell in rows[0].values():
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert rows[0]["title"] == f"'{title}"
    assert json.loads(export(client, "library.ndjson")[1])["title"] == title


@pytest.mark.django_db
def test_withdrawn_and_merged_records_come_when_asked_for(client):
    published = make_incident()
    withdrawn = make_incident(status=Status.WITHDRAWN, reason="틀렸다")
    merged = make_incident(status=Status.MERGED, merged_into=published)
    make_incident(status=Status.DRAFT)

    def states(query=""):
        lines = export(client, "library.ndjson", query)[1].splitlines()
        return {one["id"]: one["status"] for one in map(json.loads, lines)}

    assert states() == {published.public_id: "published"}
    assert states("?include=withdrawn,merged") == {
        published.public_id: "published",
        withdrawn.public_id: "withdrawn",
        merged.public_id: "merged",
    }
    response = client.get("/api/v1/export/library.csv?include=draft")
    assert (response.status_code, response.json()["errors"][0]["parameter"]) == (400, "include")


@pytest.mark.django_db
def test_a_part_is_whole_in_itself(client, tmp_path):
    first, second = make_incident(components=["etcd"]), make_incident(components=["dns"])
    first.relations.create(other=second, relation="similar")
    _, body = export(client, "library.zip", "?component=etcd")
    archive = zipfile.ZipFile(io.BytesIO(body))
    record = parse_record(archive.read(f"library/incidents/{first.public_id}.md"), f"{first.public_id}.md")
    assert record.related == ()
    assert f"library/incidents/{second.public_id}.md" not in archive.namelist()


@pytest.mark.django_db
def test_changes_come_newest_first_with_their_reason(client):
    survivor = make_incident()
    withdrawn = make_incident(status=Status.WITHDRAWN, reason="출처가 사라졌다")
    merged = make_incident(status=Status.MERGED, merged_into=survivor, reason="같은 사건")
    make_incident(status=Status.DRAFT)
    rows = csv_rows(export(client, "changes.csv")[1])
    assert [(row["id"], row["change"], row["reason"]) for row in rows] == [
        (merged.public_id, "merged", "같은 사건"),
        (merged.public_id, "published", ""),
        (withdrawn.public_id, "withdrawn", "출처가 사라졌다"),
        (withdrawn.public_id, "published", ""),
        (survivor.public_id, "published", ""),
    ]
    assert rows[0]["merged_into"] == survivor.public_id
    assert csv_rows(export(client, "changes.csv", "?updated_since=2100-01-01")[1]) == []


@pytest.mark.django_db
def test_an_export_reads_in_batches_whatever_the_size(client, django_assert_max_num_queries):
    """Two batches cost twice the queries of one: records are neither read one by one nor all at once."""
    for _ in range(3):
        make_incident()
    choice = read_choice(QueryDict(""))
    with django_assert_max_num_queries(12):
        assert sum(1 for _ in csv_chunks(choice)) == 4


@pytest.mark.django_db
def test_a_record_withdrawn_meanwhile_is_written_as_what_it_is(client):
    incident = make_incident()
    choice = read_choice(QueryDict(""))
    Incident.objects.filter(pk=incident.pk).update(status=Status.WITHDRAWN, status_reason="틀렸다")
    assert [record_out(one).status for one in choice.incidents()] == ["withdrawn"]
    assert choice.total == 1


@pytest.mark.django_db
def test_a_snapshot_is_whole_and_told_by_its_manifest(tmp_path, capsys):
    incident = make_incident()
    call_command("snapshot", str(tmp_path))
    (folder,) = tmp_path.iterdir()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["total"], manifest["schema_version"], manifest["license"]) == (1, 1, "CC-BY-4.0")
    assert set(manifest["files"]) == {path.name for path in folder.iterdir()} - {"manifest.json"}
    for name, about in manifest["files"].items():
        data = (folder / name).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (about["sha256"], about["bytes"])
    text = zipfile.ZipFile(folder / "library.zip").read(f"library/incidents/{incident.public_id}.md").decode()
    assert text == record_text(incident)
