"""build_listing(): what is found, counted, ordered, grouped and refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from incidents.errors import BadParameter, NotFound
from incidents.listing import Listing, build_listing
from incidents.models import Cause, SlugRedirect, VocabularyKind
from tests.factories import hours_in, make_incident, make_term

pytestmark = pytest.mark.django_db


def listed(query: str) -> list[str]:
    return [row.incident.public_id for row in build_listing(QueryDict(query)).rows]


def counts(listing: Listing, facet: str) -> dict[str, int]:
    return {option.value: option.count for f in listing.facets if f.name == facet for option in f.options}


@pytest.fixture
def four() -> None:
    make_incident(number=9001, causes=["dns-error"], components=["etcd"])
    make_incident(number=9002, causes=["dns-error"], components=["dns"])
    make_incident(number=9003, causes=["bad-deploy"], components=["etcd"])
    make_incident(number=9004, causes=["bad-deploy", "dns-error"], components=["etcd"])


def test_facet_counts_ignore_own_selection(four: None) -> None:
    listing = build_listing(QueryDict("component=etcd&cause=dns-error"))
    assert sorted(row.incident.number for row in listing.rows) == [9001, 9004]
    assert listing.count == 2
    assert counts(listing, "cause") == {"dns-error": 2, "bad-deploy": 2}
    assert counts(listing, "component") == {"etcd": 2, "dns": 1}


def test_values_of_one_facet_widen_the_listing(four: None) -> None:
    listing = build_listing(QueryDict("component=etcd&cause=dns-error&cause=bad-deploy"))
    assert sorted(row.incident.number for row in listing.rows) == [9001, 9003, 9004]
    assert counts(listing, "component") == {"etcd": 3, "dns": 1}
    assert counts(listing, "cause") == {"dns-error": 2, "bad-deploy": 2}


def test_following_a_facet_option_shows_its_count(four: None) -> None:
    start = build_listing(QueryDict("component=etcd"))
    options = [
        option
        for facet in start.facets
        for option in facet.options
        if not option.is_selected and facet.name != "component"
    ]
    assert options
    assert [build_listing(QueryDict(o.toggle_query)).count for o in options] == [o.count for o in options]


def test_a_chosen_value_without_records_stays_visible(four: None) -> None:
    make_term(Cause, "operator-error")
    listing = build_listing(QueryDict("cause=operator-error&component=etcd"))
    chosen = listing.facets[2].options[0]
    assert (chosen.value, chosen.count, chosen.is_selected) == ("operator-error", 0, True)


@pytest.mark.parametrize("sort", ["", "newest", "oldest", "added", "id", "relevance"])
def test_a_record_with_many_values_stands_once(sort: str) -> None:
    make_incident(
        number=9001,
        causes=["dns-error", "bad-deploy", "operator-error"],
        factors=["monitoring-gap", "retry-storm"],
        sources=[{"title": "가", "url": "https://a.example/1"}, {"title": "나", "url": "https://a.example/2"}],
    )
    query = f"cause=dns-error&cause=bad-deploy&cause=operator-error&factor=monitoring-gap&sort={sort}"
    for q in ("", "&q=정산"):
        listing = build_listing(QueryDict(query + q))
        assert [row.incident.number for row in listing.rows] == [9001]
        assert listing.count_line == "1건 중 1~1번째"


def test_a_group_holds_each_record_once(four: None) -> None:
    listing = build_listing(QueryDict("group=cause"))
    assert listing.count == 4
    groups = [(g.value, g.count, sorted(r.incident.number for r in g.rows)) for g in listing.groups]
    assert groups == [("dns-error", 2, [9001, 9002]), ("bad-deploy", 2, [9003, 9004])]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("cause=nope", "cause"),
        ("cause=dns-error&cause=nope", "cause"),
        ("component=%00", "component"),
        ("check=KC-999", "check"),
        ("detection=nope", "detection"),
        ("organization=nope", "organization"),
        ("sort=random", "sort"),
        ("view=grid", "view"),
        ("group=nope", "group"),
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=abc", "page"),
        ("page=1.0", "page"),
        ("page=1e3", "page"),
        ("page=+1", "page"),
        ("page=99999999999999999999", "page"),
        ("page=%D9%A3", "page"),
        ("page_size=0", "page_size"),
        ("page_size=-5", "page_size"),
        ("page_size=101", "page_size"),
        ("page_size=1e9", "page_size"),
        ("year_from=2024&year_to=2020", "year_from"),
        ("year_from=2019.5", "year_from"),
        ("year_from=-1", "year_from"),
        ("year_from=0", "year_from"),
        ("year_from=20240", "year_from"),
        ("year_from=%EF%BC%92%EF%BC%90%EF%BC%92%EF%BC%90", "year_from"),
        ("year_to=99999999999", "year_to"),
        ("duration_from=10&duration_to=5", "duration_from"),
    ],
)
def test_a_value_that_cannot_be_is_named(four: None, query: str, name: str) -> None:
    with pytest.raises(BadParameter) as caught:
        build_listing(QueryDict(query))
    assert list(caught.value.fields) == [name]


@pytest.mark.parametrize("page", ["2", "2147483647", "999999999"])
def test_a_page_past_the_end_is_not_there(four: None, page: str) -> None:
    if int(page) > 999_999_999:
        with pytest.raises(BadParameter):
            build_listing(QueryDict(f"page={page}"))
    else:
        with pytest.raises(NotFound) as caught:
            build_listing(QueryDict(f"page={page}"))
        assert str(caught.value) == f"없는 페이지입니다: {page} (마지막: 1)"


def test_unknown_parameters_are_named_for_programs_and_ignored_for_people(four: None) -> None:
    assert build_listing(QueryDict("nope=1&utm_source=x")).params.query() == ""
    with pytest.raises(BadParameter) as caught:
        build_listing(QueryDict("nope=1"), extra=frozenset())
    assert list(caught.value.fields) == ["nope"]


def test_a_slug_is_found_in_any_case_and_after_a_rename(four: None) -> None:
    SlugRedirect.objects.create(kind=VocabularyKind.COMPONENT, old_slug="old-etcd", new_slug="etcd")
    make_incident(number=9005, components=["dns"])  # a public change, after which the redirect is known
    assert build_listing(QueryDict("component=ETCD")).count == 3
    assert build_listing(QueryDict("component=old-etcd")).params.query() == "component=etcd"


def test_an_organization_typed_in_nfd_is_the_same() -> None:
    import unicodedata

    make_incident(number=9001, organization=unicodedata.normalize("NFC", "누리상회"))
    assert build_listing(QueryDict.fromkeys(["organization"], unicodedata.normalize("NFD", "누리상회"))).count == 1


def test_empty_parameters_count_as_absent(four: None) -> None:
    assert build_listing(QueryDict("q=&cause=&page=&year_from=&sort=&view=&page_size=")).count == 4


@pytest.mark.parametrize("q", ["%20", "%E2%80%8B", "%E3%85%A4"])
def test_invisible_signs_are_no_query(four: None, q: str) -> None:
    listing = build_listing(QueryDict(f"q={q}"))
    assert (listing.q, listing.count) == ("", 4)


def test_duration_is_counted_only_where_both_ends_are_known_to_the_minute() -> None:
    known: dict[str, Any] = {"started_at": hours_in(0), "started_precision": "minute", "resolved_precision": "minute"}
    make_incident(number=9001, **known, resolved_at=hours_in(2))
    make_incident(number=9002, **{**known, "resolved_precision": "day"}, resolved_at=hours_in(2))
    make_incident(number=9003)
    assert listed("duration_from=0") == ["IL-9001"]
    assert listed("duration_to=119") == []
    assert listed("duration_from=120&duration_to=120") == ["IL-9001"]


def test_order_is_by_when_it_happened_then_by_number() -> None:
    for number, day in ((9001, hours_in(0)), (9002, hours_in(48)), (9003, hours_in(0))):
        make_incident(number=number, started_at=day, started_precision="day")
    assert listed("") == ["IL-9002", "IL-9003", "IL-9001"]
    assert listed("sort=oldest") == ["IL-9001", "IL-9003", "IL-9002"]
    assert listed("sort=id") == ["IL-9001", "IL-9002", "IL-9003"]


def test_each_record_is_found_once_and_the_better_match_first() -> None:
    make_incident(
        number=9001,
        symptom="정산이 멈췄다.",
        cause="정산 로그가 쌓였다.",
        actions=["정산을 다시 돌렸다."],
        lesson="정산을 지켜본다.",
    )
    make_incident(
        number=9002,
        title="배치가 멈췄다",
        symptom="배치가 멈췄다.",
        cause="디스크가 찼다.",
        lesson="정산 로그를 나눈다.",
    )
    first = build_listing(QueryDict("q=정산&page_size=1"))
    second = build_listing(QueryDict("q=정산&page_size=1&page=2"))
    assert (first.count, first.page_count) == (2, 2)
    assert [row.incident.number for row in (*first.rows, *second.rows)] == [9001, 9002]
    snippet = second.rows[0].snippet
    assert snippet is not None
    assert (snippet.field, "<mark>정산</mark>" in snippet.html) == ("lesson", True)


def test_chips_remove_one_choice_each(four: None) -> None:
    listing = build_listing(QueryDict("component=etcd&cause=dns-error&year_from=2020"))
    assert [(chip.label, chip.value, chip.remove_query) for chip in listing.chips] == [
        ("구성 요소", "etcd", "cause=dns-error&year_from=2020"),
        ("원인 분류", "DNS 오류", "component=etcd&year_from=2020"),
        ("연도", "2020–", "component=etcd&cause=dns-error"),
    ]


def test_an_empty_result_says_what_each_condition_costs(four: None) -> None:
    listing = build_listing(QueryDict("component=dns&cause=bad-deploy"))
    assert (listing.count, listing.count_line) == (0, "0건")
    assert [(one.label, one.count, one.query) for one in listing.loosenings] == [
        ("구성 요소 DNS", 2, "cause=bad-deploy"),
        ("원인 분류 배포·변경 오류", 1, "component=dns"),
    ]


def test_pages_show_the_ends_and_the_neighbours() -> None:
    for number in range(9001, 9010):
        make_incident(number=number)
    listing = build_listing(QueryDict("page_size=1&page=5"))
    assert [(link.number, link.is_current) for link in listing.pages] == [
        (1, False), (2, False), (3, False), (4, False), (5, True), (6, False), (7, False), (8, False), (9, False),
    ]  # fmt: skip
    first = build_listing(QueryDict("page_size=1"))
    assert [link.number for link in first.pages] == [1, 2, 3, None, 9]
    assert (first.previous_query, first.next_query) == (None, "page_size=1&page=2")
