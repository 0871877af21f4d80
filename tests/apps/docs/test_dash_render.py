"""The files that a project's dashboard consists of, and which of two renders is kept."""

import asyncio
import json

import pytest

from pressroom.apps.docs.dashboards.template import DashboardTemplate
from pressroom.apps.docs.model import MAIN
from pressroom.apps.docs.store.dashboards import DashboardFacts
from tests.apps.docs import http_stage
from tests.apps.docs.dash_stage import docs_stage


async def test_a_project_gets_its_dashboard_404_page_switcher_and_metadata_q23(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.new_org(base_domain="docs.example.org", url_scheme="subdomain")
        project = await stage.new_project()
        await stage.show(project, MAIN, "main")
        for version in ("v1.9.0", "v1.10.0", "v2.0.0-rc.1"):
            await stage.show(project, version, version)
        await stage.show(project, "1", "v1.10.0", "major", title="Latest 1.x", params={"major_version": 1})
        await stage.show(project, "usdf--main", "main", "alternate", title="USDF", mode="alternate_git_ref")
        await stage.show(project, "tickets-7", "tickets/7", "draft")

        version = await stage.app.dashboards.render(project.id)

        files = await stage.app.dashboards.read(project.id)
        assert version == (await stage.project(project)).editions_version
        assert {"__dashboard.html", "__404.html", "__switcher.json", "__editions/__main.json"} <= files.keys()
        page = files["__dashboard.html"].decode()
        assert page.index("v2.0.0-rc.1") < page.index("v1.10.0") < page.index("v1.9.0")
        switcher = json.loads(files["__switcher.json"])
        assert [entry["version"] for entry in switcher] == [MAIN, "usdf--main", "v2.0.0-rc.1", "v1.10.0", "v1.9.0", "1"]
        assert switcher[0] == {
            "name": "Latest",
            "version": MAIN,
            "url": "https://guide.docs.example.org/",
            "preferred": True,
        }
        assert [entry.get("preferred", False) for entry in switcher] == [True, True, False, False, False, False]
        release = json.loads(files["__editions/v1.10.0.json"])
        assert release["edition"]["url"] == "https://guide.docs.example.org/v/v1.10.0/"
        assert release["canonical_url"] == "https://guide.docs.example.org/"
        assert not release["is_canonical"]
        assert json.loads(files["__editions/__main.json"])["is_canonical"]


@pytest.mark.parametrize(("ref", "version"), [("v2.1.0", "2.1.0"), ("24.2", "24.2"), ("main", MAIN), ("w_2026_07", MAIN)])
async def test_the_switcher_names_the_release_that_main_shows(file: str, ref: str, version: str) -> None:
    """pydata-sphinx-theme warns readers of every page whose release is not that of the preferred entry."""
    async with docs_stage(file) as stage:
        await stage.new_org()
        project = await stage.new_project()
        await stage.show(project, MAIN, ref)
        await stage.show(project, "2", ref, "major", params={"major_version": 2})

        await stage.app.dashboards.render(project.id)

        switcher = json.loads((await stage.app.dashboards.read(project.id))["__switcher.json"])
        assert [(entry["version"], entry.get("preferred", False)) for entry in switcher] == [(version, True), ("2", False)]


async def test_a_version_that_is_kept_is_not_rendered_again(file: str) -> None:
    async with docs_stage(file) as stage:
        await stage.new_org()
        project = await stage.new_project()
        await stage.show(project, MAIN, "main")
        await stage.app.dashboards.render(project.id)
        first = (await stage.project(project)).dashboard

        await stage.app.dashboards.render(project.id)
        assert (await stage.project(project)).dashboard == first

        await stage.touch(project)
        await stage.app.dashboards.render(project.id)
        assert (await stage.project(project)).dashboard != first


async def test_renders_at_once_leave_the_newest_state(database: str) -> None:
    async with docs_stage(database) as stage:
        await stage.new_org()
        project = await stage.new_project()
        await stage.show(project, MAIN, "main")

        async def release(number: int) -> None:
            await stage.show(project, f"v1.{number}.0", f"v1.{number}.0")
            await stage.app.dashboards.render(project.id)

        await asyncio.gather(*(release(number) for number in range(4)))
        await stage.app.dashboards.render(project.id)

        files = await stage.app.dashboards.read(project.id)
        assert len(json.loads(files["__switcher.json"])) == 5
        held = await stage.rows(
            "SELECT artifact FROM artifact_hold WHERE holder = :holder", holder=f"docs:dashboard:{project.id}"
        )
        assert held == [((await stage.project(project)).dashboard,)]


async def test_a_build_that_moves_many_editions_renders_the_dashboard_once_q23(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_stage.docs_stage(file, workers=2) as stage:
        await stage.furnish("red")
        rendered: list[str] = []
        make_pages = stage.app.dashboards.make_pages

        async def counted(facts: DashboardFacts, template: DashboardTemplate) -> dict[str, bytes]:
            rendered.append(facts.project.slug)
            return await make_pages(facts, template)

        monkeypatch.setattr(stage.app.dashboards, "make_pages", counted)
        build = await stage.upload(git_ref="v2.1.0")
        await stage.ended(build["queue_url"])

        project = await stage.app.projects.get("red", "guide")
        files = await stage.app.dashboards.read(project.id)
        assert rendered == ["guide"]
        assert {"__editions/2.json", "__editions/2.1.json", "__editions/v2.1.0.json"} <= files.keys()
