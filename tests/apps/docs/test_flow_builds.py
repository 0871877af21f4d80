"""From an upload to editions (Q1, Q2, Q5 to Q12, Q19 to Q24, Q33, Q35), in one job."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pressroom import Pressroom, artifact_lifecycle, failpoints
from pressroom.app import database_schema
from pressroom.apps.docs.errors import BuildNotFound, NotUploaded
from pressroom.apps.docs.model import BuildStatus, PublishStatus
from pressroom.apps.docs.processing import links
from pressroom.apps.docs.requests import ProjectChanges, Rollback
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.uploads import leftovers
from pressroom.apps.docs.uploads.link_check import LinkReport, check_links
from pressroom.artifact_lifecycle import ScratchFile, store_files
from pressroom.artifacts import Blobs, key_of
from pressroom.backends import find_violations
from pressroom.errors import StoreUnavailable
from pressroom.ids import new_uid
from pressroom.model import Job, Status
from pressroom.store import Database
from pressroom.store.artifacts.artifacts import ArtifactFile
from tests.apps.docs.flow_stage import (
    SITE,
    DocsFlow,
    PublisherDouble,
    archive_of,
    capability_of,
    docs_flow,
    hash_of,
    in_chunks,
)

MORE = SITE | {"index.html": b"<h1>Guide, second edition</h1>"}


async def phases_of(flow: DocsFlow, job: Job) -> list[tuple[str, dict[str, Any]]]:
    return [(event.data["phase"], event.data) for event in await flow.press.history(job) if event.type == "phase"]


async def queue_job(flow: DocsFlow, job: Job) -> dict[str, Any]:
    """A row of the design's table (Q3)."""
    columns = "id, public_id, oban_job_id, kind, status, phase, org_id, project_id, build_id, progress, errors, date_created"
    ((*values,),) = await flow.rows(f"SELECT {columns} FROM queue_job WHERE public_id = :uid", uid=job.uid)
    row = dict(zip(columns.split(", "), values, strict=True))
    for name in ("progress", "errors"):
        row[name] = json.loads(row[name]) if isinstance(row[name], str) else row[name]
    return row


async def test_an_upload_becomes_what_its_edition_shows(database: str) -> None:
    """Q2: one operation is one job. Q6, Q7, Q11: its phases, each with a progress of its own. Q20: the inventory."""
    async with docs_flow(database) as flow:
        build, job = await flow.process(SITE)
        assert job.status is Status.COMPLETED, job.errors
        assert (build.status, build.number, build.object_count) == (BuildStatus.COMPLETED, 1, 3)
        assert build.total_size == sum(map(len, SITE.values()))
        edition = await flow.edition()
        assert (edition.build, edition.publish_status) == (build.uid, PublishStatus.PUBLISHED)
        assert await flow.read(build, "usage/index.html") == SITE["usage/index.html"]
        assert await flow.history() == [build.uid]
        files = await flow.app.builds.list_files(build)
        assert [(file.path, file.media_type) for file in files] == [
            ("_static/site.css", "text/css"),
            ("index.html", "text/html"),
            ("usage/index.html", "text/html"),
        ]
        assert await flow.rows("SELECT count(*) FROM job") == [(1,)]
        phases = await phases_of(flow, job)
        assert [phase for phase, _ in phases] == ["inventory", "tracking", "editions", "dashboard"]
        row = await queue_job(flow, job)
        assert (row["kind"], row["status"], row["phase"]) == ("build_processing", "completed", "dashboard")
        assert (row["org_id"], row["project_id"], row["build_id"]) == ("acme", flow.project.id, build.uid)
        assert row["errors"] in (None, [])
        assert await flow.app.dashboards.read(flow.project.id)
        assert await flow.app.staging.size(build.uid) is None


async def test_equal_files_are_stored_once(database: str) -> None:
    async with docs_flow(database) as flow:
        await flow.process(SITE)
        build, _ = await flow.process(MORE)
        stored = await flow.app.projects.measure("acme", "guide")
        assert (stored.builds, stored.files) == (2, 6)
        assert stored.stored_bytes == sum(map(len, SITE.values())) + len(MORE["index.html"])
        assert await flow.read(build, "index.html") == MORE["index.html"]


