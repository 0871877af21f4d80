"""Search by title and text: both databases find the same."""

from functools import partial

import pytest

from pressroom import Pressroom
from pressroom.apps.wiki import articles
from pressroom.apps.wiki.model import make_draft
from pressroom.base.excerpts import ExcerptPart, make_excerpt
from pressroom.store.operators.lookup import Viewer
from tests import looking
from tests.apps.wiki.test_articles import draft
from tests.apps.wiki.test_pages import save
from tests.service.access_stage import on_stage
from tests.web.browsing import Page, member

TEXTS = {
    "Coffee": "How we make coffee, and where the **grinder** is.",
    "Café_au_lait": "With milk. See [[Coffee]] and https://example.com/milk-frother/v2.",
    "Grinder": "It grinds; read `/usr/share/doc/grinder.txt` for more.",
    "日本語": "東京 の コーヒー",
    "Greek": "ΜΕΓΑΛΑ γράμματα",
}


async def found(press: Pressroom, text: str, page: int = 1) -> list[str]:
    hits, _ = await press.app("wiki").articles.search(None, text, page)
    return [hit.article.url for hit in hits]


async def test_words_are_found_in_titles_and_texts_whatever_their_case_and_accents(database: str) -> None:
    async with Pressroom(database, workers=None) as press:
        for url, text in TEXTS.items():
            await press.app("wiki").articles.post(None, draft(text, url=url), wait=0)

        assert await found(press, "coffee") == ["Coffee", "Café_au_lait"]  # the title counts for more
        assert await found(press, "CAFE") == ["Café_au_lait"]
        assert set(await found(press, "grinder")) == {"Grinder", "Coffee"}
        assert await found(press, "grind") == await found(press, "grinder")  # the last word may be only begun
        assert await found(press, "grind coffee") == []  # and only the last
        assert await found(press, "coffee grind") == ["Coffee"]
        assert await found(press, "frother") == await found(press, "example.com/milk") == ["Café_au_lait"]
        assert await found(press, "txt share") == ["Grinder"]
        assert await found(press, "コーヒー") == ["日本語"]
        assert await found(press, "μεγάλα") == ["Greek"]


@pytest.mark.parametrize(
    "text", ["", "  ", "***", '"', "'", "a AND", "NEAR(", "coffee:*", "-coffee", "a & !b", "\\", "x" * 5000]
)
async def test_no_question_is_an_error(database: str, text: str) -> None:
    async with Pressroom(database, workers=None) as press:
        await press.app("wiki").articles.post(None, draft("coffee"), wait=0)
        await found(press, text)


async def test_only_the_newest_revision_is_found(database: str) -> None:
    async with Pressroom(database, workers=None) as press:
        await press.app("wiki").articles.post(None, draft("about tea"), wait=0)
        await press.app("wiki").articles.post(None, draft("about coffee", previous=1, title="Drinks"), wait=0)

        assert await found(press, "tea") == []
        assert await found(press, "coffee") == await found(press, "drinks") == ["Home"]


async def test_one_organisation_does_not_find_anothers_articles(database: str) -> None:
    async with Pressroom(database, workers=None) as press:
        await press.app("wiki").articles.post("acme", draft("secret"), wait=0)

        assert await found(press, "secret") == []


async def test_a_long_text_with_many_words_can_be_saved_and_found(database: str) -> None:
    """PostgreSQL takes no more than a megabyte of different words."""
    text = " ".join(f"w{number:x}" for number in range(130_000)) + " " + "y" * 3000
    async with Pressroom(database, workers=None) as press:
        await press.app("wiki").articles.post(None, draft(text), wait=0)

        assert await found(press, "wff") == ["Home"]


async def test_articles_from_before_there_was_search_are_found_after_a_start(database: str, eventually) -> None:
    async with Pressroom(database, workers=None) as press:
        await press.app("wiki").articles.post(None, draft("coffee"), wait=0)
    looking.change(database, "DELETE FROM wiki_text")
    async with Pressroom(database, workers=1) as press:

        async def is_found() -> bool:
            return await found(press, "coffee") == ["Home"]

        await eventually(is_found, within=60)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("Coffee", ["Coffee"]),  # the whole name: this article alone
        ("Coff", ["Coffee", "Coffee/Grinder_settings"]),
        ("grinder", ["Coffee/Grinder_settings"]),
        ("settings coffee", ["Coffee/Grinder_settings"]),
        ("CAFE", ["Café_au_lait"]),
        ("cafe la", ["Café_au_lait"]),
        ("offee", []),
        ("milk", []),  # only in the text
        ("?*", []),
    ],
)
async def test_the_search_box_finds_articles_by_words_of_their_titles(database: str, typed: str, expected: list[str]) -> None:
    viewer = Viewer(org_id=None, own_org="", sees_webhooks=False, sees_hosts=False, sees_tokens=False)
    async with Pressroom(database, workers=None) as press:
        wiki = press.app("wiki")
        for url in ("Coffee", "Coffee/Grinder_settings", "Café_au_lait"):
            await wiki.articles.post(None, draft("With milk.", url=url), wait=0)
        await wiki.articles.post("acme", draft("With milk.", url="Coffee_of_acme"), wait=0)
        results = await press._database.read(partial(wiki.find, typed, viewer))

    assert [one.name for one in results] == expected


async def test_what_was_found_is_shown_with_where_it_stands(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(articles, "RESULTS_SHOWN", 2)
    monkeypatch.setattr("pressroom.apps.wiki.special_pages.RESULTS_SHOWN", 2)
    async with on_stage(database, works=False) as stage, member(stage) as person:
        monkeypatch.setattr("pressroom.apps.wiki.views.PATIENCE", 0.0)
        for number in range(3):
            await save(person, f"Page {number}", "Some <b>Words</b> & " + "more " * 200)
        first = await person.get("/wiki/Special:Search?q=words")
        (more,) = [address for address in Page(first.text).addresses if "page=2" in address]
        second = await person.get(more)
        named = await person.get("/wiki/Special:Search?q=Page+1")
        unknown = await person.get("/wiki/Special:Search?q=nowhere")
        wrong = await person.get("/wiki/Special:Search?q=a&page=0")
        empty = await person.get("/wiki/Special:Search")

    assert "Some &lt;b&gt;<mark>Words</mark>&lt;/b&gt; &amp;" in first.text
    assert len([address for address in Page(second.text).addresses if "/wiki/Page_" in address]) == 1
    assert "There is an article of this name" in named.text
    assert "No article has all of these words" in unknown.text
    assert "/wiki/nowhere?edit" in Page(unknown.text).addresses
    assert (wrong.status_code, empty.status_code) == (422, 200)


def test_an_excerpt_shows_the_first_of_the_words() -> None:
    source = "x " * 500 + "the Café is here " + "y " * 500

    pieces = make_excerpt(source, ["cafe"])

    assert [piece.text for piece in pieces if piece.found] == ["Café"]
    assert pieces[0].text == "…"
    assert sum(len(piece.text) for piece in pieces) < 300
    assert make_excerpt("only this", ["else"]) == [ExcerptPart("only this", found=False)]


@pytest.mark.parametrize("name", ["Readme.md", "sitemap.xml", "a/b.MD"])
def test_a_name_does_not_end_like_a_file_of_ours(name: str) -> None:
    with pytest.raises(Exception, match=r"does not end in \.md or \.xml"):
        make_draft(name, "", author="", previous=0)
