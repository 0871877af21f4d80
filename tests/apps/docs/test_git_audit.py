"""The audit of refs: what is flagged, what the rule deletes, and what an answer that cannot be believed leaves alone (Q30)."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pressroom.apps.docs.model import MAIN, Edition, Project
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store.editions import get_edition_by_id, list_editions
from pressroom.apps.docs.store.refs import RefAudit, audit_project
from pressroom.clock import ManualClock
from pressroom.model import Job, Status
from tests.apps.docs.dash_stage import DocsStage, docs_stage
from tests.apps.docs.git_stage import GitRepository

RULE = [{"type": "ref_deleted"}]


class AuditStage:
    def __init__(self, stage: DocsStage, repository: GitRepository, project: Project) -> None:
        self.stage, self.repository, self.project = stage, repository, project

    async def audit(self, **payload: Any) -> Job:
        job = await self.stage.press.submit("docs.git_ref_audit", payload)
        return await self.stage.press.wait_until_ended(job, timeout=120)

    async def editions(self) -> dict[str, Edition]:
        return {one.slug: one for one in await self.stage.run(partial(list_editions, self.project.id))}


async def audit_stage(stage: DocsStage, folder: Path, **fields: Any) -> AuditStage:
    """A project with a main edition, a draft of a branch, an exempt draft and a release, whose refs are all there."""
    repository = GitRepository(folder, "guide")
    repository.push({"a": "b"}, tag="v1.0.0")
    for branch in ("tickets/7", "tickets/8"):
        repository.push({"a": branch}, branch=branch)
    await stage.new_org()
    project = await stage.new_project(git_url=repository.url, **fields)
    await stage.show(project, MAIN, "main")
    await stage.show(project, "tickets-7", "tickets/7", "draft")
    await stage.show(project, "tickets-8", "tickets/8", "draft", exempt=True)
    await stage.show(project, "v1.0.0", "v1.0.0")
    return AuditStage(stage, repository, project)


def settings_for(folder: Path) -> DocsSettings:
    return DocsSettings(git_allow=(str(folder),))


async def test_a_missing_ref_is_flagged_and_found_again(database: str, tmp_path: Path) -> None:
    async with docs_stage(database, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await audit_stage(stage, tmp_path)
        scene.repository.delete("tickets/7")
        scene.repository.delete("v1.0.0")

        job = await scene.audit()

        editions = await scene.editions()
        assert job.status is Status.COMPLETED
        assert [slug for slug, one in editions.items() if one.ref_missing_since] == ["tickets-7", "v1.0.0"]
        assert "ref deleted" in (await stage.app.dashboards.read(scene.project.id))["__dashboard.html"].decode()

        scene.repository.push({"a": "c"}, branch="tickets/7", tag="v1.0.0.1")
        await scene.audit()
        assert (await scene.editions())["tickets-7"].ref_missing_since is None


async def test_the_rule_deletes_drafts_that_are_not_exempt_q30(database: str, tmp_path: Path) -> None:
    async with docs_stage(database, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await audit_stage(stage, tmp_path, lifecycle_rules=RULE)
        gone = (await scene.editions())["tickets-7"]
        for ref in ("tickets/7", "tickets/8", "v1.0.0"):
            scene.repository.delete(ref)

        job = await scene.audit()

        assert (await scene.editions()).keys() == {MAIN, "tickets-8", "v1.0.0"}
        assert [one["slug"] for one in job.result["deleted"]] == ["tickets-7"]
        row = await stage.run(partial(get_edition_by_id, gone.id))
        assert row.published_seq == row.publish_seq
        entered = await stage.rows("SELECT actor, reason FROM docs_purgatory")
        assert entered == [("git_ref_audit", "ref_deleted: the repository has no branch or tag tickets/7 any more")]
        page = (await stage.app.dashboards.read(scene.project.id))["__dashboard.html"].decode()
        assert "tickets-7" not in page
        assert "tickets-8" in page


async def test_a_repository_that_cannot_be_reached_fails_its_project_alone(file: str, tmp_path: Path) -> None:
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await audit_stage(stage, tmp_path, lifecycle_rules=RULE)
        broken = await stage.new_project("broken", git_url=str(tmp_path / "none.git"), lifecycle_rules=RULE)
        await stage.show(broken, "draft", "tickets/1", "draft")
        scene.repository.delete("tickets/7")

        job = await scene.audit()

        assert job.status is Status.COMPLETED_WITH_ERRORS
        assert "acme/broken: there is no repository at this address" in job.errors[-1]["message"]
        assert "tickets-7" not in await scene.editions()
        assert len(await stage.run(partial(list_editions, broken.id))) == 2


async def test_the_refs_of_a_repository_are_listed_once_for_all_its_projects(file: str, tmp_path: Path) -> None:
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await audit_stage(stage, tmp_path)
        for number in range(3):
            await stage.new_project(f"more-{number}", git_url=scene.repository.url)
        asked: list[str] = []
        list_refs = stage.app.git_remote.list_refs

        async def counted(url: str) -> dict[str, str]:
            asked.append(url)
            return await list_refs(url)

        stage.app.git_remote.list_refs = counted  # type: ignore[method-assign]
        job = await scene.audit()

        assert job.result["projects"] == 4
        assert asked == [scene.repository.url]


async def test_the_refs_of_the_repository_before_delete_nothing_of_a_project_that_has_another_now(
    file: str, tmp_path: Path
) -> None:
    """Q30: the list of refs may be an hour old when a project is audited."""
    async with docs_stage(file, settings=settings_for(tmp_path)) as stage:
        scene = await audit_stage(stage, tmp_path, lifecycle_rules=RULE)
        before = await scene.editions()

        audit = await stage.run(partial(audit_project, scene.project.id, "https://git.example.org/before", frozenset()))

        assert audit == RefAudit(flagged=[], found_again=[], deleted=[], stale=False)
        assert await scene.editions() == before


@pytest.mark.parametrize("had_refs", [True, False])
async def test_an_answer_without_refs_is_believed_when_it_is_given_again_an_hour_later(
    file: str, tmp_path: Path, had_refs: bool
) -> None:
    clock = ManualClock()
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path), clock=clock) as stage:
        scene = await audit_stage(stage, tmp_path, lifecycle_rules=RULE)
        if had_refs:
            await scene.audit()
        for ref in ("tickets/7", "tickets/8", "v1.0.0"):
            scene.repository.delete(ref)
        scene.repository._git("update-ref", "-d", "refs/heads/main", cwd=scene.repository.bare)

        for _ in range(3):  # a webhook may have it asked several times in a minute
            job = await scene.audit()
            assert job.status is Status.COMPLETED_WITH_ERRORS
            assert "tickets-7" in await scene.editions()
        clock.advance(hours=2)
        job = await scene.audit()

        assert job.status is Status.COMPLETED
        assert (await scene.editions()).keys() == {MAIN, "tickets-8", "v1.0.0"}


async def test_an_audit_of_one_repository_leaves_the_others_alone(file: str, tmp_path: Path) -> None:
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await audit_stage(stage, tmp_path)
        await stage.new_project("other", git_url=str(tmp_path / "none.git"))

        job = await scene.audit(repository=scene.repository.url.removesuffix(".git").lower())

        assert job.status is Status.COMPLETED
        assert job.result["projects"] == 1
