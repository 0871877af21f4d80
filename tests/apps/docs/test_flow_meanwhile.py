"""What happens while a build is processed: its build, its project or its edition is deleted, a cleanup runs."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pressroom import failpoints
from pressroom.apps.docs.model import BuildStatus, TrackingMode
from pressroom.apps.docs.periodic import purgatory_cleanup
from pressroom.apps.docs.publishing import Publication
from pressroom.apps.docs.requests import EditionDraft
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import purgatory
from pressroom.apps.docs.uploads import leftovers
from pressroom.ids import new_uid
from pressroom.model import Status, Work
from tests.apps.docs.flow_stage import SITE, DocsFlow, PublisherDouble, archive_of, docs_flow, in_chunks

MORE = SITE | {"index.html": b"<h1>Guide, second edition</h1>"}


async def clean_up(flow: DocsFlow) -> dict[str, int]:
    job = await flow.press.submit(purgatory_cleanup.NAME, {}, key=purgatory_cleanup.NAME)
    return dict((await flow.press.wait_until_ended(job, timeout=120)).result)


async def purge_all(flow: DocsFlow) -> None:
    for entry in await flow.app.purgatory.list("acme"):
        await flow.app.core.database.run(partial(purgatory.purge, entry), name="purge")


async def test_a_build_that_is_deleted_during_its_inventory_keeps_nothing_when_it_is_purged(
    database: str, tmp_path: Path, eventually: Callable[..., Any]
) -> None:
    """Its artifact was held for ever."""
    go_on = tmp_path / "go-on"
    async with docs_flow(database) as flow:
        failpoints.arm(f"blob.renamed=wait:{go_on}@1")
        build = await flow.submit(SITE)
        job = str(build.job_uid)

        async def cataloging() -> bool:
            return "Cataloging" in str((await flow.press.get(job)).progress)

        try:
            await eventually(cataloging)
            await flow.app.builds.delete("acme", "guide", build.uid, actor="anna")
        finally:
            go_on.touch()
        assert (await flow.press.wait_until_ended(job, timeout=120)).status is Status.COMPLETED
        assert (await flow.edition()).build is None
        assert await flow.rows("SELECT count(*) FROM artifact_hold WHERE holder LIKE 'docs:build:%'") == [(1,)]

        await purge_all(flow)

        assert await flow.rows("SELECT count(*) FROM artifact_hold WHERE holder LIKE 'docs:build:%'") == [(0,)]


async def test_a_project_that_is_deleted_while_a_build_is_tracked_shows_it_nowhere(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with docs_flow(database, workers=1) as flow:
        outside = PublisherDouble().use(flow)
        processing = flow.app.build_processing
        track = processing._track

        async def track_and_delete(*arguments: Any) -> Any:
            tracked = await track(*arguments)
            await flow.app.projects.delete("acme", "guide", actor="anna")
            return tracked

        monkeypatch.setattr(processing, "_track", track_and_delete)
        build = await flow.submit(SITE)
        job = await flow.press.wait_until_ended(str(build.job_uid), timeout=120)

        assert job.status is Status.COMPLETED, job.errors
        assert [skipped["reason"] for skipped in job.result["editions_skipped"]] == ["the project was deleted meanwhile"]
        assert [call for call in outside.calls if call[1] is not None] == []
        assert outside.dashboards in ([], [{}])


async def test_a_deleted_project_is_taken_away_some_editions_at_a_time(database: str, eventually: Callable[..., Any]) -> None:
    """All at once, they had thousands of files open and in memory in copy mode."""
    async with docs_flow(database, workers=4) as flow:
        outside = PublisherDouble().use(flow)
        for ref in ("v1.0.0", "a", "b", "c"):
            await flow.process(SITE, ref)
        running: list[str] = []
        publish = outside.publish

        async def counted(publication: Publication) -> None:
            running.append(publication.edition.slug)
            await publish(publication)

        outside.publish = counted  # type: ignore[method-assign]
        outside.let_go.clear()
        await flow.app.projects.delete("acme", "guide", actor="anna")
        await eventually(lambda: len(running) >= 4)
        assert len(running) == 4
        outside.let_go.set()
        await eventually(lambda: len(running) == 6)


async def test_d27_the_same_content_brings_a_deleted_edition_back(database: str) -> None:
    """D27: the build is there, but its edition is not. A branch was deleted and is pushed again."""
    async with docs_flow(database) as flow:
        await flow.process(SITE, "feature")
        await flow.app.editions.delete("acme", "guide", "feature", actor="anna")

        build, job = await flow.process(SITE, "feature")

        assert job.status is Status.COMPLETED
        assert (await flow.edition("feature")).build == build.uid
        assert (await flow.announce(archive_of(SITE), "feature")).upload_url is None


async def test_q35_the_same_content_is_taken_again_after_an_edition_failed(database: str) -> None:
    async with docs_flow(database) as flow:
        outside = PublisherDouble().use(flow)
        outside.broken.add("2.1")
        _, job = await flow.process(SITE, "v2.1.0")
        assert job.status is Status.COMPLETED_WITH_ERRORS
        outside.broken.clear()

        build, job = await flow.process(SITE, "v2.1.0")

        assert job.status is Status.COMPLETED, job.errors
        assert outside.shown["2.1"][1] == build.uid


async def test_the_content_before_a_failed_build_is_taken_again(database: str) -> None:
    """The failed one is what the edition shows: only publishing it has failed."""
    async with docs_flow(database) as flow:
        outside = PublisherDouble().use(flow)
        await flow.process(SITE)
        await flow.process(b"no archive")
        assert (await flow.announce(archive_of(SITE))).upload_url is None
        outside.broken.add("*")
        failed, job = await flow.process(MORE)
        assert (job.status, (await flow.edition()).build) == (Status.FAILED, failed.uid)
        outside.broken.clear()

        build, _ = await flow.process(SITE)

        assert outside.shown["__main"][1] == build.uid


async def test_a_cleanup_leaves_a_build_alone_whose_upload_has_just_come(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was pending when the cleanup looked, and is processed when that comes to it."""
    async with docs_flow(database, workers=4) as flow:
        outside = PublisherDouble().use(flow)
        outside.let_go.clear()
        build = await flow.submit(SITE)
        await outside.reached.wait()
        answers = [[build.uid], []]

        def looked_up(_: int) -> Work[list[str]]:
            yield from ()
            return answers.pop(0)

        monkeypatch.setattr(purgatory_cleanup, "list_abandoned_builds", looked_up)
        assert (await clean_up(flow))["uploads"] == 0
        assert (await flow.build(build.uid)).status is BuildStatus.PROCESSING
        outside.let_go.set()
        build, job = await flow.ended(build)
        assert (build.status, job.status) == (BuildStatus.COMPLETED, Status.COMPLETED)


