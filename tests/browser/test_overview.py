"""The overview and the pages beside it in a browser: everybody can use them, and they stay fresh by themselves."""

from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.served import Served
from tests.browser.watched import assert_accessible, assert_fits


@pytest.fixture
def paused(served: Served) -> Iterator[str]:
    """A kind of which nothing runs, so that a job of it stays where it can be seen."""
    httpx.post(f"{served.url}/queue/render/pause", timeout=60).raise_for_status()
    yield "render"
    httpx.post(f"{served.url}/queue/render/resume", timeout=60).raise_for_status()


def submit(served: Served, subject: str) -> None:
    """A source that was never rendered before: what the cache answers is no news."""
    payload = {"language": "dot", "output": "svg", "source": f"digraph {{ a -> n{uuid4().hex} }}"}
    httpx.post(
        f"{served.url}/jobs", json={"kind": "render", "payload": payload, "subject": subject}, timeout=60
    ).raise_for_status()


def test_what_waits_appears_without_a_reload(page: Page, served: Served, paused: str) -> None:
    page.goto(f"{served.url}/desk")
    expect(page.locator("body")).to_have_attribute("data-listening", "yes")
    page.evaluate("window.same = true")
    submit(served, "appears by itself")

    waiting = page.locator("section", has=page.get_by_role("heading", name="Waiting"))
    expect(waiting.get_by_role("link", name=paused)).to_be_visible()
    expect(page.get_by_text("Paused: render.")).to_be_visible()
    assert page.evaluate("window.same")
    assert_accessible(page)
    assert_fits(page)


def test_workers_and_schedules_can_be_used_by_everybody(page: Page, served: Served) -> None:
    for path, title in (("workers", "Workers"), ("schedules", "Schedules")):
        page.goto(f"{served.url}/desk/{path}")
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        assert_accessible(page)
        assert_fits(page)


def test_a_limit_is_set_with_keys_alone_and_no_news_disturbs_who_types_it(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/desk/queues")
    expect(page.locator("body")).to_have_attribute("data-listening", "yes")
    assert_accessible(page)
    assert_fits(page)
    page.keyboard.press("j")
    expect(page.locator("[data-row] a").first).to_be_focused()

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "hx-request" in request.headers else None)
    page.evaluate("document.body.addEventListener('changed', () => { document.body.dataset.told = 'yes' })")
    slots = page.get_by_role("spinbutton", name="Slots of render")
    slots.focus()
    page.keyboard.type("3")
    submit(served, "while somebody types")
    expect(page.locator("body")).to_have_attribute("data-told", "yes")
    expect(slots).to_have_value("3")
    assert asked == []

    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="render runs with at most 3 at once")).to_be_visible()
    page.get_by_role("spinbutton", name="Slots of render").fill("")
    page.get_by_role("button", name="Set the slots of render").click()
    expect(page.get_by_role("status").filter(has_text="render runs without a limit")).to_be_visible()
