"""The listing and the records: parameters, errors, IDs in any form, states."""

from __future__ import annotations

import pytest

from incidents.models import Check, Citation, Incident, RelatedIncident, Status
from tests.factories import hours_in, make_incident

pytestmark = pytest.mark.django_db


def ids(answer):
    return [record["id"] for record in answer["results"]]


def test_a_record_has_every_field_and_null_where_nothing_is_known(get):
    incident = make_incident(factors=[], detection_method="unknown")
    record = get(f"incidents/{incident.public_id}/")
    assert record["id"] == incident.public_id
    assert record["organization"] == {"slug": "누리상회", "name": "누리상회"}
    assert record["causes"] == [{"slug": "capacity-exhaustion", "label": "용량·한도 고갈"}]
    assert record["factors"] == [] == record["follow_ups"] == record["related"] == record["checks"]
    assert (record["started_at"], record["resolved_at"], record["duration_minutes"]) == (None, None, None)
    assert record["sources"][0]["archived_url"] is None
    assert record["status"] == "published"
    assert record["url"].endswith(f"/incidents/{incident.public_id}/")
    assert "symptom_html" not in record


def test_a_duration_is_given_only_when_both_ends_are_known_to_the_minute(get):
    exact = make_incident(
        started_at=hours_in(0), started_precision="minute", resolved_at=hours_in(2), resolved_precision="minute"
    )
    by_day = make_incident(
        started_at=hours_in(0).replace(hour=0, minute=0), started_precision="day",
        resolved_at=hours_in(2), resolved_precision="minute",
    )  # fmt: skip
    assert get(f"incidents/{exact.public_id}/")["duration_minutes"] == 120
    record = get(f"incidents/{by_day.public_id}/")
    assert (record["started_at"], record["duration_minutes"]) == ("2024-03-02", None)


@pytest.mark.parametrize("form", ["IL-{0:04d}", "il-{0:04d}", "IL-{0}", "il-{0}", "IL‑{0:04d}", "ＩＬ－{0:04d}"])
def test_every_form_of_an_id_answers_with_the_canonical_one(client, form):
    incident = make_incident()
    response = client.get(f"/api/v1/incidents/{form.format(incident.number)}/")
    assert response.status_code == 200
    assert response.json()["id"] == incident.public_id


def test_html_comes_when_asked_for_and_is_safe(get):
    incident = make_incident(symptom="**로그인**이 멈췄다. <script>alert(1)</script>", actions=["`kubectl`을 썼다."])
    record = get(f"incidents/{incident.public_id}/", html=1)
    assert "<strong>로그인</strong>" in record["symptom_html"]
    assert "<script" not in record["symptom_html"]
    assert record["actions_html"] == ["<code>kubectl</code>을 썼다."]


def test_fields_narrow_and_exclude_leaves_out(get):
    incident = make_incident()
    assert get(f"incidents/{incident.public_id}/", fields="id,title") == {
        "id": incident.public_id,
        "title": incident.title,
    }
    without = get(f"incidents/{incident.public_id}/", exclude="symptom,cause")
    assert "symptom" not in without and "lesson" in without
    listing = get("incidents/", fields="id", exclude="facets")
    assert listing["results"] == [{"id": incident.public_id}]
    assert "facets" not in listing


def test_a_withdrawn_record_answers_with_its_state_and_is_listed_nowhere(get):
    incident = make_incident(status=Status.WITHDRAWN, reason="출처가 철회됐다")
    record = get(f"incidents/{incident.public_id}/")
    assert (record["status"], record["status_reason"]) == ("withdrawn", "출처가 철회됐다")
    assert get("incidents/")["count"] == 0


def test_a_merged_record_answers_with_its_survivor(client, get):
    survivor = make_incident()
    merged = make_incident(status=Status.MERGED, merged_into=survivor)
    record = get(f"incidents/{merged.public_id}/")
    assert (record["status"], record["merged_into"]) == ("merged", survivor.public_id)
    assert ids(get("incidents/")) == [survivor.public_id]


