"""purgatory_cleanup (Q31, Q36): what was deleted long enough ago is purged, and ended jobs are pruned."""

from functools import partial
from pathlib import Path

import pytest

from pressroom.apps.docs.errors import PurgatoryEntryNotFound
from pressroom.apps.docs.model import BuildStatus
from pressroom.apps.docs.periodic import purgatory_cleanup
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import builds, purgatory
from pressroom.apps.docs.store.purgatory import Deleter
from pressroom.apps.docs.uploads import leftovers
from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.errors import NotFound
from pressroom.model import Status
from pressroom.testing import ManualClock
from tests import looking
from tests.apps.docs.flow_stage import DocsFlow, archive_of, docs_flow
from tests.apps.docs.pubs_stage import PubsStage, pubs_stage

KIND = "docs.purgatory_cleanup"
DAY = Deleter("test", "a test", 24 * 3600)


async def delete_drafts(stage: PubsStage, org: str, count: int) -> None:
    project = (await stage.app.projects.list(org))[0][0]
    for number in range(count):
        build = await stage.build(project, {"index.html": b"%d of " % number + org.encode(), "same.css": b"same"})
        await stage.move(project, f"draft-{number}", build, published=True)
        await stage.delete_edition(project, f"draft-{number}")

        def delete(uid: str = build.uid) -> object:
            found = yield from builds.get_build_by_uid(uid)
            return (yield from purgatory.delete_build(project, found, DAY))

        await stage.run(delete)


async def clean_up(flow: DocsFlow) -> dict[str, int]:
    job = await flow.press.submit(KIND, {}, key=KIND)
    return dict((await flow.press.wait_until_ended(job, timeout=60)).result)


