"""Dashboard templates from git: what a sync takes over, and what it leaves as it was (Q27, Q28, D25)."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pressroom.app import database_schema
from pressroom.apps.docs.app import APP
from pressroom.apps.docs.model import MAIN, Project
from pressroom.apps.docs.requests import TemplateDraft
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import orgs, purgatory
from pressroom.clock import ManualClock
from pressroom.errors import StoreUnavailable
from pressroom.model import Answer, Job, Status, Submitted, Work
from pressroom.store.engine import fsck
from tests.apps.docs.dash_stage import DocsStage, docs_stage
from tests.apps.docs.git_stage import TEMPLATE, GitRepository

ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = a %}{% endfor %}{% endfor %}"


class TemplateStage:
    """An organisation with a project, and a repository with a template."""

    def __init__(self, stage: DocsStage, repository: GitRepository, project: Project) -> None:
        self.stage, self.repository, self.project = stage, repository, project
        self.templates = stage.app.templates

    async def put(self, project: str | None = None, **fields: Any) -> Job:
        draft = TemplateDraft(**({"git_url": self.repository.url} | fields))
        _, job = await self.templates.put("acme", project, draft, actor="test")
        return await self.ended(job)

    async def sync(self, project: str | None = None) -> Job:
        return await self.ended(await self.templates.sync("acme", project, actor="test"))

    async def ended(self, job: Submitted) -> Job:
        return await self.stage.press.wait_until_ended(job, timeout=120)

    async def page(self, project: Project | None = None) -> str:
        files = await self.stage.app.dashboards.read((project or self.project).id)
        return files["__dashboard.html"].decode()


async def template_stage(stage: DocsStage, tmp_path: Path) -> TemplateStage:
    repository = GitRepository(tmp_path)
    repository.push(TEMPLATE)
    await stage.new_org()
    project = await stage.new_project()
    await stage.show(project, MAIN, "main")
    await stage.show(project, "v1.0.0", "v1.0.0")
    return TemplateStage(stage, repository, project)


def settings_for(tmp_path: Path) -> DocsSettings:
    return DocsSettings(git_allow=(str(tmp_path),))


async def test_a_template_of_an_organisation_renders_all_its_projects_q28(database: str, tmp_path: Path) -> None:
    async with docs_stage(database, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await template_stage(stage, tmp_path)
        others = [await stage.new_project(f"other-{number}") for number in range(3)]

        job = await scene.put()

        assert job.status is Status.COMPLETED
        page = await scene.page()
        assert "Our own Field guide" in page
        assert "<li>v1.0.0</li>" in page
        assert "h1 > small { color: red }\nbody { margin: 0 }" in page
        assert "<svg xmlns=" in page
        assert 'src="data:image/png;base64,iVBORw0KGgo=' in page
        for other in others:
            assert "Our own" in await scene.page(other)
        binding = await scene.templates.get("acme", None)
        assert (binding.sync_status, binding.sync_error) == ("synced", None)
        assert binding.commit_sha is not None


async def test_a_template_of_a_project_goes_before_its_organisations_and_the_built_in_one_comes_back(
    file: str, tmp_path: Path
) -> None:
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await template_stage(stage, tmp_path)
        scene.repository.push({"dashboard.html.jinja": "<h1>The project's</h1>"}, branch="of-project")
        await scene.put()
        await scene.put("guide", ref="of-project")
        assert "The project's" in await scene.page()

        await scene.ended(await scene.templates.delete("acme", "guide", actor="test"))
        assert "Our own" in await scene.page()

        await scene.ended(await scene.templates.delete("acme", None, actor="test"))
        assert "Read the documentation" in await scene.page()


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"template.toml": None}, "there is no template.toml"),
        ({"template.toml": "[dashboard"}, "template.toml: "),
        ({"template.toml": "[dashboard]\ntemplate = 'dashboard.html.jinja'\nfonts = ['a']"}, "unknown field `fonts`"),
        ({"dashboard.html.jinja": None}, "there is no file 'dashboard.html.jinja'"),
        ({"dashboard.html.jinja": "{{ ''.__class__ }}"}, "templates may not read '__class__'"),
        ({"dashboard.html.jinja": "{{ ''|attr('__class__') }}"}, "dashboard.html.jinja"),
        ({"dashboard.html.jinja": "{{ no.such.thing }}"}, "no.such.thing is not in the data"),
        ({"dashboard.html.jinja": "{% include 'dashboard.html.jinja' %}"}, "without an end"),
        pytest.param({"dashboard.html.jinja": ENDLESS}, "did not finish within 20 s", marks=pytest.mark.deep),
        (
            {"dashboard.html.jinja": "{% for a in range(20000) %}{{ assets.css }}{% endfor %}", "base.css": "x" * 9999},
            "with its assets",
        ),
        ({"dashboard.html.jinja": b"\xff\xfe"}, "it is not UTF-8"),
        ({"dot.png": None, "template.toml": "[dashboard]\ntemplate = 'list.html'\nimages = ['base.css']"}, "an image is"),
    ],
)
async def test_a_bad_template_leaves_the_old_one_and_the_dashboard_as_they_were(
    file: str, tmp_path: Path, files: dict[str, Any], problem: str
) -> None:
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await template_stage(stage, tmp_path)
        await scene.put()
        before, page = await scene.templates.get("acme", None), await scene.page()
        scene.repository.push(files)

        job = await scene.sync()

        after = await scene.templates.get("acme", None)
        assert job.status is Status.FAILED
        assert job.errors[-1]["code"] == "template_failed"
        assert after.sync_status == "failed"
        assert after.sync_error is not None
        assert problem in after.sync_error
        assert (after.artifact, after.commit_sha) == (before.artifact, before.commit_sha)
        assert await scene.page() == page


async def test_a_template_that_fails_for_one_project_leaves_the_others_alone(file: str, tmp_path: Path) -> None:
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await template_stage(stage, tmp_path)
        other = await stage.new_project("other", title="Broken")
        await scene.put()
        scene.repository.push({"list.html": "{% if project.title == 'Broken' %}{{ missing }}{% endif %}second"})

        job = await scene.sync()

        assert job.status is Status.COMPLETED_WITH_ERRORS
        assert "second" in await scene.page()
        assert "second" not in await scene.page(other)


async def test_a_project_whose_first_dashboard_fails_has_the_built_in_one(file: str, tmp_path: Path) -> None:
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await template_stage(stage, tmp_path)
        scene.repository.push({"list.html": "{% if project.title == 'Broken' %}{{ missing }}{% endif %}"})
        broken = await stage.new_project("other", title="Broken")

        job = await scene.put()

        assert job.status is Status.COMPLETED_WITH_ERRORS
        assert "other: list.html, line 1: missing is not in the data" in job.errors[-1]["message"]
        assert "Rendered" in await scene.page(broken)


async def test_a_dashboard_or_template_that_nothing_holds_is_found_by_fsck(file: str, tmp_path: Path) -> None:
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await template_stage(stage, tmp_path)
        await scene.put()
        audit = partial(fsck.audit, schema=database_schema([APP]))
        assert await stage.database.read(audit) == []

        await stage.rows("DELETE FROM artifact_hold WHERE holder LIKE 'docs:dashboard:%' OR holder LIKE 'docs:template:%'")

        found = {violation.check for violation in await stage.database.read(audit)}
        assert found == {"docs.dashboard_not_held", "docs.template_not_held"}


async def test_an_unchanged_tree_is_done_without_a_render_q28(file: str, tmp_path: Path) -> None:
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await template_stage(stage, tmp_path)
        await scene.put(root_path="/")
        kept = (await stage.project(scene.project)).dashboard

        job = await scene.sync()

        assert job.status is Status.COMPLETED
        assert (await stage.project(scene.project)).dashboard == kept


async def test_pushes_while_a_sync_runs_have_one_successor_that_sees_the_last_d25(
    database: str, tmp_path: Path, eventually: Any
) -> None:
    async with docs_stage(database, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await template_stage(stage, tmp_path)
        reading, going_on = asyncio.Event(), asyncio.Event()
        fetch = stage.app.git_remote.fetch

        async def slow_fetch(*arguments: Any) -> Any:
            fetched = await fetch(*arguments)
            reading.set()
            await going_on.wait()
            return fetched

        stage.app.git_remote.fetch = slow_fetch  # type: ignore[method-assign]
        draft = TemplateDraft(git_url=scene.repository.url)
        _, first = await scene.templates.put("acme", None, draft, actor="test")
        await reading.wait()
        scene.repository.push({"list.html": "second"})
        later = [await scene.templates.sync("acme", None, actor="test") for _ in range(3)]
        scene.repository.push({"list.html": "third"})
        later.append(await scene.templates.sync("acme", None, actor="test"))
        going_on.set()
        await scene.ended(first)
        ended = [await scene.ended(job) for job in later]

        assert {job.uid for job in later} == {ended[0].uid}
        assert ended[0].uid != first.uid
        assert [job.answer for job in later] == [Answer.NEW, *[Answer.COALESCED] * 3]
        assert "third" in await scene.page()


async def test_a_repository_that_cannot_be_reached_is_tried_three_times_and_the_error_is_told(
    file: str, tmp_path: Path
) -> None:
    async with docs_stage(file, workers=2, settings=DocsSettings(git_allow=("127.0.0.1",))) as stage:
        await stage.new_org()
        draft = TemplateDraft(git_url="http://127.0.0.1:9/x.git")
        _, job = await stage.app.templates.put("acme", None, draft, actor="test")

        kind = stage.press.kinds["docs.dashboard_sync"]
        assert (kind.max_attempts, kind.timeout) == (3, 1800)
        await stage.press.cancel(job)
        ended = await stage.press.wait_until_ended(job, timeout=120)

        assert ended.status is Status.CANCELLED
        binding = await stage.app.templates.get("acme", None)
        assert binding.sync_status in ("pending", "failed")


async def test_dashboards_are_rendered_again_on_request(file: str, tmp_path: Path) -> None:
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await template_stage(stage, tmp_path)
        await stage.app.dashboards.render(scene.project.id)
        before = (await stage.project(scene.project)).dashboard

        job = await stage.press.submit(
            "docs.dashboard_sync", {"project": scene.project.id, "actor": "test"}, key="docs:dashboard:x", org_id="acme"
        )
        ended = await scene.ended(job)

        assert ended.status is Status.COMPLETED
        assert (await stage.project(scene.project)).dashboard != before


async def test_a_purged_project_leaves_no_template_behind(database: str, tmp_path: Path) -> None:
    async with docs_stage(database, workers=2, settings=settings_for(tmp_path)) as stage:
        scene = await template_stage(stage, tmp_path)
        await scene.put("guide")
        await scene.put()

        def purge() -> Work[None]:
            yield from purgatory.delete_project(scene.project, purgatory.Deleter("test", "test", 0))
            (entry,) = yield from purgatory.list_entries("acme")
            yield from purgatory.purge(entry)
            yield from orgs.delete_org("acme")

        await stage.run(purge)

        assert await stage.rows("SELECT id FROM docs_template") == []
        assert await stage.rows("SELECT holder FROM artifact_hold WHERE holder LIKE 'docs:%'") == []


async def test_an_attempt_that_ended_before_it_rendered_leaves_that_to_the_next(
    file: str, tmp_path: Path, eventually: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock()
    async with docs_stage(file, workers=2, settings=settings_for(tmp_path), clock=clock) as stage:
        scene = await template_stage(stage, tmp_path)

        async def fail(*_: Any) -> None:
            raise StoreUnavailable("the store is gone")

        with monkeypatch.context() as broken:
            broken.setattr(stage.app.publishing, "render_dashboard", fail)
            _, job = await scene.templates.put("acme", None, TemplateDraft(git_url=scene.repository.url), actor="test")
            await eventually(lambda: _is_synced(scene))
            await eventually(lambda: _is_queued(stage, job))
        kept = await scene.templates.get("acme", None)
        clock.advance(minutes=10)
        ended = await scene.ended(job)

        assert ended.status is Status.COMPLETED
        assert "Our own" in await scene.page()
        assert (await scene.templates.get("acme", None)).artifact == kept.artifact


async def _is_synced(scene: TemplateStage) -> bool:
    return (await scene.templates.get("acme", None)).sync_status == "synced"


async def _is_queued(stage: DocsStage, job: Submitted) -> bool:
    return (await stage.press.get(job)).status is Status.QUEUED