def test_a_draft_is_told_from_nothing_by_nobody(client):
    draft = make_incident(status=Status.DRAFT)
    answers = [client.get(f"/api/v1/incidents/{name}/") for name in (draft.public_id, "IL-9999")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].json()["code"] == answers[1].json()["code"] == "not_found"


def test_a_relation_to_a_draft_is_not_shown(get):
    incident, draft, other = make_incident(), make_incident(status=Status.DRAFT), make_incident()
    RelatedIncident.objects.create(incident=incident, other=draft, relation="similar")
    RelatedIncident.objects.create(incident=incident, other=other, relation="repeat-of", note="같은 결함", position=1)
    assert [(r["id"], r["relation"], r["note"]) for r in get(f"incidents/{incident.public_id}/")["related"]] == [
        (other.public_id, "repeat-of", "같은 결함")
    ]


def test_related_records_come_with_their_reasons(get):
    incident = make_incident(causes=["dns-error"], components=["etcd", "dns"], factors=["retry-storm"])
    alike = make_incident(causes=["dns-error"], components=["etcd"], factors=["retry-storm"], organization="다른 곳")
    make_incident(causes=["bad-deploy"], components=["job-queue"], organization="또 다른 곳")
    answer = get(f"incidents/{incident.public_id}/related/")
    assert ids(answer) == [alike.public_id]
    assert [term["slug"] for term in answer["results"][0]["reasons"]["component"]] == ["etcd"]


def test_facets_narrow_one_another_and_ignore_their_own_choice(get):
    first = make_incident(causes=["dns-error"], components=["etcd"])
    make_incident(causes=["dns-error"], components=["dns"])
    third = make_incident(causes=["bad-deploy"], components=["etcd"])
    fourth = make_incident(causes=["bad-deploy", "dns-error"], components=["etcd"])

    def counts(answer, facet):
        return {option["value"]: option["count"] for option in answer["facets"][facet]}

    answer = get("incidents/", component="etcd", cause="dns-error")
    assert sorted(ids(answer)) == [first.public_id, fourth.public_id]
    assert counts(answer, "cause") == {"dns-error": 2, "bad-deploy": 2}
    assert counts(answer, "component") == {"etcd": 2, "dns": 1}
    answer = get("incidents/", component="etcd", cause=["dns-error", "bad-deploy"])
    assert sorted(ids(answer)) == [first.public_id, third.public_id, fourth.public_id]
    assert counts(answer, "component") == {"etcd": 3, "dns": 1}
    assert counts(answer, "cause") == {"dns-error": 2, "bad-deploy": 2}


def test_a_record_with_many_matching_values_comes_once(get):
    incident = make_incident(causes=["dns-error", "bad-deploy", "operator-error"], factors=["monitoring-gap"])
    for sort in ("newest", "oldest", "added", "id"):
        answer = get(
            "incidents/", cause=["dns-error", "bad-deploy", "operator-error"], factor="monitoring-gap", sort=sort
        )
        assert (answer["count"], ids(answer)) == (1, [incident.public_id])


