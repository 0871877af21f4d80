"""The built-in dashboard and 404 page of a documentation project, in every look."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from pressroom.apps.docs.model import MAIN
from tests.apps.docs.dash_stage import docs_stage
from tests.browser.watched import Watched, assert_accessible, assert_fits

LONG = "u/someone/a-very-long-branch-name-that-explains-what-it-changes-in-all-its-detail"


async def _fill(folder: Path) -> dict[str, str]:
    async with docs_stage(f"sqlite:///{folder}/press.db", artifacts=str(folder / "artifacts")) as stage:
        await stage.new_org(base_domain="docs.example.org")
        project = await stage.new_project(title="Field guide to <spectrographs>")
        await stage.app.dashboards.render(project.id)
        empty = await stage.app.dashboards.read(project.id)
        await stage.show(project, MAIN, "main")
        for minor in range(14):
            await stage.show(project, f"v1.{minor}.0", f"v1.{minor}.0")
        await stage.show(project, "1", "v1.13.0", "major", title="Latest 1.x", params={"major_version": 1})
        await stage.show(project, "summit--main", "main", "alternate", title="Summit", mode="alternate_git_ref")
        gone = await stage.show(project, LONG.replace("/", "-"), LONG, "draft")
        await stage.rows("UPDATE docs_edition SET ref_missing_since = 1790000000000 WHERE id = :id", id=gone.id)
        await stage.touch(project)
        await stage.app.dashboards.render(project.id)
        full = await stage.app.dashboards.read(project.id)
    return {
        "empty": empty["__dashboard.html"].decode(),
        "full": full["__dashboard.html"].decode(),
        "missing": full["__404.html"].decode(),
    }


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("dashboard")
    with ThreadPoolExecutor(1) as elsewhere:  # this thread has a loop already: Playwright's
        yield elsewhere.submit(lambda: asyncio.run(_fill(folder))).result()


@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["empty", "full", "missing"])
def test_the_built_in_pages_are_sound_in_every_look(
    chromium: Browser, pages: dict[str, str], name: str, theme: str, width: int
) -> None:
    context = chromium.new_context(
        color_scheme="dark" if theme == "dark" else "light",
        viewport={"width": width, "height": 900},
    )
    with Watched(context.new_page()) as watched:
        watched.page.set_content(pages[name])
        if watched.page.locator("details").count():
            watched.page.locator("summary").first.click()
        assert_fits(watched.page)
        assert_accessible(watched.page)
    assert "<script" not in pages[name]
    assert "&lt;spectrographs&gt;" in pages[name]
    context.close()
