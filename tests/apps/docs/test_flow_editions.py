"""Editions moved by people (Q25, Q26), rolled back, deleted and restored; what is outside follows (D28, D29, D34, D35)."""

import asyncio
from typing import Any

import pytest

from pressroom.apps.docs.errors import BuildInUse, BuildNotFound, BuildNotUsable, EditionNotFound, MainEditionStays, SlugTaken
from pressroom.apps.docs.model import BuildStatus, EditionKind, PublishStatus, TrackingMode, TrackingParams
from pressroom.apps.docs.requests import EditionChanges, EditionDraft, Rollback
from pressroom.errors import InvalidArgument
from pressroom.model import Job, Status, Submitted
from tests.apps.docs.flow_stage import SITE, DocsFlow, PublisherDouble, archive_of, docs_flow

SECOND = SITE | {"index.html": b"second"}
THIRD = SITE | {"index.html": b"third"}
PLACE = ("acme", "guide")


async def ended(flow: DocsFlow, submitted: Submitted | None) -> Job:
    assert submitted is not None
    return await flow.press.wait_until_ended(submitted.uid, timeout=120)


async def all_ended(flow: DocsFlow) -> None:
    """Jobs that operations submitted beside their answer."""
    for job in (await flow.press.list(limit=500)).jobs:
        await flow.press.wait_until_ended(job, timeout=120)


async def triggers(flow: DocsFlow, slug: str = "__main") -> list[tuple[str, str, int]]:
    lines = await flow.app.editions.list_history(*PLACE, slug)
    return [(line.entry.build, line.entry.trigger, line.entry.seq) for line in lines]


async def test_a_patch_moves_an_edition_to_any_build_of_its_project(database: str) -> None:
    """Q25, Q26: one job with the phases editions and dashboard; whatever the edition tracks."""
    async with docs_flow(database) as flow:
        outside = PublisherDouble().use(flow)
        first, _ = await flow.process(SITE)
        other, _ = await flow.process(SECOND, "dev")
        edition, submitted = await flow.app.editions.change(*PLACE, "__main", EditionChanges(build=other.uid), actor="anna")
        job = await ended(flow, submitted)
        assert (edition.build, job.status, job.kind) == (first.uid, Status.COMPLETED, "docs.edition_update")
        assert (job.project_id, job.build_id, job.org_id) == (flow.project.id, other.uid, "acme")
        phases = [event.data["phase"] for event in await flow.press.history(job) if event.type == "phase"]
        assert phases == ["editions", "dashboard"]
        assert await triggers(flow) == [(other.uid, "patch", 2), (first.uid, "build", 1)]
        assert outside.shown["__main"] == (2, other.uid)
        line = (await flow.app.editions.list_history(*PLACE, "__main"))[0]
        assert (line.entry.actor, line.entry.job_uid, line.git_ref) == ("anna", job.uid, "dev")


async def test_a_rollback_goes_to_a_build_of_the_history_and_stays_there(database: str) -> None:
    async with docs_flow(database) as flow:
        first, _ = await flow.process(SITE)
        second, _ = await flow.process(SECOND)
        other, _ = await flow.process(THIRD, "dev")
        with pytest.raises(BuildNotFound):
            await flow.app.editions.roll_back(*PLACE, "__main", Rollback(build=other.uid), actor="anna")
        job = await ended(flow, await flow.app.editions.roll_back(*PLACE, "__main", Rollback(build=first.uid), actor="anna"))
        assert job.status is Status.COMPLETED
        edition = await flow.edition()
        assert (edition.build, edition.pinned) == (first.uid, True)
        third, job = await flow.process(SITE | {"index.html": b"third of main"})
        assert job.status is Status.COMPLETED
        assert (await flow.edition()).build == first.uid
        assert [one["slug"] for one in job.result["editions_skipped"]] == ["__main"]
        await flow.app.editions.change(*PLACE, "__main", EditionChanges(pinned=False), actor="anna")
        fourth, _ = await flow.process(SITE | {"index.html": b"fourth of main"})
        assert (await flow.edition()).build == fourth.uid
        del second, third


