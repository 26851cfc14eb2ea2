"""Walking through everything while others publish and withdraw: nothing twice, nothing missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conftest import ROOT, Server
from tests.factories import make_incident

# Runs beside the server: withdraws and puts back every ninth record and publishes new ones until its input ends.
EDITOR = """
import select, sys
import django; django.setup()
from django.contrib.auth.models import User
from incidents.lifecycle import move
from incidents.models import Incident, LibraryState
from django.db import transaction
from tests.factories import make_draft
admin = User.objects.get()
touched = list(Incident.objects.filter(number__in=[n for n in range(1, 600) if n % 9 == 0], status="published"))
changes = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    incident = touched[changes % len(touched)]
    move(incident, "withdrawn" if incident.status == "published" else "published", author=admin, reason="시험")
    if changes % 5 == 0:
        with transaction.atomic():
            number = LibraryState.objects.next_number()
        new = make_draft(number=number, year=1990 + changes % 30, organization="가나다")
        move(new, "published", author=admin)
    changes += 1
print(changes)
"""


def fetch(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url, timeout=30) as response:
        answer: dict[str, Any] = json.load(response)
        return answer


def walk(server: Server, query: str) -> list[str]:
    """Return the IDs of all pages, following `next`."""
    ids: list[str] = []
    url: str | None = f"{server.url}/api/v1/incidents/?{query}"
    while url:
        answer = fetch(url)
        ids += [record["id"] for record in answer["results"]]
        url = answer["next"]
        assert url is None or urlsplit(url).netloc == urlsplit(server.url).netloc
    return ids


def test_a_walk_by_number_and_by_cursor_misses_and_repeats_nothing(make_server: Callable[..., Server]) -> None:
    server = make_server()
    stable = {i for i in walk(server, "cursor=*&page_size=100&fields=id&exclude=facets") if int(i[3:]) % 9}
    assert len(stable) > 300
    editor = subprocess.Popen(
        [sys.executable, "-c", EDITOR],
        cwd=ROOT,
        env={
            **os.environ,
            "KB_DATA_DIR": str(server.data_dir),
            "DJANGO_SETTINGS_MODULE": "kb.settings",
            "PYTHONPATH": str(ROOT),
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        for query in (
            "cursor=*",
            "cursor=*&sort=newest",
            "sort=newest",
            "sort=oldest",
            "sort=added",
            "sort=id",
        ):
            counts = Counter(walk(server, f"{query}&page_size=23&fields=id&exclude=facets"))
            assert {one for one in stable if counts[one] != 1} == set(), query
            assert [one for one, count in counts.items() if count > 1] == [], query
    finally:
        changes, _ = editor.communicate("\n", timeout=120)
    assert int(changes) > 10


@pytest.mark.django_db
def test_a_cursor_belongs_to_its_choices(client, get):
    for _ in range(3):
        make_incident(causes=["dns-error"])
    following = get("incidents/", cursor="*", page_size=1)["next"]
    response = client.get(following.split("8000", 1)[1] + "&cause=dns-error")
    assert response.status_code == 400
    assert [error["parameter"] for error in response.json()["errors"]] == ["cursor"]


@pytest.mark.django_db
def test_a_walk_ends_and_tells_the_neighbours_of_a_page(client, get):
    made = [make_incident().public_id for _ in range(5)]
    first = get("incidents/", sort="id", page_size=2)
    assert ([r["id"] for r in first["results"]], first["previous"]) == (made[:2], None)
    second = client.get(first["next"].split("8000", 1)[1])
    assert [r["id"] for r in second.json()["results"]] == made[2:4]
    assert second.json()["previous"].endswith("sort=id&page_size=2&page=1")
    links = second.headers["Link"]
    assert all(f'rel="{name}"' in links for name in ("next", "prev", "first", "last"))
    third = client.get(second.json()["next"].split("8000", 1)[1]).json()
    assert ([r["id"] for r in third["results"]], third["next"]) == (made[4:], None)


@pytest.mark.django_db
def test_a_cursor_and_a_group_do_not_mix(client):
    make_incident()
    response = client.get("/api/v1/incidents/?cursor=*&group=cause")
    assert (response.status_code, response.json()["errors"][0]["parameter"]) == (400, "cursor")


@pytest.mark.parametrize(
    "cursor", ["W10", "eyJhIjoxfQ", "WzEsMiwzXQ", "WzEsMiwzLDRd", "////", "WzFlOTksMSwxLCJhIl0", "가"]
)
@pytest.mark.django_db
def test_a_made_up_cursor_is_refused(client, cursor):
    make_incident()
    response = client.get("/api/v1/incidents/", {"cursor": cursor})
    assert (response.status_code, response.json()["errors"][0]["parameter"]) == (400, "cursor")