async def test_the_same_content_of_a_ref_need_not_be_uploaded_again(database: str) -> None:
    async with docs_flow(database) as flow:
        build, _ = await flow.process(SITE)
        again = await flow.announce(archive_of(SITE))
        assert (again.build.uid, again.upload_url) == (build.uid, None)
        assert (await flow.announce(archive_of(SITE), "dev")).upload_url is not None


async def test_the_progress_of_editions_is_that_of_the_design(database: str, eventually: Any) -> None:
    """Q7 to Q10, Q12, Q35: every slug is in progress first, and moves on its own; a failure is an object."""
    async with docs_flow(database, workers=1) as flow:
        outside = PublisherDouble().use(flow)
        outside.let_go.clear()
        outside.broken.add("2.1")
        build = await flow.submit(SITE, "v2.1.0")
        await outside.reached.wait()
        assert build.job_uid is not None
        job = await flow.press.get(build.job_uid)
        progress = (await queue_job(flow, job))["progress"]
        assert progress["editions_total"] == 3
        assert progress["editions_in_progress"] == ["2", "2.1", "v2.1.0"]
        assert progress["editions_completed"] == progress["editions_failed"] == []
        assert progress["editions_skipped"] == []
        assert "message" not in progress  # of the phase before (Q7)
        assert job.progress is not None
        assert job.progress["editions_in_progress"] == ["2", "2.1", "v2.1.0"]
        outside.let_go.set()
        build, job = await flow.ended(build)
        assert job.status is Status.COMPLETED_WITH_ERRORS
        items = [event.data for event in await flow.press.history(job) if event.type == "item"]
        assert {item["name"]: item["state"] for item in items} == {"2": "completed", "2.1": "failed", "v2.1.0": "completed"}
        assert job.result["editions_failed"] == [{"slug": "2.1", "error": "the KV does not answer"}]
        assert build.status is BuildStatus.COMPLETED
        assert build.error is not None
        assert build.error["editions"] == [{"slug": "2.1", "error": "the KV does not answer"}]
        failed, other = await flow.edition("2.1"), await flow.edition("2")
        assert (failed.publish_status, failed.publish_error) == (PublishStatus.FAILED, "the KV does not answer")
        assert other.publish_status is PublishStatus.PUBLISHED
        assert failed.build == other.build == build.uid


async def test_a_retry_publishes_what_failed(database: str) -> None:
    """Q35: fixable by a retry; Q23: the dashboard is rendered once a job."""
    async with docs_flow(database) as flow:
        outside = PublisherDouble().use(flow)
        outside.broken.add("2.1")
        build, job = await flow.process(SITE, "v2.1.0")
        assert job.status is Status.COMPLETED_WITH_ERRORS
        assert len(outside.dashboards) == 1
        outside.broken.clear()
        outside.calls.clear()
        again = await flow.press.retry(job)
        job = await flow.press.wait_until_ended(again.uid, timeout=120)
        assert job.status is Status.COMPLETED, job.errors
        assert [slug for slug, _, _ in outside.calls] == ["2.1"]
        assert (await flow.edition("2.1")).publish_status is PublishStatus.PUBLISHED
        assert await flow.history("2.1") == [build.uid]
        build = await flow.build(build.uid)
        assert (build.status, build.error) == (BuildStatus.COMPLETED, None)


async def test_all_editions_failing_is_a_failed_attempt(database: str) -> None:
    """Q33: up to three attempts, each from the start and with a progress of its own; what was done is not done again."""
    async with docs_flow(database, workers=1) as flow:
        outside = PublisherDouble().use(flow)
        outside.broken.add("*")
        build, job = await flow.process(SITE, "v2.1.0")
        assert (job.status, job.attempts) == (Status.FAILED, 3)
        assert len(outside.calls) == 9
        assert build.status is BuildStatus.FAILED
        assert build.error is not None
        assert build.error["message"] == "the KV does not answer"
        assert [phase for phase, _ in await phases_of(flow, job)] == ["inventory", "tracking", "editions"] * 3
        for slug in ("2", "2.1", "v2.1.0"):
            assert await flow.history(slug) == [build.uid]
            assert (await flow.edition(slug)).publish_status is PublishStatus.FAILED
        assert [alert.job for alert in await flow.press.alerts.list()] == [job.uid]
        outside.broken.clear()  # and a retry by hand makes it good
        job = await flow.press.wait_until_ended((await flow.press.retry(job)).uid, timeout=120)
        assert job.status is Status.COMPLETED, job.errors
        assert (await flow.build(build.uid)).status is BuildStatus.COMPLETED
        assert (await flow.edition("2")).publish_status is PublishStatus.PUBLISHED


