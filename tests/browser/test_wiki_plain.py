"""The wiki without scripts: a button shows what it would become, and nothing else is missing."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import test_wiki
from tests.browser.served import Served

patience = test_wiki.patience


@pytest.fixture
def plain(chromium: Browser, served: Served) -> Iterator[BrowserContext]:
    context = chromium.new_context(java_script_enabled=False, base_url=f"{served.url}/wiki/")
    yield context
    context.close()


def write(page: Page, text: str, button: str) -> None:
    page.get_by_label("Text, in Markdown").fill(text)
    page.get_by_role("button", name=button).click()


def test_an_article_is_previewed_saved_and_fought_over_without_scripts(plain: BrowserContext) -> None:
    page, other = plain.new_page(), plain.new_page()
    page.goto("Plain?edit")
    page.get_by_label("What you changed").fill("began")
    write(page, "A *plain* text.", "Preview")
    expect(page.locator("#preview em")).to_have_text("plain")
    expect(page.get_by_label("What you changed")).to_have_value("began")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article.article em")).to_have_text("plain")

    for tab in (page, other):
        tab.goto("Plain?edit")
    write(page, "The text of one.", "Save")
    expect(page.locator("article.article")).to_have_text("The text of one.")
    write(other, "The text of the other.", "Save")
    expect(other.get_by_role("alert")).to_contain_text("Nothing is lost")
    expect(other.get_by_label("Their text")).to_have_value("The text of one.")

    write(other, "The text of *both*.", "Preview")
    expect(other.locator("#preview em")).to_have_text("both")
    other.get_by_role("button", name="Save").click()
    expect(other.locator("article.article em")).to_have_text("both")
    other.get_by_role("link", name="History").click()
    expect(other.locator("tr[data-row]")).to_have_count(3)