async def test_a_build_can_be_in_a_history_twice(database: str) -> None:
    """D28, D35: the status of publishing lands on the newest entry, and no entry is numbered anew."""
    async with docs_flow(database) as flow:
        outside = PublisherDouble().use(flow)
        first, _ = await flow.process(SITE)
        second, _ = await flow.process(SECOND)
        outside.broken.add("__main")
        rollback = Rollback(build=first.uid, pinned=False)
        job = await ended(flow, await flow.app.editions.roll_back(*PLACE, "__main", rollback, actor="anna"))
        assert (job.status, job.attempts) == (Status.FAILED, 3)
        lines = await flow.app.editions.list_history(*PLACE, "__main")
        assert [(line.entry.seq, line.entry.build, line.entry.publish_status) for line in lines] == [
            (3, first.uid, PublishStatus.FAILED),
            (2, second.uid, PublishStatus.PUBLISHED),
            (1, first.uid, PublishStatus.PUBLISHED),
        ]
        assert (await flow.edition()).publish_status is PublishStatus.FAILED
        outside.broken.clear()  # what lags behind can be published again at any time
        assert await flow.app.publishing.publish_again(flow.app.core.database, (await flow.edition()).id)
        assert outside.shown["__main"] == (3, first.uid)
        assert (await flow.edition()).publish_status is PublishStatus.PUBLISHED


async def test_moves_of_one_edition_line_up(database: str) -> None:
    async with docs_flow(database, workers=4) as flow:
        outside = PublisherDouble().use(flow)
        builds = [(await flow.process(SITE | {"n.txt": str(n).encode()}, f"ref-{n}"))[0] for n in range(3)]
        changes = [EditionChanges(build=build.uid) for build in builds]
        moves = [(await flow.app.editions.change(*PLACE, "__main", change, actor="a"))[1] for change in changes]
        for move in moves:
            assert (await ended(flow, move)).status is Status.COMPLETED
        assert await flow.history() == [build.uid for build in reversed(builds)]
        assert outside.shown["__main"] == (3, builds[-1].uid)


@pytest.mark.parametrize("state", ["pending", "failed", "deleted", "of another project"])
async def test_an_edition_shows_completed_builds_of_its_project_alone(database: str, state: str) -> None:
    async with docs_flow(database) as flow:
        shown, _ = await flow.process(SITE)
        expected: type[Exception] = BuildNotUsable
        match state:
            case "pending":
                build = (await flow.announce(archive_of(SECOND))).build
            case "failed":
                build, _ = await flow.process(b"no archive", "dev")
            case "deleted":
                build, _ = await flow.process(SECOND)
                rollback = Rollback(build=shown.uid)
                await ended(flow, await flow.app.editions.roll_back(*PLACE, "__main", rollback, actor="anna"))
                await flow.app.builds.delete(*PLACE, build.uid, actor="anna")
                with pytest.raises(BuildNotUsable):
                    await flow.app.editions.roll_back(*PLACE, "__main", Rollback(build=build.uid), actor="anna")
            case _:
                build, expected = shown, BuildNotFound
                flow.project = await flow.app.projects.create("acme", _project("other"))
                build, _ = await flow.process(SITE)
        with pytest.raises(expected):
            await flow.app.editions.change(*PLACE, "__main", EditionChanges(build=build.uid), actor="anna")
        assert (await flow.app.editions.get(*PLACE, "__main")).build == shown.uid


def _project(slug: str) -> Any:
    from pressroom.apps.docs.requests import ProjectDraft

    return ProjectDraft(slug=slug)


