"""A folder taken in, changed, taken in again and rendered again: the statements of both databases."""

from pathlib import Path

from pressroom import Pressroom
from pressroom.apps.wiki.folders import Folders, ImportReport
from pressroom.apps.wiki.model import RenderStatus, make_draft
from pressroom.apps.wiki.rerender_requests import RerenderRequest


async def _import(press: Pressroom, folder: Path) -> ImportReport:
    articles = press.app("wiki").articles
    options = {"org_id": None, "author": "me", "comment": ""}
    return await Folders(articles).import_folder(folder, **options, on_progress=lambda what, done, total: None)


async def test_a_folder_is_taken_in_twice_and_rendered_again(database: str, tmp_path: Path, eventually) -> None:
    (tmp_path / "one.md").write_text("# One\n\nAn owl.\n")
    (tmp_path / "two.md").write_text("# Two\n\nSee [[one]] and [[three]].\n")

    async with Pressroom(database, workers=8) as press:
        articles = press.app("wiki").articles

        async def rendered(url: str, words: str) -> bool:
            head = (await articles.read(None, url)).head
            return head.render_status is RenderStatus.RENDERED and words in head.html

        first = await _import(press, tmp_path)
        await eventually(lambda: rendered("one", "An owl."))
        await eventually(lambda: rendered("two", "three: not written yet"))

        (tmp_path / "one.md").write_text("# One\n\nA wren.\n")
        (tmp_path / "three.md").write_text("# Three\n")
        second = await _import(press, tmp_path)
        await eventually(lambda: rendered("one", "A wren."))
        await eventually(lambda: rendered("two", '<a class="wikilink" href="/wiki/three">'))

        again = await articles.rerender_all(None, RerenderRequest("all"))
        await press.wait(again, timeout=60)
        await eventually(lambda: _all_rendered(articles, again.uid))
        assert [found.article.url for found in (await articles.search(None, "wren"))[0]] == ["one"]
        assert (await articles.search(None, "owl"))[0] == []

        twice = [make_draft("four", f"text {number}", author="me", previous=0) for number in (1, 2)]
        saved = await articles.save_many(None, twice, parent=again.uid)  # one URL twice in one transaction
        assert [(one.revision, one.created) for one in saved] == [(1, True), (2, False)]

    assert (first.created, first.changed, first.same) == (2, 0, 0)
    assert (second.created, second.changed, second.same) == (1, 1, 1)


async def _all_rendered(articles, batch: str) -> bool:
    found = await articles.batch(batch)
    return found.rendered == 3 and not found.waiting
