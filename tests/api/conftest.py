"""What API tests share: a client that isn't throttled, and a judge of answers by the served schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # no stubs are among the locked packages

from incidents.api.openapi import openapi_schema
from incidents.api.throttle import forget_clients

Get = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def rested_clients() -> Iterator[None]:
    """No test pays for the requests of another."""
    forget_clients()
    yield
    forget_clients()


@pytest.fixture
def get(client: Client) -> Get:
    """A function that returns the JSON of an address below /api/v1/, which must answer 200."""

    def ask(path: str, **params: Any) -> dict[str, Any]:
        response = client.get(f"/api/v1/{path}", params)
        assert response.status_code == 200, response.content.decode()
        answer: dict[str, Any] = response.json()
        return answer

    return ask


@pytest.fixture(scope="session")
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    printed: dict[str, Any] = json.loads(json.dumps(openapi_schema()))
    return printed


@pytest.fixture(scope="session")
def validator(document: dict[str, Any]) -> Callable[[str], Draft202012Validator]:
    """A function that returns the judge of a model of the schema."""

    def judge(model: str) -> Draft202012Validator:
        return Draft202012Validator(
            {"$ref": f"#/components/schemas/{model}", "components": {"schemas": document["components"]["schemas"]}}
        )

    return judge


def body_of(response: Any) -> bytes:
    """Return a whole body, streamed or not."""
    return b"".join(response.streaming_content) if response.streaming else response.content
