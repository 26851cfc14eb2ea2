"""Figures for Prometheus: requests by view and status, their durations, and how far library and index have come.

Off unless KB_METRICS holds a secret. Worker processes count into files of one folder, which are added up at a scrape.
"""

from __future__ import annotations

import os
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Final

from django.conf import settings

BUCKETS: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"


class Metrics:
    """The counters of this process."""

    def __init__(self) -> None:
        folder = Path(os.environ.setdefault(FOLDER, str(settings.DATA_DIR / "metrics")))
        folder.mkdir(parents=True, exist_ok=True)
        # Read when it is loaded, the library decides by that variable between memory and files.
        from prometheus_client import Counter, Histogram

        labels = ("method", "view", "status")
        self.requests = Counter("library_requests", "Requests answered.", labels)
        self.seconds = Histogram(
            "library_request_seconds", "Seconds until an answer began.", ("view",), buckets=BUCKETS
        )

    def observe(self, method: str, view: str, status: int, seconds: float) -> None:
        """Count one answer. `view` is a name of the program, never an address, so that the series are bounded."""
        self.requests.labels(method, view, str(status)).inc()
        self.seconds.labels(view).observe(seconds)

    def exposition(self) -> tuple[bytes, str]:
        """Return all processes' figures as text, and its media type."""
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
        from prometheus_client.multiprocess import MultiProcessCollector

        from incidents.models import Incident, LibraryState
        from incidents.search import get_search_backend

        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        figures = {
            "library_revision": ("The library's revision.", LibraryState.objects.current_revision()),
            "library_index_revision": ("The revision that the index has reached.", get_search_backend().revision()),
            "library_published_records": ("Published records.", Incident.objects.filter(status="published").count()),
        }
        # Written by hand: as gauges they would be kept for each process that ever answered a scrape.
        lines = [
            f"# HELP {name} {text}\n# TYPE {name} gauge\n{name} {value}\n" for name, (text, value) in figures.items()
        ]
        return generate_latest(registry) + "".join(lines).encode(), CONTENT_TYPE_LATEST


@lru_cache(maxsize=1)
def get_metrics() -> Metrics | None:
    """Return the counters, None where they are off."""
    return Metrics() if settings.METRICS_TOKEN else None


def forget_processes(data_dir: Path) -> None:
    """Remove the figures of processes that are gone; called once, before a server's first worker."""
    shutil.rmtree(data_dir / "metrics", ignore_errors=True)


def forget_process(pid: int) -> None:
    """Let what a process that ended was doing go; its counts stay."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(pid)  # type: ignore[no-untyped-call]
