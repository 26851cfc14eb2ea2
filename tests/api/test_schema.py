"""The schema: valid, unchanged without a decision, kept by the answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from incidents.api.representation import API_VERSION
from incidents.api.schema_page import EXAMPLES
from incidents.facets import FACETS, RANGES
from incidents.listing_params import PARAMETERS
from incidents.models import Status
from tests.api.conftest import body_of
from tests.factories import hours_in, make_incident

SNAPSHOT = Path(__file__).parent / "openapi.json"
ROOT = Path(__file__).resolve().parents[2]


def operations(document):
    return [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def test_the_document_is_valid_openapi_3_1(document):
    assert document["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []


def test_no_change_of_the_schema_slips_through(document):
    """After a wanted change: raise API_VERSION, tell it in docs/api.md, `python manage.py api_schema > tests/api/openapi.json`."""
    assert {**document, "servers": []} == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_the_changelog_tells_of_the_present_version():
    changelog = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert re.search(rf"^### {re.escape(API_VERSION)}\b", changelog, re.MULTILINE)


def test_every_parameter_of_the_listing_is_in_the_schema(document):
    names = {one["name"] for one in document["paths"]["/api/v1/incidents/"]["get"]["parameters"]}
    assert set(PARAMETERS) <= names
    assert {facet.name for facet in FACETS} <= names
    assert {bound for range_ in RANGES for bound in (range_.lower, range_.upper)} <= names


def test_every_operation_documents_its_failures_with_their_media_type(document):
    for _path, method, operation in operations(document):
        responses = operation["responses"]
        assert {"200", "400", "404", "429", "503"} <= set(responses)
        assert ("304" in responses) == (method == "get")
        for status in ("400", "404", "429", "503"):
            assert list(responses[status]["content"]) == ["application/problem+json"]


def test_operation_names_are_given_once(document):
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))


@pytest.fixture
def odd_library(db):
    """Records as bare and as full as they can be."""
    full = make_incident(
        causes=["dns-error"], components=["etcd"], factors=["retry-storm"], detection_method="unknown",
        started_at=hours_in(0), started_precision="minute", resolved_at=hours_in(1), resolved_precision="minute",
        sources=[{"title": f"보고서 {n}", "url": f"https://status.example.org/{n}"} for n in range(5)],
        title="가" * 90, year=1961, follow_ups=["한다"], contributing_factors=["있었다"], detection="알았다.", trigger="눌렀다.",
    )  # fmt: skip
    bare = make_incident(symptom="멈춤", cause="고장", actions=["고침"], lesson="봄", factors=[])
    make_incident(status=Status.WITHDRAWN, reason="틀렸다")
    make_incident(status=Status.MERGED, merged_into=full)
    return full, bare


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("incidents/", "ListingOut"),
        ("incidents/?q=멈춤&html=1", "ListingOut"),
        ("incidents/?fields=id,title&exclude=title", "ListingOut"),
        ("incidents/?cursor=*&page_size=1", "ListingOut"),
        ("incidents/{0}/", "RecordOut"),
        ("incidents/{0}/?html=1", "RecordOut"),
        ("incidents/{1}/", "RecordOut"),
        ("incidents/{0}/related/", "RelatedListOut"),
        ("causes/", "VocabularyOut"),
        ("causes/dns-error/", "TermDetailOut"),
        ("components/etcd/", "TermDetailOut"),
        ("factors/", "VocabularyOut"),
        ("detections/unknown/", "TermDetailOut"),
        ("organizations/", "VocabularyOut"),
        ("organizations/누리상회/", "TermDetailOut"),
        ("checks/", "CheckListOut"),
        ("citations/?id={0}&id=IL-9999&id={0}@1%23cause-1", "CitationsOut"),
        ("suggest/?q=가가", "SuggestionsOut"),
        ("stats/", "FiguresOut"),
        ("", "IndexOut"),
        ("export/", "ExportsOut"),
        ("incidents/?cause=nope", "ProblemOut"),
        ("incidents/IL-9999/", "ProblemOut"),
    ],
)
def test_an_answer_is_what_the_schema_says(client, odd_library, validator, path, model):
    address = path.format(*(incident.public_id for incident in odd_library))
    response = client.get(f"/api/v1/{address}")
    assert [error.message for error in validator(model).iter_errors(response.json())] == []


@pytest.mark.django_db
def test_the_docs_page_needs_no_other_host_and_no_inline_code(client, settings):
    page = client.get("/api/v1/docs/").content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page)
    loaded = re.findall(r'<(?:script|link|img)[^>]*?(?:src|href)="([^"]+)"', page)
    assert [url for url in loaded if url.startswith(("http", "//")) and not url.startswith(settings.BASE_URL)] == []
    for example in EXAMPLES.values():
        assert example.replace("&", "&amp;") in page or example in page


def test_every_example_of_the_docs_page_answers(client, bundled):
    for example in EXAMPLES.values():
        response = client.get(example)
        assert (response.status_code, example) == (200, example)
        assert body_of(response)
