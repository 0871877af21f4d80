"""The page of a job in a browser: it shows what was made, follows the job to its end, and clones it without a mouse."""

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.served import Served
from tests.browser.watched import assert_accessible, assert_fits

GRAPH = {"language": "dot", "output": "svg", "source": "digraph {\n  a -> b\n}\n"}
BROKEN = {"language": "dot", "output": "svg", "source": "digraph {\n  a -> b\n  c -> -> d\n}\n"}
TEXT = {"language": "markdown", "output": "html", "source": "# A framed page\n", "options": {"page": True}}


def submit(served: Served, payload: dict[str, object], *, wait: bool = True, **how: object) -> str:
    answer = httpx.post(f"{served.url}/jobs", json={"kind": "render", "payload": payload, **how}, timeout=60)
    assert answer.status_code == 202, answer.text
    id: str = answer.json()["id"]
    if wait:
        httpx.get(f"{served.url}/jobs/{id}?wait=60", timeout=90)
    return id


def test_a_page_that_was_made_shows_in_its_frame(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/desk/jobs/{submit(served, TEXT, subject='framed')}")

    expect(page.get_by_role("heading", level=1)).to_have_text("framed")
    expect(page.frame_locator("iframe.framed").get_by_role("heading", name="A framed page")).to_be_visible()
    frame = page.get_by_title("Preview of what the job made")
    expect(frame).to_have_attribute("sandbox", "")
    frame.evaluate("one => one.remove()")  # what looks for mistakes would talk to it, and is not heard in there
    assert_accessible(page)
    assert_fits(page)


def test_a_page_follows_its_job_to_the_end(page: Page, served: Served, look: str) -> None:
    """No reload, and no complaint about a lost connection when the stream ends with the job."""
    source = {**GRAPH, "source": f"digraph {{ a -> {look.replace('-', '_')} }}"}
    job = submit(served, source, wait=False, delay=2, subject="soon")
    page.goto(f"{served.url}/desk/jobs/{job}")

    expect(page.get_by_role("heading", name="Waiting")).to_be_visible()
    expect(page.locator(".head .status")).to_have_text("✓ completed", timeout=60_000)
    picture = page.get_by_role("img", name="What the job made: soon")
    expect(picture).to_be_visible()
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") > 0
    expect(page.locator("#connection")).to_be_hidden()


def test_a_mistake_is_shown_where_it_is_and_mended_with_the_keyboard(page: Page, served: Served) -> None:
    job = submit(served, BROKEN)
    page.goto(f"{served.url}/desk/jobs/{job}")
    expect(page.locator(".place mark")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)

    page.get_by_role("link", name="Clone with changes").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Source").fill("digraph {\n  a -> d\n}\n")
    page.get_by_role("button", name="Submit the new job").press("Enter")
    expect(page.locator(".notice")).to_be_visible()
    expect(page.locator(".head .status")).to_have_text("✓ completed", timeout=60_000)


def test_a_clone_that_is_refused_keeps_what_was_typed(page: Page, served: Served) -> None:
    form = page.context.new_page()  # a browser complains of every answer that refuses something; here that is meant
    form.goto(f"{served.url}/desk/jobs/{submit(served, GRAPH)}/clone")
    form.get_by_label("Source").fill("digraph {\n  a -> typed\n}\n")
    form.get_by_label("Options, as JSON").fill('{"theme": }')
    form.get_by_role("button", name="Submit the new job").press("Enter")

    expect(form.get_by_role("alert")).to_contain_text("Line 1, column 11")
    expect(form.get_by_label("Source")).to_have_value("digraph {\n  a -> typed\n}\n")
    assert_accessible(form)
    assert_fits(form)


@pytest.mark.parametrize("look", ["light-wide"])
def test_a_job_reads_without_scripts(page: Page, served: Served) -> None:
    job = submit(served, GRAPH)
    context = page.context.browser.new_context(java_script_enabled=False)  # type: ignore[union-attr]
    plain = context.new_page()
    plain.goto(f"{served.url}/desk/jobs/{job}")

    expect(plain.get_by_role("img", name="What the job made")).to_be_visible()
    plain.get_by_role("button", name="Retry").click()
    expect(plain.locator(".notice")).to_have_text("Retry submitted.")
    context.close()
