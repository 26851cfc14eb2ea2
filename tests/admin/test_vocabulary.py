"""Words of the vocabulary are renamed and merged with all that have them, and old addresses go on leading somewhere."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from lxml import html

from incidents.models import Cause, Check, CheckComponent, Component, Factor, Incident, Organization, SlugRedirect
from tests.admin.forms import errors_of, form_values
from tests.factories import make_draft, make_incident, make_term

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client: Client, superuser: User) -> Client:
    client.force_login(superuser)
    return client


def slugs_of(incident: Incident, relation: str) -> list[str]:
    return [tag.term.slug for tag in getattr(Incident.objects.get(pk=incident.pk), relation).all()]


def versions_of(incident: Incident) -> list[tuple[int, str]]:
    return [(version.number, version.reason) for version in incident.versions.order_by("number")]


def page(client: Client, address: str) -> Any:
    return html.fromstring(client.get(address).content.decode())


def test_the_number_of_records_is_shown_before_renaming(desk: Client) -> None:
    for make in (make_incident, make_incident, make_draft):
        make(components=("etcd",))
    etcd = Component.objects.get(slug="etcd")
    shown = page(desk, f"/admin/incidents/component/{etcd.pk}/rename/")
    assert [number.text for number in shown.xpath("//p/strong")] == ["2", "1", "0"]


def test_renaming_changes_records_keeps_versions_and_leads_on_from_the_old_address(desk: Client) -> None:
    incident = make_incident(components=("etcd", "dns"))
    draft = make_draft(components=("etcd",))
    etcd = Component.objects.get(slug="etcd")
    address = f"/admin/incidents/component/{etcd.pk}/rename/"
    values = form_values(desk.get(address))
    assert desk.post(address, {**values, "slug": "etcd-store", "label": "etcd 저장소"}).status_code == 302
    assert slugs_of(incident, "component_tags") == ["etcd-store", "dns"]
    assert slugs_of(draft, "component_tags") == ["etcd-store"]
    assert versions_of(incident) == [(1, ""), (2, "구성 요소 이름 바꿈: etcd (etcd) → etcd 저장소 (etcd-store)")]
    assert "components: [etcd, dns]" in incident.versions.get(number=1).text
    assert Component.objects.get(slug="etcd-store").aliases == ["etcd"]
    answer = desk.get("/components/etcd/")
    assert answer.status_code in (301, 302)
    assert answer["Location"] == "/components/etcd-store/"
    assert desk.get("/incidents/", {"component": "etcd"}, follow=True).context["listing"].count == 1


def test_renaming_back_leaves_no_circle(desk: Client) -> None:
    make_incident(causes=("dns-error",))
    cause = Cause.objects.get(slug="dns-error")
    address = f"/admin/incidents/cause/{cause.pk}/rename/"
    for slug in ("name-error", "dns-error"):
        desk.post(address, {**form_values(desk.get(address)), "slug": slug})
    assert [(one.old_slug, one.new_slug) for one in SlugRedirect.objects.all()] == [("name-error", "dns-error")]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"slug": "dns"}, "이미 있는 슬러그입니다: dns"),
        ({"label": "DNS"}, "이미 있는 이름입니다: DNS"),
        ({}, "바뀐 것이 없습니다"),
        ({"slug": "빈칸 있음"}, "영문 소문자와 숫자를 붙임표로"),
    ],
)
def test_a_name_that_can_not_be_given_is_refused(desk: Client, changes: dict[str, str], words: str) -> None:
    make_term(Component, "dns")
    etcd = make_term(Component, "etcd")
    address = f"/admin/incidents/component/{etcd.pk}/rename/"
    answer = desk.post(address, {**form_values(desk.get(address)), **changes})
    assert words in " ".join(errors_of(answer))
    assert Component.objects.get(pk=etcd.pk).slug == "etcd"


def test_merging_retags_records_and_checks_and_keeps_the_better_place(desk: Client) -> None:
    both = make_incident(components=("etcd", "job-queue", "dns"))
    one = make_incident(components=("dns", "etcd"))
    other = make_incident(components=("dns",))
    etcd, dns = Component.objects.get(slug="etcd"), Component.objects.get(slug="dns")
    check = Check.objects.create(
        code="KC-001", title="점검", area="분야", severity="low", risk="가", look="나", criterion="다"
    )
    CheckComponent.objects.create(check_item=check, term=etcd)
    address = f"/admin/incidents/component/{etcd.pk}/merge/"
    assert [number.text for number in page(desk, address).xpath("//p/strong")] == ["2", "0", "1"]
    assert desk.post(address, {"into": dns.pk}).status_code == 302
    assert slugs_of(both, "component_tags") == ["dns", "job-queue"]
    assert slugs_of(one, "component_tags") == ["dns"]
    assert versions_of(one)[1:] == [(2, "구성 요소 병합: etcd (etcd) → DNS (dns)")]
    assert versions_of(other) == [(1, "")]
    assert [tag.term.slug for tag in check.component_tags.all()] == ["dns"]
    assert not Component.objects.filter(slug="etcd").exists()
    assert desk.get("/components/etcd/")["Location"] == "/components/dns/"
    assert desk.get("/incidents/", {"component": "dns"}).context["listing"].count == 3


def test_merging_organizations_moves_their_records(desk: Client) -> None:
    first = make_incident(organization="누리상회")
    make_incident(organization="누리 상회")
    old, kept = Organization.objects.get(name="누리상회"), Organization.objects.get(name="누리 상회")
    desk.post(f"/admin/incidents/organization/{old.pk}/merge/", {"into": kept.pk})
    assert Incident.objects.get(pk=first.pk).organization == kept
    assert versions_of(first)[-1][0] == 2
    assert Organization.objects.get().aliases == ["누리상회"]


def test_a_used_word_is_not_deleted(desk: Client) -> None:
    make_incident(components=("etcd",))
    etcd = Component.objects.get(slug="etcd")
    desk.post(f"/admin/incidents/component/{etcd.pk}/delete/", {"post": "yes"})
    assert Component.objects.filter(slug="etcd").exists()


def test_a_new_word_is_added_with_its_other_names(desk: Client) -> None:
    values = form_values(desk.get("/admin/incidents/factor/add/"), "factor_form")
    answer = desk.post(
        "/admin/incidents/factor/add/",
        {
            **values,
            "label": "점검 목록 없음",
            "slug": "no-checklist",
            "aliases": "체크리스트 없음\n\n 체크리스트 없음 \nno list",
        },
    )
    assert answer.status_code == 302
    for query in ("no-checklist", "체크리스트", "NO LIST"):
        found = desk.get("/admin/incidents/factor/", {"q": query}).context["cl"].result_list
        assert [word.label for word in found] == ["점검 목록 없음"], query
    assert Factor.objects.get().aliases == ["체크리스트 없음", "no list"]
