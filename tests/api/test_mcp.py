"""The Model Context Protocol with the official client: over stdio, over HTTP; budgets, shapes, errors inside results."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from incidents.mcp_server import tools
from incidents.mcp_server.answers import NOTICE
from incidents.mcp_server.budget import FETCH_TOKENS, SEARCH_TOKENS, cost
from incidents.models import Status
from tests.conftest import ROOT, Server
from tests.factories import make_incident

TOOLS = {"search", "fetch", "match_symptom", "incidents_for_check", "list_vocabulary", "changed_since"}


async def walk(client: Any, base_url: str) -> None:
    """What an agent does: looks at the tools, searches in two languages, fetches, asks for what isn't there."""
    listed = (await client.list_tools()).tools
    assert {tool.name for tool in listed} == TOOLS
    for tool in listed:
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)
        assert tool.output_schema is not None

    for query in ("인증서 만료", "certificate expired"):
        found = await client.call_tool("search", {"query": query})
        assert not found.is_error
        results = found.structured_content["results"]
        assert results
        assert all({"id", "title", "url"} <= set(one) for one in results)
        assert json.loads(found.content[0].text)["results"] == results
        assert found.structured_content["notice"] == NOTICE

    fetched = await client.call_tool("fetch", {"id": results[0]["id"]})
    assert set(fetched.structured_content) == {"id", "title", "text", "url", "metadata"}
    assert fetched.structured_content["id"] == results[0]["id"]
    assert "[symptom-1]" in fetched.structured_content["text"]

    missing = await client.call_tool("fetch", {"id": "IL-9999"})
    assert missing.is_error
    assert "Nearest IDs: IL-" in missing.content[0].text

    url = f"{base_url}/incidents/{results[0]['id']}/"
    (contents,) = (await client.read_resource(url)).contents
    assert contents.mime_type == "text/markdown"
    assert contents.text.startswith(f"---\nid: {results[0]['id']}\n")


def run(task: Callable[[], Awaitable[None]]) -> None:
    anyio.run(task)


def test_the_official_client_works_over_http(shared_server: Server) -> None:
    async def task() -> None:
        async with Client(f"{shared_server.url}/mcp") as client:
            await walk(client, shared_server.url)

    run(task)


@pytest.fixture(scope="module")
def stdio_dir(library_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data_dir = tmp_path_factory.mktemp("stdio") / "data"
    shutil.copytree(library_dir, data_dir)
    return data_dir


def test_the_official_client_works_over_stdio(stdio_dir: Path) -> None:
    async def task() -> None:
        parameters = StdioServerParameters(
            command=sys.executable, args=["manage.py", "mcp"], cwd=str(ROOT),
            env={"KB_DATA_DIR": str(stdio_dir), "KB_BASE_URL": "https://library.example.org"},
        )  # fmt: skip
        async with Client(parameters) as client:
            await walk(client, "https://library.example.org")

    run(task)


def test_only_messages_are_written_and_a_bad_line_is_told(tmp_path: Path) -> None:
    """On a fresh data folder, with debug and warnings on, and with the input ended right behind the last request."""
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        "this is not JSON",
        {"not": "a message"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "etcd"}}},
        {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "nope", "arguments": {}}},
    ]  # fmt: skip
    process = subprocess.run(
        [sys.executable, "manage.py", "mcp"],
        cwd=ROOT,
        env={"KB_DATA_DIR": str(tmp_path), "KB_DEBUG": "1", "PYTHONWARNINGS": "default", "PATH": "/usr/bin:/bin"},
        input="".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    by_id = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    assert [answer["error"]["code"] for answer in answers if answer["id"] is None] == [-32700, -32600]
    assert set(by_id) == {1, 2, 3, 4}
    assert {tool["name"] for tool in by_id[2]["result"]["tools"]} == TOOLS
    assert by_id[3]["result"]["isError"] is True
    assert "manage.py migrate" in by_id[3]["result"]["content"][0]["text"]
    assert by_id[4]["result"]["isError"] is True


@pytest.mark.django_db
def test_without_sessions_there_is_nothing_to_stream_or_end(client):
    for method in ("get", "delete"):
        response = getattr(client, method)("/mcp")
        assert (response.status_code, response.headers["Allow"]) == (405, "POST, OPTIONS")
        assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert client.options("/mcp", headers={"Origin": "https://a.example"}).status_code == 204
    assert client.post("/mcp", "x" * 300_000, content_type="application/json").status_code == 413


@pytest.mark.django_db
def test_http_answers_one_message_with_one_message(client):
    make_incident(title="인증서 만료로 멈췄다")
    call = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "인증서"}},
    }
    response = client.post(
        "/mcp",
        json.dumps(call),
        content_type="application/json",
        headers={"Accept": "application/json, text/event-stream"},
    )
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
    answer = response.json()
    assert (answer["id"], answer["result"]["structuredContent"]["count"]) == (7, 1)