async def test_the_cleanup_deletes_uploads_that_nothing_reads_any_more(database: str) -> None:
    """They stayed for ever: of jobs that were cancelled or timed out, and what was uploaded again too late."""
    async with docs_flow(database) as flow:
        uid, young = new_uid(), new_uid()
        for one in (uid, young):
            await flow.app.staging.receive(one, in_chunks(b"x"), 100)
        folder = (await flow.app.core.rendering.blobs.open_staging())._folder  # type: ignore[attr-defined]
        past = os.stat(folder).st_mtime - leftovers.KEPT - 60
        os.utime(folder / f"{uid}.tar.gz", (past, past))

        assert (await clean_up(flow))["uploads"] == 1

        assert await flow.app.staging.size(uid) is None
        assert await flow.app.staging.size(young) == 1


async def test_an_upload_that_a_larger_one_has_replaced_is_not_read(database: str) -> None:
    """A presigned address works until it expires."""
    settings = DocsSettings(max_upload=10_000)
    async with docs_flow(database, workers=None, settings=settings) as flow:
        build = await flow.submit(SITE)
        await flow.app.staging.receive(build.uid, in_chunks(bytes(20_000)), 50_000)
    async with docs_flow(database, settings=settings) as flow:
        build, job = await flow.ended(await flow.build(build.uid))
        assert (build.status, job.errors[-1]["code"]) == (BuildStatus.FAILED, "too_large")
        assert await flow.app.staging.size(build.uid) is None


async def test_a_purged_build_is_counted_no_more(database: str) -> None:
    async with docs_flow(database) as flow:
        first, _ = await flow.process(SITE)
        await flow.process(MORE)
        await flow.app.builds.delete("acme", "guide", first.uid, actor="anna")
        assert (await flow.app.projects.measure("acme", "guide")).builds == 2
        await purge_all(flow)

        stored = await flow.app.projects.measure("acme", "guide")

        assert (stored.builds, stored.files) == (1, 3)


async def test_a_deleted_project_is_searched_no_more_until_it_is_restored(database: str) -> None:
    """Its texts went in one transaction when it was purged, while every other writer waited."""
    async with docs_flow(database) as flow:
        await flow.process(SITE)
        assert await flow.rows("SELECT count(*) FROM docs_page_text") == [(2,)]
        await flow.app.projects.delete("acme", "guide", actor="anna")

        await flow.app.search.catch_up()
        assert await flow.rows("SELECT count(*) FROM docs_page_text") == [(0,)]

        (entry,) = await flow.app.purgatory.list("acme")
        await flow.app.purgatory.restore("acme", entry.id, actor="anna")
        await flow.app.search.catch_up()
        assert await flow.rows("SELECT count(*) FROM docs_page_text") == [(2,)]
        draft = EditionDraft(slug="again", tracking_mode=TrackingMode.MANUAL)
        await flow.app.editions.create("acme", "guide", draft)  # it is as any other project
