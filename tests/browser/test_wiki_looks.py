"""Every page of the wiki, empty and with articles in it: sound when it is light and wide, and when it is dark and narrow."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import test_wiki
from tests.browser.served import Served
from tests.browser.test_wiki_live import held
from tests.browser.watched import Watched, assert_accessible, assert_fits

patience = test_wiki.patience

LOOKS = (("light", 1440), ("dark", 375))
BROKEN = "```dot\ndigraph { a -> }\n```\n"
RICH = (
    f"{test_wiki.TEXT}\n## Source\n\n> A quotation.\n\n> [!WARNING]\n> Mind the ink.\n\n### Broken\n\n{BROKEN}\n"
    f"See [[Rich/Other]] and {'averylongword' * 20}.\n"
)
NAME = "Rich/A_page_whose_name_is_so_long_that_it_does_not_fit_into_a_line_of_a_telephone"

EMPTY = ["Special:AllPages", "Special:Search", "Special:RerenderAll", "Special:WhatLinksHere/Home", "Home", "Home?edit"]
FULL = [
    *(NAME, f"{NAME}?revision=1", f"{NAME}?edit", f"{NAME}?history", f"{NAME}?rerender"),
    *(f"{NAME}?compare=1&from=1&to=2", f"{NAME}?compare=1&from=2&to=2", "Rich/Failed"),
    *("Special:AllPages", "Special:WhatLinksHere/Rich/Other", "Special:RerenderAll"),
    *("Special:Search?q=quotation", "Special:Search?q=nothing-of-the-kind"),
]

type Open = Callable[..., Page]


class Pen:
    """Writes as the editor's form does, without a browser."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        found = re.search('name="form_token" value="([^"]+)"', client.get("/wiki/Home?edit").text)
        assert found
        self._token = found[1]

    def send(self, path: str, **fields: object) -> httpx.Response:
        answer = self._client.post(f"/wiki/{path}", data={"form_token": self._token, "action": "save", "previous": 0} | fields)
        assert answer.status_code == 303, answer.text
        return answer


@pytest.fixture(scope="module")
def full(served: Served) -> Iterator[Pen]:
    with httpx.Client(base_url=served.url, timeout=60) as client:
        pen = Pen(client)
        pen.send(NAME, source=RICH, comment="A comment that tells at some length what was changed, and why")
        pen.send(NAME, source=RICH.replace("ink", "paper"), previous=1)
        pen.send("Rich/Other", source="Short.")  # and so the first one is rendered again
        pen.send("Rich/Failed", source="A good text.")
        pen.send("Rich/Failed", source="> " * 300 + "too deep", previous=1)
        yield pen


@pytest.fixture(scope="module")
def nobody(served: Served) -> str:
    """A token of an organisation that has no articles."""
    command = [sys.executable, "-m", "pressroom", "token", "create", "--scope", "operator", "--org", "nobody"]
    return subprocess.run(command, env=served.environ, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def context(chromium: Browser, served: Served) -> Iterator[BrowserContext]:
    context = chromium.new_context(base_url=served.url, reduced_motion="reduce")
    yield context
    context.close()


@pytest.fixture
def opened(context: BrowserContext) -> Iterator[Open]:
    with Watched(context.new_page()) as watched:

        def open(path: str, token: str = "") -> Page:
            watched.page.set_extra_http_headers({"Authorization": f"Bearer {token}"} if token else {})
            if path == "Home":
                watched.forgive("404")
            watched.page.goto(f"/wiki/{path}")
            if path.endswith("edit"):
                expect(watched.page.locator("#preview h1")).to_be_visible()
            return watched.page

        yield open
        watched.page.close()


def assert_sound(page: Page) -> None:
    for theme, width in LOOKS:
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.set_viewport_size({"width": width, "height": 900})
        assert_accessible(page)
        assert_fits(page)
    ids = page.locator("[id]").evaluate_all("all => all.map(one => one.id)")
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", EMPTY)
def test_a_page_of_an_empty_wiki_is_sound(opened: Open, nobody: str, path: str) -> None:
    assert_sound(opened(path, nobody))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", FULL, ids=lambda path: path.replace(NAME, "article"))
def test_a_page_of_a_full_wiki_is_sound(opened: Open, full: Pen, path: str) -> None:
    assert_sound(opened(path))


def test_a_page_that_is_being_rendered_is_sound(opened: Open, served: Served, full: Pen) -> None:
    with held(served):
        batch = full.send("Special:RerenderAll").headers["location"].removeprefix("/desk")
        httpx.get(f"{served.url}{batch}?wait=60", timeout=90)
        page = opened("Rich/Other")
        expect(page.locator(".banner")).to_contain_text("is being rendered again")
        assert_sound(page)
