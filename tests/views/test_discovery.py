"""What crawlers, feed readers, browsers and agents read, judged by the formats' own rules."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import feedparser
import pytest
from django.contrib.auth.models import User
from lxml import etree

from incidents.lifecycle import commit_version, move
from incidents.models import Incident, Status
from tests.factories import make_incident

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def xml(content: bytes) -> Any:
    """Return the root of a document that must be well-formed."""
    return etree.fromstring(content)  # what our own views have just made


@pytest.fixture
def editor():
    return User.objects.create_superuser("editor", "e@example.org", "x" * 12)


def feed(client, path="/feed/", **params):
    response = client.get(path, params)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    xml(response.content)
    parsed = feedparser.parse(response.content)
    assert not parsed.bozo
    return parsed


def titles(parsed):
    return [entry.title for entry in parsed.entries]


def test_a_feed_has_what_atom_asks_for(client, settings):
    incident = make_incident(symptom="**두 시간** 멈췄다.", lesson="볼륨을 나눈다.")
    root = xml(client.get("/feed/").content)
    for name in ("id", "title", "updated", "author"):
        assert len(root.findall(f"{ATOM}{name}")) == 1
    (entry,) = root.findall(f"{ATOM}entry")
    for name in ("id", "title", "updated", "summary", "content"):
        assert len(entry.findall(f"{ATOM}{name}")) == 1
    url = f"{settings.BASE_URL}/incidents/{incident.public_id}/"
    assert entry.find(f"{ATOM}id").text == url
    assert [link.get("href") for link in entry.findall(f"{ATOM}link")] == [url, f"{url.rstrip('/')}.md"]
    content = entry.find(f"{ATOM}content")
    assert content.get("type") == "html"
    assert "<strong>두 시간</strong>" in content.text and "볼륨을 나눈다." in content.text
    (own,) = [link.get("href") for link in root.findall(f"{ATOM}link") if link.get("rel") == "self"]
    assert own == f"{settings.BASE_URL}/feed/"


def test_a_feed_of_any_listing_holds_its_records_newest_first(client):
    first = make_incident(components=["etcd"], title="첫째")
    make_incident(components=["dns"], title="둘째")
    third = make_incident(components=["etcd"], title="셋째 인증서")
    wanted = [f"{third.public_id} 셋째 인증서", f"{first.public_id} 첫째"]
    assert titles(feed(client, component="etcd")) == wanted
    assert titles(feed(client, "/components/etcd/feed/")) == wanted
    assert titles(feed(client, q="인증서")) == wanted[:1]
    assert len(titles(feed(client, "/years/2024/feed/"))) == 3
    assert titles(feed(client, year_to=2000)) == []


def test_a_feed_has_at_most_fifty_entries(client):
    for _ in range(52):
        make_incident()
    assert len(feed(client).entries) == 50


def test_a_feed_of_changes_has_an_entry_for_each_version_and_state(client, editor):
    incident, other = make_incident(title="처음 제목"), make_incident()
    before = feed(client, "/feed/changed/").entries
    incident.title = "고친 제목"
    incident.save()
    commit_version(incident, author=editor, reason="더 정확하게")
    after = feed(client, "/feed/changed/").entries
    assert after[0].title == f"{incident.public_id} 고친 제목"
    assert after[0].id not in {entry.id for entry in before}
    assert [entry.id for entry in feed(client).entries] == [
        f"http://127.0.0.1:8000/incidents/{one.public_id}/" for one in (other, incident)
    ]


def test_a_feed_of_ids_tells_when_one_changes_or_is_withdrawn(client, editor):
    cited, other = make_incident(), make_incident()
    path = f"/feed/?id={cited.public_id}"
    first = client.get(path)
    assert first.headers["ETag"] == client.get(path).headers["ETag"]
    assert titles(feedparser.parse(first.content)) == [f"{cited.public_id} {cited.title}"]
    move(cited, Status.WITHDRAWN, author=editor, reason="출처가 사라졌다")
    second = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert second.status_code == 200
    (entry,) = feedparser.parse(second.content).entries
    assert entry.title == f"[철회] {cited.public_id} {cited.title}"
    assert "출처가 사라졌다" in entry.content[0].value
    assert entry.id != feedparser.parse(first.content).entries[0].id
    assert other.public_id not in second.content.decode()


@pytest.mark.parametrize("query", ["id=IL-9999", "id=nope", "component=nope", "&".join(["id=IL-0001"] * 201)])
def test_a_feed_of_what_is_not_there_is_no_empty_feed(client, query):
    make_incident(number=1)
    assert client.get(f"/feed/?{query}").status_code in {400, 404}


@pytest.mark.parametrize(
    "path",
    [
        "/feed/",
        "/feed/changed/",
        "/components/etcd/feed/",
        "/incidents/{}.md",
        "/incidents/{}.json",
        "/sitemap.xml",
        "/llms.txt",
    ],
)
def test_what_is_kept_is_not_sent_again(client, path):
    incident = make_incident(components=["etcd"])
    first = client.get(path.format(incident.public_id))
    again = client.get(path.format(incident.public_id), headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


def test_control_characters_never_break_a_feed(client):
    good, bad = make_incident(), make_incident()
    Incident.objects.filter(pk=bad.pk).update(symptom="가\x0b나\x01다\ufffe", title="라\x02마")
    parsed = feed(client)
    assert [entry.link for entry in parsed.entries] == [
        f"http://127.0.0.1:8000/incidents/{one.public_id}/" for one in (bad, good)
    ]
    assert parsed.entries[0].title == f"{bad.public_id} 라마"


def test_the_list_of_feeds_leads_to_feeds(client):
    make_incident(components=["etcd"])
    page = client.get("/feeds/").content.decode()
    links = re.findall(r'href="(/[^"]*feed/(?:changed/)?)"', page)
    assert "/components/etcd/feed/" in links
    assert {client.get(link).status_code for link in links} == {200}


def test_the_sitemap_has_each_published_record_once_with_its_true_time(client):
    made = [make_incident(causes=["dns-error"]) for _ in range(3)]
    make_incident(status=Status.WITHDRAWN, reason="틀렸다")
    make_incident(status=Status.DRAFT)
    Incident.objects.filter(pk=made[0].pk).update(updated_at=datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC))
    root = xml(client.get("/sitemap.xml").content)
    assert root.tag == f"{SITEMAP}urlset"
    times = {url.find(f"{SITEMAP}loc").text: url.find(f"{SITEMAP}lastmod").text for url in root}
    assert len(times) == len(root)
    records = [loc for loc in times if "/incidents/IL-" in loc]
    assert records == [f"http://127.0.0.1:8000/incidents/{one.public_id}/" for one in made]
    assert times[records[0]] == "2020-01-02T03:04:05Z"
    assert not [loc for loc in times if "?" in loc]
    assert times["http://127.0.0.1:8000/causes/dns-error/"] == max(times[loc] for loc in records)
    for loc in times:
        assert (client.get(loc.removeprefix("http://127.0.0.1:8000")).status_code, loc) == (200, loc)


def test_a_large_sitemap_is_an_index_of_files(client, monkeypatch):
    for _ in range(3):
        make_incident()
    whole = [url.find(f"{SITEMAP}loc").text for url in xml(client.get("/sitemap.xml").content)]
    monkeypatch.setattr("incidents.sitemap.PART", 7)
    incident = make_incident()
    index = xml(client.get("/sitemap.xml").content)
    assert index.tag == f"{SITEMAP}sitemapindex"
    parts = [one.find(f"{SITEMAP}loc").text.removeprefix("http://127.0.0.1:8000") for one in index]
    found = [url.find(f"{SITEMAP}loc").text for part in parts for url in xml(client.get(part).content)]
    assert found == [*whole, f"http://127.0.0.1:8000/incidents/{incident.public_id}/"]
    assert client.get("/sitemap-99.xml").status_code == 404


def test_filtered_lists_are_for_no_crawler(client):
    incident = make_incident(causes=["dns-error"], components=["etcd"])
    robots = client.get("/robots.txt").content.decode()
    assert "Disallow: /incidents/?" in robots
    assert "Sitemap: http://127.0.0.1:8000/sitemap.xml" in robots
    assert "noindex" in client.get("/incidents/?cause=dns-error&component=etcd").headers["X-Robots-Tag"]
    for path in (
        f"/incidents/{incident.public_id}/",
        "/incidents/",
        "/components/etcd/",
        "/causes/dns-error/",
        "/checks/",
    ):
        response = client.get(path)
        assert "noindex" not in response.headers.get("X-Robots-Tag", "")
        assert 'content="noindex' not in response.content.decode()


def test_a_browser_can_search_here(client):
    root = xml(client.get("/opensearch.xml").content)
    space = "{http://a9.com/-/spec/opensearch/1.1/}"
    assert root.tag == f"{space}OpenSearchDescription"
    assert len(root.find(f"{space}ShortName").text) <= 16
    templates = {url.get("type"): url.get("template") for url in root.findall(f"{space}Url")}
    make_incident(title="인증서가 만료됐다")
    page = templates["text/html"].replace("{searchTerms}", "인증서").removeprefix("http://127.0.0.1:8000")
    assert "1건 중" in client.get(page).content.decode()
    offered = client.get(
        templates["application/x-suggestions+json"]
        .replace("{searchTerms}", "인증")
        .removeprefix("http://127.0.0.1:8000")
    )
    assert offered.json()[:2] == ["인증", ["인증서가 만료됐다"]]


def test_markdown_is_given_to_who_prefers_it(client):
    incident = make_incident()
    for path in (f"/incidents/{incident.public_id}/", "/incidents/"):
        assert (
            client.get(path, headers={"Accept": "text/markdown"}).headers["Content-Type"]
            == "text/markdown; charset=utf-8"
        )
        assert (
            client.get(path, headers={"Accept": "text/markdown;q=0.1,text/html"})
            .headers["Content-Type"]
            .startswith("text/html")
        )
        assert client.get(path, headers={"Accept": "text/html,*/*"}).headers["Content-Type"].startswith("text/html")
        assert "Accept" in client.get(path).headers["Vary"]
    record = client.get(f"/incidents/{incident.public_id}.md").content.decode()
    assert (
        client.get(f"/incidents/{incident.public_id}/", headers={"Accept": "text/markdown"}).content.decode() == record
    )
    listing = client.get("/incidents.md").content.decode()
    assert f"/incidents/{incident.public_id}.md)" in listing and "1건 중 1~1번째" in listing


def test_twins_say_what_the_api_says(client):
    incident = make_incident()
    api = client.get(f"/api/v1/incidents/{incident.public_id}/").json()
    assert client.get(f"/incidents/{incident.public_id}.json").json() == api
    assert (
        client.get("/incidents.json?cause=capacity-exhaustion&nope=1").json()["results"]
        == client.get("/api/v1/incidents/?cause=capacity-exhaustion").json()["results"]
    )
    assert (
        client.get(f"/incidents/il-{incident.number}.json").headers["Location"]
        == f"/incidents/{incident.public_id}.json"
    )


def test_llms_txt_leads_to_addresses_that_answer(client):
    make_incident(number=421)
    text = client.get("/llms.txt").content.decode()
    assert text.startswith("# 사고 사례 라이브러리\n\n> ")
    links = re.findall(r"\]\((http://127\.0\.0\.1:8000[^)]*)\)", text)
    assert len(links) > 10
    for link in links:
        assert (client.get(link.removeprefix("http://127.0.0.1:8000")).status_code, link) == (200, link)
