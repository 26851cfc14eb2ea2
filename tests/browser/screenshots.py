"""Pictures of every page kind, on desktop and phone, light and dark: `make screenshots OUT=folder`.

Serves the bundled library from a folder of its own, writes `<page>-<width>-<theme>.png`, and prints what the browser
complained of; the exit status is 1 where it did or where a page scrolls sideways.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")
django.setup()

from playwright.sync_api import Page, sync_playwright  # noqa: E402  # the settings come first

from tests.browser.page_kinds import PAGES, VARIANTS, let_records_change  # noqa: E402
from tests.conftest import CHROMIUM, FIXTURES, manage, start_server, stop_server  # noqa: E402

TALLEST = 16_000  # px; a longer page is cut, as Chromium's own pictures are


def take(page: Page, address: str, path: Path) -> list[str]:
    """Write a picture of one page and return its faults."""
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    answer = page.goto(address, wait_until="networkidle")
    width, height, sideways = page.evaluate(
        """() => {
          const { clientWidth, scrollWidth, scrollHeight } = document.documentElement;
          return [clientWidth, scrollHeight, scrollWidth - clientWidth];
        }"""
    )
    if sideways:
        faults.append(f"scrolls sideways by {sideways} px")
    path.parent.mkdir(parents=True, exist_ok=True)
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, TALLEST)}
    page.screenshot(path=path, full_page=True, clip=clip)  # type: ignore[arg-type]  # a FloatRect by shape
    is_expected = answer is not None and answer.status >= 400  # the browser reports the error page's own status
    return [fault for fault in faults if not (is_expected and "the server responded with a status of" in fault)]


def main(folder: Path) -> int:
    """Take all pictures into `folder`; return the exit status."""
    found = 0
    with tempfile.TemporaryDirectory() as temporary:
        data_dir = Path(temporary)
        manage(data_dir, "migrate", "--no-input")
        manage(data_dir, "collectstatic", "--no-input")
        manage(data_dir, "import_library", str(FIXTURES))
        let_records_change(data_dir)
        server = start_server(data_dir)
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
                for width, scheme in VARIANTS:
                    context = browser.new_context(
                        locale="ko-KR",
                        viewport={"width": width, "height": 900},
                        color_scheme=scheme,  # type: ignore[arg-type]  # "light" or "dark"
                    )
                    for name, address in PAGES.items():
                        page = context.new_page()
                        for fault in take(page, server.url + address, folder / f"{name}-{width}-{scheme}.png"):
                            print(f"{name} {width} {scheme}: {fault}")
                            found += 1
                        page.close()
                    context.close()
                browser.close()
        finally:
            stop_server(server)
    print(f"{len(PAGES) * len(VARIANTS)} pictures in {folder}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "var/screenshots")))
