"""The library as a person uses it: the commands of its first page, a pack that is rendered by the keyboard, and its link."""

import re
import subprocess
import sys
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from tests.browser.served import Served
from tests.browser.watched import assert_accessible, assert_fits

ROOT = Path(__file__).parents[2]


def packs(served: Served, *arguments: str) -> None:
    command = [sys.executable, "-m", "pressroom", "packs", *arguments]
    subprocess.run(command, check=True, env=served.environ, cwd=ROOT, stdout=subprocess.DEVNULL)


def test_a_pack_is_made_rendered_and_shared(page: Page, served: Served) -> None:
    """R41: documents become ready on an open page; a link opens them without a login."""
    packs(served, "import", "examples/packs")
    packs(served, "new", "examples/packs/data.json", "--title", "Anna Example")

    page.goto(f"{served.url}/library?q=anna")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Anna Example")).to_be_visible()
    expect(page.locator("body")).to_have_attribute("data-listening", "yes")
    page.get_by_role("button", name="Render all (3)").press("Enter")
    expect(page.get_by_role("status").filter(has_text="3 documents are queued.")).to_be_visible()
    for doc_id in ("offer", "invoice", "certificate"):
        expect(page.locator(f"#document-{doc_id}")).to_contain_text("ready")
    picture = page.locator("#document-invoice img")
    expect(picture).to_have_js_property("naturalWidth", 240)
    assert_accessible(page)
    assert_fits(page)
    address = page.get_by_role("link", name="Download Invoice").get_attribute("href")
    assert httpx.get(f"{served.url}{address}", follow_redirects=True, timeout=60).content.startswith(b"%PDF-")

    page.get_by_role("button", name="Make a link").press("Enter")
    link = page.locator("#secret").inner_text()
    assert_accessible(page)
    page.goto(link)
    expect(page.get_by_role("link", name=re.compile("^Download "))).to_have_count(4)  # three documents, and all of them
    expect(page.get_by_role("button")).to_have_count(0)
    page.keyboard.press("?")  # there is no list of keys here, and nothing breaks
    assert_accessible(page)
    assert_fits(page)
