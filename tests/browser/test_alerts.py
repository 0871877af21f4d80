"""The page of alerts as a person sees it: a failure appears by itself, and is acknowledged with the keyboard."""

import httpx
from playwright.sync_api import Page, expect

from tests.browser.served import Served
from tests.browser.watched import assert_accessible, assert_fits


def fail(served: Served, subject: str) -> None:
    job = {"kind": "bill", "subject": subject}
    httpx.post(f"{served.url}/jobs", json=job, timeout=60).raise_for_status()


def test_a_failure_appears_and_is_acknowledged(page: Page, served: Served, look: str) -> None:
    subject = f"bill of {look}"
    page.goto(f"{served.url}/desk/alerts")
    expect(page.locator("body")).to_have_attribute("data-listening", "yes")
    row = page.get_by_role("row").filter(has_text=subject)

    fail(served, subject)
    expect(row).to_contain_text("the bill cannot be made")
    expect(page.locator("#open-alerts")).to_have_text("1 open")
    fail(served, subject)
    expect(row.locator("td.count")).to_have_text("2")
    assert_accessible(page)
    assert_fits(page)

    row.get_by_role("button", name="Acknowledge").press("Enter")
    expect(page.get_by_role("status").filter(has_text="acknowledged")).to_be_visible()
    expect(page.get_by_text("No open alerts")).to_be_visible()
    assert_accessible(page)
    page.get_by_label("State").select_option("acknowledged")
    page.get_by_role("button", name="Show").press("Enter")
    expect(row).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
