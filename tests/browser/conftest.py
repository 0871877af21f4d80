"""Pages in a real browser: Debian's Chromium, driven by Playwright, against a service in a process of its own."""

import shutil
import zlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.served import Served, serving
from tests.browser.watched import Watched

PATIENCE = 120_000  # milliseconds that a busy machine may take for what a page shows next
expect.set_options(timeout=PATIENCE)
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here; apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        # Nobody but us is in this browser, and as root it has no sandbox of its own.
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"], timeout=PATIENCE
        )
        yield browser
        browser.close()


LOOKS = ("light-wide", "dark-narrow")  # test_every_page.py has the other two


@pytest.fixture
def look(request: pytest.FixtureRequest) -> str:
    """How a page is looked at: each test in its own way, by its name."""
    return LOOKS[zlib.crc32(request.node.name.encode()) % 2]


@pytest.fixture
def watched(chromium: Browser, look: str) -> Iterator[Watched]:
    theme, width = look.split("-")
    context = chromium.new_context(
        color_scheme="dark" if theme == "dark" else "light",
        viewport={"width": 375 if width == "narrow" else 1440, "height": 900},
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    with Watched(context.new_page()) as watched:
        yield watched
    context.close()


@pytest.fixture
def page(watched: Watched) -> Page:
    return watched.page


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("served")) as served:
        yield served
