"""Looking at links: what is there, what isn't, and what is never asked. Against a server of our own."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from incidents.link_checks import AddressRefusedError, refuse_inner_address, working_copies
from incidents.models import Source, SourceCheck
from tests.factories import make_draft, make_incident


@dataclass
class Web:
    """A small web of pages; `asked` counts the requests by path."""

    url: str
    asked: Counter[str] = field(default_factory=Counter)


@pytest.fixture
def web() -> Iterator[Web]:
    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            site.asked[path] += 1
            redirects = {
                "/moved": (301, "/new"),
                "/passing": (302, "/new"),
                "/gone-home": (301, "/"),
                "/loop": (302, "/loop"),
            }
            if path in redirects:
                status, location = redirects[path]
                self.send_response(status)
                self.send_header("Location", location)
                self.end_headers()
                return
            if path == "/archive":
                body = json.dumps(
                    {"archived_snapshots": {"closest": {"available": True, "url": f"{site.url}/copy"}}}
                ).encode()
            else:
                body = b"page" * 50_000
            self.send_response({"/missing": 404, "/guarded": 403, "/broken": 500}.get(path, 200))
            self.end_headers()
            with suppress(OSError):  # the one who asks has seen enough
                self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    site = Web(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield site
    server.shutdown()
    server.server_close()


def look(web: Web, *args: str) -> str:
    out = StringIO()
    call_command("check_sources", "--allow-private", "--pause=0", "--timeout=5", *args, stdout=out)
    return out.getvalue()


def states() -> dict[str, str]:
    return {check.url.rpartition("/")[2]: check.state for check in SourceCheck.objects.all()}


@pytest.mark.django_db
def test_each_address_is_told_alive_moved_or_dead(web: Web) -> None:
    paths = ["page", "moved", "passing", "gone-home", "loop", "missing", "guarded", "broken"]
    make_incident(sources=[{"title": path, "url": f"{web.url}/{path}"} for path in paths])
    make_draft(sources=[{"title": "초안의 출처", "url": f"{web.url}/draft"}])
    report = look(web)
    assert states() == {
        "page": "alive",
        "moved": "moved",
        "passing": "alive",
        "gone-home": "dead",
        "loop": "dead",
        "missing": "dead",
        "guarded": "alive",
        "broken": "dead",
    }
    assert SourceCheck.objects.get(url__endswith="/moved").moved_to == f"{web.url}/new"
    assert report.splitlines()[-1] == "alive 3, moved 1, dead 4, refused 0"
    assert f"IL-0001: {web.url}/missing: 답: 404." in report.splitlines()
    assert web.asked["/draft"] == 0


@pytest.mark.django_db
def test_a_second_run_goes_on_where_the_first_ended(web: Web) -> None:
    make_incident(sources=[{"title": str(number), "url": f"{web.url}/page{number}"} for number in range(4)])
    look(web, "--limit=3")
    look(web)
    look(web)
    assert [web.asked[f"/page{number}"] for number in range(4)] == [1, 1, 1, 1]
    source = Source.objects.get(title="0")
    source.url = f"{web.url}/missing"
    source.save()
    look(web)
    look(web, "--older-than=0", "--limit=4")
    assert SourceCheck.objects.get(source=source).failures == 2


@pytest.mark.django_db
def test_a_copy_is_proposed_where_there_is_none_and_the_working_one_is_known(web: Web) -> None:
    make_incident(
        sources=[
            {"title": "사본 없음", "url": f"{web.url}/missing"},
            {"title": "사본 있음", "url": f"{web.url}/broken", "archived_url": f"{web.url}/copy"},
            {"title": "열림", "url": f"{web.url}/page", "archived_url": f"{web.url}/missing"},
        ]
    )
    look(web, f"--archive-api={web.url}/archive")
    checks = {check.source.title: check for check in SourceCheck.objects.select_related("source")}
    assert {title: check.proposed_archive for title, check in checks.items()} == {
        "사본 없음": f"{web.url}/copy",
        "사본 있음": "",
        "열림": f"{web.url}/copy",
    }
    copies = working_copies(checks.values())
    assert {title: copies[check.source_id] for title, check in checks.items()} == {
        "사본 없음": "none",
        "사본 있음": "archived",
        "열림": "original",
    }


@pytest.mark.django_db
def test_the_page_says_at_once_which_copy_works(web: Web, client: Client) -> None:
    make_incident(sources=[{"title": "사본 있음", "url": f"{web.url}/missing", "archived_url": f"{web.url}/copy"}])
    assert "원문이 열리지 않습니다" not in client.get("/incidents/IL-0001/").content.decode()
    look(web)
    page = client.get("/incidents/IL-0001/").content.decode()
    assert "원문이 열리지 않습니다" in page
    assert "보관된 사본은 열립니다" in page


@pytest.mark.django_db
def test_addresses_of_inner_networks_are_not_asked_unless_allowed(web: Web) -> None:
    make_incident(sources=[{"title": "안쪽", "url": f"{web.url}/page"}])
    out = StringIO()
    call_command("check_sources", "--pause=0", stdout=out)
    assert out.getvalue() == "alive 0, moved 0, dead 0, refused 1\n"
    assert web.asked == {}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1.:80/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://10.1.2.3/",
        "http://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2130706433/",
        "http://0/",
        "http://0x7f.1/",
        "http://100.64.0.1/",
        "http://224.0.0.1/",
        "http://localhost/",
        "https://1.1.1.1:22/",
        "https://user:secret@1.1.1.1/",
        "ftp://1.1.1.1/",
        "file:///etc/passwd",
        "http:///",
        "http://1.1.1.1:99999/",
    ],
)
def test_an_address_that_leads_inside_or_past_the_web_is_refused(url: str) -> None:
    with pytest.raises((AddressRefusedError, OSError)):
        refuse_inner_address(url, allow_private=False)


def test_a_public_address_may_be_asked() -> None:
    assert refuse_inner_address("https://1.1.1.1/path", allow_private=False) == ("1.1.1.1", "1.1.1.1")


@pytest.mark.parametrize("option", ["--limit=-1", "--concurrency=0", "--concurrency=65", "--timeout=0", "--pause=-1"])
def test_impossible_limits_are_refused(option: str) -> None:
    with pytest.raises(CommandError):
        call_command("check_sources", option)
