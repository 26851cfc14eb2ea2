"""No page kind has a fault that axe can see, in either theme, on desktop and phone; nor those of KWCAG 2.2 it can't."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.page_kinds import PAGES, VARIANTS, let_records_change
from tests.conftest import Server, start_server, stop_server

TEXT_SPACING = """
  * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
  p { margin-bottom: 2em !important; }
"""


@pytest.fixture(scope="module")
def shared_server(library_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The bundled library with a past, so that each page kind has something to show."""
    data_dir = tmp_path_factory.mktemp("lived-in") / "data"
    shutil.copytree(library_dir, data_dir)
    let_records_change(data_dir)
    server = start_server(data_dir)
    yield server
    stop_server(server)


def open_folds(page: Any) -> None:
    page.evaluate(
        "for (const fold of document.querySelectorAll('details')) { fold.removeAttribute('name'); fold.open = true }"
    )


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda variant: f"{variant[0]}-{variant[1]}")
def window(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    width, scheme = request.param
    context = browser.new_context(locale="ko-KR", viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    yield page
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(window: Any, shared_server: Server, name: str) -> None:
    window.goto(shared_server.url + PAGES[name])
    open_folds(window)
    results = Axe().run(
        window,
        options={
            "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
            "resultTypes": ["violations"],
        },
    )
    found = [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in results.response["violations"]]
    assert found == []


@pytest.fixture(scope="module")
def narrow(browser: Any) -> Iterator[Any]:
    """The narrowest window that must work: 1280 CSS pixels at 400 %."""
    context = browser.new_context(locale="ko-KR", viewport={"width": 320, "height": 640}, bypass_csp=True)
    page = context.new_page()
    yield page
    context.close()


def sideways(page: Any) -> int:
    scroll: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return scroll


@pytest.mark.parametrize("name", PAGES)
def test_nothing_scrolls_sideways_at_320_px(narrow: Any, shared_server: Server, name: str) -> None:
    narrow.goto(shared_server.url + PAGES[name])
    open_folds(narrow)
    assert sideways(narrow) == 0
    narrow.add_style_tag(content=TEXT_SPACING)
    assert sideways(narrow) == 0


@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_header_is_one_line_as_soon_as_it_has_the_menu(browser: Any, shared_server: Server, language: str) -> None:
    context = browser.new_context(viewport={"width": 1088, "height": 700})  # 68rem, where docs/design.md has it begin
    context.add_cookies([{"name": "language", "value": language, "url": shared_server.url}])
    page = context.new_page()
    page.goto(shared_server.url + PAGES["years"])
    middles = page.evaluate(
        """() => [...document.querySelectorAll('.site-header a, .site-header button, .site-header input')]
          .filter((one) => one.checkVisibility() && one.type !== 'hidden')
          .map((one) => one.getBoundingClientRect())
          .map(({ top, bottom }) => Math.round((top + bottom) / 2))"""
    )
    inside = page.evaluate(
        """() => {
          const box = document.querySelector('.site-header .search-box').getBoundingClientRect();
          const button = document.querySelector('.site-header .search-box__submit').getBoundingClientRect();
          const menu = document.querySelector('.site-nav').getBoundingClientRect();
          return [button.right <= box.right + 1, menu.right <= box.left];
        }"""
    )
    context.close()
    assert len(middles) >= 10
    assert max(middles) - min(middles) <= 2
    assert inside == [True, True]


@pytest.mark.parametrize("name", ["home", "listing", "record", "stats"])
def test_targets_are_large_enough(narrow: Any, shared_server: Server, name: str) -> None:
    """Targets are 24 px high, or stand in a line of text (WCAG 2.5.8); marks of a plot have a table beside them."""
    narrow.goto(shared_server.url + PAGES[name])
    small = narrow.evaluate(
        """() => [...document.querySelectorAll('a[href], button, summary, input:not([type=hidden]), select')]
          .filter((one) => one.checkVisibility() && !one.closest('.skip-link, svg, .statement, .statements, p'))
          .filter((one) => getComputedStyle(one).display !== 'inline' && !one.closest('h1, h2, h3, h4'))
          .map((one) => [one.outerHTML.slice(0, 120), one.getBoundingClientRect().height])
          .filter(([, height]) => height < 24)"""
    )
    assert small == []


@pytest.mark.parametrize("name", ["home", "listing", "record"])
def test_first_key_leads_past_the_header(page: Any, shared_server: Server, name: str) -> None:
    page.goto(shared_server.url + PAGES[name])
    page.keyboard.press("Tab")
    link = page.locator(":focus")
    assert link.inner_text() == "본문으로 건너뛰기"
    assert link.bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_second_skip_link_leads_past_the_facets(page: Any, shared_server: Server) -> None:
    page.goto(shared_server.url + PAGES["listing"])
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.url.endswith("#results")


def test_focus_goes_in_the_order_of_reading(page: Any, shared_server: Server) -> None:
    page.goto(shared_server.url + PAGES["listing"])
    seen: list[str] = []
    for _ in range(90):
        page.keyboard.press("Tab")
        part = page.evaluate(
            """() => {
              for (const [name, selector] of Object.entries({
                skip: '.skip-link', header: '.site-header', search: '#search', facets: '#facets', results: '#results',
                footer: '.site-footer' }))
                if (document.activeElement.closest(selector)) return name;
              return 'elsewhere';
            }"""
        )
        if not seen or seen[-1] != part:
            seen.append(part)
    assert seen[:5] == ["skip", "header", "search", "facets", "results"]


def test_focus_can_be_seen(page: Any, shared_server: Server) -> None:
    page.goto(shared_server.url + PAGES["record"])
    for _ in range(12):
        page.keyboard.press("Tab")
        style = page.evaluate(
            """() => {
              const active = document.activeElement;
              const { outlineStyle, outlineWidth } = getComputedStyle(active.closest('.search-box__row') ?? active);
              return [outlineStyle, outlineWidth];
            }"""
        )
        assert style == ["solid", "3px"]


def test_forced_colours_keep_marks_and_bricks(browser: Any, shared_server: Server) -> None:
    context = browser.new_context(forced_colors="active", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(shared_server.url + PAGES["stats"])
    brick, paper = page.evaluate(
        """[getComputedStyle(document.querySelector('.plot__brick')).fill,
            getComputedStyle(document.body).backgroundColor]"""
    )
    context.close()
    assert brick != paper


def test_paper_has_the_record_its_sources_and_no_navigation(page: Any, shared_server: Server) -> None:
    page.goto(shared_server.url + PAGES["record"])
    page.emulate_media(media="print")
    assert page.locator(".source__address").first.is_visible()
    assert page.locator("#lesson").is_visible()
    assert page.locator("#cite p[lang=ko]").is_visible()
    for hidden in (".site-nav", "form[role=search]", ".record__toc", "#similar", ".site-footer__grid"):
        assert not page.locator(hidden).first.is_visible(), hidden


def test_paper_has_the_listing_without_its_controls(page: Any, shared_server: Server) -> None:
    page.goto(shared_server.url + PAGES["corrected"])
    notice = page.locator(".notice")
    assert notice.evaluate("(one) => getComputedStyle(one).borderLeftWidth") == "4px"
    page.emulate_media(media="print")
    assert notice.is_visible()
    assert page.locator(".incident-row__title").first.is_visible()
    for hidden in (".switch", ".chip__remove", ".pagination", ".listing__foot", "form[role=search]"):
        assert not any(one.is_visible() for one in page.locator(hidden).all()), hidden
