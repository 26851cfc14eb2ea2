"""Who reads from the replica, and who must not."""

from __future__ import annotations

import pytest
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpResponse
from django.test import RequestFactory

from incidents.models import Incident
from kb.router import ReplicaMiddleware, ReplicaRouter, _reads_replica, reading_from_primary


@pytest.fixture
def reads_replica():
    token = _reads_replica.set(True)
    yield
    _reads_replica.reset(token)


def test_outside_of_requests_everything_is_read_from_the_primary():
    assert ReplicaRouter().db_for_read(Incident) == "default"


def test_a_request_that_may_be_behind_reads_from_the_replica_and_writes_to_the_primary(reads_replica):
    router = ReplicaRouter()
    assert router.db_for_read(Incident) == "replica"
    assert router.db_for_write(Incident) == "default"
    assert not router.allow_migrate("replica", "incidents")
    with reading_from_primary():
        assert router.db_for_read(Incident) == "default"
    assert router.db_for_read(Incident) == "replica"


def test_what_belongs_to_a_row_is_read_where_the_row_was(reads_replica):
    incident = Incident()
    incident._state.db = "default"
    assert ReplicaRouter().db_for_read(Incident, instance=incident) == "default"


@pytest.mark.django_db
def test_a_transaction_reads_what_it_wrote(reads_replica):
    assert ReplicaRouter().db_for_read(Incident) == "default"  # the test's own transaction is open


@pytest.mark.parametrize(
    ("method", "cookies", "expected"),
    [
        ("GET", {}, True),
        ("HEAD", {}, True),
        ("GET", {"theme": "dark"}, True),
        ("POST", {}, False),
        ("GET", {"sessionid": "x"}, False),
        ("GET", {"wrote": "1"}, False),
    ],
)
def test_only_anonymous_reads_that_wrote_nothing_may_be_behind(method, cookies, expected):
    request = RequestFactory().generic(method, "/incidents/")
    if cookies:
        request.META["HTTP_COOKIE"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    assert ReplicaMiddleware._may_be_behind(request) is expected


def test_without_a_replica_the_middleware_is_not_used():
    with pytest.raises(MiddlewareNotUsed):
        ReplicaMiddleware(lambda request: HttpResponse())
