"""Nothing that a record, a term or a query says becomes active content, wherever it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import feedparser
import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.test import Client
from lxml import etree, html

from incidents.faults import RecordError
from incidents.importing import import_library
from incidents.indexing import sync_index
from incidents.models import Check, Citation, Incident, Report, Source
from tests.factories import make_incident

CORPUS = [
    "[가](javascript:alert(1))",
    "[나](java&#10;script:alert(1))",
    '<a href=" jAvA&#9;   sCript:alert(2)">다</a>',
    "[라](data:text/html;base64,PHA+)",
    '<svg viewBox="0 0 9 9"><a><animate attributeName="href" values="javascript:alert(3)"/><text y="9">마</text></a></svg>',
    '<math><mi><style><!--</style><p title="--&gt;&lt;img src=y onerror=alert(4)&gt;">바</p>',
    "<img src=x onerror=alert(1)>사",
    '<iframe srcdoc="x"></iframe>아',
    "<form action=//x><input name=q></form>자",
    "<base href=//x>차",
    '<p style="position:fixed" onclick=x>카</p>',
    "<details open ontoggle=alert(1)>타</details>",
    "<script>alert(1)</script>파",
    "![하](javascript:alert(1))",
    "[거][r]\n\n[r]: javascript:alert(1)",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">너',
    '<https://x.example/" onmouseover=alert(1)>더',
    "`<img src=x onerror=alert(1)>` 러",
    "```html\n<img src=x onerror=alert(1)>\n```",
    "<object data=x></object><embed src=x>머",
    "<template><img src=x onerror=alert(1)></template>버",
    "[서](vbscript:x) [어](//evil.example) [저](\\\\evil.example)",
]
LINE = "<script>alert(1)</script> \"'><img src=x onerror=alert(1)> {{7*7}} ${7*7} 봉황새 제목이다"
WORDS = "가나다라마바사아자차카타파하거너더러머버서어저"

FORBIDDEN = {
    "script",
    "style",
    "svg",
    "math",
    "iframe",
    "form",
    "base",
    "object",
    "embed",
    "template",
    "meta",
    "link",
    "img",
    "input",
}
# A link to another host is no active content, with its scheme or without.
SAFE_ADDRESS = re.compile(r"^(?:https?:|mailto:|/|#|\?|[^:/]*$)", re.I)


@pytest.fixture
def library(own_database: Path) -> Iterator[Incident]:
    with transaction.atomic():
        text = "\n\n".join(CORPUS)
        incident = make_incident(
            title=LINE,
            organization="<b onclick=x>조직\"'</b>",
            symptom=text,
            trigger=text,
            cause=text,
            detection=text,
            lesson=text,
            actions=CORPUS,
            follow_ups=CORPUS,
            contributing_factors=CORPUS,
            sources=[{"title": LINE, "url": "https://status.example.org/?a=<b>&c='\"", "publisher": LINE[:60]}],
        )
        other = make_incident()
        check = Check.objects.create(
            code="KC-001", title=LINE[:120], area=LINE[:60], severity="low", risk=text, look=text, criterion=text
        )
        Citation.objects.create(check_item=check, incident=incident, why=LINE)
        Report.objects.create(incident=other, text=LINE + text, sender=LINE[:100], token="sealed")
        User.objects.create_superuser("admin", password="x")
    sync_index()
    yield incident


def record_parts(page: str) -> list[html.HtmlElement]:
    """Return the elements of a page that its own program did not write: all but head, forms of the frame, scripts of files."""
    document = html.fromstring(page)
    return [element for element in document.iter() if isinstance(element.tag, str)]


def active_content(page: str) -> list[str]:
    """Return what could run or lead elsewhere: own scripts and styles come from files, and icons have no address."""
    found = []
    for element in record_parts(page):
        for name, value in element.attrib.items():
            bare = re.sub(r"[\s\x00-\x20]+", "", value)
            is_address = name.lower() in {"href", "src", "action", "formaction", "xlink:href"}
            is_handler = name.lower().startswith("on") or name.lower() in {"style", "srcdoc"}
            if is_handler or (is_address and not SAFE_ADDRESS.match(bare)):
                found.append(f"{element.tag} {name}={value[:60]}")
        if (
            element.tag == "script"
            and not element.get("src")
            and element.get("type")
            not in {
                "application/json",
                "application/ld+json",
            }
        ):
            found.append("script")
        if element.tag in {"iframe", "base", "object", "embed", "math", "animate", "foreignobject"}:
            found.append(str(element.tag))
    return found


PAGES = [
    "/", "/incidents/", "/incidents/?view=full", f"/incidents/?q={quote('봉황새')}", f"/incidents/?q={quote('<script>alert(1)</script>')}",
    f"/incidents/?q={quote(chr(34) + '><img src=x onerror=alert(1)>')}", "/incidents/IL-0001/", "/incidents/IL-0001/history/",
    "/incidents/IL-0001/v/1/", "/incidents/IL-0001/report/", "/reports/sealed/", "/organizations/", "/checks/", "/checks/KC-001/",
    "/checks/table/", "/stats/", "/actions/", "/follow-ups/", "/corrections/", "/detections/all/", "/components/job-queue/",
    "/years/2024/", "/patterns/", f"/none/{quote('<script>alert(1)</script>')}/", f"/incidents/?cause={quote('<script>x</script>')}",
    "/admin/incidents/incident/", "/admin/incidents/incident/1/change/", "/admin/incidents/incident/1/site/",
    "/admin/incidents/incident/1/history/", "/admin/desk/", "/admin/incidents/report/1/change/", "/admin/incidents/check/1/change/",
]  # fmt: skip


@pytest.mark.parametrize("address", PAGES)
def test_pages_show_it_as_text(library: Incident, address: str) -> None:
    client = Client()
    if address.startswith("/admin/"):
        client.force_login(User.objects.get(), backend="django.contrib.auth.backends.ModelBackend")
    response = client.get(address)
    assert response.status_code in {200, 404}
    assert response["X-Content-Type-Options"] == "nosniff"
    page = response.content.decode()
    if response["Content-Type"].startswith("text/html"):  # a version that no rule reads is shown as its file
        assert active_content(page) == []
    assert "49" not in page.partition("{{7*7}}")[0][-40:]  # no template was run


def test_words_stay_readable(library: Incident) -> None:
    text = html.fromstring(Client().get("/incidents/IL-0001/").content.decode()).text_content()
    assert [word for word in WORDS if word not in text] == []
    assert "<img src=x onerror=alert(1)>" in text


def test_api_html_is_clean(library: Incident) -> None:
    record = Client().get("/api/v1/incidents/IL-0001/?html=1").json()
    parts = [value for name, value in record.items() if name.endswith("_html")]
    assert parts
    for part in parts:
        for fragment in part if isinstance(part, list) else [part]:
            document = html.fragment_fromstring(fragment or "<p></p>", create_parent="div")
            assert {element.tag for element in document.iter()} & FORBIDDEN == set()
            assert active_content(f"<html><body>{fragment}</body></html>") == []


def test_feeds_are_well_formed_and_clean(library: Incident) -> None:
    for address in ("/feed/", "/components/job-queue/feed/", "/feed/changed/", "/sitemap.xml"):
        body = Client().get(address).content
        etree.fromstring(body)
    for entry in feedparser.parse(Client().get("/feed/").content, sanitize_html=False).entries:
        for content in entry.get("content", []):
            assert active_content(f"<html><body>{content.value}</body></html>") == []


def test_active_source_addresses_are_refused(own_database: Path, tmp_path: Path) -> None:
    source = Source(title="x", url="javascript:alert(1)", incident=make_incident())
    with pytest.raises(ValidationError):
        source.full_clean()
    record = Path("fixtures/incidents/IL-0001.md").read_text()
    path = tmp_path / "IL-0001.md"
    path.write_text(re.sub(r"url: .*", "url: javascript:alert(1)", record, count=1))
    with pytest.raises(RecordError, match="http"):
        import_library(path)


@pytest.mark.parametrize("sign", ["\x0b", "\x01", "\ufffe", "\x00", "\x1b"])
def test_control_characters_never_reach_a_feed(own_database: Path, sign: str) -> None:
    with transaction.atomic():
        make_incident(symptom=f"터미널에서{sign} 붙여 넣었다.", title=f"터미널{sign}에서 붙여 넣은 제목이 여기에 있다")
        make_incident()
    for address in ("/feed/", "/components/job-queue/feed/", "/sitemap.xml", "/opensearch.xml"):
        response = Client().get(address)
        assert response.status_code == 200
        etree.fromstring(response.content)
    assert len(feedparser.parse(Client().get("/feed/").content).entries) == 2
    assert Client().get("/incidents/IL-0001/").status_code == 200
    assert sign not in Client().get("/api/v1/incidents/IL-0001/").json()["symptom"]
