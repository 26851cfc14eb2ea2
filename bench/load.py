"""Measuring a server from outside: one client that waits for each answer, and wrk with eight."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

WRK_SECONDS = 8


@dataclass(frozen=True)
class Latency:
    """Milliseconds of one client's requests, and the largest body in bytes."""

    p50: float
    p95: float
    p99: float
    largest: int

    @classmethod
    def of(cls, seconds: Sequence[float], largest: int = 0) -> Latency:
        """Return the percentiles of some times."""
        ordered = sorted(seconds)
        at = [ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] * 1000 for percent in (50, 95, 99)]
        return cls(round(at[0], 3), round(at[1], 3), round(at[2], 3), largest)


def one_client(
    port: int, paths: Sequence[str], *, headers: Mapping[str, str] | None = None, status: int = 200
) -> Latency:
    """Ask for each path once on one kept connection. Raises RuntimeError for another status than `status`."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    times, largest = [], 0
    for path in paths:
        started = time.perf_counter()
        connection.request("GET", path, headers=dict(headers or {}))
        response = connection.getresponse()
        body = response.read()
        times.append(time.perf_counter() - started)
        largest = max(largest, len(body))
        if response.status != status:
            raise RuntimeError(f"{path}: {response.status} {body[:200]!r}")
    connection.close()
    return Latency.of(times, largest)


def tag_of(port: int, path: str) -> str:
    """Return the ETag of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    return response.getheader("ETag", "") or ""


def eight_clients(port: int, paths: Sequence[str], folder: Path, *, headers: Mapping[str, str] | None = None) -> float:
    """Return the requests a second that wrk gets with eight connections, the paths in turn."""
    script = folder / "paths.lua"
    given = "".join(f"  {json.dumps(path)},\n" for path in paths)
    extra = "".join(
        f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}\n" for name, value in (headers or {}).items()
    )
    script.write_text(
        f"local paths = {{\n{given}}}\n{extra}local n = 0\nrequest = function()\n  n = n % #paths + 1\n"
        '  return wrk.format("GET", paths[n])\nend\n'
    )
    command = [
        "wrk",
        "-t1",
        "-c8",
        f"-d{WRK_SECONDS}s",
        "--timeout",
        "60s",
        "-s",
        str(script),
        f"http://127.0.0.1:{port}",
    ]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in printed and not (headers and "If-None-Match" in headers):
        raise RuntimeError(printed)
    found = re.search(r"Requests/sec:\s+([\d.]+)", printed)
    assert found is not None, printed
    return round(float(found[1]), 1)
