"""Two real worker processes: after a publish or an editor's word, no process answers with the state before it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import quote, urlencode

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

# The same for a synonym, which is switched on and off.
WORDS = """
import sys
from incidents.models import SearchTerm
term = SearchTerm(terms=["말레우스", "인증서"])
for line in sys.stdin:
    term.is_active = line.strip() == "on"
    term.full_clean()
    term.save()
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


@contextmanager
def editing(server: Server, program: str) -> Iterator[Callable[[str], None]]:
    """A function that has another process save something and returns when that is committed."""
    editor = subprocess.Popen(
        [sys.executable, "manage.py", "shell", "-c", program],
        cwd=ROOT,
        env={**os.environ, "KB_DATA_DIR": str(server.data_dir)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert editor.stdin is not None and editor.stdout is not None
    given, told = editor.stdin, editor.stdout

    def save(line: str) -> None:
        given.write(f"{line}\n")
        given.flush()
        while told.readline().strip() != "done":
            assert editor.poll() is None

    try:
        yield save
    finally:
        editor.kill()


def test_no_worker_answers_with_the_state_before_a_publish(make_server):
    server: Server = make_server()
    addresses = [f"{server.url}/incidents/IL-0042/", f"{server.url}/incidents/?q=IL-0042"] * 2
    tags = [fetch(address)[1] for address in addresses]
    seen = []
    with editing(server, EDITOR) as save, ThreadPoolExecutor(len(addresses)) as pool:
        for number in range(PUBLISHES):
            save(str(number))
            answers = list(pool.map(fetch, addresses, tags))
            tags = [tag for _, tag, _ in answers]
            seen.append([title_number(text) or str(status) for status, _, text in answers])
    assert seen == [[str(number)] * len(addresses) for number in range(PUBLISHES)]


def test_every_worker_takes_an_editor_s_word_with_its_next_request(make_server):
    server: Server = make_server()
    page = f"{server.url}/incidents/?{urlencode({'q': '말레우스'})}"
    api = f"{server.url}/api/v1/incidents/?{urlencode({'q': '말레우스', 'as_typed': '1'})}"
    meant = json.loads(fetch(api.replace(quote("말레우스"), quote("인증서")))[2])["count"]
    assert meant > 0
    folders = [path.name for path in (server.data_dir / "index").iterdir() if path.is_dir()]
    seen = []
    with editing(server, WORDS) as save, ThreadPoolExecutor(6) as pool:
        for number in range(8):
            save("on" if number % 2 == 0 else "off")
            answers = list(pool.map(fetch, [api] * 4 + [page] * 2))
            counts = {json.loads(text)["count"] for _, _, text in answers[:4]}
            is_shown = {f"{meant}건 중" in text for _, _, text in answers[4:]}
            seen.append((counts, is_shown, {tag for _, tag, _ in answers[:4]}))
    assert [(counts, shown) for counts, shown, _ in seen] == [({meant}, {True}), ({0}, {False})] * 4
    assert len(set().union(*(tags for _, _, tags in seen))) == 8  # one for each state, the same from each worker
    after = [path.name for path in (server.data_dir / "index").iterdir() if path.is_dir()]
    assert sorted(after) == sorted(folders)  # a rebuilt index has a folder of its own
