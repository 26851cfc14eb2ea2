"""The catalogue while others publish: what comes between two of its questions is left for the next time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from incidents.catalogue import Catalogue, get_catalogue
from incidents.lifecycle import move
from incidents.models import Incident
from tests.factories import make_draft, make_incident

pytestmark = pytest.mark.django_db


@contextmanager
def between_questions(number: int, act: Callable[[], object]) -> Iterator[None]:
    """Do something before the nth question to the database, as another process might."""
    asked = 0
    is_acting = False

    def wrap(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal asked, is_acting
        if not is_acting:
            asked += 1
            if asked == number:
                is_acting = True
                act()
                is_acting = False
        return execute(sql, params, many, context)

    with connection.execute_wrapper(wrap):
        yield


def entries(catalogue: Catalogue) -> dict[int, list[str]]:
    column, by_pk = catalogue.columns["component"], catalogue.vocabularies["component"].by_pk
    found: dict[int, list[str]] = {int(pk): [] for pk in catalogue.keys.pks}
    for row, term in zip(column.rows.tolist(), column.terms.tolist(), strict=True):
        found[int(catalogue.keys.pks[row])].append(by_pk[term].slug)
    return found


@pytest.mark.parametrize("question", range(2, 12))
@pytest.mark.parametrize("is_first", [True, False])
def test_what_is_published_between_two_questions_is_taken_whole_or_not_at_all(question: int, is_first: bool) -> None:
    low = make_draft(number=10, components=["etcd"])
    make_incident(number=5, components=["dns"])
    high = make_incident(number=20, components=["job-queue"])
    if not is_first:
        get_catalogue()
        high.title = "고친 제목"
        high.save()
    with between_questions(question, lambda: move(low, "published", author=None)):
        catalogue = get_catalogue()
    truth = {i.pk: [t.term.slug for t in i.component_tags.all()] for i in Incident.objects.published()}
    assert {pk: slugs for pk, slugs in entries(catalogue).items() if slugs != truth[pk]} == {}
    assert len(catalogue.keys.pks) == len(set(catalogue.keys.pks.tolist()))
    assert entries(get_catalogue()) == truth


@pytest.mark.parametrize("question", range(2, 12))
def test_what_is_changed_between_two_questions_stands_once(question: int) -> None:
    first, second = make_incident(number=5, components=["dns"]), make_incident(number=20, components=["etcd"])
    get_catalogue()
    second.title = "고친 제목"
    second.save()

    def retitle() -> None:
        Incident.objects.get(pk=first.pk).save()

    with between_questions(question, retitle):
        catalogue = get_catalogue()
    assert sorted(catalogue.keys.numbers.tolist()) == [5, 20]
    assert entries(catalogue) == {first.pk: ["dns"], second.pk: ["etcd"]}


@pytest.mark.parametrize("question", range(1, 16))
@pytest.mark.parametrize("address", ["/api/v1/incidents/", "/incidents/", "/incidents.md"])
def test_what_is_withdrawn_between_two_questions_is_listed_or_not_but_harms_no_answer(
    client: Client, address: str, question: int
) -> None:
    make_incident(number=5)
    going = make_incident(number=6)
    with between_questions(question, lambda: move(going, "withdrawn", author=None, reason="출처가 사라졌다.")):
        answer = client.get(address)
    assert answer.status_code == 200
    listed = {public_id for public_id in ("IL-0005", "IL-0006") if public_id in answer.content.decode()}
    assert listed in ({"IL-0005"}, {"IL-0005", "IL-0006"})
