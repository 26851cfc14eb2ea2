"""The examples run against a served library as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT, Server


def test_the_cluster_example_prints_findings_with_citations(shared_server: Server) -> None:
    run = subprocess.run(
        [sys.executable, "-S", "examples/check_cluster.py", "--library", shared_server.url, "examples/cluster.json"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 1, run.stderr
    assert run.stdout.splitlines()[-1] == "sample-01: 점검 3가지, 틈 6곳"
    assert re.findall(r"^KC-\d{3}", run.stdout, re.MULTILINE) == ["KC-001", "KC-002", "KC-003"]
    cited = re.findall(
        rf"근거: (IL-\d{{4}})@\d+ .+ <{re.escape(shared_server.url)}/incidents/(IL-\d{{4}})/>", run.stdout
    )
    assert len(cited) >= 3
    assert all(one == other for one, other in cited)


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="needs curl and jq")
def test_the_shell_example_runs_to_its_end(shared_server: Server) -> None:
    run = subprocess.run(
        ["sh", "examples/incidents.sh"], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "LIBRARY": shared_server.url},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert "IL-0252 published" in lines
    assert "IL-9999 unknown" in lines
    assert lines[lines.index("# 바뀌지 않았으면 본문 없이 304") + 1] == "304"
    assert lines[-1] == str(len(list((ROOT / "fixtures" / "incidents").glob("IL-*.md"))))
