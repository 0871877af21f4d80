"""Hostile Markdown in articles: no script, nothing fetched, output capped, answered within the limits. X1-X9, M1-M9."""

import asyncio

import pytest

from pressroom import Pressroom
from pressroom.apps.wiki.model import RenderStatus
from pressroom.renderers.markdown.engine import Markdown
from tests.apps.wiki.test_articles import draft
from tests.apps.wiki.test_pages import save
from tests.loop_guard import own_work
from tests.security.markup import offences_in_html
from tests.security.test_render_cost import COSTLY
from tests.security.test_render_markup import MARKDOWN
from tests.service.access_stage import on_stage
from tests.web.browsing import member

MB = 1024 * 1024

# Where our own hands touch what the engine made: links, tables, boxes, code that scrolls, pictures of diagrams.
OURS = {
    "attributes": '![<table onclick=1 x](a) [x](y "<pre onclick=1>") <img alt="<input type=checkbox onclick=1>" src=x>',
    "links": '[[<img src=x onerror=1>]] [[a|<b onclick=1>x</b>]] [[a#"><script>1</script>]] [[a" onclick="1]] [[//evil]]',
    "own links": '<a data-wikilink="true" href="javascript:alert(1)" onclick=1>x</a> <a class=wikilink href=javascript:1>y</a>',
    "boxes": '- [x" aria-label="1] a\n- [x] b\n\n<input type="checkbox" onclick="1" checked>',
    "titles": '# <img src=x onerror=1>\n# "><script>1</script>\n# a\n# b\n',
    "diagrams": '```dot\ndigraph { a [label="<script>1</script>" href="javascript:1"] }\n```\n',
    "wrong diagrams": '```mermaid\n"><script>1</script>\n```\n',
}
HEAVY = ["M1-brackets", "M2-quotes", "M6-references", "M7-table-rows", "M8-tasks", "M8-footnotes", "M8-fences", "M8-headings"]


async def test_no_attack_gets_a_script_into_an_article_or_a_preview(file: str) -> None:
    attacks = MARKDOWN | OURS
    async with Pressroom(file, workers=2) as press:

        async def attack(number: int, source: str) -> None:
            posted = await press.app("wiki").articles.post(None, draft(source, url=f"A{number}", title=source[:200]), wait=600)
            previewed = await press.app("wiki").articles.preview(None, source)
            assert posted.revision.render_status is RenderStatus.RENDERED, source
            for html in (posted.revision.html or "", previewed.html):
                assert offences_in_html(html) == [], source

        await asyncio.gather(*[attack(number, source) for number, source in enumerate(attacks.values())])


@pytest.mark.parametrize("attack", ["X3-heading", "X1-mutation", "links", "titles"])
async def test_what_is_around_an_article_is_as_safe(file: str, attack: str) -> None:
    """Titles, comments, contents, history, comparison and search show the same words. Pages fetch nothing from elsewhere."""
    source = (MARKDOWN | OURS)[attack]
    async with on_stage(file) as stage, member(stage) as person:
        await save(person, "A", source + "\n\n![far](https://evil.example/x.png)", title=source[:150], comment=source[:200])
        await save(person, "A", "<script>alert(1)</script>", previous=1, title="<script>alert(1)</script>")
        places = [
            "A",
            "A?revision=1",
            "A?history",
            "A?compare=1&from=1&to=2",
            "A?edit",
            "Special:AllPages",
            "Special:Search?q=alert",
        ]
        pages = [await person.get(f"/wiki/{place}") for place in places]

    for page in pages:
        assert page.status_code == 200
        assert "<script>" not in page.text
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "img-src 'self' data: blob:;" in policy


@pytest.mark.deep
async def test_the_longest_articles_are_rendered_or_refused_and_others_are_served_meanwhile(file: str) -> None:
    async with Pressroom(file, workers=2) as press:
        with own_work():  # a service makes one draft at a time, not nine
            heavy = {name: COSTLY[name](MB - 100) for name in HEAVY} | {"links": "[[a b]] " * (MB // 8 - 20)}
            posts = [press.app("wiki").articles.post(None, draft(text, url=name), wait=600) for name, text in heavy.items()]
        tasks = [asyncio.ensure_future(post) for post in posts]
        light = await press.app("wiki").articles.post(None, draft("light", url="Light"), wait=600)
        posted = await asyncio.gather(*tasks)

        assert light.revision.render_status is RenderStatus.RENDERED
        for one in posted:
            error = one.revision.error or {}
            assert one.revision.render_status is RenderStatus.RENDERED or error["code"] in ("too_large", "source_invalid"), (
                error
            )
            assert len(one.revision.html or "") <= Markdown.limits.output
