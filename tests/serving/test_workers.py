"""Two real worker processes: after a publish, no process answers with the state before it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from tests.conftest import ROOT, Server

PUBLISHES = 30

# Runs in a process of its own, as an editor's: each line read renames the record once and answers when it is committed.
EDITOR = """
import sys
from incidents.models import Incident
for line in sys.stdin:
    incident = Incident.objects.get(number=42)
    incident.title = f"시험 {line.strip()}번째 제목으로 바꾼 기록"
    incident.save()
    print("done", flush=True)
"""


def fetch(address: str, tag: str = "") -> tuple[int, str, str]:
    """Return status, tag and text of one request on a connection of its own, so that any worker may take it."""
    request = urllib.request.Request(address, headers={"If-None-Match": tag} if tag else {})
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, response.headers["ETag"], response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get("ETag", ""), ""


def title_number(text: str) -> str:
    """Return which title the page shows; empty where it shows none of them."""
    found = re.search(r"시험 (\d+)번째", re.sub(r"</?mark>|</?span[^>]*>", "", text))
    return found[1] if found else ""


def test_no_worker_answers_with_the_state_before_a_publish(make_server):
    server: Server = make_server()
    editor = subprocess.Popen(
        [sys.executable, "manage.py", "shell", "-c", EDITOR],
        cwd=ROOT,
        env={**os.environ, "KB_DATA_DIR": str(server.data_dir)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert editor.stdin is not None and editor.stdout is not None
    addresses = [f"{server.url}/incidents/IL-0042/", f"{server.url}/incidents/?q=IL-0042"] * 2
    tags = [fetch(address)[1] for address in addresses]
    seen = []
    try:
        with ThreadPoolExecutor(len(addresses)) as pool:
            for number in range(PUBLISHES):
                editor.stdin.write(f"{number}\n")
                editor.stdin.flush()
                while editor.stdout.readline().strip() != "done":
                    assert editor.poll() is None
                answers = list(pool.map(fetch, addresses, tags))
                tags = [tag for _, tag, _ in answers]
                seen.append([title_number(text) or str(status) for status, _, text in answers])
    finally:
        editor.kill()
    assert seen == [[str(number)] * len(addresses) for number in range(PUBLISHES)]
