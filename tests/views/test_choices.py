"""Theme and language: a form without a token, remembered in a cookie, back to the same page and nowhere else."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def strict() -> Client:
    """A browser whose forms are checked for their token, as real ones are."""
    return Client(enforce_csrf_checks=True)


@pytest.mark.parametrize(("path", "name", "value"), [("/theme/", "theme", "dark"), ("/language/", "language", "en")])
def test_choice_needs_no_token_and_is_remembered(strict: Client, path: str, name: str, value: str) -> None:
    answer = strict.post(path, {name: value, "next": "/about/?a=1"})
    assert (answer.status_code, answer["Location"]) == (302, "/about/?a=1")
    assert strict.cookies[name].value == value
    assert strict.cookies[name]["samesite"] == "Lax"


def test_theme_stands_in_the_page(client: Client) -> None:
    client.post("/theme/", {"theme": "dark"})
    assert '<html lang="ko" class="theme-dark">' in client.get("/about/").content.decode()
    client.post("/theme/", {"theme": "system"})
    assert '<html lang="ko">' in client.get("/about/").content.decode()


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_way_back_never_leaves_the_library(client: Client, address: str) -> None:
    assert client.post("/theme/", {"theme": "dark", "next": address})["Location"] == "/"


@pytest.mark.parametrize(("path", "name"), [("/theme/", "theme"), ("/language/", "language")])
def test_unknown_choice_is_told(client: Client, path: str, name: str) -> None:
    assert client.post(path, {name: "nope"}).status_code == 400
    assert client.get(path).status_code == 405


def test_pages_set_no_cookie_of_their_own(client: Client) -> None:
    assert not client.get("/").cookies
    assert not client.get("/incidents/").cookies
