"""The way in, and the pages of those who look after the place, in a real browser and by keyboard alone."""

import subprocess
import sys

import pytest
from playwright.sync_api import Page, expect

from tests.browser.served import Served
from tests.browser.watched import assert_accessible, assert_fits


@pytest.fixture(scope="module")
def token(served: Served) -> str:
    command = [sys.executable, "-m", "pressroom", "token", "create", "--scope", "admin", "--all-orgs", "--name", "browser"]
    return subprocess.run(command, env=served.environ, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def inside(page: Page, served: Served, token: str) -> Page:
    page.goto(f"{served.url}/desk/login")
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type(token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    return page


def test_a_login_and_a_logout_by_keyboard(page: Page, served: Served, token: str) -> None:
    page.goto(f"{served.url}/desk/login?next=/desk/find")
    expect(page.get_by_label("Token")).to_be_focused()
    assert_accessible(page)
    assert_fits(page)

    page.keyboard.type(token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Find")
    assert token not in page.url

    page.locator("details.menu summary").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Log out").press("Enter")
    expect(page.get_by_role("status").filter(has_text="You are logged out.")).to_be_visible()


def test_a_token_is_made_copied_and_revoked(inside: Page, served: Served) -> None:
    inside.goto(f"{served.url}/desk/tokens")
    assert_accessible(inside)
    assert_fits(inside)

    inside.get_by_label("Name, for you").fill("made in a browser")
    inside.keyboard.press("Enter")
    expect(inside.get_by_role("heading", level=1)).to_have_text("A new token")
    expect(inside.locator("#secret")).to_contain_text("pr_")
    assert_accessible(inside)
    assert_fits(inside)
    inside.context.grant_permissions(["clipboard-write"])
    inside.get_by_role("button", name="Copy").press("Enter")
    expect(inside.get_by_role("button", name="Cop")).to_have_text("Copied")

    inside.get_by_role("link", name="To the tokens").press("Enter")
    row = inside.get_by_role("row").filter(has_text="made in a browser")
    inside.once("dialog", lambda asked: asked.accept())
    row.get_by_role("button", name="Revoke").press("Enter")
    expect(inside.get_by_role("status").filter(has_text="is revoked")).to_be_visible()
    expect(inside.get_by_role("row").filter(has_text="made in a browser")).to_have_count(0)


def test_a_webhook_its_delivery_and_the_audit_of_both(inside: Page, served: Served) -> None:
    inside.goto(f"{served.url}/desk/webhooks")
    assert_accessible(inside)
    inside.get_by_label("Address").fill("https://[2001:4860:4860::8888]/a/rather/long/address/of/a/receiver")
    inside.get_by_label("Kinds").fill("nothing")
    inside.keyboard.press("Enter")
    expect(inside.locator("#secret")).to_contain_text("whsec_")
    inside.get_by_role("link", name="To the webhook").press("Enter")
    assert_accessible(inside)
    assert_fits(inside)

    inside.get_by_role("button", name="Send a test").press("Enter")
    expect(inside.get_by_role("heading", level=1)).to_have_text("webhook.test")
    assert_accessible(inside)
    assert_fits(inside)

    for path in ("/desk/webhooks", "/desk/alerts", "/desk/audit", "/desk/find?q=nothing-of-this-name"):
        inside.goto(f"{served.url}{path}")
        assert_accessible(inside)
        assert_fits(inside)


def test_the_box_goes_there(inside: Page, served: Served) -> None:
    inside.goto(f"{served.url}/desk/find")
    inside.keyboard.press("/")
    inside.keyboard.type(f"{served.url}/desk/tokens?state=all")
    inside.keyboard.press("Enter")

    expect(inside).to_have_url(f"{served.url}/desk/tokens?state=all")
