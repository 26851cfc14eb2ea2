"""Finished pages: 304 and stored bodies are of the present revision and the reader's own choices."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import brotli
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from incidents.compression import accepted_encoding, compress, decompress
from incidents.indexing import rebuild_index
from incidents.models import Incident
from incidents.page_store import FileStore, PageStore, StoredAnswer
from tests.conftest import PASSWORD
from tests.factories import make_incident

pytestmark = pytest.mark.django_db


@pytest.fixture
def incident() -> Incident:
    incident = make_incident(title="인증서가 만료되어 결제가 멈췄다")
    rebuild_index()
    return incident


def rename(incident: Incident, title: str) -> None:
    fresh = Incident.objects.get(pk=incident.pk)
    fresh.title = title
    fresh.save()


def queries(client: Client, address: str, **headers: str) -> list[str]:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        client.get(address, headers=headers)
    return [query["sql"] for query in captured.captured_queries]


def test_a_second_request_is_answered_after_one_query_and_with_the_same_bytes(client, incident):
    address = incident.get_absolute_url()
    first = client.get(address)
    assert len(queries(client, address)) == 1
    second = client.get(address)
    assert second.content == first.content
    assert second.headers["ETag"] == first.headers["ETag"]
    assert second.headers["Content-Type"] == first.headers["Content-Type"]
    assert second.headers["Content-Security-Policy"] == first.headers["Content-Security-Policy"]


def test_a_client_that_has_the_answer_is_told_so_after_one_query(client, incident):
    address = incident.get_absolute_url()
    tag = client.get(address).headers["ETag"]
    assert not tag.startswith("W/")
    answer = client.get(address, headers={"If-None-Match": tag})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["ETag"] == tag
    assert answer.headers["Cache-Control"] == "public, no-cache"
    assert len(queries(client, address, **{"If-None-Match": tag})) == 1


@pytest.mark.parametrize("address", ["/", "/incidents/", "/incidents/?q=인증서", "/components/", "RECORD", "RECORD.md"])
def test_a_publish_is_seen_by_the_next_request(client, incident, address):
    address = address.replace("RECORD.md", incident.get_absolute_url().rstrip("/") + ".md").replace(
        "RECORD", incident.get_absolute_url()
    )
    before = client.get(address)
    assert before.status_code == 200
    rename(incident, "인증서를 갱신하지 않아 주문이 멈췄다")
    after = client.get(address, headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert after.headers["ETag"] != before.headers["ETag"]
    if address != "/components/":
        assert "인증서를 갱신하지 않아" in after.content.decode().replace("<mark>", "").replace("</mark>", "")


def test_an_unpublished_change_keeps_every_tag(client, incident):
    tag = client.get("/incidents/").headers["ETag"]
    make_incident(status="draft", title="아직 초안인 기록이라 목록에 나오지 않는다")
    assert client.get("/incidents/", headers={"If-None-Match": tag}).status_code == 304


def test_language_theme_fragment_and_query_are_answers_of_their_own(client, incident):
    tags = {client.get("/incidents/").headers["ETag"]}
    tags.add(client.get("/incidents/?sort=oldest").headers["ETag"])
    tags.add(client.get("/incidents/", headers={"HX-Request": "true"}).headers["ETag"])
    for name, value in (("language", "en"), ("theme", "dark")):
        other = Client()
        other.cookies[name] = value
        tags.add(other.get("/incidents/").headers["ETag"])
    assert len(tags) == 5


def test_a_choice_in_a_cookie_is_never_answered_to_others(client, incident):
    english = Client()
    english.cookies["language"] = "en"
    assert 'lang="en"' in english.get("/incidents/").content.decode()
    assert 'lang="ko"' in client.get("/incidents/").content.decode()
    assert 'lang="en"' in english.get("/incidents/").content.decode()


def test_vary_names_what_the_answer_depends_on(client, incident):
    for headers in ({}, {"HX-Request": "true"}):
        answer = client.get("/incidents/", headers=headers)
        vary = {name.strip() for name in answer.headers["Vary"].split(",")}
        assert {"Cookie", "Accept", "Accept-Encoding", "HX-Request", "HX-History-Restore-Request"} <= vary
        again = client.get("/incidents/", headers={**headers, "If-None-Match": answer.headers["ETag"]})
        assert {name.strip() for name in again.headers["Vary"].split(",")} == vary


def test_signed_in_people_get_pages_of_their_own(client, incident):
    editor = User.objects.create_superuser("editor", "", PASSWORD)
    public = client.get("/incidents/")
    client.force_login(editor, backend="django.contrib.auth.backends.ModelBackend")
    own = client.get("/incidents/", headers={"If-None-Match": public.headers["ETag"]})
    assert own.status_code == 200
    assert "ETag" not in own.headers
    assert "ETag" not in client.get("/admin/").headers


@pytest.mark.parametrize(
    "address", ["/incidents/?component=no-such", "/incidents/?page=99", "/incidents/IL-9999/", "/healthz", "/readyz"]
)
def test_errors_and_states_are_not_kept(client, incident, address):
    answer = client.get(address)
    assert "ETag" not in answer.headers
    assert len(queries(client, address)) >= 1


def test_an_answer_with_a_token_is_not_kept(client, incident):
    answer = client.get("/admin/login/")
    assert b"csrfmiddlewaretoken" in answer.content
    assert "ETag" not in answer.headers
    # A page of the public part that holds a form with a token is recognised by the token's cookie.
    with_token = Client()
    with_token.cookies["csrftoken"] = "x" * 32
    assert "ETag" not in with_token.get("/incidents/").headers


def test_posts_pass_through(client, incident):
    answer = client.post("/theme/", {"theme": "dark", "next": "/incidents/"})
    assert "ETag" not in answer.headers


def test_compressed_answers_hold_the_same_text_under_tags_of_their_own(client, incident):
    plain = client.get("/incidents/")
    packed = {name: client.get("/incidents/", headers={"Accept-Encoding": name}) for name in ("br", "gzip")}
    assert brotli.decompress(packed["br"].content) == plain.content
    assert gzip.decompress(packed["gzip"].content) == plain.content
    assert {answer.headers["Content-Encoding"] for answer in packed.values()} == {"br", "gzip"}
    tags = [plain.headers["ETag"], *(answer.headers["ETag"] for answer in packed.values())]
    assert len(set(tags)) == 3
    for tag in tags:  # whatever form a client holds, it has the answer
        assert client.get("/incidents/", headers={"If-None-Match": tag}).headers["ETag"] == tag


def test_another_encoding_is_made_from_what_is_stored(client, incident):
    client.get("/incidents/", headers={"Accept-Encoding": "br"})
    assert len(queries(client, "/incidents/", **{"Accept-Encoding": "gzip"})) == 1


def test_head_has_the_headers_of_get(client, incident):
    for _ in range(2):
        head = client.head("/incidents/")
        got = client.get("/incidents/")
        assert head.content == b""
        assert head.headers["Content-Length"] == str(len(got.content))
        assert head.headers["ETag"] == got.headers["ETag"]


def test_a_foreign_host_is_refused_though_the_page_is_stored(client, incident):
    client.get("/incidents/")
    assert client.get("/incidents/", headers={"Host": "evil.example"}).status_code == 400


def test_a_record_leads_on_through_the_listing_that_the_reader_came_from(client, incident):
    make_incident(title="이름 서버가 멈춰 모든 화면이 열리지 않았다")
    address = incident.get_absolute_url()
    alone = client.get(address)
    within = client.get(address, headers={"Referer": "http://testserver/incidents/?sort=oldest"})
    assert alone.headers["ETag"] != within.headers["ETag"]
    assert alone.content != within.content


def test_a_search_is_not_kept_while_the_index_is_behind(client, incident):
    """The index catches up in this request; what it answers is the new state, and the next tag holds."""
    rename(incident, "캐시 서버가 넘쳐 주문이 멈췄다")
    answer = client.get("/incidents/?q=캐시")
    assert "1건" in answer.content.decode()
    tag = client.get("/incidents/?q=캐시").headers["ETag"]
    assert client.get("/incidents/?q=캐시", headers={"If-None-Match": tag}).status_code == 304


# The stores


def answer(body: bytes = b"x") -> StoredAnswer:
    return StoredAnswer((("Content-Type", "text/html"), ("Content-Length", str(len(body)))), body)


def test_a_stored_answer_survives_its_bytes():
    kept = answer("본문".encode())
    assert StoredAnswer.from_bytes(kept.to_bytes()) == kept


@pytest.mark.parametrize("cut", [0, 3, 10, 40, -1])
def test_cut_bytes_are_no_answer(cut):
    assert StoredAnswer.from_bytes(answer(b"body" * 10).to_bytes()[:cut]) is None


def test_memory_is_bounded_and_keeps_what_was_used_last():
    one = answer(b"x" * 1000)
    store = PageStore(None, limit=one.size * 3)
    for key in "abc":
        store.put("p-1", key, one)
    store.get("p-1", "a")
    store.put("p-1", "d", one)
    assert [key for key in "abcd" if store.get("p-1", key)] == ["a", "c", "d"]
    assert store.size <= store.limit


def test_processes_share_the_folder(tmp_path: Path):
    PageStore(FileStore(tmp_path, 10**6), 10**6).put("p-1", "ab", answer())
    other = PageStore(FileStore(tmp_path, 10**6), 10**6)
    assert other.get("p-1", "ab") == answer()
    assert other.get("p-2", "ab") is None


def test_the_folder_is_bounded_and_earlier_revisions_leave(tmp_path: Path):
    store = FileStore(tmp_path, limit=10_000)
    store.put("p-1", "aa", b"x" * 100)
    for number in range(40):
        store.put("p-2", f"{number:02}", b"x" * 1000)
    store.tidy("p-2")
    assert [folder.name for folder in tmp_path.iterdir()] == ["p-2"]
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) <= 7_500
    store.tidy("p-1")  # a process that is a moment behind takes nothing from the others
    assert (tmp_path / "p-2").is_dir()


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    store = FileStore(blocked, 1000)
    store.put("p-1", "aa", b"x")
    assert store.get("p-1", "aa") is None


@pytest.mark.parametrize(
    ("header", "encoding"),
    [
        ("", "identity"),
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("*", "br"),
        ("gzip;q=0", "identity"),
        ("identity", "identity"),
        ("GZIP;q=0.5", "gzip"),
        ("br;q=x", "identity"),
    ],
)
def test_the_best_accepted_encoding(header, encoding):
    assert accepted_encoding(header) == encoding
    assert decompress(compress(b"body", encoding), encoding) == b"body"


def test_the_program_is_part_of_every_tag(client, incident, monkeypatch):
    from incidents import entity_tags, page_cache

    before = client.get("/incidents/").headers["ETag"]
    monkeypatch.setattr(entity_tags, "program_fingerprint", lambda: "f" * 24)
    monkeypatch.setattr(page_cache, "program_fingerprint", lambda: "f" * 24)
    assert client.get("/incidents/").headers["ETag"] != before


def test_json_of_the_state_is_no_store(client):
    answer = client.get("/healthz")
    assert json.loads(answer.content)["status"] == "ok"
    assert answer.headers["Cache-Control"] == "no-store"
    assert settings.PAGE_CACHE_BYTES == 256 * 1024 * 1024
