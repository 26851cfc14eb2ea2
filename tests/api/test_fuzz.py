"""Every operation against hostile and ordinary values: no 5xx, no undocumented status, all answers as the schema says."""

from __future__ import annotations

import os
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks as c

from incidents.api.openapi import openapi_schema
from incidents.models import Check, Citation, Status
from tests.factories import hours_in, make_incident

CASES = int(os.environ.get("FUZZ_CASES", "12"))  # of each operation; 150 make over two thousand
CHECKS = (
    c.not_a_server_error,
    c.status_code_conformance,
    c.content_type_conformance,
    c.response_headers_conformance,
    c.response_schema_conformance,
)
SCHEMA = schemathesis.openapi.from_dict({**openapi_schema(), "servers": [{"url": "http://localhost"}]})
OPERATIONS: dict[str, Any] = {one.label: one for one in (result.ok() for result in SCHEMA.get_all_operations())}  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def small_library(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory):
    from django.db import transaction

    from tests.conftest import use_index

    with django_db_blocker.unblock(), transaction.atomic():
        use_index(tmp_path_factory.mktemp("fuzzed"))
        incident = make_incident(
            causes=["dns-error"], components=["etcd"], factors=["retry-storm"],
            started_at=hours_in(0), started_precision="minute", resolved_at=hours_in(3), resolved_precision="minute",
        )  # fmt: skip
        make_incident(symptom="멈춤", cause="고장", actions=["고침"], lesson="봄", factors=[])
        make_incident(status=Status.WITHDRAWN, reason="틀렸다")
        make_incident(status=Status.MERGED, merged_into=incident)
        check = Check.objects.create(
            code="KC-001", title="본다", area="가", severity="high", risk="나", look="다", criterion="라"
        )
        Citation.objects.create(check_item=check, incident=incident, why="그렇다")
        yield
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def in_this_connection(settings: Any):
    """Requests in the test's own transaction, as Django's test client has them, and as many as there are."""
    settings.API_RATE = 0
    settings.ALLOWED_HOSTS = ["*"]
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture(autouse=True)
def own_search() -> None:
    """The module's library keeps its index."""


@pytest.mark.parametrize("label", OPERATIONS)
def test_an_operation_keeps_its_promises(label: str, small_library: None, db: None) -> None:
    app = get_wsgi_application()

    @given(case=OPERATIONS[label].as_strategy())
    @settings(
        max_examples=CASES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def keeps(case: Any) -> None:
        case.call_and_validate(checks=CHECKS, app=app)

    keeps()
