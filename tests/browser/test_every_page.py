"""Every page with a day's work in it, in the looks that the tests of single pages leave out."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser

from tests.browser.watched import Watched, assert_accessible, assert_fits
from tests.depth import by_depth
from tools import screenshots
from tools.screenshots import Known

LOOKS = ("light-narrow", "dark-wide")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Known]]:
    home = tmp_path_factory.mktemp("demo")
    screenshots.fill(home, 200)
    with ThreadPoolExecutor(1) as elsewhere:  # this thread has a loop already: Playwright's
        known = elsewhere.submit(lambda: asyncio.run(screenshots.look(home))).result()
    with screenshots.served(home) as url:
        yield url, known


@pytest.mark.parametrize("look", [LOOKS[0], pytest.param(LOOKS[1], marks=pytest.mark.deep)])
def test_every_page_is_sound(chromium: Browser, shown: tuple[str, Known], look: str) -> None:
    url, known = shown
    theme, width = look.split("-")
    context = chromium.new_context(
        base_url=url,
        color_scheme="dark" if theme == "dark" else "light",
        viewport={"width": 375 if width == "narrow" else 1440, "height": 900},
        reduced_motion="reduce",
    )
    shots = screenshots.shots(known)
    some = by_depth(slice(LOOKS.index(look), None, 4 * len(LOOKS)), slice(None))  # an eighth of the pages
    for shot in shots[some]:
        with Watched(context.new_page()) as watched:
            is_nowhere = shot.name.startswith("nowhere")
            watched.forgive("404" if is_nowhere else "frame is sandboxed")  # axe may not look into ours
            watched.forgive("recipient window's origin")  # nor into those that have none
            answer = watched.page.goto(shot.path)
            assert answer is not None
            assert answer.ok or is_nowhere, shot.name
            shot.then(watched.page)
            assert_accessible(watched.page)
            assert_fits(watched.page)
            watched.page.close()
    context.close()
