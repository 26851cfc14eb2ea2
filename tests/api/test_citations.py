"""What IDs and pinned statements stand for, and the tool that checks them in files."""

from __future__ import annotations

import json
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.contrib.auth.models import User
from django.test import Client

from incidents import cite
from incidents.api.throttle import take
from incidents.lifecycle import commit_version, move
from incidents.models import Check, Citation, Incident, Status
from tests.conftest import ROOT
from tests.factories import make_incident


def ask(get, *ids):
    return get("citations/", id=list(ids))["citations"]


@pytest.mark.django_db
def test_each_id_is_answered_in_the_order_asked(get):
    survivor = make_incident()
    withdrawn = make_incident(status=Status.WITHDRAWN, reason="틀렸다")
    merged = make_incident(status=Status.MERGED, merged_into=survivor)
    asked = [
        merged.public_id,
        "IL-9999",
        withdrawn.public_id,
        survivor.public_id.lower(),
        survivor.public_id,
        "아무거나",
    ]
    answers = ask(get, *asked)
    assert [one["requested"] for one in answers] == asked
    assert [one["status"] for one in answers] == ["merged", "unknown", "withdrawn", "published", "published", "unknown"]
    assert [one["id"] for one in answers] == [
        merged.public_id, "IL-9999", withdrawn.public_id, survivor.public_id, survivor.public_id, None,
    ]  # fmt: skip
    assert answers[0]["merged_into"] == survivor.public_id
    assert answers[2]["status_reason"] == "틀렸다"
    assert (answers[3]["title"], answers[3]["version"]) == (survivor.title, 1)
    assert answers[1]["title"] is answers[1]["url"] is answers[1]["version"] is None


@pytest.mark.django_db
def test_a_draft_is_unknown_and_known_at_once_when_it_is_published(client):
    incident = make_incident(status=Status.DRAFT)
    url = f"/api/v1/citations/?id={incident.public_id}"
    before = client.get(url)
    assert before.json()["citations"][0]["status"] == "unknown"
    move(incident, Status.PUBLISHED, author=None)
    for headers in ({}, {"If-None-Match": before.headers["ETag"]}):
        after = client.get(url, headers=headers)
        assert (after.status_code, after.json()["citations"][0]["status"]) == (200, "published")


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", "id=", "id=%20", "&".join(f"id=IL-{n:04d}" for n in range(1, 202))])
def test_none_at_all_and_too_many_are_refused(client, query):
    response = client.get(f"/api/v1/citations/?{query}")
    assert (response.status_code, response.json()["errors"][0]["parameter"]) == (400, "id")


@pytest.mark.django_db
def test_two_hundred_are_answered_with_few_questions(client, django_assert_max_num_queries):
    made = [make_incident() for _ in range(3)]
    query = "&".join(f"id={made[n % 3].public_id}@1%23cause-1" for n in range(200))
    with django_assert_max_num_queries(14):
        answers = client.get(f"/api/v1/citations/?{query}").json()["citations"]
    assert [one["statement_status"] for one in answers] == ["unchanged"] * 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    "odd",
    ["IL-1 ", "%00", "IL-0001%00", "IL--1", "IL-99999999999999999999", "%ED%A0%80", "IL-0001@0", "IL-0001@1%23nope-1"],
)
def test_an_odd_id_is_unknown_and_never_a_fault(client, odd):
    response = client.get(f"/api/v1/citations/?id={odd}")
    assert (response.status_code, response.json()["citations"][0]["status"]) == (200, "unknown")


@pytest.fixture
def editor(db):
    return User.objects.create_superuser("editor", "e@example.org", "x" * 12)