async def test_a_build_that_was_deleted_before_its_move_is_not_shown(database: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        async with docs_flow(database) as working:
            shown, _ = await working.process(SITE)
            build, _ = await working.process(SECOND, "dev")
            await working.app.editions.delete(*PLACE, "dev", actor="anna")
            await all_ended(working)
        _, submitted = await flow.app.editions.change(*PLACE, "__main", EditionChanges(build=build.uid), actor="anna")
        await flow.app.builds.delete(*PLACE, build.uid, actor="anna")
        async with docs_flow(database) as working:
            job = await ended(working, submitted)
            assert (job.status, job.attempts, job.errors[-1]["code"]) == (Status.FAILED, 1, "build_not_usable")
            assert (await working.edition()).build == shown.uid


async def test_what_a_cancelled_job_was_publishing_has_failed(database: str, eventually: Any) -> None:
    """D29: the build and its editions follow the job, whatever ended it."""
    async with docs_flow(database, workers=1) as flow:
        outside = PublisherDouble().use(flow)
        outside.let_go.clear()
        build = await flow.submit(SITE)
        await outside.reached.wait()
        assert (await flow.edition()).publish_status is PublishStatus.PUBLISHING
        assert build.job_uid is not None
        await flow.press.cancel(build.job_uid)
        build, job = await flow.ended(build)
        assert job.status is Status.CANCELLED
        assert build.status is BuildStatus.FAILED
        edition = await flow.edition()
        assert (edition.build, edition.publish_status) == (build.uid, PublishStatus.FAILED)
        outside.let_go.set()
        assert await flow.app.publishing.publish_again(flow.app.core.database, edition.id)
        assert (await flow.edition()).publish_status is PublishStatus.PUBLISHED


async def test_a_job_that_is_cancelled_before_it_runs_fails_its_build(database: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        build = await flow.submit(SITE)
        assert build.job_uid is not None
        await flow.press.cancel(build.job_uid)
        build = await flow.build(build.uid)
        assert build.status is BuildStatus.FAILED
        assert build.error is not None
        assert build.error["code"] == "cancelled"


async def test_a_deleted_edition_disappears_outside_and_comes_back(database: str) -> None:
    async with docs_flow(database) as flow:
        outside = PublisherDouble().use(flow)
        build, _ = await flow.process(SITE, "feature")
        await flow.app.editions.delete(*PLACE, "feature", actor="anna", reason="merged")
        await all_ended(flow)
        assert outside.shown["feature"] == (2, None)
        with pytest.raises(EditionNotFound):
            await flow.edition("feature")
        (entry,) = await flow.app.purgatory.list("acme")
        assert (entry.what, entry.name, entry.reason, entry.actor) == ("edition", "feature", "merged", "anna")
        await flow.app.purgatory.restore("acme", entry.id.lower(), actor="ben")
        await all_ended(flow)
        assert outside.shown["feature"] == (3, build.uid)
        assert (await flow.edition("feature")).publish_status is PublishStatus.PUBLISHED
        assert await triggers(flow, "feature") == [(build.uid, "restore", 3), (build.uid, "build", 1)]


async def test_an_edition_cannot_come_back_where_another_one_has_its_slug(database: str) -> None:
    async with docs_flow(database) as flow:
        await flow.process(SITE, "feature")
        await flow.app.editions.delete(*PLACE, "feature", actor="anna")
        await flow.process(SECOND, "feature")
        (entry,) = await flow.app.purgatory.list("acme")
        with pytest.raises(SlugTaken):
            await flow.app.purgatory.restore("acme", entry.id, actor="anna")
        assert len(await flow.app.purgatory.list("acme")) == 1


async def test_the_editions_of_a_deleted_project_disappear_outside(database: str) -> None:
    """D34: each has a number of its own that lags behind until that is done, so that nothing is orphaned by a failure."""
    async with docs_flow(database) as flow:
        outside = PublisherDouble().use(flow)
        await flow.process(SITE, "v1.2.0")
        outside.broken.add("1.2")
        await flow.app.projects.delete(*PLACE, actor="anna")
        await all_ended(flow)
        assert {slug: build for slug, (_, build) in outside.shown.items() if slug != "1.2"} == {"1": None, "v1.2.0": None}
        assert outside.shown["1.2"][1] is not None
        lagging = await flow.rows("SELECT slug FROM docs_edition WHERE published_seq < publish_seq")
        assert lagging == [("1.2",)]
        outside.broken.clear()
        (entry,) = await flow.app.purgatory.list("acme")
        await flow.app.purgatory.restore("acme", entry.id, actor="anna")
        await all_ended(flow)
        assert all(build is not None for _, build in outside.shown.values())
        assert await flow.rows("SELECT slug FROM docs_edition WHERE published_seq < publish_seq") == []


async def test_main_stays(database: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        with pytest.raises(MainEditionStays):
            await flow.app.editions.delete(*PLACE, "__main", actor="anna")
        with pytest.raises(MainEditionStays):
            await flow.app.editions.change(*PLACE, "__main", EditionChanges(kind=EditionKind.DRAFT), actor="anna")


async def test_a_build_that_is_shown_cannot_be_deleted(database: str) -> None:
    async with docs_flow(database) as flow:
        build, _ = await flow.process(SITE)
        with pytest.raises(BuildInUse, match="__main"):
            await flow.app.builds.delete(*PLACE, build.uid, actor="anna")


async def test_editions_are_created_by_people_too(database: str) -> None:
    """A slug that another edition has in another case is taken; an edition of mode manual moves by hand alone."""
    async with docs_flow(database) as flow:
        manual = EditionDraft(slug="Stable", tracking_mode=TrackingMode.MANUAL, kind=EditionKind.RELEASE)
        created = await flow.app.editions.create(*PLACE, manual)
        assert (created.title, created.build) == ("Stable", None)
        with pytest.raises(SlugTaken):
            await flow.app.editions.create(*PLACE, EditionDraft(slug="stable", tracking_mode=TrackingMode.MANUAL))
        follows = EditionDraft(slug="next", tracking_params=TrackingParams(git_ref="main"), pinned=True)
        await flow.app.editions.create(*PLACE, follows)
        build, _ = await flow.process(SITE)
        assert [(await flow.edition(slug)).build for slug in ("__main", "Stable", "next")] == [build.uid, None, None]
        assert [edition.slug for edition in await flow.app.editions.list(*PLACE)] == ["__main", "Stable", "next"]


@pytest.mark.parametrize(
    "draft",
    [
        EditionDraft(slug="main", kind=EditionKind.MAIN, tracking_params=TrackingParams(git_ref="main")),
        EditionDraft(slug="__x", tracking_mode=TrackingMode.MANUAL),
        EditionDraft(slug="a/b", tracking_mode=TrackingMode.MANUAL),
        EditionDraft(slug="x" * 129, tracking_mode=TrackingMode.MANUAL),
        EditionDraft(slug="no-ref"),
        EditionDraft(slug="both", tracking_params=TrackingParams(git_ref="main", major_version=1)),
        EditionDraft(slug="odd", tracking_params=TrackingParams(git_ref="--upload-pack=x")),
        EditionDraft(slug="odd", tracking_mode=TrackingMode.SEMVER_MAJOR, tracking_params=TrackingParams(major_version=-1)),
        EditionDraft(slug="odd", title="x\x00", tracking_mode=TrackingMode.MANUAL),
    ],
)
async def test_an_edition_that_cannot_be_is_refused(file: str, draft: EditionDraft) -> None:
    async with docs_flow(file, workers=None) as flow:
        with pytest.raises(InvalidArgument):
            await flow.app.editions.create(*PLACE, draft)


async def test_many_editions_are_moved_at_once(database: str) -> None:
    """Q22: in parallel, and one that fails leaves the others alone."""
    async with docs_flow(database) as flow:
        outside = PublisherDouble().use(flow)
        for number in range(20):
            draft = EditionDraft(slug=f"copy-{number}", tracking_params=TrackingParams(git_ref="main"))
            await flow.app.editions.create(*PLACE, draft)
        outside.broken |= {"copy-3", "copy-7"}
        outside.let_go.clear()
        build = await flow.submit(SITE)
        await outside.reached.wait()
        await asyncio.sleep(0)
        outside.let_go.set()
        build, job = await flow.ended(build)
        assert job.status is Status.COMPLETED_WITH_ERRORS
        assert {one["slug"] for one in job.result["editions_failed"]} == {"copy-3", "copy-7"}
        assert len(job.result["editions_published"]) == 19
