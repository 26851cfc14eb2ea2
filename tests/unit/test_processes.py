"""Processes that work for another one end with it."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

WORKING = """
import fcntl, sys, time
from incidents.processes import forked_pool
lock = open(sys.argv[1], "a")
fcntl.flock(lock, fcntl.LOCK_EX)
pool = forked_pool()
print(len(list(pool.map(abs, range(100)))), flush=True)
time.sleep(60)
"""


def test_a_killed_process_leaves_no_lock_with_those_that_it_forked(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", WORKING, str(lock)], cwd=root, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "100\n"
        process.kill()
        process.communicate(timeout=30)  # ends when no process has it open any more
    with lock.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