def test_a_pinned_statement_is_unchanged_reworded_or_withdrawn(get, editor):
    incident = make_incident(
        cause="작업 로그가 데이터와 같은 볼륨에 쌓였다. 볼륨이 차자 작업이 기다렸다. 경보는 울리지 않았다."
    )
    incident.cause = "작업 로그가 데이터와 같은 볼륨에 쌓였다. 볼륨이 가득 차자 정산 작업이 오래 기다렸다."
    incident.save()
    commit_version(incident, author=editor, reason="더 정확하게")
    pins = [f"{incident.public_id}@1#cause-{number}" for number in (1, 2, 3, 4)]
    answers = ask(
        get, *pins, f"{incident.public_id}@2#cause-2", f"{incident.public_id}@9#cause-1", f"{incident.public_id}@1"
    )
    assert [one["statement_status"] for one in answers] == [
        "unchanged", "reworded", "withdrawn", "unknown", "unchanged", "unknown", "reworded",
    ]  # fmt: skip
    assert answers[1]["statement"] == "볼륨이 차자 작업이 기다렸다."
    assert answers[1]["statement_now"] == "볼륨이 가득 차자 정산 작업이 오래 기다렸다."
    assert answers[1]["url"].endswith(f"/incidents/{incident.public_id}/#cause-2")
    assert (answers[2]["statement_now"], answers[2]["pinned_version"], answers[2]["version"]) == (None, 1, 2)


def test_what_a_withdrawn_record_said_is_withdrawn_with_it(get, editor):
    incident = make_incident()
    move(incident, Status.WITHDRAWN, author=editor, reason="출처가 사라졌다")
    (answer,) = ask(get, f"{incident.public_id}@1#cause-1")
    assert (answer["status"], answer["statement_status"]) == ("withdrawn", "withdrawn")


def test_a_merged_record_leads_on_everywhere(client, get, editor):
    old, new = make_incident(title="로그가 가득 찼다"), make_incident(title="볼륨이 가득 찼다")
    check = Check.objects.create(
        code="KC-001", title="본다", area="가", severity="high", risk="나", look="다", criterion="라"
    )
    Citation.objects.create(check_item=check, incident=old, why="그렇다")
    move(old, Status.MERGED, author=editor, reason="같은 사건", merged_into=new)
    assert [(one["status"], one["merged_into"]) for one in ask(get, old.public_id)] == [("merged", new.public_id)]
    page = client.get(f"/incidents/{old.public_id}/")
    assert page.status_code == 200
    assert f'href="/incidents/{new.public_id}/"' in page.content.decode()
    assert client.get(f"/incidents/{old.public_id}.json").json()["merged_into"] == new.public_id
    assert get(f"incidents/{old.public_id}/")["status"] == "merged"
    assert get(f"incidents/{old.public_id}/")["status_at"] is not None
    assert [record["id"] for record in get("incidents/", q="가득")["results"]] == [new.public_id]
    sitemap = client.get("/sitemap.xml").content.decode()
    assert (f"/incidents/{new.public_id}/" in sitemap, f"/incidents/{old.public_id}/" in sitemap) == (True, False)
    (cited,) = get("checks/KC-001/")["incidents"]
    assert (cited["id"], cited["status"], cited["merged_into"]) == (old.public_id, "merged", new.public_id)
    assert f'href="/incidents/{new.public_id}/"' in client.get("/checks/KC-001/").content.decode()


# The tool for files


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("IL-0421 을 보라", ["IL-0421"]),
        ("cite('IL-421@3#detection-2')", ["IL-0421@3#detection-2"]),
        ("https://x/incidents/IL-0001/, IL‑0002.", ["IL-0001", "IL-0002"]),
        ("IL-0421@3#follow-ups-1; IL-0421#cause", ["IL-0421@3#follow-ups-1", "IL-0421#cause"]),
        ("IL-2 MAIL-0421 XIL-0421 IL-0421a IL-", []),
    ],
)
def test_citations_are_found_in_any_text(text, found):
    assert [one.citation for one in cite.find_citations(text)] == found


def test_a_citation_is_told_by_file_line_and_column():
    (found,) = cite.find_citations("첫 줄\n  # 보라 IL-0421@3", "a.py")
    assert found == cite.Found("a.py", 2, 8, "IL-0421@3")


