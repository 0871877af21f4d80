"""What every page stands on: it loads without complaint, everybody can use it, and it stays fresh."""

from playwright.sync_api import Page, expect

from tests.browser.served import Served
from tests.browser.watched import assert_accessible, assert_fits


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
