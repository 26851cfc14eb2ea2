"""Editing in a real browser: a record's whole life, two people at once, and text that survives a closed tab."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import PASSWORD, Server, start_server, stop_server

expect.set_options(timeout=20_000)

MAKE_ACCOUNTS = f"""
from django.contrib.auth.models import Group, User
for name, role in (("editor", "Editor"), ("reviewer", "Reviewer")):
    user = User.objects.create_user(name, password="{PASSWORD}", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
"""


@pytest.fixture(scope="module")
def server(library_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One served library for all of these: each test writes records of its own."""
    data_dir = tmp_path_factory.mktemp("editing") / "data"
    shutil.copytree(library_dir, data_dir)
    server = start_server(data_dir)
    server.manage("shell", "-c", MAKE_ACCOUNTS)
    yield server
    stop_server(server)


@contextmanager
def window(browser: Browser, server: Server, name: str) -> Iterator[Page]:
    """A browser window of its own in which `name` is signed in."""
    context = browser.new_context(locale="ko-KR", viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(60_000)  # a password is hashed slowly on purpose, on a busy machine all the more
    sign_in(page, server, name)
    yield page
    context.close()


def sign_in(page: Page, server: Server, name: str) -> None:
    page.goto(f"{server.url}/admin/login/?next=/admin/")
    page.fill("#id_username", name)
    page.fill("#id_password", PASSWORD)
    page.press("#id_password", "Enter")
    expect(page.locator("#user-tools")).to_contain_text(name)


def record_form(page: Page, server: Server, public_id: str) -> None:
    page.goto(f"{server.url}/admin/incidents/incident/?q={public_id}")
    page.locator("#result_list").get_by_role("link", name=public_id).click()


def save(page: Page, button: str = "저장 및 편집 계속") -> None:
    with page.expect_navigation():  # the page keeps the text first, then sends it
        page.locator(f'input[value="{button}"]').first.click()


def pick_term(page: Page, prefix: str, text: str) -> None:
    """Choose a vocabulary term in the last row of a list by typing its slug."""
    rows = page.locator(f"#{prefix}-group tr.form-row:not(.empty-form)")
    row = rows.last
    row.locator("input.term-search").fill(text)


def api(page: Page, server: Server, path: str) -> Any:
    return page.request.get(f"{server.url}/api/v1/{path}").json()


def test_a_record_lives_its_whole_life(browser: Browser, server: Server) -> None:
    with window(browser, server, "editor") as page:
        page.goto(f"{server.url}/admin/incidents/incident/add/")
        page.fill("#id_title", "시험용 정산 배치가 얼룩말 큐를 가득 채워 결제가 세 시간 멈췄다")
        page.locator(".field-organization .select2-selection").click()
        page.locator(".select2-search__field").fill("Cloudflare")
        page.locator(".select2-results__option", has_text="Cloudflare").first.click()
        page.fill("#id_year", "2024")
        pick_term(page, "cause_tags", "capacity-exhaustion")
        expect(page.locator("#cause_tags-0 .term-about")).not_to_be_empty()
        pick_term(page, "component_tags", "job-queue")
        page.fill("#id_symptom", "결제가 **세 시간** 멈췄다.")
        expect(page.locator('[data-preview-of="symptom"] strong')).to_have_text("세 시간")
        page.fill("#id_cause", "얼룩말 큐가 가득 찼다.")
        page.fill("#id_actions", "큐를 비웠다.\n배치를 늦췄다.")
        expect(page.locator('[data-preview-of="actions"] li')).to_have_count(2)
        expect(page.locator("[data-gaps]")).to_contain_text("교훈")
        page.fill("#id_lesson", "큐의 길이에는 한도를 둔다.")
        page.fill("#id_sources-0-title", "정산 지연 안내")
        page.fill("#id_sources-0-url", "https://status.example.org/posts/zebra")
        expect(page.locator("[data-checklist-state]")).to_have_text("게시할 수 있습니다.")
        save(page)
        public_id = page.locator(".record-state strong").inner_text()
        page.get_by_role("link", name="사이트에서 미리 보기").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("얼룩말 큐")
        page.get_by_role("link", name="편집으로 돌아가기").click()
        page.get_by_role("link", name="검토 요청").click()
        page.get_by_role("button", name="검토 요청").click()
        expect(page.locator(".record-state")).to_contain_text("검토 중")

    with window(browser, server, "reviewer") as page:
        assert page.request.get(f"{server.url}/incidents/{public_id}/").status == 404
        page.goto(f"{server.url}/admin/desk/")
        page.get_by_role("link", name=public_id).first.click()
        page.get_by_role("link", name="돌려보내기").click()
        page.fill("#id_reason", "감지 경위가 빠졌습니다.")
        page.get_by_role("button", name="돌려보내기").click()

    with window(browser, server, "editor") as page:
        page.goto(f"{server.url}/admin/desk/")
        expect(page.get_by_text("감지 경위가 빠졌습니다.")).to_be_visible()
        page.get_by_role("link", name=public_id).first.click()
        page.fill("#id_detection", "가맹점이 먼저 알렸다.")
        save(page)
        page.get_by_role("link", name="검토 요청").click()
        page.get_by_role("button", name="검토 요청").click()

    with window(browser, server, "reviewer") as page:
        record_form(page, server, public_id)
        page.get_by_role("link", name="게시", exact=True).click()
        page.get_by_role("button", name="게시").click()
        expect(page.locator(".record-state")).to_contain_text("판 1")
        page.goto(f"{server.url}/incidents/?q=얼룩말")
        expect(page.get_by_role("link", name="얼룩말 큐").first).to_be_visible()
        assert api(page, server, f"incidents/{public_id}/")["version"] == 1

        record_form(page, server, public_id)
        page.fill("#id_symptom", "결제가 **네 시간** 멈췄다.")
        page.fill("#id_change_reason", "보고서가 시간을 바로잡았다")
        save(page)
        page.goto(f"{server.url}/incidents/{public_id}/history/")
        expect(page.get_by_text("보고서가 시간을 바로잡았다")).to_be_visible()
        expect(page.locator("del")).to_contain_text("세")
        expect(page.locator("ins")).to_contain_text("네")
        assert api(page, server, f"incidents/{public_id}/")["version"] == 2

        record_form(page, server, public_id)
        page.get_by_role("link", name="병합", exact=True).click()
        page.fill("#id_reason", "같은 사건을 두 번 적었다")
        page.fill("#id_merged_into", "IL-0001")
        page.get_by_role("button", name="병합").click()
        page.goto(f"{server.url}/incidents/{public_id}/")
        expect(page.get_by_role("heading", name="병합된 기록입니다: IL-0001")).to_be_visible()
        merged = api(page, server, f"incidents/{public_id}/")
        assert (merged["status"], merged["merged_into"]) == ("merged", "IL-0001")
        assert api(page, server, "incidents/IL-0001/")["status"] == "published"
        citation = api(page, server, f"citations/?id={public_id}")["citations"][0]
        assert (citation["status"], citation["merged_into"]) == ("merged", "IL-0001")
        assert api(page, server, "incidents/?q=얼룩말")["count"] == 0


def test_two_browsers_at_one_record_lose_nothing(browser: Browser, server: Server) -> None:
    with window(browser, server, "admin") as first, window(browser, server, "reviewer") as second:
        for page in (first, second):
            record_form(page, server, "IL-0001")
        first.fill("#id_lesson", "먼저 저장한 교훈이다.")
        save(first)
        second.fill("#id_lesson", "나중에 저장하려던 교훈이다.")
        second.fill("#id_trigger", "나중에 적은 촉발이다.")
        save(second)
        expect(second.get_by_role("heading", name="다른 사람이 먼저 저장했습니다")).to_be_visible()
        expect(second.locator(".merge__text")).to_have_text(["먼저 저장한 교훈이다.", "나중에 저장하려던 교훈이다."])
        expect(second.locator("#id_lesson")).to_have_value("나중에 저장하려던 교훈이다.")
        second.fill("#id_lesson", "둘을 합친 교훈이다.")
        save(second)
        record = api(second, server, "incidents/IL-0001/")
        assert (record["lesson"], record["trigger"]) == ("둘을 합친 교훈이다.", "나중에 적은 촉발이다.")
        history = second.request.get(f"{server.url}/incidents/IL-0001/history/").text()
        assert "먼저 저장한 교훈이다." in history


def test_text_survives_a_closed_tab(browser: Browser, server: Server) -> None:
    with window(browser, server, "editor") as page:
        page.goto(f"{server.url}/admin/incidents/incident/add/")
        page.fill("#id_title", "쓰다 만 기록의 제목")
        expect(page.locator("[data-kept]")).to_contain_text("간직함")
        page.fill("#id_symptom", "닫기 직전에 적은 글이다.")
        tab = page.context.new_page()
        page.close()
        tab.goto(f"{server.url}/admin/incidents/incident/add/")
        tab.get_by_role("link", name="되살리기").click()
        expect(tab.locator("#id_title")).to_have_value("쓰다 만 기록의 제목")
        expect(tab.locator("#id_symptom")).to_have_value("닫기 직전에 적은 글이다.")
        save(tab)
        expect(tab.locator(".record-state")).to_contain_text("초안")
        tab.goto(f"{server.url}/admin/incidents/incident/add/")
        expect(tab.get_by_text("저장하지 않은 글이 있습니다")).to_have_count(0)


def test_text_survives_a_session_that_ended(browser: Browser, server: Server) -> None:
    with window(browser, server, "editor") as page:
        page.goto(f"{server.url}/admin/incidents/incident/add/")
        expect(page.locator("[data-checklist]")).to_be_visible()
        page.context.clear_cookies(name="sessionid")
        page.fill("#id_title", "로그인이 풀린 뒤에 적은 제목")
        expect(page.locator("[data-kept]")).to_contain_text("로그인이 풀렸습니다")
        page.locator('input[name="_save"]').first.click()
        expect(page.locator("#id_title")).to_have_value("로그인이 풀린 뒤에 적은 제목")
        sign_in(page, server, "editor")
        page.goto(f"{server.url}/admin/incidents/incident/add/")
        page.get_by_role("button", name="되살리기").click()
        expect(page.locator("#id_title")).to_have_value("로그인이 풀린 뒤에 적은 제목")


def test_an_existing_source_is_pointed_out_while_writing(browser: Browser, server: Server) -> None:
    with window(browser, server, "editor") as page:
        source = api(page, server, "incidents/IL-0001/")["sources"][0]["url"]
        page.goto(f"{server.url}/admin/incidents/incident/add/")
        page.fill("#id_sources-0-title", "보고서")
        page.fill("#id_sources-0-url", source.replace("https://", "http://") + "?utm_source=mail")
        expect(page.locator("[data-doubles] li").first).to_contain_text("IL-0001")


def test_a_term_is_found_by_another_name_and_rows_can_be_added(browser: Browser, server: Server) -> None:
    with window(browser, server, "editor") as page:
        page.goto(f"{server.url}/admin/incidents/incident/add/")
        pick_term(page, "cause_tags", "dns-error")
        page.locator("#cause_tags-group .add-row a").click()
        pick_term(page, "cause_tags", "bad-deploy")
        chosen = page.locator("#cause_tags-group select.term-select").evaluate_all(
            "selects => selects.map(select => select.selectedOptions[0].text)"
        )
        assert [text.rpartition("(")[2] for text in chosen if "(" in text] == ["dns-error)", "bad-deploy)"]