@pytest.fixture
def library(client: Client):
    """A function that runs the tool against a socket behind which the test's own client answers, in this thread."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            response = client.get(self.path)
            self.send_response(response.status_code)
            for name, value in response.headers.items():
                if name != "Content-Length":
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.timeout = 0.05

        def run(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
            url = f"http://127.0.0.1:{server.server_port}"
            process = subprocess.Popen(
                [sys.executable, "-S", "-m", "incidents.cite", "--library", url, *arguments],
                cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            assert process.stdin is not None
            process.stdin.write(stdin)
            process.stdin.close()
            process.stdin = None
            while process.poll() is None:
                server.handle_request()
            out, err = process.communicate()
            return process.returncode, out, err

        yield run


def test_the_tool_fails_where_a_citation_no_longer_stands(library, editor, tmp_path):
    good, gone = make_incident(), make_incident(status=Status.WITHDRAWN, reason="출처가 사라졌다")
    file = tmp_path / "runbook.md"
    file.write_text(f"{good.public_id} 과 {gone.public_id}\nIL-9999\n", encoding="utf-8")
    code, out, err = library(str(tmp_path))
    assert code == 1
    assert out.splitlines() == [
        f"{file}:1:11: {gone.public_id} withdrawn: 철회된 기록입니다. 출처가 사라졌다",
        f"{file}:2:1: IL-9999 unknown: 라이브러리에 없는 번호입니다.",
    ]
    assert err.strip() == "인용 3곳, 번호 3가지, 깨진 것 2곳"


def test_the_tool_passes_where_all_stand_and_only_tells_of_a_merge(library, editor):
    survivor = make_incident()
    merged = make_incident(status=Status.MERGED, merged_into=survivor)
    code, out, _ = library("-", stdin=f"{survivor.public_id}@1#cause-1 {merged.public_id}")
    assert code == 0
    assert out == f"-:1:19: {merged.public_id} merged: 병합된 기록입니다. 지금의 번호: {survivor.public_id}\n"


def test_the_tool_asks_two_hundred_at_a_time_and_each_once(library, db):
    made = [make_incident(number=number).public_id for number in range(1, 251)]
    code, out, _ = library("--format", "json", "-", stdin=" ".join(made + made))
    report = json.loads(out)
    assert (code, report["places"], report["citations"]) == (0, 500, 250)
    assert report["findings"] == []


def test_the_tool_waits_as_it_is_told(library, settings, db):
    settings.API_RATE = 60
    assert take("127.0.0.1", 60).is_allowed
    for _ in range(59):
        take("127.0.0.1", 60)
    code, out, _ = library("-", stdin="IL-0001")
    assert (code, out) == (1, "-:1:1: IL-0001 unknown: 라이브러리에 없는 번호입니다.\n")


def test_the_tool_annotates_a_pull_request(library, db):
    code, out, _ = library("--format", "github", "-", stdin="IL-9999")
    assert (code, out) == (1, "::error file=-,line=1,col=1::IL-9999: 라이브러리에 없는 번호입니다.\n")


def test_the_tool_says_when_it_could_not_ask(tmp_path):
    (tmp_path / "a.txt").write_text("IL-0421")
    run = subprocess.run(
        [sys.executable, "-S", "-m", "incidents.cite", "--library", "http://127.0.0.1:9", str(tmp_path / "a.txt")],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (2, "")
    assert "라이브러리에 닿지 못했습니다" in run.stderr


def test_the_tool_needs_nothing_but_python(tmp_path):
    alone = tmp_path / "cite.py"
    alone.write_bytes((ROOT / "incidents" / "cite.py").read_bytes())
    run = subprocess.run(
        [sys.executable, "-I", "-S", str(alone), "--help"], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0
    assert Incident.__name__ not in alone.read_text(encoding="utf-8")