@pytest.mark.parametrize(
    ("query", "name", "value"),
    [
        ("cause=nope", "cause", "nope"),
        ("cause=dns-error&cause=nope", "cause", "nope"),
        ("check=KC-999", "check", "KC-999"),
        ("sort=random", "sort", "random"),
        ("view=grid", "view", "grid"),
        ("group=nope", "group", "nope"),
        ("detection=nope", "detection", "nope"),
        ("nope=1", "nope", "nope"),
        ("fields=id,nope", "fields", "nope"),
        ("exclude=nope", "exclude", "nope"),
        ("html=yes", "html", "yes"),
        ("updated_since=yesterday", "updated_since", "yesterday"),
        ("cursor=nope", "cursor", "nope"),
        ("year_from=2024&year_to=2020", "year_from", "2024"),
        *[(f"year_from={bad}", "year_from", bad) for bad in ("2019.5", "-1", "0", "20240", "２０２０", "99999999999")],
        *[
            (f"page={bad}", "page", bad)
            for bad in (
                "0",
                "-1",
                "abc",
                "1.0",
                "1e3",
                "2147483647",
                "9223372036854775807",
                "99999999999999999999",
                "１",
                "٣",
            )
        ],
        *[(f"page_size={bad}", "page_size", bad) for bad in ("0", "-5", "101", "1e9", "abc")],
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_name(client, query, name, value):
    make_incident(causes=["dns-error"])
    response = client.get(f"/api/v1/incidents/?{query}")
    assert response.status_code in {400, 404}
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert [error["parameter"] for error in problem["errors"]] == [name]
    assert value in problem["detail"] + problem["errors"][0]["detail"]


def test_a_page_past_the_end_names_the_last_one(client):
    make_incident()
    response = client.get("/api/v1/incidents/?page=2")
    assert response.status_code == 404
    assert response.json()["errors"] == [{"parameter": "page", "detail": "마지막 페이지는 1입니다."}]


def test_empty_parameters_count_as_absent(get):
    incident = make_incident()
    answer = get(
        "incidents/", q="", cause="", year_from="", sort="", page="", page_size="", fields="", updated_since=""
    )
    assert ids(answer) == [incident.public_id]


def test_a_hundred_records_fit_on_a_page(get):
    make_incident()
    assert get("incidents/", page_size=100)["count"] == 1


@pytest.mark.parametrize(
    "since",
    [
        "2024-03-02T00:00:00%2B09:00",
        "2024-03-02T00:00:00+09:00",
        "2024-03-01T15:00:00Z",
        "2024-03-01T15:00:00",
    ],
)
def test_one_instant_in_any_spelling_gives_one_answer(client, since):
    before, after = make_incident(), make_incident()
    Incident.objects.filter(pk=before.pk).update(updated_at="2024-03-01T14:59:59Z")
    Incident.objects.filter(pk=after.pk).update(updated_at="2024-03-01T15:00:00Z")
    answer = client.get(f"/api/v1/incidents/?updated_since={since}").json()
    assert ids(answer) == [after.public_id]
    assert [option["count"] for option in answer["facets"]["organization"]] == [1]


def test_a_day_begins_in_utc(client):
    incident = make_incident()
    Incident.objects.filter(pk=incident.pk).update(updated_at="2024-03-01T23:59:59Z")
    assert client.get("/api/v1/incidents/?updated_since=2024-03-02").json()["count"] == 0
    assert client.get("/api/v1/incidents/?updated_since=2024-03-01").json()["count"] == 1


def test_what_is_printed_as_the_time_of_change_finds_the_record_again(get):
    incident = make_incident()
    printed = get(f"incidents/{incident.public_id}/")["updated_at"]
    assert ids(get("incidents/", updated_since=printed)) == [incident.public_id]


def test_a_search_names_the_field_and_marks_the_word(get):
    incident = make_incident(lesson="정산이 멈추면 인증서부터 본다.", title="배치가 멈췄다")
    answer = get("incidents/", q="인증서")
    assert (answer["count"], ids(answer)) == (1, [incident.public_id])
    assert answer["results"][0]["match"] == "all"
    assert answer["results"][0]["snippet"]["field"] == "lesson"
    assert "<mark>인증서" in answer["results"][0]["snippet"]["html"]
    assert answer["interpretation"] == {"kind": "exact", "query": "인증서", "original": "인증서"}


def test_checks_stand_on_the_record_with_their_reason(get):
    incident = make_incident()
    check = Check.objects.create(
        code="KC-001", title="여유를 둔다", area="저장소", severity="high", risk="찬다", look="본다", criterion="남는다"
    )
    Citation.objects.create(check_item=check, incident=incident, why="로그가 볼륨을 채웠다.")
    record = get(f"incidents/{incident.public_id}/")
    assert record["checks"] == ["KC-001"]
    assert [(one["code"], one["why"]) for one in record["cited_by"]] == [("KC-001", "로그가 볼륨을 채웠다.")]
    assert ids(get("incidents/", check="KC-001")) == [incident.public_id]