@pytest.mark.deep
async def test_an_attempt_begins_where_the_one_before_it_ended(database: str) -> None:
    """Q33: idempotent at each step."""
    async with docs_flow(database, workers=1) as flow:
        for point in ("inventory.recorded", "tracking.done", "edition.moved", "edition.published"):
            failpoints.arm(f"{point}=raise@1")
            build, job = await flow.process(SITE | {"point.txt": point.encode()}, f"feature-{point.replace('.', '-')}")
            failpoints.disarm()
            assert (job.status, job.attempts) == (Status.COMPLETED, 2), (point, job.errors)
            assert build.status is BuildStatus.COMPLETED
            slug = f"feature-{point.replace('.', '-')}"
            assert await flow.history(slug) == [build.uid]
            edition = await flow.edition(slug)
            assert (edition.publish_status, edition.publish_seq) == (PublishStatus.PUBLISHED, 1)
            assert await flow.rows(
                "SELECT count(*) FROM artifact_hold WHERE holder = :holder", holder=f"docs:build:{build.uid}"
            ) == [(1,)]


async def test_builds_of_one_ref_are_processed_one_after_the_other(database: str) -> None:
    async with docs_flow(database, workers=4) as flow:
        outside = PublisherDouble().use(flow)
        outside.let_go.clear()
        first = await flow.submit(SITE)
        await outside.reached.wait()
        second = await flow.submit(MORE)
        other = await flow.submit(MORE, "dev")
        assert second.job_uid is not None
        assert (await flow.press.get(second.job_uid)).status is Status.QUEUED
        outside.let_go.set()
        for build in (first, second, other):
            assert (await flow.ended(build))[1].status is Status.COMPLETED
        assert await flow.history() == [second.uid, first.uid]
        assert outside.shown["__main"] == (2, second.uid)


@pytest.mark.deep
async def test_builds_of_several_refs_leave_a_stream_at_the_latest_version(database: str) -> None:
    """Fenced moves: whatever the order, an edition ends at the version that comes last."""
    async with docs_flow(database, workers=4) as flow:
        outside = PublisherDouble().use(flow)
        refs = ["v1.0.0", "v1.2.0", "v1.1.0", "v1.10.0", "v1.9.3"]
        builds = [await flow.submit(SITE | {"version.txt": ref.encode()}, ref) for ref in refs]
        ended = {ref: await flow.ended(build) for ref, build in zip(refs, builds, strict=True)}
        assert {job.status for _, job in ended.values()} == {Status.COMPLETED}
        latest = ended["v1.10.0"][0].uid
        assert (await flow.edition("1")).build == latest
        assert outside.shown["1"][1] == latest
        assert outside.shown["1.9"][1] == ended["v1.9.3"][0].uid


async def test_a_newer_build_that_was_never_uploaded_holds_nothing_up(database: str) -> None:
    """D23: only builds that were uploaded count, and numbers are given when an upload is complete."""
    async with docs_flow(database) as flow:
        first = await flow.upload(archive_of(SITE))
        await flow.announce(archive_of(MORE))
        build, job = await flow.ended(await flow.start(first))
        assert job.status is Status.COMPLETED
        assert (await flow.edition()).build == build.uid


async def test_alternates_move_their_own_editions_alone(database: str) -> None:
    """D24: a variant of a release is invisible to the editions that follow versions."""
    async with docs_flow(database) as flow:
        plain, _ = await flow.process(SITE, "v2.0.0")
        variant, job = await flow.process(MORE, "v2.0.0", alternate_name="dark")
        assert job.status is Status.COMPLETED
        assert (await flow.edition("2")).build == plain.uid
        assert (await flow.edition("dark--v2.0.0")).build == variant.uid


async def test_the_slug_of_a_deleted_edition_is_free_again(database: str) -> None:
    """D27."""
    async with docs_flow(database) as flow:
        outside = PublisherDouble().use(flow)
        await flow.process(SITE, "feature")
        first = await flow.edition("feature")
        await flow.app.editions.delete("acme", "guide", "Feature", actor="anna")
        build, job = await flow.process(MORE, "feature")
        assert job.status is Status.COMPLETED, job.errors
        again = await flow.edition("feature")
        assert (again.build, again.id == first.id) == (build.uid, False)
        del outside


