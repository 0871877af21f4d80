"""Search in the pages that editions show: both databases find the same."""

from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import Any

import pytest

from pressroom.apps.docs.errors import EditionNotFound, OrgNotFound, ProjectNotFound
from pressroom.apps.docs.model import Build, TrackingMode
from pressroom.apps.docs.requests import EditionChanges, EditionDraft
from pressroom.apps.docs.search import search as search_module
from pressroom.apps.docs.search import store
from pressroom.apps.docs.search.page_text import PageText
from pressroom.apps.docs.search.search import PageHit, Search
from pressroom.apps.docs.uploads.page_stream import send_pages
from pressroom.ids import new_uid
from pressroom.model import Work
from pressroom.store.artifacts.artifacts import ArtifactFile
from tests.apps.docs.flow_stage import DocsFlow, docs_flow

SITE = {
    "index.html": b"<title>Guide</title><main><h1>Welcome</h1><p>How to brew coffee, and where the grinder is.</main>",
    "coffee.html": b"<title>Coffee</title><main><h1>Coffee</h1><p>Hot &amp; black. See /usr/share/doc/grinder.txt.</main>",
    "cafe.html": "<meta charset=utf-8><h1>Café au lait</h1><p>With milk: https://example.com/frother/v2 東京 ΜΕΓΑΛΑ".encode(),
    "genindex.html": b"<h1>Index</h1><p>coffee",
    "_static/site.css": b"coffee {}",
    "empty.html": b"",
}


def searching(flow: DocsFlow) -> Search:
    return flow.app.search


async def find(flow: DocsFlow, text: str, edition: str = "__main", **options: Any) -> list[str]:
    return [hit.path for hit in await searching(flow).find("acme", "guide", edition, text, **options)]


async def indexed(flow: DocsFlow, files: dict[str, bytes], ref: str = "main") -> Build:
    build, _ = await flow.process(files, ref)
    await searching(flow).index_build(build)
    return build


async def texts(flow: DocsFlow) -> list[tuple[str, str]]:
    rows = await flow.rows("SELECT build, path FROM docs_page_text ORDER BY build, path")
    return [(build, path) for build, path in rows]


async def test_words_are_found_in_headings_and_texts_whatever_their_case_and_accents(database: str) -> None:
    async with docs_flow(database) as flow:
        await indexed(flow, SITE)

        assert await find(flow, "coffee") == ["coffee.html", "index.html"]  # the heading counts for more
        assert await find(flow, "CAFE") == ["cafe.html"]
        assert await find(flow, "grind") == await find(flow, "grinder")  # the last word may be only begun
        assert set(await find(flow, "grinder")) == {"coffee.html", "index.html"}
        assert await find(flow, "grind coffee") == []  # and only the last
        assert set(await find(flow, "coffee grind")) == {"coffee.html", "index.html"}
        assert await find(flow, "txt share") == ["coffee.html"]
        assert await find(flow, "東京") == await find(flow, "μεγάλα") == await find(flow, "frother") == ["cafe.html"]
        assert await find(flow, "coffee", limit=1) == ["coffee.html"]
        assert await find(flow, "main title usr tea") == []


async def test_a_hit_has_a_title_a_path_and_a_snippet(database: str) -> None:
    async with docs_flow(database) as flow:
        await indexed(flow, SITE)
        (hit,) = await searching(flow).find("acme", "guide", "__main", "brew")

        assert isinstance(hit, PageHit)
        assert (hit.title, hit.path) == ("Welcome", "index.html")
        assert hit.snippet_text == "Welcome How to brew coffee, and where the grinder is."
        assert [part.text for part in hit.snippet if part.found] == ["brew"]


@pytest.mark.parametrize(
    "text", ["", "  ", "***", '"', "'", "a AND", "NEAR(", "coffee:*", "-coffee", "a & !b", "\\", "x" * 5000, "\x00"]
)
async def test_no_question_is_an_error(database: str, text: str) -> None:
    async with docs_flow(database) as flow:
        await indexed(flow, SITE)
        await find(flow, text)


