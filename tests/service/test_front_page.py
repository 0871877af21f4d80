"""`GET /`: what this is, where to read on, and a line to paste."""

import html
import re

import pytest

from pressroom.model import VERSION
from tests.service.access_stage import on_stage


async def test_a_person_is_told_what_this_is_without_help_from_elsewhere(file: str) -> None:
    opened = on_stage(file, works=False)
    async with opened as stage, stage.client() as client:
        page = await client.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        links = re.findall(r'href="([^"]+)"', page.text)
        followed = [(await client.get(f"/{link}", follow_redirects=True)).status_code for link in links]  # pages ask who it is

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert VERSION in page.text
    assert "<script" not in page.text
    assert "docs" in links
    assert followed == [200] * len(links)
    assert "curl -d 'digraph { source -> press -> document }' 'http://pressroom/render?" in html.unescape(page.text)
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert page.headers["vary"] == "Accept"


async def test_a_program_is_told_where_everything_is(file: str) -> None:
    async with on_stage(file, works=False) as stage, stage.client() as client:
        index = (await client.get("/", headers={"Accept": "application/json"})).json()
        there = [(await client.get(index[name])).status_code for name in ("docs", "openapi", "health")]

    assert (index["name"], index["version"]) == ("Pressroom", VERSION)
    assert there == [200, 200, 200]


@pytest.mark.parametrize("accept", ["*/*", "", "text/html", "text/html, application/json"])
async def test_whoever_does_not_ask_for_json_is_a_person(file: str, accept: str) -> None:
    async with on_stage(file, works=False) as stage, stage.client() as client:
        assert (await client.get("/", headers={"Accept": accept})).headers["content-type"].startswith("text/html")


async def test_a_host_that_is_markup_stays_text(file: str) -> None:  # H9
    async with on_stage(file, works=False) as stage, stage.client() as client:
        page = await client.get("/", headers={"Host": 'a"><script>alert(1)</script>'})

    assert page.status_code == 400
    assert "<script" not in page.text
