"""The playground in a browser: what is typed is seen, mistakes are pointed at, and the keyboard is enough."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.served import Served
from tests.browser.watched import assert_accessible, assert_fits

MAP = [f"digraph {{ source -> press{more} }}" for more in ("", " -> artifact")]


@pytest.fixture(autouse=True, scope="module")
def _patience() -> Iterator[None]:
    """The first picture of a language waits for a press to start, on a machine that may be busy."""
    expect.set_options(timeout=120_000)
    yield
    expect.set_options(timeout=120_000)


@pytest.fixture(scope="module")
def named(served: Served) -> str:
    """A diagram with two versions."""
    for text in MAP:
        put = httpx.put(f"{served.url}/diagrams/map?mode=sync", json={"source": text, "format": "dot"}, timeout=60)
        assert put.status_code == 200
    return "map"


def test_what_is_typed_is_seen_and_mistakes_are_pointed_at(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/playground")
    picture, source = page.locator("#picture img"), page.get_by_label("Source", exact=True)
    expect(picture).to_be_visible()
    assert_accessible(page)
    assert_fits(page)

    page.get_by_label("Language").select_option("dot")
    expect(source).to_have_value(re.compile("^digraph"))
    source.fill("digraph {\n  good -> better\n}")
    expect(page.locator("#picture img")).to_have_attribute("src", re.compile("^data:image/svg"))
    expect(page.locator("#snippet-curl")).to_contain_text("good -> better")
    before = page.locator("#picture img").get_attribute("src")

    source.fill("digraph {\n  good -> \n}")
    expect(page.locator("#verdict")).to_contain_text("line 3")
    expect(page.locator("#stage")).to_have_class(re.compile("stale"))
    assert page.locator("#picture img").get_attribute("src") == before
    expect(page.locator(".gutter .flag")).to_have_text("✕ 3")
    assert_accessible(page)
    assert_fits(page)


def test_the_keyboard_is_enough(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/playground?language=dot&source=digraph%20%7B%0A%20%20a%20-%3E%20%0A%7D")
    source = page.get_by_label("Source", exact=True)
    expect(page.locator("#verdict")).to_contain_text("line 3")

    source.focus()
    page.keyboard.press("F8")
    assert source.evaluate("area => area.value.slice(0, area.selectionStart).split('\\n').length") == 3
    page.keyboard.press("Control+Home")
    page.keyboard.press("Tab")
    expect(source).to_have_value(re.compile("^  digraph"))
    expect(source).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(source).not_to_be_focused()

    source.fill("digraph { a -> b }")
    stage, zoomed = page.locator("#stage"), page.locator(".zoomed")
    expect(stage).to_have_class(re.compile("zoomable"))
    stage.focus()
    page.keyboard.press("1")
    expect(zoomed).to_have_text("100%")
    page.keyboard.press("+")
    expect(zoomed).to_have_text("125%")
    before = page.locator("#picture img").bounding_box()
    page.keyboard.press("ArrowRight")
    after = page.locator("#picture img").bounding_box()
    assert before is not None
    assert after is not None
    assert after["x"] == pytest.approx(before["x"] - 40)


def test_a_page_is_shown_in_its_frame(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/playground?language=markdown&source=%23%20Hello")

    expect(page.frame_locator("iframe[name=framed]").get_by_role("heading", level=1)).to_have_text("Hello")
    assert_fits(page)


def test_two_versions_are_compared(page: Page, served: Served, named: str) -> None:
    page.goto(f"{served.url}/playground/names")
    assert_accessible(page)
    page.get_by_role("link", name="The last two versions of map").click()
    pictures = page.locator("#pair img")
    expect(pictures).to_have_count(2)
    expect(page.get_by_role("cell", name=MAP[1])).to_be_visible()
    assert_accessible(page)
    assert_fits(page)

    first, second = page.locator("#pair [data-stage]").all()
    second.focus()
    page.keyboard.press("1")
    page.keyboard.press("ArrowLeft")
    assert first.locator("img").evaluate("one => one.style.transform") == second.locator("img").evaluate(
        "one => one.style.transform"
    )

    page.get_by_label("Overlay").check()
    expect(page.get_by_role("slider")).to_be_visible()
    page.get_by_label("Difference").check()
    expect(page.get_by_role("slider")).to_be_hidden()
    assert_fits(page)


def test_a_new_version_is_saved_and_kept_apart_from_another_editors(page: Page, served: Served) -> None:
    name = f"plan{page.viewport_size['width'] if page.viewport_size else ''}"
    page.goto(f"{served.url}/playground?language=dot&source=digraph%20%7B%20one%20%7D")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Save under this name").click()
    expect(page.get_by_role("status").filter(has_text="Saved as version 1.")).to_be_visible()
    expect(page.locator("#versions")).to_contain_text("completed")
    expect(page.locator("#picture img")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)

    late = page.context.new_page()
    late.goto(page.url)
    page.get_by_label("Source", exact=True).fill("digraph { theirs }")
    page.get_by_role("button", name="Save version 2").click()
    expect(page.get_by_role("status").filter(has_text="Saved as version 2.")).to_be_visible()

    late.get_by_label("Source", exact=True).fill("digraph { mine }")
    late.get_by_role("button", name="Save version 2").click()
    expect(late.get_by_label("Version 2, dot")).to_have_value("digraph { theirs }")
    assert_accessible(late)
    assert_fits(late)
    late.get_by_role("button", name="Save mine as version 3").click()
    expect(late.get_by_label("Source", exact=True)).to_have_value("digraph { mine }")
