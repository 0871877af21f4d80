"""What every page stands on: it loads without complaint, everybody can use it, and it stays fresh."""

from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, expect

from tests.browser.served import Served, serving
from tests.browser.watched import Watched, assert_accessible, assert_fits
from tests.depth import by_depth


def test_the_desk_opens(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/desk")

    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(page.locator("body")).to_have_attribute("data-listening", "yes")
    assert_accessible(page)
    assert_fits(page)


def test_keys_find_and_help(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/desk")

    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def submit(served: Served, source: str) -> None:
    wanted = {"language": "dot", "output": "svg", "source": source}
    httpx.post(f"{served.url}/jobs", json={"kind": "render", "delay": 86_400, "payload": wanted}, timeout=60).raise_for_status()


def test_news_arrive_and_go_on_after_the_server_was_away(watched: Watched, tmp_path: Path) -> None:
    page = watched.page
    for words in ("net::ERR_", "htmx:sendError", "htmx:afterRequest"):  # it may ask just when the server has gone
        watched.forgive(words)
    with serving(tmp_path) as served:
        page.goto(f"{served.url}/desk")
        queued = page.locator(".tile", has_text="queued").locator("strong")
        expect(queued).to_have_text("0")

        submit(served, "digraph { a }")
        expect(queued).to_have_text("1")

        served.stop()
        expect(page.get_by_role("status")).to_contain_text("connection is lost")
        assert_accessible(page)
        served.start()
        expect(page.locator("#connection")).to_be_hidden()
        submit(served, "digraph { b }")
        expect(queued).to_have_text("2")


def test_all_of_many_loads_open_their_stream(chromium: Browser, served: Served) -> None:
    page = chromium.new_context().new_page()
    with Watched(page):
        for _ in range(by_depth(5, 100)):
            page.goto(f"{served.url}/desk")
            expect(page.locator("body")).to_have_attribute("data-listening", "yes")
    page.context.close()
