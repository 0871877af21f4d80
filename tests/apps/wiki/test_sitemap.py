"""The sitemap, and what browsers and robots may keep."""

from xml.etree import ElementTree as Xml

import pytest

from pressroom.apps.wiki import sitemap
from tests.apps.wiki.test_pages import save
from tests.service.access_stage import on_stage
from tests.web.browsing import member

SPACE = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}


def addresses(text: str) -> list[str]:
    return [found.text or "" for found in Xml.fromstring(text).findall(".//s:loc", SPACE)]


async def test_every_article_is_in_the_sitemap(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pressroom.apps.wiki.views.PATIENCE", 0.0)
    async with on_stage(database, works=False, base_url="http://pressroom/press") as stage, member(stage) as person:
        empty = await person.get("/wiki/sitemap.xml")
        for name in ("One", "Tom & Jerry", "日本"):
            await save(person, name, "text")
        whole = await person.get("/wiki/sitemap.xml")
        monkeypatch.setattr(sitemap, "IDS_PER_FILE", 2)
        index = await person.get("/wiki/sitemap.xml")
        parts = [await person.get(f"/wiki/sitemap-{number}.xml") for number in (1, 2, 9)]
        not_one = await person.get("/wiki/sitemap-0.xml")

    assert addresses(empty.text) == []
    assert whole.headers["content-type"].startswith("application/xml")
    base = "http://pressroom/press/wiki"
    assert addresses(whole.text) == [f"{base}/One", f"{base}/Tom_&_Jerry", f"{base}/%E6%97%A5%E6%9C%AC"]
    assert "<lastmod>20" in whole.text
    assert addresses(index.text) == [f"{base}/sitemap-1.xml", f"{base}/sitemap-2.xml"]
    assert [part.status_code for part in parts] == [200, 200, 404]
    assert addresses(parts[0].text) + addresses(parts[1].text) == addresses(whole.text)
    assert not_one.status_code == 404


async def test_a_page_says_when_it_changed_and_who_has_it_is_told_so(database: str) -> None:
    """A weak ETag, Last-Modified, 304; a tag outweighs a date."""
    async with on_stage(database) as stage, member(stage) as person:
        await save(person, "Home", "one")
        first = await person.get("/wiki/Home")
        changed = first.headers["last-modified"]
        again = await person.get("/wiki/Home", headers={"If-Modified-Since": changed})
        older = await person.get("/wiki/Home", headers={"If-Modified-Since": "Mon, 01 Jan 2024 00:00:00 GMT"})
        wrong = await person.get("/wiki/Home", headers={"If-Modified-Since": "yesterday"})
        other = await person.get("/wiki/Home", headers={"If-Modified-Since": changed, "If-None-Match": 'W/"other"'})

    assert changed.endswith("GMT")
    assert again.status_code == 304
    assert [answer.status_code for answer in (older, wrong, other)] == [200, 200, 200]