# What the tools answer


@pytest.mark.django_db
def test_a_search_stays_within_its_budget_whatever_is_found():
    for number in range(25):
        make_incident(title=f"정산이 멈췄다 {'가' * 150} {number}", lesson="정산을 본다. " * 30)
    answer = tools.search("정산", limit=20)
    assert answer.count == 25
    assert 1 < len(answer.results) < 20
    assert cost(answer) <= SEARCH_TOKENS
    assert answer.results[0].snippet


@pytest.mark.django_db
@pytest.mark.parametrize("length", [10, 2_000, 9_000])
def test_a_fetch_stays_within_its_budget_and_names_what_it_left_out(length):
    incident = make_incident(symptom="가나다 " * length, cause="라마바 " * length, actions=["사아자 " * length])
    answer = tools.fetch(incident.public_id)
    assert cost(answer) <= FETCH_TOKENS
    assert answer.metadata.sections == ["symptom", "cause", "actions", "lesson"]
    assert bool(answer.metadata.omitted_sections) == (length > 10)
    part = tools.fetch(incident.public_id, ["lesson"])
    assert part.text == f"## 교훈\n[lesson-1] {incident.lesson}"


@pytest.mark.django_db
def test_a_withdrawn_or_merged_record_says_so_first():
    survivor = make_incident()
    withdrawn = make_incident(status=Status.WITHDRAWN, reason="출처가 사라졌다")
    merged = make_incident(status=Status.MERGED, merged_into=survivor)
    assert tools.fetch(withdrawn.public_id).text.startswith("[withdrawn] 출처가 사라졌다\n")
    assert tools.fetch(merged.public_id).metadata.merged_into == survivor.public_id


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("ask", "hint"),
    [
        (lambda: tools.fetch("IL-1234"), "Nearest IDs: IL-0001"),
        (lambda: tools.fetch("nonsense"), "Nearest IDs: IL-0001"),
        (lambda: tools.fetch("IL-0001", ["nope"]), "Sections: symptom, trigger"),
        (lambda: tools.search("", component=["etdc"]), "Nearest: etcd"),
        (lambda: tools.incidents_for_check("KC-999"), "There are no checks"),
        (lambda: tools.list_vocabulary("nope"), "There are: causes, components"),
        (lambda: tools.changed_since("yesterday"), "Write 2026-11-29"),
        (lambda: tools.match_symptom("가" * 30_000), "64 kB"),
    ],
)
def test_an_error_says_what_would_be_right(ask: Callable[[], Any], hint: str):
    make_incident(number=1, components=["etcd"])
    with pytest.raises(tools.ToolFailure, match=hint):
        ask()


@pytest.mark.django_db
def test_what_changed_is_told_with_its_state():
    incident = make_incident()
    gone = make_incident(status=Status.WITHDRAWN, reason="틀렸다")
    answer = tools.changed_since("2020-01-01")
    assert [(one.id, one.status, one.reason) for one in answer.changes] == [
        (gone.public_id, "withdrawn", "틀렸다"), (incident.public_id, "published", ""),
    ]  # fmt: skip
    assert tools.changed_since("2100-01-01").changes == []


@pytest.mark.django_db
def test_the_vocabulary_comes_with_counts():
    make_incident(causes=["dns-error"])
    assert [(one.slug, one.count) for one in tools.list_vocabulary("causes").values] == [("dns-error", 1)]
