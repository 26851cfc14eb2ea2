"""The scenarios: a real server on a library of its own, people editing and reading, and something going wrong."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import httpx

from tests.admin.forms import form_values
from tests.conftest import FIXTURES, PASSWORD, ROOT, Server, manage, start_server, stop_server
from tests.torture.hostile import queries

LUA = """
local paths = {"/", "/incidents/", "/incidents/?q=%EC%9D%B8%EC%A6%9D%EC%84%9C", "/incidents/?cause=dns-error&component=dns",
  "/incidents/IL-0001/", "/incidents/IL-0135/", "/components/etcd/", "/stats/", "/api/v1/incidents/?q=etcd",
  "/api/v1/incidents/IL-0042/", "/api/v1/suggest/?q=%EC%BF%A0%EB%B2%84", "/feed/"}
local n = 0
request = function() n = n + 1; return wrk.format("GET", paths[n % #paths + 1]) end
done = function(summary, latency)
  io.write(string.format("STATUS %d SOCKET %d TIMEOUT %d REQUESTS %d P99 %.0f\\n", summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write, summary.errors.timeout, summary.requests,
    latency:percentile(99.0) / 1000))
end
"""


@dataclass
class Figures:
    """What a scenario measured, and which promises it found broken."""

    name: str
    values: dict[str, object] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def promise(self, kept: object, what: str) -> None:
        if not kept:
            self.broken.append(what)

    def __str__(self) -> str:
        lines = [f"  {name}: {value}" for name, value in self.values.items()]
        return "\n".join([*lines, *(f"  BROKEN: {what}" for what in self.broken)] or ["  nothing measured"])


def make_library(folder: Path) -> Path:
    """Make a data folder with the bundled library and a superuser."""
    folder.mkdir(parents=True)
    for command in (["migrate", "--no-input"], ["collectstatic", "--no-input"], ["import_library", str(FIXTURES)]):
        manage(folder, *command)
    manage(
        folder, "createsuperuser", "--no-input", "--username", "admin", "--email", "admin@example.org",
        DJANGO_SUPERUSER_PASSWORD=PASSWORD,
    )  # fmt: skip
    return folder


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    server = start_server(make_library(folder), KB_FORM_RATE="0", KB_API_RATE="0")
    try:
        yield server
    finally:
        stop_server(server)


class Editor(threading.Thread):
    """Somebody who changes the lesson of one record again and again, and remembers what was acknowledged."""

    def __init__(self, server: Server, pk: int, stop: threading.Event, pause: float = 0.0) -> None:
        super().__init__(daemon=True)
        self.server, self.pk, self.stop, self.pause = server, pk, stop, pause
        self.acknowledged: list[str] = []
        self.refused: Counter[int] = Counter()
        self.dropped = 0

    def run(self) -> None:
        client = httpx.Client(base_url=self.server.url, timeout=60)
        number = 0
        while not self.stop.is_set():
            number += 1
            text = f"편집자{self.pk}의 {number}번째 교훈: 봉황새{self.pk}번호{number} 앞에서는 경보를 먼저 본다."
            try:
                if "sessionid" not in client.cookies:
                    self._sign_in(client)
                self._edit(client, text)
            except (httpx.TransportError, StopIteration):
                self.dropped += 1  # a killed worker takes its connections with it; nothing was promised
            self.stop.wait(self.pause)
        client.close()

    def _sign_in(self, client: httpx.Client) -> None:
        page = client.get("/admin/login/")
        values = form_values(page)
        client.post("/admin/login/", data={**values, "username": "admin", "password": PASSWORD}, headers=self._origin())

    def _edit(self, client: httpx.Client, text: str) -> None:
        address = f"/admin/incidents/incident/{self.pk}/change/"
        page = client.get(address)
        if page.status_code != 200:
            self.refused[page.status_code] += 1
            client.cookies.clear()
            return
        values = form_values(page, "incident_form")
        answer = client.post(address, data={**values, "lesson": text, "_save": "저장"}, headers=self._origin())
        if answer.status_code == 302:
            self.acknowledged.append(text)
        else:
            self.refused[answer.status_code] += 1

    def _origin(self) -> dict[str, str]:
        return {"Origin": self.server.url, "Referer": self.server.url + "/"}


class Reader(threading.Thread):
    """Somebody who searches and reads, and remembers every status."""

    ADDRESSES = (
        "/incidents/?q=%EC%9D%B8%EC%A6%9D%EC%84%9C",
        "/incidents/IL-0200/",
        "/api/v1/incidents/?q=etcd",
        "/incidents/?cause=dns-error",
    )

    def __init__(self, server: Server, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.server, self.stop = server, stop
        self.statuses: Counter[int] = Counter()
        self.dropped = 0

    def run(self) -> None:
        rng = random.Random(id(self))
        client = httpx.Client(base_url=self.server.url, timeout=60)
        while not self.stop.is_set():
            try:
                self.statuses[client.get(rng.choice(self.ADDRESSES)).status_code] += 1
            except httpx.TransportError:
                self.dropped += 1
        client.close()


def workers_of(server: Server) -> list[int]:
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text()
    return [int(pid) for pid in children.split()]


def seconds_to_answer(server: Server) -> float:
    """Return how long it takes until the server answers a search."""
    started = time.monotonic()
    while time.monotonic() - started < 60:
        try:
            if httpx.get(server.url + "/incidents/?q=etcd", timeout=10).status_code == 200:
                break
        except httpx.TransportError:
            time.sleep(0.02)
    return time.monotonic() - started


def kept_texts(server: Server) -> str:
    """Return the lessons of all versions, which hold every published state."""
    code = "from incidents.models import IncidentVersion\nfor v in IncidentVersion.objects.filter(number__gt=1): print(v.text)"
    return server.manage("shell", "-c", code).stdout


def require_whole(figures: Figures, server: Server, editors: list[Editor]) -> None:
    """Look for every acknowledged edit, and at index and database."""
    texts = kept_texts(server)
    acknowledged = [text for editor in editors for text in editor.acknowledged]
    lost = [text for text in acknowledged if text not in texts]
    figures.values |= {"acknowledged edits": len(acknowledged), "lost": len(lost)}
    figures.promise(acknowledged, "nothing was edited")
    figures.promise(not lost, f"acknowledged edits lost: {lost[:3]}")
    last = [editor.acknowledged[-1] for editor in editors if editor.acknowledged]
    wrong = 0
    for text in last:
        word = text.split("교훈: ")[1].split()[0]
        found = httpx.get(f"{server.url}/api/v1/incidents/?q={quote(word)}", timeout=60).json()
        page = httpx.get(f"{server.url}/incidents/?q={quote(word)}", timeout=60).text
        # The very last edit may have been made by a request whose answer was lost.
        wrong += found["count"] > 1 or (found["count"] == 1 and word not in page)
    figures.values["wrong answers"] = wrong
    figures.promise(wrong == 0, "search gives wrong answers")
    done = subprocess.run(
        [sys.executable, "manage.py", "check_library"], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "KB_DATA_DIR": str(server.data_dir)},
    )  # fmt: skip
    figures.values["check_library"] = done.stdout.strip().splitlines()[-1] if done.stdout else done.stderr[-300:]
    figures.promise(done.returncode == 0, f"check_library: {done.stdout[:600]}")


def kills(folder: Path, scale: float) -> Figures:
    """SIGKILL for a worker at random, again and again, while two write and eight read."""
    figures = Figures("kills")
    rng = random.Random(1)
    count = max(5, int(200 * scale))
    with served(folder) as server:
        stop = threading.Event()
        editors = [Editor(server, pk, stop) for pk in (11, 12)]
        readers = [Reader(server, stop) for _ in range(8)]
        for thread in (*editors, *readers):
            thread.start()
        recoveries = []
        for _ in range(count):
            time.sleep(rng.uniform(0.0, 0.6))
            workers = workers_of(server)
            if workers:
                os.kill(rng.choice(workers), signal.SIGKILL)
            recoveries.append(seconds_to_answer(server))
        stop.set()
        for thread in (*editors, *readers):
            thread.join(timeout=90)
        statuses = sum((reader.statuses for reader in readers), Counter())
        refused = sum((editor.refused for editor in editors), Counter())
        figures.values |= {
            "kills": count,
            "slowest recovery": f"{max(recoveries):.2f} s",
            "read": dict(statuses),
            "connections that died with a worker": sum(r.dropped for r in readers) + sum(e.dropped for e in editors),
            "edits refused": dict(refused),
        }
        figures.promise(max(recoveries) < 5, "recovery took 5 s or more")
        figures.promise(not any(status >= 500 for status in statuses), f"server errors for readers: {statuses}")
        figures.promise(not any(status >= 500 for status in refused), f"server errors for editors: {refused}")
        require_whole(figures, server, editors)
    return figures


def resident(server: Server) -> float:
    """Return the megabytes that the workers hold between them, what they share counted once (PSS)."""
    total = 0
    for pid in workers_of(server):
        try:
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        except OSError:
            continue
    return total / 1024


def load(folder: Path, scale: float) -> Figures:
    """32 connections over pages and API for a minute, with edits all the while."""
    figures = Figures("load")
    seconds = max(6, int(60 * scale))
    if shutil.which("wrk") is None:
        figures.broken.append("wrk is not installed: apt-get install wrk")
        return figures
    with served(folder) as server:
        script = folder / "mix.lua"
        script.write_text(LUA)
        stop = threading.Event()
        editors = [Editor(server, pk, stop, pause=0.4) for pk in (11, 12, 13)]
        for editor in editors:
            editor.start()
        wrk = subprocess.Popen(
            ["wrk", "-t", "2", "-c", "32", "-d", f"{seconds}s", "--timeout", "30s", "-s", str(script), server.url],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        samples = []
        while wrk.poll() is None:
            samples.append(resident(server))
            time.sleep(0.5)
        stop.set()
        for editor in editors:
            editor.join(timeout=60)
        out = (wrk.stdout.read() if wrk.stdout else "").split("STATUS", 1)[-1].split()
        status, socket_errors, timeouts, requests, p99 = (int(out[i]) for i in (0, 2, 4, 6, 8))
        third = max(1, len(samples) // 3)
        second, last = (sum(part) / len(part) for part in (samples[third : 2 * third], samples[-third:]))
        refused = sum((editor.refused for editor in editors), Counter())
        figures.values |= {
            "seconds": seconds,
            "requests": requests,
            "requests a second": round(requests / seconds),
            "99 % within": f"{p99} ms",
            "errors": f"status {status}, socket {socket_errors}, timeout {timeouts}",
            "edits a second": round(sum(len(editor.acknowledged) for editor in editors) / seconds, 1),
            "edits refused": dict(refused),
            "memory": f"{second:.0f} MB in the second third, {last:.0f} MB in the last",
        }
        figures.promise(status + socket_errors + timeouts == 0, "errors under load")
        figures.promise(last < second * 1.1, "memory grew by more than 10 %")
        figures.promise(not any(code >= 500 for code in refused), "server errors for editors")
        require_whole(figures, server, editors)
    return figures


def hostile_queries(folder: Path, scale: float) -> Figures:
    """Queries that nobody means well with, on the page and on the API, each with a time."""
    figures = Figures("queries")
    count = max(50, int(20_000 * scale))
    times: list[float] = []
    statuses: Counter[int] = Counter()
    bad: list[str] = []
    lock = threading.Lock()
    with served(folder) as server:
        work = iter(list(enumerate(queries(count, seed=int(scale * 1000) or 1))))

        def ask() -> None:
            client = httpx.Client(base_url=server.url, timeout=60)
            while True:
                with lock:
                    number, query = next(work, (-1, ""))
                if number < 0:
                    break
                address = "/incidents/" if number % 2 else "/api/v1/incidents/"
                started = time.monotonic()
                status = client.get(f"{address}?q={query}").status_code
                seconds = time.monotonic() - started
                with lock:
                    times.append(seconds)
                    statuses[status] += 1
                    if status >= 500 or seconds > 5:
                        bad.append(f"{status} {seconds:.1f} s {address}?q={query[:200]}")
            client.close()

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    times.sort()
    slow = sum(seconds >= 1 for seconds in times)
    figures.values |= {
        "queries": count,
        "statuses": dict(statuses),
        "median": f"{times[len(times) // 2] * 1000:.0f} ms",
        "99.9 % within": f"{times[int(len(times) * 0.999) - 1] * 1000:.0f} ms",
        "slowest": f"{times[-1] * 1000:.0f} ms",
        "1 s or more": slow,
    }
    figures.promise(not any(status >= 500 for status in statuses), f"server errors: {bad[:3]}")
    figures.promise(slow <= count * 0.001, f"more than 0.1 % took a second or more: {bad[:3]}")
    return figures


IMPORTS = """
import random, sys
from collections import Counter
from pathlib import Path
from django.db import transaction
from incidents.errors import UserError
from incidents.faults import RecordError
from incidents.importing import import_library
from incidents.models import Incident, IncidentVersion, LibraryState
from tests.torture.hostile import mutated

def state():
    return (LibraryState.objects.current_revision(), Incident.objects.count(), IncidentVersion.objects.count())

rng, counts = random.Random(3), Counter()
sources = sorted(Path("fixtures/incidents").glob("*.md"))
folder = Path(sys.argv[-1])
for number in range(int(sys.argv[-2])):
    source = rng.choice(sources)
    path = folder / source.name
    path.write_bytes(mutated(source.read_bytes(), rng))
    before = state()
    try:
        report = import_library(path)
        counts["imported" if report.created or report.changed else "unchanged"] += 1
    except RecordError as error:
        counts["refused with file and line"] += 1
        if not all(fault.file and fault.line >= 1 for fault in error.faults): counts["BROKEN without a place"] += 1
        if state() != before: counts["BROKEN changed by a refused import"] += 1
    except UserError:
        counts["refused"] += 1
        if state() != before: counts["BROKEN changed by a refused import"] += 1
    except Exception as error:
        counts[f"BROKEN {type(error).__name__} {str(error)[:80]}"] += 1
    path.unlink()
print(dict(counts))
"""


def imports(folder: Path, scale: float) -> Figures:
    """Record files with something wrong: each is imported or refused with its place, and nothing by halves."""
    figures = Figures("imports")
    count = max(20, int(2_000 * scale))
    make_library(folder)
    files = folder / "files" / "incidents"
    files.mkdir(parents=True)
    code = f"import sys; sys.argv += ['{count}', '{files}']\n{IMPORTS}"
    done = manage(folder, "shell", "-c", code)
    counts: dict[str, int] = eval(done.stdout.strip().splitlines()[-1], {"__builtins__": {}})  # noqa: S307, our own print
    figures.values |= {"files": count, **counts}
    figures.promise(not any(name.startswith("BROKEN") for name in counts), f"{counts}")
    checked = manage(folder, "check_library", check=False)
    figures.promise(checked.returncode == 0, f"check_library: {checked.stdout[:600]}")
    return figures


def backup(folder: Path, scale: float) -> Figures:
    """A backup while people edit and read; put into an empty folder it is a whole library with all that was acknowledged."""
    figures = Figures("backup")
    with served(folder) as server:
        stop = threading.Event()
        threads: list[threading.Thread] = []
        editors = [Editor(server, pk, stop) for pk in (11, 12)]
        threads = [*editors, *(Reader(server, stop) for _ in range(4))]
        for thread in threads:
            thread.start()
        time.sleep(max(3, 10 * scale))
        before = [text for editor in editors for text in editor.acknowledged]
        started = time.monotonic()
        server.manage("backup", str(folder.parent / "backup.zip"))
        taken = time.monotonic() - started
        stop.set()
        for thread in threads:
            thread.join(timeout=60)
    restored = folder.parent / "restored"
    started = time.monotonic()
    manage(restored, "restore", str(folder.parent / "backup.zip"))
    put_back = time.monotonic() - started
    texts = kept_texts(Server("", restored, server.process))
    lost = [text for text in before if text not in texts]
    checked = manage(restored, "check_library", check=False)
    exports = [folder.parent / f"export-{number}" for number in (1, 2)]
    manage(restored, "export_library", str(exports[0]))
    again = folder.parent / "again"
    manage(again, "migrate", "--no-input")
    manage(again, "import_library", str(exports[0]))
    manage(again, "export_library", str(exports[1]))
    same = subprocess.run(["diff", "-r", *map(str, exports)], capture_output=True, check=False).returncode == 0
    figures.values |= {
        "edits acknowledged before": len(before),
        "lost": len(lost),
        "backup took": f"{taken:.1f} s",
        "restore took": f"{put_back:.1f} s",
        "export equal": same,
        "check_library": checked.stdout.strip().splitlines()[-1],
    }
    figures.promise(before, "nothing was edited")
    figures.promise(not lost, f"lost: {lost[:3]}")
    figures.promise(checked.returncode == 0, f"check_library: {checked.stdout[:600]}")
    figures.promise(same, "an export of an import of the export differs")
    return figures


SCENARIOS: dict[str, Callable[[Path, float], Figures]] = {
    "kills": kills,
    "load": load,
    "queries": hostile_queries,
    "imports": imports,
    "backup": backup,
}
