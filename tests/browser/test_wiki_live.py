"""What changes in a page of the wiki while somebody looks at it: the preview of what they type, and what is still rendered."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from playwright.sync_api import Page, expect

from tests.browser import test_wiki
from tests.browser.served import Served
from tests.browser.test_wiki import seen_in_time, write
from tests.browser.watched import Watched, assert_accessible

patience = test_wiki.patience


@contextmanager
def held(served: Served) -> Iterator[None]:
    """Nothing is rendered meanwhile."""
    httpx.post(f"{served.url}/queue/wiki.render/pause", timeout=60).raise_for_status()
    try:
        yield
    finally:
        httpx.post(f"{served.url}/queue/wiki.render/resume", timeout=60).raise_for_status()


def test_a_preview_waits_until_the_fingers_rest_and_stands_beside_the_text(page: Page, served: Served, look: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data or "") if request.method == "POST" else None)
    page.goto(f"{served.url}/wiki/Typed_{look}?edit")
    expect(page.locator("#preview h1")).to_be_visible()
    asked.clear()

    typed = "Fingers that do not rest, and a *last* word"
    area = page.get_by_label("Text, in Markdown")
    area.press("Control+End")
    area.press_sequentially(typed)
    expect(page.locator("#preview em")).to_have_text("last")
    expect(page.locator("#preview")).to_contain_text("a last word")

    assert 0 < len(asked) < len(typed) / 4
    text, preview = area.bounding_box(), page.get_by_role("region", name="Preview").bounding_box()
    assert text is not None
    assert preview is not None
    is_beside, is_below = preview["x"] >= text["x"] + text["width"], preview["y"] >= text["y"] + text["height"]
    assert (is_beside, is_below) == ((True, False) if "wide" in look else (False, True))


def test_a_page_that_takes_long_says_so_and_completes_itself(page: Page, served: Served, look: str) -> None:
    name = f"Slow_{look}"
    write(page, served, name, "The old text.")
    with Watched(page.context.new_page()) as watched:
        reader = watched.page
        with held(served):
            page.goto(f"{served.url}/wiki/{name}?edit")
            page.get_by_label("Text, in Markdown").fill("The *new* text.")
            page.get_by_role("button", name="Save").click(no_wait_after=True)
            seen_in_time(reader, f"{served.url}/wiki/{name}", reader.get_by_text("Revision 2 is being rendered"))
            expect(reader.locator("article.article")).to_have_text("The old text.")
            reader.evaluate("window.isTheSame = true")
            assert_accessible(reader)

        expect(reader.locator("article.article em")).to_have_text("new")
        expect(reader.locator(".banner")).to_have_count(0)
        assert reader.evaluate("window.isTheSame")
        expect(page.locator("article.article em")).to_have_text("new")
        reader.close()