async def test_a_start_before_the_upload_is_refused_and_one_after_another_is_the_same(database: str) -> None:
    """Q19: PATCH uploaded before the upload, and twice."""
    async with docs_flow(database, workers=None) as flow:
        announced = await flow.announce(archive_of(SITE))
        with pytest.raises(NotUploaded):
            await flow.start(announced.build)
        build = await flow.upload(archive_of(SITE))
        started, again = await asyncio.gather(flow.start(build), flow.start(build))
        assert started.job_uid == again.job_uid
        assert (await flow.start(build)).job_uid == started.job_uid
        assert await flow.rows("SELECT count(*) FROM job") == [(1,)]
        assert (await flow.build(build.uid)).status is BuildStatus.PROCESSING


async def test_a_build_and_its_job_begin_together_or_not_at_all(database: str) -> None:
    """D26."""
    async with docs_flow(database) as flow:
        build = await flow.upload(archive_of(SITE))
        failpoints.arm("submit.validated=raise@1")
        with pytest.raises(failpoints.FailpointHit):
            await flow.start(build)
        assert (await flow.build(build.uid)).status is BuildStatus.PENDING
        assert await flow.rows("SELECT count(*) FROM job") == [(0,)]
        assert (await flow.ended(await flow.start(build)))[1].status is Status.COMPLETED


@pytest.mark.parametrize(
    ("archive", "code", "words"),
    [
        (archive_of({"../x": b"x"}), "source_invalid", "'../x' leads out of the archive"),
        (archive_of(SITE)[:-30], "source_invalid", "ends too early"),
        (b"<html></html>", "source_invalid", "not gzip"),
        (archive_of({f"{number}": b"" for number in range(60)}), "source_invalid", "more than 50 files"),
    ],
)
async def test_an_archive_that_cannot_be_published_fails_its_build(
    database: str, archive: bytes, code: str, words: str
) -> None:
    """D31: nothing is published, the upload is deleted, and it is not tried again."""
    async with docs_flow(database, settings=DocsSettings(max_files=50)) as flow:
        build, job = await flow.process(archive)
        assert (job.status, job.attempts) == (Status.FAILED, 1)
        assert job.errors[-1]["code"] == code
        assert words in job.errors[-1]["message"]
        assert build.status is BuildStatus.FAILED
        assert build.error is not None
        assert words in build.error["message"]
        assert (await flow.edition()).build is None
        assert await flow.app.staging.size(build.uid) is None
        assert await flow.rows("SELECT count(*) FROM artifact") == [(0,)]


async def test_an_archive_with_another_hash_than_announced_is_refused(database: str) -> None:
    async with docs_flow(database) as flow:
        build, job = await flow.process(archive_of(SITE), content_hash=hash_of(b"something else"))
        assert (job.status, job.attempts, job.errors[-1]["code"]) == (Status.FAILED, 1, "hash_mismatch")
        assert build.status is BuildStatus.FAILED
        assert (await flow.edition()).build is None


