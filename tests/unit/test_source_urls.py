"""Two ways of writing one address are the same; two addresses are not."""

from __future__ import annotations

import pytest

from incidents.source_urls import canonical_url, is_archive, search_piece, unwrap_archive

PLAIN = "example.org/a/b?a=1&b=2"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a/b?a=1&b=2",
        "http://example.org/a/b?a=1&b=2",
        "https://www.Example.ORG/a/b/?b=2&a=1",
        "https://m.example.org:443/a/b/index.html?a=1&b=2",
        "https://example.org//a/b?utm_source=mail&a=1&fbclid=x&b=2#top",
        " https://example.org./a/b?a=1&b=2 ",
        "https://web.archive.org/web/20230101000000/https://example.org/a/b/?a=1&b=2",
        "https://web.archive.org/web/20230101000000id_/http://www.example.org/a/b?a=1&b=2",
        "https://web.archive.org/web/*/https://example.org/a/b?a=1&b=2",
        "https://archive.ph/20230101/https://example.org/a/b?a=1&b=2",
        "https://archive.today/newest/http://example.org/a/b?a=1&b=2",
        "https://web.archive.org/web/2023/https://archive.is/2022/https://example.org/a/b?a=1&b=2",
    ],
)
def test_the_same_report_has_one_address(url: str) -> None:
    assert canonical_url(url) == PLAIN


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/b"),
        ("https://example.org/?id=1", "https://example.org/?id=2"),
        ("https://a.example.org/", "https://b.example.org/"),
        ("https://example.org:8080/", "https://example.org/"),
        ("https://example.org/#!/a", "https://example.org/#!/b"),
        ("https://archive.org/details/report", "https://archive.org/details/other"),
    ],
)
def test_other_reports_have_others(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


def test_hangul_addresses_are_one_in_both_spellings() -> None:
    assert canonical_url("https://한국.kr/가 나") == canonical_url("https://xn--3e0b707e.kr/%EA%B0%80%20%EB%82%98/")


@pytest.mark.parametrize(
    "url", ["", "javascript:alert(1)", "ftp://example.org/", "example.org/a", "https://", "https://[::1", "http://a:b/"]
)
def test_what_is_no_web_address_has_none(url: str) -> None:
    assert canonical_url(url) == ""


def test_an_archive_is_known_by_what_it_wraps() -> None:
    copy = "https://web.archive.org/web/2023/https:/example.org/a"
    assert (unwrap_archive(copy), is_archive(copy)) == ("https://example.org/a", True)
    assert not is_archive("https://archive.org/details/report")
    assert search_piece("example.org/%EA%B0%80?x=1") == "example.org/"