async def test_q31_what_is_past_its_retention_is_purged_in_batches(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Q31: for each organisation, in batches; what is not due stays and can be restored."""
    monkeypatch.setattr(purgatory_cleanup, "ENTRIES_AT_ONCE", 3)
    clock = ManualClock()
    async with pubs_stage(database, clock=clock) as stage:
        for org in ("acme", "umbrella"):
            await stage.new_org(org)
            await stage.new_project(org=org)
            await delete_drafts(stage, org, 4)
        entry = (await stage.app.purgatory.list("acme"))[0]

        nothing = {"entries": 0, "objects": 0, "bytes": 0, "uploads": 0, "jobs": 0}
        assert (await stage.run_job(KIND)).result == nothing
        clock.advance(hours=2)  # editions are due (an hour), builds are not (a day)
        ended = await stage.run_job(KIND)
        assert (ended.status, ended.result["entries"], ended.result["objects"]) == (Status.COMPLETED, 8, 16)
        clock.advance(days=1)
        ended = await stage.run_job(KIND)
        assert ended.progress is not None
        assert (ended.result["entries"], ended.result["objects"]) == (8, 16)
        assert ended.result["bytes"] == sum(len(f"{n} of {org}same") for n in range(4) for org in ("acme", "umbrella"))
        assert ended.progress["message"].startswith(f"Purged 16 objects of {ended.result['bytes']:,} bytes")
        assert sorted(ended.progress["orgs_completed"]) == ["acme", "umbrella"]

        assert looking.rows(database, "SELECT count(*) FROM docs_purgatory") == [(0,)]
        assert looking.rows(database, "SELECT count(*) FROM artifact_hold WHERE holder LIKE 'docs:purgatory:%'") == [(0,)]
        with pytest.raises(PurgatoryEntryNotFound):
            await stage.app.purgatory.restore("acme", entry.id, actor="anna")


async def test_a_purged_project_takes_its_entries_along_and_its_bytes_are_collected(database: str) -> None:
    clock = ManualClock()
    async with pubs_stage(database, clock=clock) as stage:
        await stage.new_org()
        project = await stage.new_project()
        await delete_drafts(stage, "acme", 2)
        await stage.move(project, "1", await stage.build(project, {"index.html": b"one"}), published=True)
        await stage.run(partial(purgatory.delete_project, project, DAY))
        clock.advance(days=2)

        ended = await stage.run_job(KIND)

        assert ended.status is Status.COMPLETED
        assert [
            looking.rows(database, f"SELECT count(*) FROM docs_{table}") for table in ("purgatory", "project", "build")
        ] == [[(0,)]] * 3
        await collect_garbage(stage.press.rendering.blobs, stage.database)
        clock.advance(days=2)
        await collect_garbage(stage.press.rendering.blobs, stage.database)
        assert looking.rows(database, "SELECT count(*) FROM artifact_file") == [(0,)]


async def test_q31_builds_that_were_never_uploaded_fail_and_lose_their_staging(database: str, tmp_path: Path) -> None:
    clock = ManualClock()
    async with docs_flow(database, clock=clock, settings=DocsSettings(upload_ttl=60.0)) as flow:
        archive = archive_of({"index.html": b"one"})
        never, begun = await flow.announce(archive, "never"), await flow.upload(archive, "begun")
        staged = flow.app.staging
        assert await staged.size(begun.uid) == len(archive)
        clock.advance(seconds=60 * purgatory_cleanup.ABANDONED_AFTER - 1)
        fresh = await flow.announce(archive, "fresh")

        assert (await clean_up(flow))["uploads"] == 0
        clock.advance(seconds=2)
        assert (await clean_up(flow))["uploads"] == 2
        for uid in (never.build.uid, begun.uid):
            build = await flow.build(uid)
            assert build.status is BuildStatus.FAILED
            assert build.error is not None
            assert build.error["code"] == "upload_abandoned"
            assert await staged.size(uid) is None
        assert (await flow.build(fresh.build.uid)).status is BuildStatus.PENDING


async def test_a_build_whose_upload_is_announced_at_last_is_not_given_up(database: str) -> None:
    """Its archive was deleted if that came between the look at the list and the build itself."""
    async with docs_flow(database, workers=None) as flow:
        build = await flow.start(await flow.upload(archive_of({"index.html": b"one"}), "late"))

        is_given_up = await flow.app.core.database.run(
            partial(builds.abandon_build, build.uid, purgatory_cleanup.ABANDONED), name="docs"
        )

        assert not is_given_up
        assert (await flow.build(build.uid)).status is BuildStatus.PROCESSING


async def test_uploads_that_a_cancelled_build_left_are_deleted(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else deletes the archive of a build that was cancelled before a worker had it."""
    async with docs_flow(file, workers=None) as flow:
        cancelled = await flow.submit(archive_of({"index.html": b"x"}))
        assert cancelled.job_uid is not None
        await flow.press.cancel(cancelled.job_uid)
    async with docs_flow(file) as flow:
        assert (await clean_up(flow))["uploads"] == 0
        assert await flow.app.staging.size(cancelled.uid) is not None
        monkeypatch.setattr(leftovers, "KEPT", -60)

        assert (await clean_up(flow))["uploads"] == 1
        assert await flow.app.staging.size(cancelled.uid) is None


async def test_q36_ended_jobs_are_pruned_after_their_retention_and_are_gone(database: str) -> None:
    """Q36: seven days by default, a setting; then 404."""
    clock = ManualClock()
    assert DocsSettings().job_retention == 7 * 24 * 3600
    settings = DocsSettings(job_retention=3 * 24 * 3600.0)
    async with pubs_stage(database, clock=clock, settings=settings, cleanup_interval=1e6) as stage:
        await stage.new_org()
        old = [(await stage.run_job("docs.reconcile")).uid for _ in range(3)]
        clock.advance(days=2)
        young = (await stage.run_job("docs.reconcile")).uid
        assert (await stage.run_job(KIND)).result["jobs"] == 0
        clock.advance(days=1, seconds=1)

        ended = await stage.run_job(KIND)

        assert ended.progress is not None
        assert (ended.result["jobs"], ended.progress["message"][-10:]) == (3, "and 3 jobs")
        for uid in old:
            with pytest.raises(NotFound):
                await stage.press.get(uid)
        assert (await stage.press.get(young)).status is Status.COMPLETED


async def test_purgatory_of_a_tree_is_purged_too(file: str, tmp_path: Path) -> None:
    from pressroom.apps.docs.credentials.model import ServiceDraft

    clock = ManualClock()
    async with pubs_stage(file, clock=clock, settings=DocsSettings(publish_allow=(str(tmp_path),))) as stage:
        org = await stage.new_org()
        draft = ServiceDraft(label="sites", provider="folder", config={"path": str(tmp_path / "sites")})
        await stage.app.services.create("acme", draft, actor="anna")
        await stage.save_org(org, slots={"publishing_store": "sites"})
        project = await stage.new_project()
        await stage.move(project, "1", await stage.build(project, {"index.html": b"one", "a.html": b"old"}))
        await stage.run_job("docs.reconcile")
        await stage.move(project, "1", await stage.build(project, {"index.html": b"one"}))
        await stage.run_job("docs.reconcile")
        assert [path.name for path in (tmp_path / "sites/__purgatory").rglob("*.html")] == ["a.html"]

        assert (await stage.run_job(KIND)).result["objects"] == 0
        clock.advance(days=2)
        ended = await stage.run_job(KIND)

        assert (ended.result["objects"], ended.result["bytes"]) == (1, 3)
        assert not list((tmp_path / "sites/__purgatory").rglob("*.html"))
