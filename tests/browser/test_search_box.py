"""The search box: composition of Hangul never sends, completions are a combobox, late answers never win."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Error, expect

from tests.conftest import Server


def compose(page: Any, text: str) -> Any:
    """Compose `text` as an input method does, and leave the last syllable open; return the session."""
    session = page.context.new_cdp_session(page)
    session.send("Input.insertText", {"text": text[:-1]})
    session.send("Input.imeSetComposition", {"text": text[-1], "selectionStart": 1, "selectionEnd": 1})
    return session


def press_enter_in_composition(session: Any) -> None:
    key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229, "nativeVirtualKeyCode": 229}
    session.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **key})
    session.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})


@pytest.mark.parametrize("path", ["/", "/incidents/"])
def test_enter_while_composing_sends_nothing_and_then_once(page: Any, shared_server: Server, path: str) -> None:
    page.goto(shared_server.url + path)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.is_navigation_request() else None)
    page.locator("#q").focus()
    session = compose(page, "한글입력")
    press_enter_in_composition(session)
    assert sent == []
    session.send("Input.insertText", {"text": "력"})
    assert page.locator("#q").input_value() == "한글입력"
    page.keyboard.press("Enter")
    page.wait_for_url("**/incidents/?q=*")
    assert len(sent) == 1
    assert page.locator("#q").input_value() == "한글입력"


def suggestion(kind: str, text: str, value: str, url: str, count: int = 1) -> dict[str, Any]:
    return {"kind": kind, "text": text, "value": value, "url": url, "count": count}


def test_arrow_keys_choose_and_enter_opens(page: Any, shared_server: Server) -> None:
    page.goto(shared_server.url)
    page.locator("#q").press_sequentially("etcd")
    box = page.get_by_role("combobox").first
    expect(box).to_have_attribute("aria-expanded", "true")
    options = page.locator("#q-suggestions [role=option]")
    assert options.count() <= 8
    first = options.first
    expect(first).to_contain_text("etcd")
    expect(first).to_contain_text("구성 요소")
    page.keyboard.press("ArrowDown")
    expect(first).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == first.get_attribute("id")
    page.keyboard.press("Enter")
    page.wait_for_url("**/components/etcd/")


def test_escape_closes_the_list_and_keeps_the_words(page: Any, shared_server: Server) -> None:
    page.goto(shared_server.url)
    page.locator("#q").press_sequentially("etcd")
    expect(page.locator("#q-suggestions")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#q-suggestions")).to_be_hidden()
    assert page.locator("#q").input_value() == "etcd"
    assert page.evaluate("document.activeElement.id") == "q"


def test_enter_without_a_choice_searches(page: Any, shared_server: Server) -> None:
    page.goto(shared_server.url)
    page.locator("#q").press_sequentially("etcd")
    expect(page.locator("#q-suggestions")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/incidents/?q=etcd")


def test_late_answer_never_replaces_a_newer_one(page: Any, shared_server: Server) -> None:
    late: list[Any] = []

    def answer(route: Any) -> None:
        words = route.request.url.partition("q=")[2]
        body = json.dumps(
            {"q": words, "suggestions": [suggestion("component", words, "dns", f"{shared_server.url}/components/dns/")]}
        )
        if words == "et":
            late.append((route, body))
        else:
            route.fulfill(content_type="application/json", body=body)

    page.route("**/api/v1/suggest/**", answer)
    page.goto(shared_server.url)
    with page.expect_request("**/suggest/?q=et"):
        page.locator("#q").press_sequentially("et")
    page.locator("#q").press_sequentially("cd")
    expect(page.locator("#q-suggestions")).to_contain_text("etcd")
    for route, body in late:
        with suppress(Error):  # the page has given the question up, which is the point
            route.fulfill(content_type="application/json", body=body)
    assert page.locator("#q-suggestions .suggestions__text").all_inner_texts() == ["etcd"]


def test_markup_in_a_title_is_text(page: Any, shared_server: Server) -> None:
    title = "<img src=x onerror=alert(1)> etcd"
    body = json.dumps(
        {
            "q": "etcd",
            "suggestions": [suggestion("incident", title, "IL-0001", f"{shared_server.url}/incidents/IL-0001/")],
        }
    )
    page.route("**/api/v1/suggest/**", lambda route: route.fulfill(content_type="application/json", body=body))
    page.goto(shared_server.url)
    page.locator("#q").press_sequentially("etcd")
    expect(page.locator("#q-suggestions .suggestions__text")).to_have_text(title)


def test_box_works_when_completion_fails(page: Any, shared_server: Server) -> None:
    page.route("**/api/v1/suggest/**", lambda route: route.fulfill(status=503, body="{}"))
    page.goto(shared_server.url)
    with page.expect_response("**/api/v1/suggest/**"):
        page.locator("#q").press_sequentially("etcd")
    page.keyboard.press("Enter")
    page.wait_for_url("**/incidents/?q=etcd")
