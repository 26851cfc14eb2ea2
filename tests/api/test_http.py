"""How the API behaves as HTTP: open to scripts everywhere, kept by clients, bounded for everybody."""

from __future__ import annotations

import pytest
from django.test import Client

from incidents.models import Cause, SlugRedirect, Status
from tests.factories import make_incident

pytestmark = pytest.mark.django_db
ORIGIN = {"Origin": "https://a.example"}


def assert_open(response):
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    exposed = {name.strip() for name in response.headers["Access-Control-Expose-Headers"].split(",")}
    assert {"ETag", "Last-Modified", "Retry-After", "Link", "RateLimit"} <= exposed
    assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/incidents/", 200),
        ("/api/v1/incidents/?cause=nope", 400),
        ("/api/v1/incidents/IL-9999/", 404),
        ("/api/v1/nope/", 404),
        ("/api/v1/incidents", 301),
        ("/api/v1/export/library.csv", 200),
        ("/api/v1/schema/", 200),
        ("/feed/", 200),
        ("/incidents.json", 200),
        ("/incidents.md", 200),
    ],
)
def test_every_answer_is_open_to_any_origin(client, path, status):
    make_incident()
    response = client.get(path, headers=ORIGIN)
    assert response.status_code == status
    assert_open(response)


def test_a_throttled_answer_is_open_and_says_when_to_come_back(client, settings):
    settings.API_RATE = 2
    answers = [client.get("/api/v1/causes/", headers=ORIGIN) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["1", "0", "0"]
    assert_open(answers[2])
    assert 1 <= int(answers[2].headers["Retry-After"]) <= 30
    assert answers[2].headers["RateLimit-Policy"] == '"default";q=2;w=60'
    assert answers[2].headers["Content-Type"] == "application/problem+json"
    assert answers[2].json()["code"] == "too_many_requests"


def test_clients_are_counted_apart_and_a_rate_of_nothing_is_no_limit(client, settings):
    settings.API_RATE = 1
    assert [client.get("/api/v1/causes/", REMOTE_ADDR=a).status_code for a in ("10.0.0.1", "10.0.0.2")] == [200, 200]
    assert client.get("/api/v1/causes/", REMOTE_ADDR="10.0.0.1").status_code == 429
    settings.API_RATE = 0
    assert client.get("/api/v1/causes/", REMOTE_ADDR="10.0.0.1").status_code == 200


def test_pages_are_not_throttled(client, settings):
    settings.API_RATE = 1
    assert [client.get("/incidents/").status_code for _ in range(3)] == [200, 200, 200]


def test_an_unchanged_answer_is_not_sent_again(client):
    incident = make_incident()
    path = f"/api/v1/incidents/{incident.public_id}/"
    first = client.get(path)
    assert first.headers["ETag"].startswith('"')
    again = client.get(path, headers={"If-None-Match": first.headers["ETag"], **ORIGIN})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert_open(again)


def test_a_tag_costs_one_question_to_the_database(client, django_assert_num_queries):
    incident = make_incident()
    path = f"/api/v1/incidents/{incident.public_id}/"
    tag = client.get(path).headers["ETag"]
    with django_assert_num_queries(1):
        assert client.get(path, headers={"If-None-Match": tag}).status_code == 304


def test_any_public_change_renews_the_tag(client):
    incident = make_incident()
    path = f"/api/v1/incidents/{incident.public_id}/"
    tag = client.get(path).headers["ETag"]
    incident.title = "고친 제목"
    incident.save()
    response = client.get(path, headers={"If-None-Match": tag})
    assert (response.status_code, response.json()["title"]) == (200, "고친 제목")


def test_a_date_alone_is_honoured_too(client):
    make_incident()
    first = client.get("/api/v1/incidents/")
    again = client.get("/api/v1/incidents/", headers={"If-Modified-Since": first.headers["Last-Modified"]})
    assert again.status_code == 304
    earlier = client.get("/api/v1/incidents/", headers={"If-Modified-Since": "Thu, 01 Jan 2015 00:00:00 GMT"})
    assert earlier.status_code == 200


@pytest.mark.parametrize("headers", [{"If-None-Match": "*"}, {"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}])
def test_what_is_not_there_is_never_unchanged(client, headers):
    assert client.get("/api/v1/incidents/IL-9999/", headers=headers).status_code == 404


def test_representations_and_addresses_have_tags_of_their_own(client):
    incident = make_incident()
    paths = [
        f"/api/v1/incidents/{incident.public_id}/",
        f"/api/v1/incidents/{incident.public_id}/?html=1",
        "/api/v1/incidents/",
        "/api/v1/export/library.ndjson",
        "/api/v1/export/library.csv",
        "/feed/",
    ]
    assert len({client.get(path).headers["ETag"] for path in paths}) == len(paths)


def test_head_gives_the_headers_of_get(client):
    incident = make_incident()
    for path in (
        "/api/v1/incidents/",
        f"/api/v1/incidents/{incident.public_id}/",
        "/api/v1/export/library.csv",
        "/api/v1/schema/",
    ):
        get, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["ETag"] == get.headers["ETag"]
        assert head.headers["Content-Type"] == get.headers["Content-Type"]
    assert client.head("/api/v1/incidents/IL-9999/").status_code == 404


def test_a_preflight_allows_conditional_requests(client):
    response = client.options(
        "/api/v1/incidents/",
        headers={**ORIGIN, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "if-none-match"},
    )
    assert response.status_code == 204
    assert_open(response)
    allowed = {name.strip().lower() for name in response.headers["Access-Control-Allow-Headers"].split(",")}
    assert {"if-none-match", "content-type"} <= allowed


def test_the_admin_is_open_to_no_origin(client):
    response = client.get("/admin/login/", headers=ORIGIN)
    assert not [name for name in response.headers if name.startswith("Access-Control")]


def test_answers_are_the_same_for_every_reader(client):
    incident = make_incident()
    path = f"/api/v1/incidents/{incident.public_id}/"
    plain = client.get(path)
    english = Client(headers={"Cookie": "language=en; theme=dark; sessionid=x"}).get(path)
    assert english.content == plain.content
    assert "cookie" not in plain.headers.get("Vary", "").lower()


def test_a_method_that_is_not_there_is_told_as_a_problem(client):
    response = client.post("/api/v1/incidents/")
    assert (response.status_code, response.headers["Content-Type"]) == (405, "application/problem+json")
    assert "GET" in response.headers["Allow"]


def test_the_type_of_an_error_is_a_page_of_help(client, settings):
    problem = client.get("/api/v1/incidents/?cause=nope").json()
    assert problem["type"].startswith(settings.BASE_URL)
    page = client.get(problem["type"].removeprefix(settings.BASE_URL))
    assert page.status_code == 200
    assert problem["title"] in page.content.decode()


def test_a_former_slug_leads_to_todays(client):
    make_incident(causes=["dns-error"])
    SlugRedirect.objects.create(kind="causes", old_slug="name-error", new_slug="dns-error")
    response = client.get("/api/v1/causes/name-error/")
    assert (response.status_code, response.headers["Location"]) == (301, "/api/v1/causes/dns-error/")
    assert client.get("/api/v1/incidents/?cause=name-error").json()["count"] == 1


def test_vocabulary_counts_are_those_of_the_listing(get):
    make_incident(causes=["dns-error"], components=["etcd"])
    make_incident(causes=["dns-error", "bad-deploy"], components=["dns"])
    make_incident(causes=["bad-deploy"], components=["dns"], status=Status.WITHDRAWN)
    Cause.objects.create(slug="never", label="없는 원인")
    for kind, parameter in (("causes", "cause"), ("components", "component"), ("organizations", "organization")):
        for term in get(f"{kind}/")["results"]:
            assert get("incidents/", **{parameter: term["slug"]})["count"] == term["count"]
            assert get(f"{kind}/{term['slug']}/")["count"] == term["count"]
    assert {term["slug"]: term["count"] for term in get("causes/")["results"]}["never"] == 0


@pytest.mark.parametrize(
    "path", ["causes/nope/", "components/nope/", "organizations/nope/", "checks/KC-999/", "checks/x/"]
)
def test_an_unknown_value_is_a_404_in_the_error_form(client, path):
    response = client.get(f"/api/v1/{path}")
    assert (response.status_code, response.headers["Content-Type"]) == (404, "application/problem+json")


def test_a_missing_index_is_said_and_browsing_goes_on(client, settings, tmp_path):
    make_incident()
    (tmp_path / "taken").write_text("a file where the index's folder should be")
    settings.DATA_DIR = tmp_path / "taken"
    response = client.get("/api/v1/incidents/?q=인증서")
    assert (response.status_code, response.json()["code"]) == (503, "search_unavailable")
    assert int(response.headers["Retry-After"]) > 0
    assert client.get("/api/v1/incidents/").json()["count"] == 1
