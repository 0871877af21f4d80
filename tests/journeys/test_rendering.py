"""A source becomes an artifact: through the queue, the cache, a press and the artifact store."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pressroom import Answer, EngineMissing, JobFailed, NotFound, Pressroom, Submitted, Tier, TooLarge, failpoints
from pressroom.app import BUILT_IN
from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.artifact_lifecycle.fsck import fsck
from pressroom.errors import InvalidArgument
from pressroom.renderers import Missing
from pressroom.renderers.graphviz.engine import Graphviz
from pressroom.renderers.pdf import pack_pdfs
from pressroom.testing import ManualClock
from tests import looking


async def bytes_of(press: Pressroom, name: str) -> bytes:
    artifact = await press.artifact(name)
    return b"".join([chunk async for chunk in await press.read(artifact)])


async def test_a_source_becomes_an_artifact_with_a_short_link(database: str) -> None:
    async with Pressroom(database, workers=2) as press:
        job = await press.render("markdown", "# Hello\n", "html", tier=Tier.INTERACTIVE)
        result = await press.wait(job, timeout=60)
        assert b"Hello" in await bytes_of(press, result["short_link"])
        assert await bytes_of(press, result["artifact"]) == await bytes_of(press, result["short_link"])
        assert result["media_type"] == "text/html; charset=utf-8"
        assert result["details"]["title"] == "Hello"
        assert len(result["short_link"]) * 5 >= 60  # bits
        artifact = await press.artifact(result["artifact"])
        assert (artifact.job_uid, artifact.filename) == (job.uid, "markdown.html")


async def test_the_same_input_is_answered_without_a_render_and_a_miss_says_why(database: str) -> None:
    """I1, I3: the same link, and no second render."""
    async with Pressroom(database, workers=2) as press:
        first = await press.render("dot", "digraph { a }", "svg")
        made = await press.wait(first, timeout=60)
        again = await press.render("graphviz", b"digraph { a }", "svg", options={"layout": "dot"})  # the default, said aloud
        assert again.answer is Answer.HIT
        assert (await press.wait(again))["short_link"] == made["short_link"]
        other = await press.render("dot", "digraph { b }", "svg")
        assert (other.answer, other.differs) == (Answer.NEW, ["source"])
        other = await press.render("dot", "digraph { a }", "png")
        assert (other.answer, other.differs) == (Answer.NEW, ["output"])


async def test_bytes_that_are_no_text_are_a_source_of_an_engine_that_takes_bytes() -> None:
    async with Pressroom("sqlite:///:memory:", workers=1) as press:
        page = (await press.preview("html", "<title>A</title><p>Ready", "pdf")).data
        with pytest.raises(UnicodeDecodeError):
            page.decode()
        job = await press.render("pdf", pack_pdfs([page, page]), "pdf", options={"page_numbers": True})
        merged = await bytes_of(press, (await press.wait(job, timeout=60))["artifact"])
        assert (await press.preview("pdf", merged, "txt")).data == b"Ready\n1 / 2\x0cReady\n2 / 2"


async def test_the_same_input_in_flight_is_joined(database: str) -> None:
    async with Pressroom(database, workers=None) as press:
        first = await press.render("dot", "digraph { a }", "svg")
        second = await press.render("dot", "digraph { a }", "svg")
    assert (second.answer, second.uid) == (Answer.JOINED, first.uid)


async def test_a_new_version_of_an_engine_renders_again(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Pressroom(database, workers=1) as press:
        await press.wait(await press.render("dot", "digraph { a }", "svg"), timeout=60)
        monkeypatch.setattr(Graphviz, "edition", "2")
        job = await press.render("dot", "digraph { a }", "svg")
    assert (job.answer, job.differs) == (Answer.NEW, ["engines"])


async def test_a_wrong_source_fails_once_with_its_place(database: str) -> None:
    async with Pressroom(database, workers=1) as press:
        job = await press.render("dot", "digraph {\n  a -> \n}", "svg")
        with pytest.raises(JobFailed) as caught:
            await press.wait(job, timeout=60)
        assert caught.value.error["code"] == "source_invalid"
        assert caught.value.error["line"] == 3
        assert (await press.get(job)).failures == 1
        again = await press.render("dot", "digraph {\n  a -> \n}", "svg")
        assert again.answer is Answer.NEW  # failures are not cached


async def test_what_cannot_be_rendered_is_refused_before_it_is_queued(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Pressroom(database, workers=None) as press:
        with pytest.raises(InvalidArgument, match="there is no language"):
            await press.render("cobol", "x", "svg")
        with pytest.raises(InvalidArgument, match="`colour`"):
            await press.render("dot", "digraph {}", "svg", options={"colour": "red"})
        with pytest.raises(TooLarge):
            await press.render("dot", "x" * 2_000_000, "svg")
        assert (await press.list()).jobs == []
        monkeypatch.setattr(Graphviz, "missing", classmethod(lambda cls: Missing("no wheel", "pip install it")))
        with pytest.raises(EngineMissing, match="pip install it"):
            await press.preview("dot", "digraph {}", "svg")


async def test_a_missing_engine_fails_its_job_with_the_command_that_mends_it(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Graphviz, "missing", classmethod(lambda cls: Missing("no wheel", "pip install it")))
    async with Pressroom(database, workers=1) as press:
        with pytest.raises(JobFailed, match="to mend it: pip install it"):
            await press.wait(await press.render("dot", "digraph { a }", "svg"), timeout=60)


async def test_a_preview_leaves_nothing_behind(database: str, tmp_path: Path) -> None:
    async with Pressroom(database, workers=1) as press:
        assert b"<em>now</em>" in (await press.preview("markdown", "*now*", "html")).data
        assert (await press.list()).jobs == []
    assert not any(name.endswith(".artifacts") for name in os.listdir(tmp_path))


@pytest.mark.parametrize("source", ["x" * 700_000, "nul \0 inside", b"not \xff UTF-8"])
async def test_sources_that_no_payload_can_carry_travel_all_the_same(database: str, source: str | bytes) -> None:
    async with Pressroom(database, workers=1) as press:
        job = await press.render("html", f"<p>{source}" if isinstance(source, str) else source, "pdf", tier=Tier.INTERACTIVE)
        ended = await press.wait_until_ended(job, timeout=60)
        assert (ended.status, ended.last_error) == (
            ("failed", "the source is not UTF-8: byte 0xff at offset 4") if isinstance(source, bytes) else ("completed", None)
        )
        assert "source_artifact" in ended.payload
        if ended.status == "failed":
            retried = await press.wait_until_ended(await press.retry(job), timeout=60)
            assert retried.last_error == ended.last_error  # it found its source again


async def test_a_long_source_that_is_answered_from_the_cache_is_not_kept_twice(database: str) -> None:
    async with Pressroom(database, workers=1) as press:
        source = "<p>" + "y" * 700_000
        await press.wait(await press.render("html", source, "pdf"), timeout=60)
        assert (await press.render("html", source, "pdf")).answer is Answer.HIT
        assert len(artifacts(press)) == 2  # the source and the document
    assert looking.rows(database, "SELECT count(*) FROM short_link") == [(1,)], "a source is found through its job alone"


async def test_a_long_source_that_takes_the_place_of_one_that_waits_is_kept_too(database: str) -> None:
    async with Pressroom(database, workers=1) as press:
        await press.pause("render")
        await press.render("html", "<p>" + "a" * 700_000, "pdf", key="page")
        newer = await press.render("html", "<p>" + "b" * 700_000, "pdf", key="page")
        await press.resume("render")
        ended = await press.wait_until_ended(newer, timeout=60)
    assert (newer.answer, ended.status, ended.last_error) == (Answer.COALESCED, "completed", None)


async def test_a_link_that_was_looked_up_a_moment_ago_ends_in_time_all_the_same(file: str) -> None:
    clock = ManualClock()
    async with Pressroom(file, workers=1, clock=clock, cache_ttl=3600, cleanup_interval=3600) as press:
        result = await press.wait(await press.render("markdown", "# x", "html"), timeout=60)
        clock.advance(seconds=3599.5)
        _, left = await press.rendering.find_by_link(result["short_link"])
        assert left == 500
        clock.advance(seconds=0.499)
        assert (await press.rendering.find_by_link(result["short_link"]))[1] == 1
        clock.advance(seconds=0.001)
        with pytest.raises(NotFound, match="expired"):
            await press.rendering.find_by_link(result["short_link"])


async def test_input_and_output_expire_together_and_the_bytes_go(database: str, tmp_path: Path) -> None:
    """I2, X13: one expiry for the cache entry, the link and the artifact."""
    clock = ManualClock()
    async with Pressroom(database, workers=1, clock=clock, cache_ttl=3600, cleanup_interval=3600) as press:
        result = await press.wait(await press.render("markdown", "# x", "html"), timeout=60)
        clock.advance(seconds=3601)
        with pytest.raises(NotFound, match="expired") as caught:
            await press.artifact(result["short_link"])
        assert caught.value.code == "expired"
        assert (await press.render("markdown", "# x", "html")).answer is Answer.NEW


async def test_what_a_job_refers_to_is_never_collected(database: str) -> None:
    clock = ManualClock()
    async with Pressroom(database, workers=1, clock=clock) as press:
        result = await press.wait(await press.render("markdown", "# x", "html"), timeout=60)
        clock.advance(seconds=6 * 24 * 3600)
        await collect_garbage(press.rendering.blobs, press.rendering.database, grace=0)
        await collect_garbage(press.rendering.blobs, press.rendering.database, grace=0)
        assert await bytes_of(press, result["artifact"])
        assert await fsck(press.rendering.blobs, press.rendering.database) == []


async def test_a_crash_between_the_bytes_and_the_transaction_leaves_nothing_visible(database: str) -> None:
    """Decision 3: either nothing is visible, or everything."""
    async with Pressroom(database, workers=1, lease=1, poll_interval=0.05) as press:
        failpoints.arm("handler.returned=raise@1")
        result = await press.wait(await press.render("markdown", "# x", "html"), timeout=60)
        assert await bytes_of(press, result["artifact"])
        assert len(artifacts(press)) == 1


def artifacts(press: Pressroom) -> list[Any]:
    return looking.rows(press.settings.database, "SELECT uid FROM artifact")


async def is_running(press: Pressroom, job: Submitted) -> bool:
    return (await press.get(job)).status == "in_progress"


async def test_cancelling_a_render_frees_its_press(database: str, eventually: Callable[..., Any]) -> None:
    async with Pressroom(database, workers=1) as press:
        await press.wait(await press.render("dot", "graph { a }", "svg"), timeout=60)
        dense = "graph { " + " ".join(f"n{a} -- n{b};" for a in range(120) for b in range(a)) + " }"
        job = await press.render("dot", dense, "svg")
        await eventually(partial(is_running, press, job))
        await press.cancel(job)
        assert (await press.wait_until_ended(job, timeout=60)).status == "cancelled"
        await press.wait(await press.render("dot", "graph { b }", "svg"), timeout=60)


async def test_an_application_may_have_its_own_kind_of_that_name(database: str) -> None:
    from pressroom import kind

    @kind("render")
    async def render(job: Any, payload: Any) -> str:
        return "mine"

    async with Pressroom(database, kinds=[render], apps=BUILT_IN, workers=1) as press:
        assert await press.wait(await press.submit("render"), timeout=60) == "mine"
        with pytest.raises(InvalidArgument, match="its own kind"):
            await press.render("markdown", "x", "html")


async def test_a_database_in_memory_keeps_its_artifacts_as_long_as_it_lives() -> None:
    async with Pressroom("sqlite:///:memory:", workers=1) as press:
        result = await press.wait(await press.render("markdown", "# x", "html"), timeout=60)
        assert await bytes_of(press, result["artifact"])
        folder = press.artifact_store._temporary
        assert folder is not None
        assert os.listdir(folder.name)
    with pytest.raises(FileNotFoundError):
        os.listdir(folder.name)
