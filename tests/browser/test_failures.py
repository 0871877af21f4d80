"""The pages of failures, in a browser."""

import httpx
from playwright.sync_api import Page, expect

from tests.browser.served import Served
from tests.browser.watched import assert_accessible, assert_fits


def test_failures_are_found_by_keys_and_their_group_opens(page: Page, served: Served) -> None:
    render = {"kind": "render", "payload": {"language": "dot", "output": "svg", "source": "digraph { a -> -> b }"}}
    job = httpx.post(f"{served.url}/jobs", json=render, timeout=60).json()["id"]
    ended = httpx.get(f"{served.url}/jobs/{job}?wait=60", timeout=90).json()
    assert ended["status"] == "failed"

    page.goto(f"{served.url}/desk/failures")
    expect(page.get_by_role("heading", level=1)).to_have_text("Failures")
    assert_accessible(page)
    assert_fits(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Newest", exact=True)).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
