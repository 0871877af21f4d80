"""The wiki in a browser: a page is written, edited with a preview, fought over, looked back at, and linked."""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.served import Served
from tests.browser.watched import Watched, assert_accessible, assert_fits

TEXT = """# Hello

A *page* with a [[Second page|link]], `code` and a table.

| a | b |
|---|---|
| 1 | 2 |

- [x] done

```python
def hello(name: str) -> str:
    return f"hello {name}"  # a comment
```

```mermaid
flowchart LR
  Source --> Press --> Page
```

## More

text[^1]

[^1]: A note.
"""


@pytest.fixture(autouse=True, scope="module")
def patience() -> Iterator[None]:
    """The first page waits for a press to start, on a machine that may be busy."""
    expect.set_options(timeout=120_000)
    yield
    expect.set_options(timeout=120_000)


def write(page: Page, served: Served, name: str, text: str, comment: str = "") -> None:
    page.goto(f"{served.url}/wiki/{name}?edit")
    page.get_by_label("Text, in Markdown").fill(text)
    page.get_by_label("What you changed").fill(comment)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article.article")).to_be_visible()


def seen_in_time(page: Page, address: str, wanted: Locator) -> None:
    """Open it again and again, as somebody does who waits for what is done elsewhere."""
    deadline = time.monotonic() + 120
    page.goto(address)
    while not wanted.count() and time.monotonic() < deadline:
        page.goto(address)
    expect(wanted).to_be_visible()


def test_a_page_is_written_with_a_preview_and_read(page: Page, served: Served, watched: Watched, look: str) -> None:
    watched.forgive("404")  # the page that is not there yet
    name = f"Hello_{look}"
    page.goto(f"{served.url}/wiki/{name}")
    expect(page.locator("main")).to_contain_text("There is no article of this name yet")
    assert_accessible(page)
    page.get_by_role("link", name="Write it").click()
    page.get_by_label("Text, in Markdown").fill(TEXT)
    expect(page.locator("#preview em")).to_have_text("page")
    expect(page.locator("#preview figure.diagram img")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)

    page.get_by_label("Text, in Markdown").press("Control+s")
    expect(page.locator("article.article h1")).to_contain_text("Hello")
    expect(page.locator("a.wikilink.missing")).to_have_text("link")
    expect(page.locator("nav.contents")).to_have_count(0)
    expect(page.locator("article.article figure.diagram img")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)


def test_a_heading_that_says_the_title_is_not_read_twice(page: Page, served: Served, look: str) -> None:
    write(page, served, f"Once_{look}", f"# Once {look}\n\ntext")

    expect(page.get_by_role("heading", level=1)).to_have_text([f"Once {look}"])


def test_a_red_link_leads_to_a_new_page_and_turns_blue(page: Page, served: Served, watched: Watched, look: str) -> None:
    watched.forgive("404")
    home, other = f"Start_{look}", f"Target_{look}"
    write(page, served, home, f"See [[{other}]].")
    page.locator("a.wikilink.missing").click()
    page.get_by_role("link", name="Write it").click()
    page.get_by_label("Text, in Markdown").fill("Here it is.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article.article")).to_contain_text("Here it is.")

    blue = page.locator("article.article a.wikilink:not(.missing)")
    seen_in_time(page, f"{served.url}/wiki/{home}", blue)
    expect(blue).to_have_text(other)


def test_two_tabs_fight_and_neither_text_is_lost(page: Page, served: Served, watched: Watched, look: str) -> None:
    watched.forgive("409")
    name = f"Fought_{look}"
    write(page, served, name, "The first text.")
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(f"{served.url}/wiki/{name}?edit")
    page.get_by_label("Text, in Markdown").fill("The text of one.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article.article")).to_contain_text("The text of one.")
    other.get_by_label("Text, in Markdown").fill("The text of the other.")
    other.get_by_role("button", name="Save").click()

    expect(other.get_by_role("alert")).to_contain_text("Nothing is lost")
    expect(other.get_by_label("Text, in Markdown")).to_have_value("The text of the other.")
    expect(other.get_by_label("Their text")).to_have_value("The text of one.")
    assert_accessible(other)
    assert_fits(other)
    other.get_by_label("Text, in Markdown").press("End")  # browsers ask only whoever has touched the page
    with other.expect_event("dialog") as asked:
        other.close(run_before_unload=True)
    asked.value.dismiss()
    other.get_by_role("button", name="Save this text as the newest").click()
    expect(other.locator("article.article")).to_contain_text("The text of the other.")
    other.close()


def test_a_history_is_walked_and_two_revisions_compared_by_keys(page: Page, served: Served, look: str) -> None:
    name = f"Old_{look}"
    for number, text in enumerate(["one line\n\nstays", "another line\n\nstays"]):
        write(page, served, name, text, f"edit {number}")
    page.get_by_role("link", name="History").focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-row]")).to_have_count(2)
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("button", name="Compare").focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr.gone")).to_contain_text("one line")
    expect(page.locator("tr.new")).to_contain_text("another line")
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("link", name=re.compile("Revision 1")).click()
    expect(page.locator(".banner")).to_contain_text("This is revision 1 of 2")


def test_a_page_that_cannot_be_rendered_says_so(page: Page, served: Served, look: str) -> None:
    name = f"Bad_{look}"
    write(page, served, name, "a good text")
    page.goto(f"{served.url}/wiki/{name}?edit")
    page.get_by_label("Text, in Markdown").fill("> " * 300 + "too deep")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".banner.bad")).to_contain_text("Revision 2 could not be rendered")
    expect(page.locator("article.article")).to_contain_text("a good text")
    assert_accessible(page)