async def test_each_edition_finds_what_it_shows(database: str) -> None:
    async with docs_flow(database) as flow:
        await indexed(flow, SITE)
        await indexed(flow, {"tea.html": b"<h1>Tea</h1>", "index.html": b"<h1>Welcome to tea</h1>"}, "dev")

        assert await find(flow, "tea", "dev") == ["tea.html", "index.html"]
        assert await find(flow, "tea") == []
        assert await find(flow, "coffee", "dev") == []
        with pytest.raises(EditionNotFound):
            await find(flow, "tea", "other")
        with pytest.raises(ProjectNotFound):
            await searching(flow).find("acme", "other", text="tea")
        with pytest.raises(OrgNotFound):
            await searching(flow).find("other", "guide", text="tea")


async def test_two_editions_that_show_a_build_share_its_texts(database: str) -> None:
    async with docs_flow(database) as flow:
        build = await indexed(flow, SITE)
        before = await texts(flow)
        await flow.app.editions.create("acme", "guide", EditionDraft(slug="copy", tracking_mode=TrackingMode.MANUAL))
        _, job = await flow.app.editions.change("acme", "guide", "copy", EditionChanges(build=build.uid), actor="ada")
        assert job is not None
        await flow.press.wait_until_ended(job.uid, timeout=120)
        await searching(flow).index_build(build)

        assert await find(flow, "coffee", "copy") == await find(flow, "coffee")
        assert await texts(flow) == before


async def test_what_no_edition_shows_any_more_is_forgotten_and_found_again_after_a_rollback(database: str) -> None:
    async with docs_flow(database) as flow:
        first = await indexed(flow, SITE)
        second = await indexed(flow, {"tea.html": b"<h1>Tea</h1>"})

        assert await texts(flow) == [(second.uid, "tea.html")]
        assert await find(flow, "coffee") == []
        _, job = await flow.app.editions.change("acme", "guide", "__main", EditionChanges(build=first.uid), actor="ada")
        assert job is not None
        await flow.press.wait_until_ended(job.uid, timeout=120)
        await searching(flow).index_build(first)
        assert await find(flow, "coffee") == ["coffee.html", "index.html"]
        assert await find(flow, "tea") == []


async def test_a_build_that_no_edition_shows_is_not_indexed(database: str) -> None:
    async with docs_flow(database) as flow:
        await flow.app.editions.change("acme", "guide", "__main", EditionChanges(pinned=True), actor="ada")
        build, _ = await flow.process(SITE)

        assert not await searching(flow).index_build(build)
        assert await texts(flow) == []


async def test_indexing_again_changes_nothing(database: str) -> None:
    async with docs_flow(database) as flow:
        build = await indexed(flow, SITE)
        before = await flow.rows("SELECT id, path FROM docs_page_text ORDER BY id")

        assert not await searching(flow).index_build(build)
        assert await flow.rows("SELECT id, path FROM docs_page_text ORDER BY id") == before


async def test_an_attempt_that_ended_early_is_begun_anew_and_writes_nothing_more(database: str) -> None:
    """Q33."""
    async with docs_flow(database) as flow:
        build, _ = await flow.process(SITE)
        run = partial(flow.app.core.database.run, name="test")
        await flow.rows("DELETE FROM docs_search")
        early, page = new_uid(), PageText("early.html", "Early", "early", "early", "early")
        assert await run(partial(store.begin_indexing, build.uid, early))
        await run(partial(store.save_texts, build.uid, early, [page]))
        assert await find(flow, "early") == []  # only complete ones are searched

        assert await searching(flow).index_build(build)
        await run(partial(store.save_texts, build.uid, early, [page]))
        assert not await run(partial(store.finish_indexing, build.uid, early))
        assert not await run(partial(store.delete_texts, build.uid, early))
        assert [path for _, path in await texts(flow)] == ["cafe.html", "coffee.html", "index.html"]
        assert await find(flow, "early") == []


