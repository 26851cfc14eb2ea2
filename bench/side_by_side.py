"""All servers at once, asked in turn: one request to each, then the next, so that they share whatever else the machine does.

    python -m bench.side_by_side SIZE      after `python -m bench` has filled the candidates

Medians of this are what the ratios are made of; a busy machine then changes the figures and not the ratios.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from contextlib import ExitStack
from urllib.parse import quote_plus

from bench.corpus import library_folder
from bench.environment import FOLDER, PEER_PYTHON, PEERS, ROOT, free_port, serving
from bench.load import Latency

QUERIES = 60
ROUNDS = 5
PYTHON = str(ROOT / ".venv" / "bin" / "python")
FACETS = "&_facet=cause&_facet=component&_facet=organization&_size=20&_fts_table=records_fts&_fts_pk=id"


def side_by_side(size: int) -> dict[str, dict[str, Latency]]:
    """Return {candidate: {cold, known, warm, not_modified}}: first request, same query at a new address, same address, 304."""
    queries = json.loads((library_folder(size) / "queries.json").read_text("utf-8"))[:QUERIES]
    data = FOLDER / "data"
    ports = {name: free_port() for name in ("ours", "floor", "datasette", "haystack")}
    gunicorn = ["-m", "gunicorn", "-k", "gthread", "--threads", "4", "--workers", "1", "--timeout", "300"]
    bind = {name: ["--bind", f"127.0.0.1:{port}"] for name, port in ports.items()}
    paths = {
        "ours": [f"/incidents/?q={quote_plus(text)}" for text in queries],
        "floor": ["/"] * len(queries),
        "datasette": [f"/library/records?_search={quote_plus(text)}{FACETS}" for text in queries],
        "haystack": [f"/?q={quote_plus(text)}" for text in queries],
    }
    with ExitStack() as stack:
        env = {
            "KB_DATA_DIR": str(data / f"ours-{size}"),
            "KB_BASE_URL": f"http://127.0.0.1:{ports['ours']}",
            "KB_PAGE_CACHE_MB": "0",
        }
        command = [PYTHON, "-m", "gunicorn", "--config", "kb/gunicorn.py", "--workers", "1", *bind["ours"], "kb.wsgi"]
        stack.enter_context(serving(command, ports["ours"], "/healthz", env=env))
        floor = [str(PEER_PYTHON), *gunicorn, "--preload", *bind["floor"], "floor_site:application"]
        stack.enter_context(serving(floor, ports["floor"], "/", cwd=PEERS))
        if (data / f"datasette-{size}").exists():
            command = [str(PEER_PYTHON), "-m", "datasette", str(data / f"datasette-{size}" / "library.db"), "--port", str(ports["datasette"]),
                       "--setting", "facet_time_limit_ms", "60000", "--setting", "sql_time_limit_ms", "60000"]  # fmt: skip
            stack.enter_context(serving(command, ports["datasette"], "/library.json"))
        else:
            del paths["datasette"]
        if (data / f"haystack-{size}").exists():
            command = [str(PEER_PYTHON), *gunicorn, *bind["haystack"], "haystack_site:application"]
            folder = {"HAYSTACK_FOLDER": str(data / f"haystack-{size}")}
            stack.enter_context(serving(command, ports["haystack"], "/?q=x", env=folder, cwd=PEERS))
        else:
            del paths["haystack"]
        return _in_turn(paths, ports)


def _in_turn(paths: dict[str, list[str]], ports: dict[str, int]) -> dict[str, dict[str, Latency]]:
    connections = {name: http.client.HTTPConnection("127.0.0.1", ports[name], timeout=300) for name in paths}
    times: dict[str, dict[str, list[float]]] = {name: {} for name in paths}
    tags: dict[str, str] = {}

    def ask(name: str, path: str, kind: str, tag: str = "") -> None:
        connection = connections[name]
        connection.close()  # its turn may come after the server's patience with an idle connection
        connection.connect()
        started = time.perf_counter()
        connection.request("GET", path, headers={"If-None-Match": tag} if tag else {})
        response = connection.getresponse()
        response.read()
        times[name].setdefault(kind, []).append(time.perf_counter() - started)
        tags[name] = response.getheader("ETag", "") or ""
        if response.status not in {200, 304}:
            raise RuntimeError(f"{name} {path}: {response.status}")

    count = len(next(iter(paths.values())))
    for number in range(count):
        for name in paths:
            ask(name, paths[name][number], "cold")
    for number in range(count):
        for name in paths:
            path = paths[name][number]
            ask(name, path if name == "floor" else f"{path}&again=1", "known")
    for number in range(count * ROUNDS):
        for name in paths:
            ask(name, paths[name][number % 20], "warm")
    for _ in range(count * ROUNDS):
        for name in ("ours", "floor"):
            ask(name, paths[name][0], "not_modified" if tags[name] else "untagged", tags[name])
    return {name: {kind: Latency.of(found) for kind, found in kinds.items()} for name, kinds in times.items()}


if __name__ == "__main__":
    for candidate, kinds in side_by_side(int(sys.argv[1])).items():
        print(candidate, {kind: found.p50 for kind, found in kinds.items()})
