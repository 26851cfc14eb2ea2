"""Figures of a small library: what isn't known stays apart, nothing at all has a page too."""

from __future__ import annotations

import pytest
from django.test import Client

from incidents.catalogue import get_catalogue
from incidents.stats import library_figures
from tests.factories import hours_in, make_incident

pytestmark = pytest.mark.django_db


def test_missing_duration_is_not_zero() -> None:
    make_incident(
        started_at=hours_in(0), started_precision="minute", resolved_at=hours_in(2), resolved_precision="minute"
    )
    make_incident(started_at=hours_in(0), started_precision="day", resolved_at=hours_in(2), resolved_precision="day")
    make_incident()
    figure = library_figures(get_catalogue()).durations
    assert (figure.total, figure.known, figure.median) == (3, 1, 120)
    assert [mark.count for mark in figure.bins] == [0, 0, 1, 0, 0, 0, 0]


def test_unstated_detection_stands_outside_the_scale() -> None:
    make_incident(detection_method="unknown")
    make_incident(detection_method="alert")
    figure = library_figures(get_catalogue()).cause_detection
    assert [(cell.count, cell.step, cell.is_unknown) for cell in figure.rows[0].cells] == [(1, 5, False), (1, 0, True)]
    assert (figure.known, figure.unknown) == (1, 1)


def test_empty_library_has_a_page(client: Client) -> None:
    response = client.get("/stats/")
    assert response.status_code == 200
    assert "아직 기록이 없습니다." in response.content.decode()
