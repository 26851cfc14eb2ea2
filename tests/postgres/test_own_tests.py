"""The library's own contract tests, run once more with everything in PostgreSQL: rows, index, searches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.cluster import Cluster
from tests.conftest import ROOT

MODULES = (
    "tests/api/test_pages_equal_api.py",
    "tests/api/test_citations.py",
    "tests/views/test_no_drafts.py",
)


def test_the_contract_tests_pass_in_postgresql(postgres: Cluster, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            "0",
            "-p",
            "no:cacheprovider",
            "--create-db",
            "-k",
            "not every_mark",
            *MODULES,
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "KB_DATA_DIR": str(tmp_path),
            "DATABASE_URL": postgres.url("own"),
            "KB_SEARCH_BACKEND": "postgres",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert " skipped" not in done.stdout
