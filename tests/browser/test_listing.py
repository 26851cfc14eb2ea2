"""A reader's ways through the listing: search, narrow, go back, phone, keyboard, without JavaScript."""

from __future__ import annotations

import re
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.conftest import Server


@pytest.fixture
def phone(browser: Any) -> Iterator[Any]:
    context = browser.new_context(locale="ko-KR", viewport={"width": 390, "height": 800}, has_touch=True)
    page = context.new_page()
    page.set_default_timeout(15_000)
    yield page
    context.close()


@pytest.fixture
def plain(browser: Any) -> Iterator[Any]:
    """A window without JavaScript."""
    context = browser.new_context(locale="ko-KR", viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    page = context.new_page()
    page.set_default_timeout(15_000)
    yield page
    context.close()


def count_of(page: Any) -> int:
    found = re.match(r"(\d+)건", page.locator("#count").inner_text())
    assert found is not None
    return int(found[1])


def shown(page: Any) -> dict[str, Any]:
    """What the listing says: count line, chips, box, the first record."""
    return {
        "count": page.locator("#count").inner_text(),
        "chips": [text.replace("\n", " ") for text in page.locator(".chip__text").all_inner_texts()],
        "q": page.locator("#q").input_value(),
        "first": page.locator(".incident-row__id").first.inner_text(),
    }


def test_choosing_a_facet_shows_the_number_beside_it(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/")
    option = page.locator("#component-relational-db")
    number = int(option.locator(".facet__count").inner_text())
    option.click()
    expect(page.locator("#count")).to_have_text(re.compile(rf"^{number}건 중"))
    assert page.url.endswith("/incidents/?component=relational-db")
    expect(page.get_by_role("status").first).to_have_text(re.compile(rf"^{number}건 중"))
    assert page.evaluate("document.activeElement.id") == "component-relational-db"
    assert page.locator("#component-relational-db").get_attribute("aria-current") == "true"
    assert page.title().startswith("관계형 데이터베이스")


def test_each_step_back_shows_what_stood_there(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/?q=장애")
    steps = [shown(page)]
    for value in ("factor-monitoring-gap", "cause-software-bug", "detection-alert"):
        before = page.locator("#count").inner_text()
        page.locator(f"#{value}").click()
        expect(page.locator("#count")).not_to_have_text(before)
        steps.append(shown(page))
    page.locator(".incident-row__link").first.click()
    page.wait_for_url("**/incidents/IL-*/")
    for step in reversed(steps):
        page.go_back()
        expect(page.locator("#count")).to_have_text(step["count"])
        assert shown(page) == step
    page.go_forward()
    expect(page.locator("#count")).to_have_text(steps[1]["count"])
    page.reload()
    assert shown(page) == steps[1]


def test_removing_the_words_empties_the_box(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/?q=인증서&cause=certificate-expiry")
    page.locator(".chip", has_text="찾는 말").click()
    expect(page.locator("#q")).to_have_value("")
    assert page.evaluate("document.activeElement.id") == "count"


def test_searching_keeps_what_is_chosen(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/")
    page.locator("#cause-config-error").click()
    expect(page.locator(".chip", has_text="설정 오류")).to_be_visible()
    page.locator("#q").fill("로그인")
    page.locator("#q").press("Enter")
    page.wait_for_url(re.compile("q="))
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(page.url).query)
    assert query == {"q": ["로그인"], "cause": ["config-error"]}


def test_year_form_narrows(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/?cause=dns-error")
    page.locator("#year-from").fill("2020")
    page.locator("#year-apply").click()
    expect(page.locator(".chip", has_text="2020–")).to_be_visible()
    assert "cause=dns-error" in page.url


def test_year_that_cannot_be_is_told(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/")
    page.locator("#year-from").fill("20x4")
    page.locator("#year-apply").click()
    expect(page.locator(".message__title")).to_be_visible()
    assert page.locator("main").get_by_role("link").count() >= 2


def test_slash_leads_to_the_box_and_escape_leaves(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("a/b")
    assert page.locator("#q").input_value() == "a/b"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") != "q"


def test_single_keys_can_be_turned_off(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="단축키")
    expect(dialog).to_be_visible()
    dialog.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") != "q"
    page.reload()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") != "q"


def test_long_facet_has_a_field_that_filters_it(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/")
    page.locator("#facet-organization-more > summary").click()
    field = page.get_by_role("searchbox", name="조직 거르기")
    field.fill("linear")
    left = page.locator("#facet-organization-more .facet__label").locator("visible=true").all_inner_texts()
    assert left
    assert all("linear" in text.lower() for text in left)


def test_sheet_on_a_phone_keeps_the_focus_and_counts(phone: Any, shared_server: Server) -> None:
    phone.goto(f"{shared_server.url}/incidents/?cause=software-bug")
    expect(phone.locator("#facets")).to_be_hidden()
    phone.get_by_role("link", name=re.compile("좁히기")).click()
    sheet = phone.get_by_role("dialog", name="좁히기")
    expect(sheet).to_be_visible()
    for _ in range(3):
        phone.keyboard.press("Shift+Tab")
    assert phone.evaluate("document.activeElement.closest('#facets') !== null")
    phone.locator("#detection-alert").click()
    expect(phone.locator("#detection-alert")).to_have_attribute("aria-current", "true")
    expect(sheet).to_be_visible()
    close = sheet.get_by_role("link", name=re.compile(r"^\d+건 보기$"))
    assert close.inner_text() == f"{count_of(phone)}건 보기"
    close.click()
    expect(phone.locator("#facets")).to_be_hidden()
    phone.get_by_role("link", name=re.compile("좁히기")).click()
    phone.keyboard.press("Escape")
    expect(phone.locator("#facets")).to_be_hidden()
    assert phone.evaluate("document.activeElement.id") == "facets-open"


def test_everything_works_without_javascript(plain: Any, shared_server: Server) -> None:
    plain.goto(shared_server.url)
    plain.locator("#q").fill("인증서")
    plain.get_by_role("button", name="찾기").click()
    everything = count_of(plain)
    option = plain.locator("#facets .facet__option").first
    number = int(option.locator(".facet__count").inner_text())
    option.click()
    assert count_of(plain) == number <= everything
    plain.locator(".chip", has_text="찾는 말").click()
    plain.get_by_role("link", name="모두 지우기").or_(plain.locator(".chip").first).first.click()
    plain.locator(".pagination").get_by_role("link", name="다음").click()
    assert "page=2" in plain.url
    plain.locator(".incident-row__link").first.click()
    assert plain.locator("#cite p[lang=ko]").inner_text().startswith("“")
    plain.locator("#cite summary", has_text="BibTeX").click()
    assert "@report{IL-" in plain.locator("#cite code[lang=en]").first.inner_text()


def test_sheet_opens_and_closes_without_javascript(browser: Any, shared_server: Server) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{shared_server.url}/incidents/")
    page.locator("#facets-open").click()
    expect(page.locator("#facets")).to_be_visible()
    page.locator(".facet-panel__close").click()
    expect(page.locator("#facets")).to_be_hidden()
    context.close()


@pytest.mark.parametrize(
    ("headers", "is_whole"),
    [
        ({}, True),
        ({"HX-Request": "true"}, False),
        ({"HX-Request": "true", "HX-History-Restore-Request": "true"}, True),
        ({"HX-Request": "true", "HX-Boosted": "true"}, True),
    ],
)
def test_fragment_is_for_htmx_alone(shared_server: Server, headers: dict[str, str], is_whole: bool) -> None:
    request = urllib.request.Request(f"{shared_server.url}/incidents/?cause=dns-error", headers=headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        text = response.read().decode()
        assert {"hx-request", "hx-history-restore-request"} <= {
            name.strip().lower() for name in response.headers["Vary"].split(",")
        }
    assert text.lstrip().startswith("<!doctype html>") is is_whole
    assert 'id="listing"' in text
