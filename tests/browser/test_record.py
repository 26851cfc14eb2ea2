"""Reading a record: anchors, neighbours, citing, themes."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.browser.page_kinds import PAGES
from tests.conftest import Server


def test_address_of_a_statement_marks_it(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/IL-0459/#cause-2")
    statement = page.locator("#cause-2")
    expect(statement).to_be_in_viewport()
    expect(statement).to_have_css("background-color", "rgb(255, 226, 138)")
    page.locator("#detection-1 .statement__no").click()
    assert page.url.endswith("#detection-1")


def test_numbers_are_not_copied_along(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/IL-0459/")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#trigger .record__text'))")
    selected = page.evaluate("getSelection().toString()")
    assert re.sub(r"\s+", " ", selected).strip().startswith("07:20 UTC 에")


def test_every_anchor_of_the_contents_is_there(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/IL-0459/")
    anchors = page.eval_on_selector_all(".toc a", "links => links.map(link => link.hash.slice(1))")
    assert anchors[:3] == ["symptom", "trigger", "cause"]
    assert all(page.locator(f"[id='{anchor}']").count() == 1 for anchor in anchors)
    page.locator(".toc a", has_text="교훈").click()
    expect(page.locator(".toc a[aria-current]")).to_have_text(re.compile("교훈|출처"))


def test_neighbours_are_those_of_the_listing_one_came_from(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/?component=etcd&sort=id")
    ids = page.locator(".incident-row__id").all_inner_texts()
    page.locator(".incident-row__link").first.click()
    page.wait_for_url(f"**/incidents/{ids[0]}/")
    expect(page.get_by_role("link", name=re.compile("목록으로: etcd 3건"))).to_be_visible()
    page.keyboard.press("]")
    page.wait_for_url(f"**/incidents/{ids[1]}/**")
    page.keyboard.press("]")
    page.wait_for_url(f"**/incidents/{ids[2]}/**")
    page.keyboard.press("[")
    page.wait_for_url(f"**/incidents/{ids[1]}/**")
    page.get_by_role("link", name=re.compile("목록으로")).click()
    assert page.locator(".incident-row__id").all_inner_texts() == ids


def test_citation_is_copied_with_one_press(browser: Any, shared_server: Server) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{shared_server.url}/incidents/IL-0459/")
    page.keyboard.press("c")
    assert page.url.endswith("#cite")
    page.locator("#cite").get_by_role("button", name="복사").first.click()
    expect(page.locator("#cite").get_by_role("status").first).to_have_text("복사했습니다")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#cite p[lang=ko]").inner_text()
    context.close()


def test_only_one_cite_form_is_open(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/IL-0459/")
    page.locator("#cite summary", has_text="RIS").click()
    assert page.locator("#cite details[open] summary").all_inner_texts() == ["RIS"]


def test_theme_changes_at_once_and_stays(page: Any, shared_server: Server) -> None:
    page.goto(f"{shared_server.url}/incidents/IL-0459/")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    with page.expect_response("**/theme/"):
        page.get_by_role("button", name="화면 밝기 바꾸기").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != paper
    page.goto(f"{shared_server.url}/about/")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    with page.expect_response("**/theme/"):
        page.get_by_role("button", name="화면 밝기 바꾸기").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper


def test_theme_is_a_form_without_javascript(browser: Any, shared_server: Server) -> None:
    context = browser.new_context(
        java_script_enabled=False, color_scheme="light", viewport={"width": 1280, "height": 800}
    )
    page = context.new_page()
    page.goto(f"{shared_server.url}/incidents/IL-0459/")
    page.get_by_role("button", name="화면 밝기 바꾸기").click()
    assert page.url == f"{shared_server.url}/incidents/IL-0459/"
    expect(page.locator("html")).to_have_class("theme-dark")
    context.close()


def test_no_page_asks_another_host_or_breaks_its_policy(page: Any, shared_server: Server) -> None:
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    for path in ("/", "/incidents/?q=etcd", "/incidents/IL-0459/", "/stats/", "/components/etcd/", "/patterns/"):
        page.goto(shared_server.url + path, wait_until="networkidle")
    assert [url for url in asked if not url.startswith(shared_server.url)] == []
    assert said == []


def test_first_view_is_light(browser: Any, shared_server: Server) -> None:
    for path in PAGES.values():
        context = browser.new_context()
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        received: list[int] = []
        session.on("Network.loadingFinished", lambda event, into=received: into.append(int(event["encodedDataLength"])))
        page.goto(shared_server.url + path, wait_until="networkidle")
        context.close()
        assert 0 < sum(received) <= 120_000, (path, sum(received))
