"""Who may do what: every address of the library × every role × every method. A new address must take its row here.

Public addresses answer everybody alike, so their row is an example and the methods it takes. Of the admin, a model's
row says what each role may: v(iew), a(dd), c(hange), d(elete); the other rows name the least role.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.db import models, transaction
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from incidents.api.throttle import forget_clients
from incidents.models import (
    Cause,
    Check,
    Component,
    DetectionMethod,
    Factor,
    Incident,
    Organization,
    Proposal,
    Report,
    SearchMiss,
    SearchTerm,
    SlugRedirect,
    SourceCheck,
    StatusChange,
)
from incidents.roles import EDITOR, REVIEWER
from tests.conftest import database_at, use_index
from tests.factories import make_draft, make_incident

ROLES: Final = ("anonymous", "editor", "reviewer", "superuser")
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
READ: Final = frozenset({"GET", "HEAD"})
FORM: Final = READ | {"POST"}

# route: (example, methods it takes, statuses that are right for them)
PUBLIC: dict[str, tuple[str, frozenset[str], set[int]]] = {
    "": ("/", READ, {200}),
    "incidents/": ("/incidents/?q=정산&cause=capacity-exhaustion", READ, {200}),
    "incidents/<record_id:public_id>/": ("/incidents/IL-0001/", READ, {200}),
    "incidents/<record_id:public_id>.md": ("/incidents/IL-0001.md", READ, {200}),
    "incidents/<record_id:public_id>.json": ("/incidents/IL-0001.json", READ, {200}),
    "incidents.json": ("/incidents.json", READ, {200}),
    "incidents.md": ("/incidents.md", READ, {200}),
    "incidents/<record_id:public_id>/history/": ("/incidents/IL-0001/history/", READ, {200}),
    "incidents/<record_id:public_id>/v/<str:number>/": ("/incidents/IL-0001/v/1/", READ, {200}),
    "incidents/<record_id:public_id>/report/": ("/incidents/IL-0001/report/", FORM, {200, 400}),
    "reports/<str:token>/": ("/reports/{report}/", READ, {200}),
    "corrections/": ("/corrections/", READ, {200}),
    "detections/all/": ("/detections/all/", READ, {200}),
    "<vocabulary:kind>/": ("/components/", READ, {200}),
    "<vocabulary:kind>/<unicode_slug:slug>/": ("/components/job-queue/", READ, {200}),
    "<vocabulary:kind>/<unicode_slug:slug>/feed/": ("/components/job-queue/feed/", READ, {200}),
    "<vocabulary:kind>/<unicode_slug:slug>/feed/changed/": ("/components/job-queue/feed/changed/", READ, {200}),
    "feed/": ("/feed/", READ, {200}),
    "feed/changed/": ("/feed/changed/", READ, {200}),
    "feeds/": ("/feeds/", READ, {200}),
    "checks/": ("/checks/", READ, {200}),
    "checks/table/": ("/checks/table/", READ, {200}),
    "checks/<unicode_slug:code>/": ("/checks/KC-001/", READ, {200}),
    "years/": ("/years/", READ, {200}),
    "years/<int:year>/": ("/years/2024/", READ, {200}),
    "years/<int:year>/feed/": ("/years/2024/feed/", READ, {200}),
    "actions/": ("/actions/", READ, {200}),
    "follow-ups/": ("/follow-ups/", READ, {200}),
    "stats/": ("/stats/", READ, {200}),
    "about/": ("/about/", READ, {200}),
    "about/api/errors/<slug:code>/": ("/about/api/errors/not_found/", READ, {200}),
    "sitemap.xml": ("/sitemap.xml", READ, {200}),
    "sitemap-<int:part>.xml": ("/sitemap-1.xml", READ, {200}),
    "robots.txt": ("/robots.txt", READ, {200}),
    "opensearch.xml": ("/opensearch.xml", READ, {200}),
    "opensearch/suggest/": ("/opensearch/suggest/?q=et", READ, {200}),
    "llms.txt": ("/llms.txt", READ, {200}),
    "about/search/": ("/about/search/", READ, {200}),
    "match/": ("/match/", FORM, {200, 400}),
    "patterns/": ("/patterns/", READ, {200}),
    "theme/": ("/theme/", frozenset({"POST"}), {302, 400}),
    "language/": ("/language/", frozenset({"POST"}), {302, 400}),
    "healthz": ("/healthz", READ, {200}),
    "readyz": ("/readyz", READ, {200}),
    "metrics": ("/metrics", READ, {404}),
    "mcp": ("/mcp", FORM | {"DELETE"}, {200, 202, 400, 405, 406, 415}),
    "mcp/": ("/mcp/", FORM | {"DELETE"}, {200, 202, 400, 405, 406, 415}),
    "api/v1/schema/": ("/api/v1/schema/", READ, {200}),
    "api/v1/docs/": ("/api/v1/docs/", READ, {200}),
    "api/v1/": ("/api/v1/", READ, {200}),
    "api/v1/incidents/": ("/api/v1/incidents/", READ, {200}),
    "api/v1/incidents/<public_id>/": ("/api/v1/incidents/IL-0001/", READ, {200}),
    "api/v1/incidents/<public_id>/related/": ("/api/v1/incidents/IL-0001/related/", READ, {200}),
    **{
        f"api/v1/{name}/": (f"/api/v1/{name}/", READ, {200})
        for name in "causes components factors detections organizations checks stats export".split()
    },
    "api/v1/causes/<slug>/": ("/api/v1/causes/capacity-exhaustion/", READ, {200}),
    "api/v1/components/<slug>/": ("/api/v1/components/job-queue/", READ, {200}),
    "api/v1/factors/<slug>/": ("/api/v1/factors/monitoring-gap/", READ, {200}),
    "api/v1/detections/<slug>/": ("/api/v1/detections/job-failure/", READ, {200}),
    "api/v1/organizations/<slug>/": ("/api/v1/organizations/누리상회/", READ, {200}),
    "api/v1/checks/<code>/": ("/api/v1/checks/KC-001/", READ, {200}),
    "api/v1/citations/": ("/api/v1/citations/?id=IL-0001", READ, {200}),
    "api/v1/suggest/": ("/api/v1/suggest/?q=et", READ, {200}),
    "api/v1/match/": ("/api/v1/match/", frozenset({"POST"}), {200, 400, 415, 422}),
    **{
        f"api/v1/export/{name}": (f"/api/v1/export/{name}", READ, {200})
        for name in ("library.ndjson", "library.csv", "library.zip", "library.sqlite", "changes.csv")
    },
}  # fmt: skip

# model: what editor, reviewer and superuser may
MODELS: dict[str, tuple[str, str, str]] = {
    "incidents/incident": ("va", "vacd", "vacd"),  # the example is published: an editor proposes, see the draft below
    "incidents/cause": ("v", "vacd", "vacd"),
    "incidents/component": ("v", "vacd", "vacd"),
    "incidents/factor": ("v", "vacd", "vacd"),
    "incidents/detectionmethod": ("v", "vacd", "vacd"),
    "incidents/organization": ("va", "vacd", "vacd"),
    "incidents/check": ("v", "vacd", "vacd"),
    "incidents/slugredirect": ("v", "v", "vd"),
    "incidents/report": ("v", "vc", "vc"),
    "incidents/proposal": ("v", "vc", "vc"),
    "incidents/searchmiss": ("v", "vc", "vc"),
    "incidents/searchterm": ("v", "vacd", "vacd"),
    "incidents/sourcecheck": ("v", "v", "v"),
    "incidents/statuschange": ("", "", "v"),
    "admin/logentry": ("", "", "v"),
    "axes/accessattempt": ("", "", "v"),
    "auth/group": ("", "", "vacd"),
    "auth/user": ("", "", "vacd"),
    "otp_totp/totpdevice": ("", "", "vacd"),
    "otp_static/staticdevice": ("", "", "vacd"),
}
PAGES: Final = {
    "": "v",
    "add/": "a",
    "<path:object_id>/history/": "v",
    "<path:object_id>/delete/": "d",
    "<path:object_id>/change/": "v",  # to send it takes c
    "<path:object_id>/": "",  # leads to change/, for whoever may sign in
}
# route: (example, methods it takes, the least role that may)
DESK: dict[str, tuple[str, frozenset[str], str]] = {
    "admin/": ("/admin/", READ, "editor"),
    "admin/desk/": ("/admin/desk/", READ, "editor"),
    "admin/desk/<slug:name>/": ("/admin/desk/drafts/", READ, "editor"),
    "admin/two-factor/": ("/admin/two-factor/", FORM, "editor"),
    "admin/password_change/": ("/admin/password_change/", FORM, "editor"),
    "admin/password_change/done/": ("/admin/password_change/done/", READ, "editor"),
    "admin/jsi18n/": ("/admin/jsi18n/", READ, "editor"),
    "admin/logout/": ("/admin/logout/", frozenset({"POST"}), "editor"),
    "admin/autocomplete/": (
        "/admin/autocomplete/?app_label=incidents&model_name=incidentcause&field_name=term&term=",
        READ,
        "editor",
    ),
    "admin/r/<path:content_type_id>/<path:object_id>/": ("/admin/r/{incident_type}/{incident}/", READ, "editor"),
    "admin/incidents/incident/render/": ("/admin/incidents/incident/render/", frozenset({"POST"}), "editor"),
    "admin/incidents/incident/assist/": ("/admin/incidents/incident/assist/", frozenset({"POST"}), "editor"),
    "admin/incidents/incident/forget/": ("/admin/incidents/incident/forget/", frozenset({"POST"}), "editor"),
    "admin/incidents/incident/<int:pk>/saved/<int:number>/": (
        "/admin/incidents/incident/{incident}/saved/1/",
        READ,
        "editor",
    ),
    "admin/incidents/incident/<int:pk>/site/": ("/admin/incidents/incident/{incident}/site/", READ, "editor"),
    "admin/incidents/searchterm/shipped/": ("/admin/incidents/searchterm/shipped/", READ, "editor"),
    "admin/incidents/incident/import-documents/": ("/admin/incidents/incident/import-documents/", FORM, "editor"),
    "admin/incidents/incident/import-records/": ("/admin/incidents/incident/import-records/", FORM, "reviewer"),
    "admin/incidents/incident/<int:pk>/move/<slug:name>/": (
        "/admin/incidents/incident/{incident}/move/withdraw/",
        FORM,
        "editor",  # who may not make the move is led back to the record: see below
    ),
    "admin/auth/user/<id>/password/": ("/admin/auth/user/{user}/password/", FORM, "superuser"),
    "admin/otp_totp/totpdevice/<int:pk>/config/": (
        "/admin/otp_totp/totpdevice/{totpdevice}/config/",
        READ,
        "superuser",
    ),
    "admin/otp_totp/totpdevice/<int:pk>/qrcode/": (
        "/admin/otp_totp/totpdevice/{totpdevice}/qrcode/",
        READ,
        "superuser",
    ),
    **{
        f"admin/incidents/{name}/<int:pk>/{what}/": (f"/admin/incidents/{name}/{{{name}}}/{what}/", FORM, "reviewer")
        for name in ("cause", "component", "factor", "detectionmethod", "organization")
        for what in ("rename", "merge")
    },
}
OPEN_TO_ALL: Final = {"admin/login/"}
# The catch-all asks for a sign-in before it says that there is nothing; the app list is every model's list in one.
SAYS_NOTHING: Final = ("admin/(?P<url>.*)$", "admin/^(?P<app_label>")


def routes() -> list[str]:
    """Return every route of the program."""

    def walk(patterns: Any, prefix: str = "") -> Iterator[str]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if hasattr(pattern, "url_patterns"):
                yield from walk(pattern.url_patterns, route)
            else:
                yield route

    return list(walk(get_resolver().url_patterns))


def model_routes() -> dict[str, tuple[str, str]]:
    return {f"admin/{model}/{page}": (model, page) for model in MODELS for page in PAGES}


def test_every_address_has_its_row() -> None:
    known = {*PUBLIC, *DESK, *model_routes(), *OPEN_TO_ALL}
    found = {route for route in routes() if not route.startswith(SAYS_NOTHING)}
    assert found - known == set(), "new addresses: say who may use them"
    assert known - found == set(), "rows of addresses that are gone"


class World:
    """A small library with one thing of each kind, and a client of each role."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        incident = make_incident(factors=["monitoring-gap"])
        self.draft = make_draft()
        check = Check.objects.create(
            code="KC-001", title="점검", area="분야", severity="low", risk="위험", look="확인", criterion="기준"
        )
        users = {
            "editor": User.objects.create_user("editor", password="x", is_staff=True),
            "reviewer": User.objects.create_user("reviewer", password="x", is_staff=True),
            "superuser": User.objects.create_superuser("superuser", password="x"),
        }
        users["editor"].groups.add(Group.objects.get(name=EDITOR))
        users["reviewer"].groups.add(Group.objects.get(name=REVIEWER))
        incident.edits.create(number=1, text="기록", author=users["editor"])
        now = timezone.now()
        report = Report.objects.create(incident=incident, text="고칠 점")
        things: dict[str, models.Model | None] = {
            "incident": incident,
            "cause": Cause.objects.first(),
            "component": Component.objects.first(),
            "factor": Factor.objects.first(),
            "detectionmethod": DetectionMethod.objects.first(),
            "organization": Organization.objects.first(),
            "check": check,
            "slugredirect": SlugRedirect.objects.create(kind="components", old_slug="old", new_slug="job-queue"),
            "report": report,
            "proposal": Proposal.objects.create(incident=incident, author=users["editor"], data="{}"),
            "searchmiss": SearchMiss.objects.create(query="없는말"),
            "searchterm": SearchTerm.objects.create(terms=["사이니지", "전광판"]),
            "sourcecheck": SourceCheck.objects.create(
                source=incident.sources.get(), url="https://status.example.org", state="ok", checked_at=now
            ),
            "statuschange": StatusChange.objects.first(),
            "logentry": LogEntry.objects.create(user=users["editor"], action_flag=1, object_repr="x"),
            "accessattempt": AccessAttempt.objects.create(
                username="x", ip_address="192.0.2.1", attempt_time=now, failures_since_start=1
            ),
            "group": Group.objects.first(),
            "user": users["editor"],
            "totpdevice": TOTPDevice.objects.create(user=users["editor"], name="x"),
            "staticdevice": StaticDevice.objects.create(user=users["editor"], name="x"),
        }
        self.keys = {name: str(thing.pk) for name, thing in things.items() if thing is not None}
        self.keys["incident_type"] = str(ContentType.objects.get_for_model(Incident).pk)
        self.report = report.token
        self.users = users

    def address(self, example: str) -> str:
        return example.format(**{**self.keys, "report": self.report})

    def model_address(self, model: str, page: str) -> str:
        return f"/admin/{model}/{page.replace('<path:object_id>', self.keys[model.partition('/')[2]])}"

    def ask(self, role: str, method: str, address: str) -> tuple[int, str]:
        """Return status and Location; nothing that was changed stays."""
        client = Client(raise_request_exception=True)
        with transaction.atomic():
            if role in self.users:
                client.force_login(self.users[role], backend="django.contrib.auth.backends.ModelBackend")
            response: Any = client.generic(method, address, content_type="application/x-www-form-urlencoded")
            if response.streaming:
                b"".join(response.streaming_content)  # closing it half read would close the connection, too
            transaction.set_rollback(True)
        return response.status_code, response.headers.get("Location", "")


