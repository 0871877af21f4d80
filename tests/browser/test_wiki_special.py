"""The wiki's own pages in a browser: search, all articles, what refers to one, and the order to render everything again."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import test_wiki
from tests.browser.served import Served
from tests.browser.test_wiki import seen_in_time, write
from tests.browser.watched import assert_fits

patience = test_wiki.patience


def test_what_is_sought_in_the_head_of_a_page_is_found_and_marked(page: Page, served: Served, look: str) -> None:
    name, word = f"Ink_{look}", f"vermilion{look.replace('-', '')}"
    write(page, served, name, f"Of all colours, {word.upper()} is the dearest.")

    box = page.get_by_label("Search the wiki")
    box.fill(f"dearest {word[:-1]}")  # the last word may be only begun
    box.press("Enter")
    expect(page.locator(".found mark")).to_have_text([word.upper(), "dearest"])
    expect(page.locator("main")).to_contain_text("There is no article")
    assert_fits(page)
    page.get_by_role("link", name=name.replace("_", " ")).click()
    expect(page.locator("article.article")).to_contain_text("the dearest")


def test_what_is_not_found_can_be_written(page: Page, served: Served, look: str) -> None:
    page.goto(f"{served.url}/wiki/Special:Search")
    box = page.get_by_label("Search the wiki")
    expect(box).to_be_focused()
    box.fill(f"nothing like {look}")
    page.get_by_role("button", name="Search").click()

    expect(page.locator("main")).to_contain_text("No article has all of these words")
    page.get_by_role("link", name=f"nothing like {look}").click()
    expect(page).to_have_url(f"{served.url}/wiki/nothing_like_{look}?edit")


def test_two_revisions_stand_side_by_side_as_rendered(page: Page, served: Served, look: str) -> None:
    """Each has headings of its own to jump to, although they are called the same."""
    name = f"Sides_{look}"
    for text in ("# One\n\n## Part\n\nold words", "# One\n\n## Part\n\nnew words"):
        write(page, served, name, text)
    page.goto(f"{served.url}/wiki/{name}?compare=1&from=1&to=2")

    before, after = (page.get_by_role("region", name=name) for name in ("Before: revision 1", "After: revision 2"))
    expect(before).to_contain_text("old words")
    expect(after).to_contain_text("new words")
    parts = page.get_by_role("heading", name="Part")
    assert parts.evaluate_all("all => all.map(one => one.id)") == ["before-part", "after-part"]
    after.get_by_role("link", name="Link to heading 'Part'").press("Enter")
    expect(page).to_have_url(re.compile("#after-part$"))
    assert page.evaluate("document.querySelector(':target').id") == "after-part"


def test_all_articles_and_what_refers_to_one_are_listed(page: Page, served: Served, look: str) -> None:
    name = f"Referring_{look}"
    write(page, served, name, f"See [[Referred {look}]].")

    page.get_by_role("link", name="All articles").click()
    page.get_by_role("link", name=name.replace("_", " ")).click()
    page.goto(f"{served.url}/wiki/Special:WhatLinksHere/Referred_{look}")
    page.get_by_role("link", name=name.replace("_", " ")).click()
    expect(page).to_have_url(f"{served.url}/wiki/{name}")


@pytest.mark.deep
def test_everything_is_rendered_again_and_the_table_tells_how_it_fares(page: Page, served: Served, look: str) -> None:
    write(page, served, f"Again_{look}", "A text.")
    page.goto(f"{served.url}/wiki/Special:RerenderAll")
    page.get_by_role("button", name=re.compile("Render all .* again")).click()
    expect(page.locator(".notice")).to_contain_text("queued to be rendered again")

    last = page.locator("section[aria-label='The last ones'] tr[data-row]").first
    done = last.filter(has=page.locator("td[data-label=Queueing]", has_text="completed")).filter(
        has=page.locator("td[data-label=Waiting]", has_text=re.compile("^0$"))
    )
    seen_in_time(page, f"{served.url}/wiki/Special:RerenderAll", done)
    expect(last).to_contain_text("render all articles again")
    expect(last.locator("td[data-label=Rendered]")).not_to_have_text("0")
    last.get_by_role("link").click()
    expect(page).to_have_url(re.compile("/desk/jobs/job_"))