async def test_catching_up_indexes_what_is_shown_and_forgets_what_is_not(database: str) -> None:
    async with docs_flow(database) as flow:
        await flow.process(SITE)
        gone, _ = await flow.process({"tea.html": b"<h1>Tea</h1>"}, "dev")
        await searching(flow).index_build(gone)
        await flow.app.editions.delete("acme", "guide", "dev", actor="ada")
        await flow.rows("DELETE FROM docs_search WHERE build <> :build", build=gone.uid)

        assert await searching(flow).catch_up() == 1
        assert await find(flow, "coffee") == ["coffee.html", "index.html"]
        assert gone.uid not in {build for build, _ in await texts(flow)}
        assert await searching(flow).catch_up() == 0


async def test_texts_go_with_their_build(database: str) -> None:
    async with docs_flow(database) as flow:
        build = await indexed(flow, SITE)
        await flow.rows("DELETE FROM docs_history")
        await flow.rows("DELETE FROM docs_edition")
        await flow.rows("DELETE FROM docs_build")

        assert await texts(flow) == []
        assert await flow.app.core.database.read(partial(store.search_pages, build.uid, ["coffee"], 10)) == []


async def test_pages_that_have_not_changed_are_not_read_again(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def pages(paths: Sequence[str], some: Sequence[ArtifactFile], *more: Any) -> AsyncGenerator[bytes]:
        read.extend(page.path for page in some)
        return send_pages(paths, some, *more)

    monkeypatch.setattr(search_module, "send_pages", pages)
    async with docs_flow(database) as flow:
        first = await indexed(flow, SITE)
        read.clear()
        tea = b"<h1>Tea</h1><p>without coffee"
        second = await indexed(flow, {path: data for path, data in SITE.items() if path != "cafe.html"} | {"index.html": tea})

        assert "index.html" in read
        assert "coffee.html" not in read
        assert sorted(await find(flow, "coffee")) == ["coffee.html", "index.html"]
        assert await find(flow, "tea") == ["index.html"]
        assert await find(flow, "lait") == []
        assert {build for build, _ in await texts(flow)} == {second.uid} != {first.uid}


async def test_large_pages_are_written_and_deleted_one_by_one(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other writers wait for each transaction: it is bounded by what it writes, not by pages alone."""
    monkeypatch.setattr(search_module, "CHARACTERS_SAVED_AT_ONCE", 100)
    monkeypatch.setattr(store, "CHARACTERS_DELETED_AT_ONCE", 100)
    saved, deleted = [], []
    save, delete = store.save_texts, store.delete_texts

    def save_texts(build: str, attempt: str, texts: Sequence[PageText]) -> Work[None]:
        saved.append(len(texts))
        return (yield from save(build, attempt, texts))

    def delete_texts(build: str, attempt: str) -> Work[int]:
        deleted.append((yield from delete(build, attempt)))
        return deleted[-1]

    monkeypatch.setattr(store, "save_texts", save_texts)
    monkeypatch.setattr(store, "delete_texts", delete_texts)
    large = b"<p>" + b"word " * 30
    async with docs_flow(database) as flow:
        await indexed(flow, {"a.html": large, "b.html": large, "c.html": b"<p>word", "d.html": b"<p>word"})
        assert saved == [1, 1, 2]
        await indexed(flow, {"a.txt": b"no page"})

        assert await texts(flow) == []
        assert [count for count in deleted if count] == [1, 1, 2]


async def test_more_pages_than_one_process_reads(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "PAGES_AT_ONCE", 4)
    monkeypatch.setattr(search_module, "PAGES_SAVED_AT_ONCE", 3)
    monkeypatch.setattr(search_module, "MOST_PAGES", 9)
    async with docs_flow(database) as flow:
        await indexed(flow, {f"page{number}.html": f"<h1>Page {number}</h1><p>word".encode() for number in range(10)})

        assert len(await find(flow, "word")) == 9


async def test_a_page_that_cannot_be_read_does_not_fail_the_others_of_another_process(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_module, "PAGES_AT_ONCE", 1)
    monkeypatch.setattr(search_module, "ANSWER", 1_000)
    async with docs_flow(database) as flow:
        await indexed(flow, {"a.html": b"<p>" + b"word " * 10_000, "b.html": b"<p>word"})

        assert await find(flow, "word") == ["b.html"]