@pytest.fixture(scope="module")
def world(empty_database: Path, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    shutil.copy(empty_database, folder / "library.sqlite3")
    before = settings.FORM_RATE, settings.API_RATE
    settings.FORM_RATE, settings.API_RATE = 0, 0
    with django_db_blocker.unblock(), database_at(folder / "library.sqlite3"), transaction.atomic():
        use_index(folder)
        yield World(folder)
        transaction.set_rollback(True)
    settings.FORM_RATE, settings.API_RATE = before
    forget_clients()


@pytest.fixture(autouse=True)
def one_index(world: World, own_search: None) -> None:
    """All tests of the module read the one library; each in a fresh index folder would build it anew."""
    use_index(world.folder)


@pytest.mark.parametrize("route", PUBLIC)
def test_public_addresses_answer_everybody_alike(world: World, route: str) -> None:
    example, taken, right = PUBLIC[route]
    address = world.address(example)
    for method in METHODS:
        answers = {role: world.ask(role, method, address)[0] for role in ROLES}
        if method in taken:
            assert set(answers.values()) <= right | ({405} if method == "DELETE" else set()), (method, answers)
        else:
            assert set(answers.values()) == {405}, (method, answers)
        assert len(set(answers.values())) == 1, (method, answers)


@pytest.mark.parametrize("route", model_routes())
def test_models_of_the_admin(world: World, route: str) -> None:
    model, page = model_routes()[route]
    address = world.model_address(model, page)
    for method in ("GET", "POST", "DELETE"):
        status, location = world.ask("anonymous", method, address)
        assert (status, location.partition("?")[0]) == (302, "/admin/login/"), method
        for role, rights in zip(ROLES[1:], MODELS[model], strict=True):
            needed = "c" if page.endswith("change/") and method == "POST" else PAGES[page]
            status, _ = world.ask(role, method, address)
            if set(needed) <= set(rights):
                assert status in {200, 302}, (role, method)
            else:
                assert status == 403, (role, method)


def test_editors_change_drafts_and_propose_changes_to_published_records(world: World) -> None:
    draft = f"/admin/incidents/incident/{world.draft.pk}/change/"
    assert world.ask("editor", "POST", draft)[0] in {200, 302}
    assert world.ask("editor", "POST", world.model_address("incidents/incident", "<path:object_id>/change/"))[0] == 403


@pytest.mark.parametrize(("role", "after"), [("editor", "published"), ("reviewer", "withdrawn")])
def test_only_who_may_publish_moves_a_published_record(world: World, role: str, after: str) -> None:
    client = Client()
    with transaction.atomic():
        client.force_login(world.users[role], backend="django.contrib.auth.backends.ModelBackend")
        client.post(world.address("/admin/incidents/incident/{incident}/move/withdraw/"), {"reason": "시험"})
        assert Incident.objects.get(pk=world.keys["incident"]).status == after
        transaction.set_rollback(True)


@pytest.mark.parametrize("route", DESK)
def test_desk(world: World, route: str) -> None:
    example, taken, least = DESK[route]
    address = world.address(example)
    for method in ("GET", "POST", "DELETE"):
        status, location = world.ask("anonymous", method, address)
        assert (status, location.partition("?")[0]) in {(302, "/admin/login/"), (302, "/admin/"), (405, "")}, method
        for role in ROLES[1:]:
            status, _ = world.ask(role, method, address)
            if ROLES.index(role) < ROLES.index(least):
                assert status in {403, 405}, (role, method, status)
            elif method in taken:
                assert status in {200, 302, 400}, (role, method, status)
            else:
                assert status in {200, 302, 400, 405}, (role, method, status)  # a view may take it for a GET


def test_unknown_admin_addresses_say_nothing_to_strangers(world: World) -> None:
    assert world.ask("anonymous", "GET", "/admin/none/")[1].startswith("/admin/login/")
    assert world.ask("editor", "GET", "/admin/none/")[0] == 404
    assert world.ask("editor", "GET", "/admin/auth/")[0] in {403, 404}
    assert world.ask("anonymous", "GET", "/admin/login/")[0] == 200


def test_people_without_a_role_are_kept_out(world: World) -> None:
    with transaction.atomic():
        world.users["stranger"] = User.objects.create_user("stranger", password="x")
        world.users["former"] = User.objects.create_superuser("former", password="x", is_active=False)
        try:
            for role in ("stranger", "former"):
                for address in ("/admin/", "/admin/incidents/incident/", "/admin/desk/"):
                    assert re.match("/admin/login/", world.ask(role, "GET", address)[1]), (role, address)
        finally:
            del world.users["stranger"], world.users["former"]
            transaction.set_rollback(True)
