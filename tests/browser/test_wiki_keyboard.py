"""The wiki by keyboard alone, and whoever does so always sees where they are."""

from playwright.sync_api import Locator, Page, expect

from tests.browser import test_wiki
from tests.browser.served import Served
from tests.browser.watched import Watched

patience = test_wiki.patience

# What has the focus must have a line around it, and be on the screen. After the last one comes the browser itself.
FOCUS = """wanted => {
  const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
  const hasLine = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  const isSeen = one === document.body || (hasLine && box.bottom > 0 && box.top < innerHeight);
  return { isThere: one === wanted, unseen: isSeen ? "" : one.outerHTML.slice(0, 200) };
}"""


def tab_to(page: Page, wanted: Locator) -> None:
    expect(wanted).to_be_visible()
    place = wanted.element_handle()
    for _ in range(80):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS, place)
        assert not focus["unseen"]
        if focus["isThere"]:
            return
    raise AssertionError(f"no Tab leads to {wanted}")


def press(page: Page, wanted: Locator, key: str) -> None:
    tab_to(page, wanted)
    page.keyboard.press(key)


def test_an_article_is_written_edited_compared_and_found(page: Page, served: Served, watched: Watched, look: str) -> None:
    watched.forgive("404")  # the page that is not there yet
    word = f"typewriter{look.replace('-', '')}"
    text, article = page.get_by_label("Text, in Markdown"), page.locator("article.article")
    page.goto(f"{served.url}/wiki/Keys_{look}")

    press(page, page.get_by_role("link", name="Write it"), "Enter")
    press(page, text, "Control+a")
    page.keyboard.type(f"About a {word}.")
    tab_to(page, page.get_by_label("What you changed"))
    page.keyboard.type("began")
    press(page, page.get_by_role("button", name="Save"), "Space")
    expect(article).to_have_text(f"About a {word}.")

    press(page, page.get_by_role("link", name="Edit"), "Enter")
    press(page, text, "Control+End")
    page.keyboard.type(" It is *loud*.")
    press(page, page.get_by_role("button", name="Save"), "Enter")
    expect(article.locator("em")).to_have_text("loud")

    press(page, page.get_by_role("link", name="History"), "Enter")
    tab_to(page, page.get_by_label("Compare from revision 1"))
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("Compare from revision 2")).to_be_checked()
    page.keyboard.press("ArrowDown")
    press(page, page.get_by_role("button", name="Compare"), "Space")
    expect(page.locator("tr.new")).to_contain_text("It is *loud*.")
    expect(page.get_by_role("region", name="After: revision 2").locator("em")).to_have_text("loud")

    tab_to(page, page.get_by_label("Search the wiki"))
    page.keyboard.type(word)
    page.keyboard.press("Enter")
    press(page, page.get_by_role("link", name=f"Keys {look}"), "Enter")
    expect(article.locator("em")).to_have_text("loud")
