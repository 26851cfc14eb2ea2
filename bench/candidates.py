"""The candidates: how each is filled, served and asked. One worker process each; a page is search, facets and 20 hits."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from bench.cluster import primary
from bench.corpus import library_folder
from bench.environment import FOLDER, PEER_PYTHON, PEERS, ROOT, free_port, memory_mb, run, serving, worker_mb
from bench.load import eight_clients, one_client, tag_of

Figures = dict[str, Any]
PYTHON = str(ROOT / ".venv" / "bin" / "python")
REPEATS = 300
SMALLEST_PAGE = 5_000  # bytes of 20 hits and facets, at the least
UPDATE = """
import time
from incidents.indexing import sync_index
from incidents.models import Incident
times = []
for incident in Incident.objects.order_by("pk")[:5]:
    started = time.perf_counter()
    incident.title += " 고침"
    incident.save()
    sync_index()
    times.append((time.perf_counter() - started) * 1000)
print(sorted(times)[2])
"""


def fresh(name: str, size: int) -> Path:
    """Return an empty folder of a candidate."""
    folder = FOLDER / "data" / f"{name}-{size}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def pages_of(port: int, pid: int, cold: list[str], warm: list[str], folder: Path) -> Figures:
    """Ask each cold path once in a fresh process, then the warm ones again and again."""
    figures: Figures = {"cold": one_client(port, cold).__dict__}
    if figures["cold"]["largest"] < SMALLEST_PAGE:
        raise RuntimeError(f"the largest page has {figures['cold']['largest']} bytes: nothing was found")
    one_client(port, warm)
    figures["warm"] = one_client(port, (warm * (REPEATS // len(warm) + 1))[:REPEATS]).__dict__
    figures["warm_rps"] = eight_clients(port, warm, folder)
    figures["memory_mb"], figures["worker_mb"] = round(memory_mb(pid)), round(worker_mb(pid))
    return figures


def ours(size: int, environment: Mapping[str, str] | None = None, name: str = "ours") -> Figures:
    """This library, imported, indexed and served as `make run` does, with one worker."""
    folder = fresh(name, size)
    source = library_folder(size)
    queries = json.loads((source / "queries.json").read_text("utf-8"))
    port = free_port()
    env = {
        **(environment or {}),
        "KB_DATA_DIR": str(folder),
        "KB_BASE_URL": f"http://127.0.0.1:{port}",
        "KB_API_RATE": "0",
    }
    manage = [PYTHON, "manage.py"]
    run([*manage, "migrate", "--no-input", "--verbosity", "0"], env=env)
    run([*manage, "collectstatic", "--no-input", "--verbosity", "0"], env=env)
    figures: Figures = {}
    figures["import_s"] = _timed(lambda: run([*manage, "import_library", str(source)], env=env))
    figures["records_per_s"] = round(size / figures["import_s"])
    figures["index_s"] = _timed(
        lambda: run([*manage, "rebuild_index"], env=env)
    )  # with analyses that are known already
    command = [
        PYTHON,
        "-m",
        "gunicorn",
        "--config",
        "kb/gunicorn.py",
        "--bind",
        f"127.0.0.1:{port}",
        "--workers",
        "1",
        "kb.wsgi",
    ]
    search = [f"/incidents/?q={quote_plus(text)}" for text in queries]
    with serving(command, port, "/healthz", env=env) as pid:
        figures |= pages_of(port, pid, search, search[:20], folder)
        # Everything of the pages is known now but the pages: another address, the same query.
        figures["cold_again"] = one_client(port, [f"{path}&again=1" for path in search]).__dict__
        figures["cold_rps"] = _cold_rps(port, search, folder)
        tag = tag_of(port, search[0])
        have = {"If-None-Match": tag}
        figures["not_modified"] = one_client(port, [search[0]] * REPEATS, headers=have, status=304).__dict__
        figures["not_modified_rps"] = eight_clients(port, [search[0]], folder, headers=have)
        step = max(1, size // 200)
        records = [f"/incidents/IL-{number:04d}/" for number in range(1, size + 1, step)]
        figures["record_cold"] = one_client(port, records).__dict__
        figures["listing_cold"] = one_client(
            port, [f"/incidents/?page={n}" for n in range(1, min(40, size // 20) + 1)]
        ).__dict__
        figures["worker_mb"] = round(worker_mb(pid))
        figures["export_s"], figures["export_mb"], figures["export_growth_mb"] = _export(port, pid)
    figures["update_ms"] = round(float(run([*manage, "shell", "-v", "0", "-c", UPDATE], env=env).splitlines()[-1]), 1)
    figures["index_mb"] = _megabytes(folder / "index")
    return figures


def postgres(size: int) -> Figures:
    """This library with its rows and its index in a PostgreSQL server of its own, on this machine."""
    with primary(is_durable=True) as cluster:
        cluster.sql("CREATE DATABASE library")
        environment = {"DATABASE_URL": cluster.url("library"), "KB_SEARCH_BACKEND": "postgres"}
        figures = ours(size, environment, "postgres")
        tables = "relname LIKE 'search\\_%' AND relkind = 'r'"
        taken = cluster.sql(f"SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE {tables}", "library")
        figures["index_mb"] = round(int(taken) / 1e6, 1)
    return figures


def _cold_rps(port: int, search: list[str], folder: Path) -> float:
    """Eight clients whose every request is a new address."""
    return eight_clients(port, [f"{path}&n={n}" for n in range(60) for path in search], folder)


def _export(port: int, pid: int) -> tuple[float, float, float]:
    """Return seconds, MB, and by how many MB the worker grew while it streamed every record."""
    before = worker_mb(pid)
    started = time.perf_counter()
    printed = subprocess.run(
        ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code} %{size_download}", f"http://127.0.0.1:{port}/api/v1/export/library.ndjson"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    if printed[0] != "200":
        raise RuntimeError(f"export: {printed}")
    return round(time.perf_counter() - started, 2), round(int(printed[1]) / 1e6, 1), round(worker_mb(pid) - before)


def floor(size: int) -> Figures:
    """A ready page of 30 kB from the same server; the size of the library makes no difference."""
    folder = fresh("floor", size)
    port = free_port()
    command = [str(PEER_PYTHON), "-m", "gunicorn", "--preload", "-k", "gthread", "--threads", "4", "--keep-alive", "5",
               "--bind", f"127.0.0.1:{port}", "--workers", "1", "floor_site:application"]  # fmt: skip
    with serving(command, port, "/", cwd=PEERS) as pid:
        figures = pages_of(port, pid, ["/"] * 20, ["/"], folder)
        have = {"If-None-Match": tag_of(port, "/")}
        figures["not_modified"] = one_client(port, ["/"] * REPEATS, headers=have, status=304).__dict__
        figures["not_modified_rps"] = eight_clients(port, ["/"], folder, headers=have)
    return figures


def haystack(size: int) -> Figures:
    """django-haystack 3.4 with Whoosh, three facets and highlighting."""
    folder = fresh("haystack", size)
    source = library_folder(size)
    figures: Figures = json.loads(
        run(
            [str(PEER_PYTHON), "haystack_site.py", "build", str(source / "records.ndjson"), str(folder)], cwd=PEERS
        ).splitlines()[-1]
    )
    queries = json.loads((source / "queries.json").read_text("utf-8"))[:40]
    port = free_port()
    command = [str(PEER_PYTHON), "-m", "gunicorn", "-k", "gthread", "--threads", "4", "--keep-alive", "5", "--timeout", "300",
               "--bind", f"127.0.0.1:{port}", "--workers", "1", "haystack_site:application"]  # fmt: skip
    search = [f"/?q={quote_plus(text)}" for text in queries]
    with serving(command, port, search[0], env={"HAYSTACK_FOLDER": str(folder)}, cwd=PEERS) as pid:
        figures |= pages_of(port, pid, search, search[:20], folder)
    figures |= json.loads(
        run([str(PEER_PYTHON), "haystack_site.py", "update", "-", str(folder)], cwd=PEERS).splitlines()[-1]
    )
    figures["index_mb"] = _megabytes(folder / "index")
    return figures


def datasette(size: int) -> Figures:
    """Datasette 0.65 with FTS5, its table named, and three facets."""
    folder = fresh("datasette", size)
    source = library_folder(size)
    file = folder / "library.db"
    figures: Figures = json.loads(
        run([str(PEER_PYTHON), "datasette_data.py", str(source / "records.ndjson"), str(file)], cwd=PEERS)
    )
    queries = json.loads((source / "queries.json").read_text("utf-8"))
    port = free_port()
    command = [str(PEER_PYTHON), "-m", "datasette", str(file), "--port", str(port), "--setting", "facet_time_limit_ms", "60000",
               "--setting", "sql_time_limit_ms", "60000", "--setting", "default_cache_ttl", "0"]  # fmt: skip
    facets = "&_facet=cause&_facet=component&_facet=organization&_size=20&_fts_table=records_fts&_fts_pk=id"
    search = [f"/library/records?_search={quote_plus(text)}{facets}" for text in queries]
    with serving(command, port, search[0]) as pid:
        figures |= pages_of(port, pid, search, search[:20], folder)
    figures["index_mb"] = _megabytes(folder)
    return figures


def tantivy(size: int) -> Figures:
    """tantivy by itself: no pages, no facets, no Korean analysis."""
    folder = fresh("tantivy", size)
    source = library_folder(size)
    arguments = [str(source / "records.ndjson"), str(source / "queries.json"), str(folder)]
    figures: Figures = json.loads(run([str(PEER_PYTHON), "tantivy_engine.py", *arguments], cwd=PEERS))
    return figures


def _timed(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return round(time.perf_counter() - started, 2)


def _megabytes(folder: Path) -> float:
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6, 1)


def machine() -> str:
    """Return what the figures were measured on."""
    model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    cores = Path("/proc/cpuinfo").read_text().count("processor\t")
    return f"{cores} × {model[1] if model else 'unknown processor'}"