async def test_an_upload_needs_its_capability(database: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        announced = await flow.announce(archive_of(SITE))
        assert announced.upload_url is not None
        capability = capability_of(announced.upload_url)
        for uid, asked in ((announced.build.uid, "wrong"), ("0" * 26, capability), ("nonsense", capability)):
            with pytest.raises(BuildNotFound):
                await flow.app.builds.receive(uid, asked, in_chunks(b"x"))
        await flow.app.builds.receive(announced.build.uid, capability, in_chunks(archive_of(SITE)))
        await flow.start(announced.build)
        with pytest.raises(BuildNotFound):  # it is being processed: nothing else may take its place
            await flow.app.builds.receive(announced.build.uid, capability, in_chunks(b"x"))


async def test_broken_links_hold_the_editions_back_if_the_project_says_so(database: str) -> None:
    async with docs_flow(database) as flow:
        first, _ = await flow.process(SITE)
        await flow.app.projects.change("acme", "guide", ProjectChanges(on_broken_links="hold"))
        broken = SITE | {"index.html": b'<h1>Guide</h1><a href="missing.html">x</a>'}
        build, job = await flow.process(broken)
        assert job.status is Status.COMPLETED_WITH_ERRORS
        assert (build.status, build.broken_links) == (BuildStatus.COMPLETED, 1)
        assert (await flow.edition()).build == first.uid
        (skipped,) = job.result["editions_skipped"]
        assert skipped["slug"] == "__main"
        assert "1 broken links" in skipped["reason"]
        await flow.app.projects.change("acme", "guide", ProjectChanges(on_broken_links="warn"))
        later, job = await flow.process(broken | {"more.txt": b""})
        assert job.status is Status.COMPLETED
        assert (await flow.edition()).build == later.uid
        assert len(await flow.app.builds.list_problems(later)) == 1


async def test_readers_do_not_wait_until_the_links_are_checked(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reached, let_go = asyncio.Event(), asyncio.Event()

    async def check(*args: Any) -> LinkReport:
        reached.set()
        await let_go.wait()
        return await check_links(*args)

    monkeypatch.setattr(links, "check_links", check)
    async with docs_flow(database) as flow:
        build = await flow.submit(SITE | {"index.html": b'<a href="missing.html">x</a>'})
        await reached.wait()
        edition = await flow.edition()
        assert (edition.build, edition.publish_status) == (build.uid, PublishStatus.PUBLISHED)
        assert (await flow.build(build.uid)).broken_links is None
        let_go.set()
        build, job = await flow.ended(build)
        assert (job.status, build.broken_links) == (Status.COMPLETED, 1), job.errors


async def test_a_published_build_does_not_fail_because_its_links_cannot_be_checked(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(*_: Any) -> LinkReport:
        raise StoreUnavailable("the bucket does not answer")

    monkeypatch.setattr(links, "check_links", check)
    async with docs_flow(database) as flow:
        build, job = await flow.process(SITE)
        assert (job.status, build.status, build.broken_links) == (Status.COMPLETED, BuildStatus.COMPLETED, None)


async def test_the_files_that_a_project_has_are_not_unpacked_again(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And are put again when they are found to be gone."""
    sources: list[dict[str, bool]] = []

    async def store(blobs: Blobs, rows: Database, files: list[ScratchFile]) -> list[ArtifactFile]:
        sources.append({file.path: file.source is not None for file in files})
        return await store_files(blobs, rows, files)

    monkeypatch.setattr(artifact_lifecycle, "store_files", store)
    async with docs_flow(database) as flow:
        await flow.process(SITE)
        build, job = await flow.process(MORE)
        assert (job.status, job.attempts) == (Status.COMPLETED, 1)
        assert sources.pop() == {path: path == "index.html" for path in MORE}
        for path, data in MORE.items():
            assert await flow.read(build, path) == data
        sha256 = hashlib.sha256(SITE["usage/index.html"]).hexdigest()
        await flow.app.core.rendering.blobs.delete([key_of(sha256)])
        build, job = await flow.process(MORE | {"more.txt": b"more"})
        assert (job.status, job.attempts) == (Status.COMPLETED, 1)
        assert all(sources.pop().values())
        assert not all(sources.pop().values())
        assert await flow.read(build, "usage/index.html") == SITE["usage/index.html"]


async def test_jobs_are_kept_as_long_as_the_setting_says(database: str) -> None:
    """Q36."""
    async with docs_flow(database, settings=DocsSettings(job_retention=3600.0)) as flow:
        _, job = await flow.process(SITE)
        assert await flow.rows("SELECT retention FROM job WHERE uid = :uid", uid=job.uid) == [(3_600_000,)]


async def test_a_job_can_be_tried_again_while_the_upload_is_there(database: str) -> None:
    """A build that was cancelled before it was processed keeps its upload for a day."""
    async with docs_flow(database, workers=None) as flow:
        build = await flow.submit(SITE)
        assert build.job_uid is not None
        await flow.press.cancel(build.job_uid)
        other = await flow.upload(archive_of(MORE))
        again = await flow.press.retry(build.job_uid)
    async with docs_flow(database) as flow:
        job = await flow.press.wait_until_ended(again.uid, timeout=120)
        assert job.status is Status.COMPLETED, job.errors
        build = await flow.build(build.uid)
        assert (build.status, build.number) == (BuildStatus.COMPLETED, 1)
        assert await leftovers.delete_leftover_uploads(flow.app.core.database, flow.app.staging, -60) == 0
        assert await flow.app.staging.size(other.uid) is not None


async def test_uploads_that_nothing_reads_any_more_are_deleted(database: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        cancelled, waiting, gone = await flow.submit(SITE), await flow.upload(archive_of(MORE)), new_uid()
        assert cancelled.job_uid is not None
        await flow.press.cancel(cancelled.job_uid)
        await flow.app.staging.receive(gone, in_chunks(b"x"), 100)
        assert await leftovers.delete_leftover_uploads(flow.app.core.database, flow.app.staging) == 0
        assert await leftovers.delete_leftover_uploads(flow.app.core.database, flow.app.staging, -60) == 2
        assert await flow.app.staging.size(waiting.uid) is not None
        job = await flow.press.retry(cancelled.job_uid)
    async with docs_flow(database) as flow:
        ended = await flow.press.wait_until_ended(job.uid, timeout=120)
        assert (ended.status, ended.attempts, ended.errors[-1]["code"]) == (Status.FAILED, 1, "source_invalid")
        assert (await flow.build(cancelled.uid)).status is BuildStatus.FAILED


async def test_the_rows_agree_with_each_other(database: str) -> None:
    """What `pressroom fsck` asks."""
    async with docs_flow(database) as flow:
        first, _ = await flow.process(SITE)
        await flow.process(MORE)
        await flow.process(SITE, "v1.0.0")
        await flow.process(b"no archive", "dev")
        await flow.app.editions.delete("acme", "guide", "1.0", actor="anna")
        rollback = Rollback(build=first.uid)
        await flow.press.wait((await flow.app.editions.roll_back("acme", "guide", "__main", rollback, actor="anna")).uid)
        schema = database_schema(flow.press.installed)
        assert find_violations(flow.press.settings, schema) == []


async def test_jobs_that_update_the_same_edition_know_of_each_other(database: str, eventually: Any) -> None:
    """Q15: asked before an edition is moved."""
    async with docs_flow(database, workers=4) as flow:
        outside = PublisherDouble().use(flow)
        outside.let_go.clear()
        first = await flow.submit(SITE, "v1.0.0")
        await outside.reached.wait()
        second = await flow.submit(MORE, "v1.1.0")
        assert first.job_uid is not None
        assert second.job_uid is not None

        async def noted() -> Any:
            progress = (await flow.press.get(str(second.job_uid))).progress or {}
            return progress.get("editions_detail", {}).get("1")

        assert await eventually(noted) == {"also_updated_by": [f"job_{first.job_uid}"]}
        conflicts = await flow.press.overview.conflicts(flow.project.id, item="1")
        assert [(one.item, len(one.jobs)) for one in conflicts.conflicts] == [("1", 2)]
        outside.let_go.set()
        for build in (first, second):
            assert (await flow.ended(build))[1].status is Status.COMPLETED
        assert outside.shown["1"] == (2, second.uid)


async def test_the_inventory_says_how_many_objects_it_catalogs(database: str, tmp_path: Path, eventually: Any) -> None:
    """Q11: other phases carry a message."""
    go_on = tmp_path / "go-on"
    async with docs_flow(database) as flow:
        failpoints.arm(f"blob.renamed=wait:{go_on}@1")
        build = await flow.submit(SITE)

        async def progress() -> Any:
            row = await queue_job(flow, await flow.press.get(str(build.job_uid)))
            return row["phase"] == "inventory" and row["progress"] == {"message": "Cataloging 3 objects"}

        try:
            await eventually(progress)
        finally:
            go_on.touch()
        assert (await flow.ended(build))[1].status is Status.COMPLETED


async def test_a_build_that_is_deleted_before_it_is_processed_is_left_alone(database: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        build = await flow.submit(SITE)
        await flow.app.builds.delete("acme", "guide", build.uid, actor="anna")
        other = await flow.submit(MORE, "dev")
        await flow.app.projects.delete("acme", "guide", actor="anna")
    async with Pressroom(database, workers=2, apps=["docs"]) as press:
        for deleted in (build, other):
            job = await press.wait_until_ended(str(deleted.job_uid), timeout=120)
            assert (job.status, job.result["message"]) == (Status.COMPLETED, "the build was deleted before it was processed")
        assert await press.alerts.list() == []
        async with press.transaction() as tx:
            assert await tx.execute("SELECT DISTINCT status FROM docs_build") == [("failed",)]
