"""The version switcher of pydata-sphinx-theme on `/v/switcher.json`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.apps.docs.judges.judge_programs import run_judge
from tests.apps.docs.judges.uploaded_sites import ServedProject, served_project
from tests.browser.watched import Watched
from tests.conformance.registries import OutOfReach
from tests.servers import free_ports

# `version_match` is the slug of an edition that shows the build: what a tag makes is known before it is built.
CONF = """project = "Guide"
version = release = "{release}"
html_theme = "pydata_sphinx_theme"
html_theme_options = {{
    "switcher": {{"json_url": "{switcher}", "version_match": "{major}"}},
    "check_switcher": False,
    "navbar_end": ["version-switcher"],
    "show_version_warning_banner": True,
}}
"""
BUTTON = ".version-switcher__button"
PAGES = {"1.4.0": ["index", "usage"], "2.1.0": ["index", "usage", "upgrade"]}


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedProject]:
    (port,) = free_ports(1)
    folder = tmp_path_factory.mktemp("guide")
    try:
        versions = {f"v{release}": build(folder / release, release, port) for release in PAGES}
    except OutOfReach as reason:
        pytest.skip(f"out of reach: {reason}")
    with served_project(folder, "guide", versions, main_mode="semver_release", port=port) as served:
        yield served


def build(folder: Path, release: str, port: int) -> Path:
    source = folder / "source"
    source.mkdir(parents=True)
    switcher = f"http://127.0.0.1:{port}/acme/guide/v/switcher.json"
    (source / "conf.py").write_text(CONF.format(release=release, major=release[0], switcher=switcher))
    for name in PAGES[release]:
        listed = "\n".join(f"   {other}" for other in PAGES[release] if other != "index") if name == "index" else ""
        toctree = f"\n.. toctree::\n\n{listed}\n" if listed else ""
        (source / f"{name}.rst").write_text(f"{name} of {release}\n{'=' * 40}\n{toctree}")
    run_judge("-m", "sphinx", "-q", "-W", "-b", "html", source, folder / "site")
    return folder / "site"


@pytest.fixture
def reader(watched: Watched) -> Page:
    watched.forgive("Got invalid theme mode")  # of the theme, to every new reader
    return watched.page


def entries(page: Page) -> list[tuple[str, bool]]:
    """Names in the open menu, and whether each is the one that is read."""
    page.locator(BUTTON).locator("visible=true").click()
    listed = page.locator(".version-switcher__menu a").locator("visible=true")
    expect(listed.first).to_be_visible()
    return [(one.inner_text(), "active" in (one.get_attribute("class") or "").split()) for one in listed.all()]


def choose(page: Page, name: str) -> None:
    with page.expect_navigation():
        page.locator(".version-switcher__menu a").locator("visible=true").filter(has_text=name).click()


@pytest.mark.deep
@pytest.mark.parametrize("look", ["light-wide"], indirect=True)
def test_the_switcher_lists_the_editions_and_leads_to_the_same_page(reader: Page, guide: ServedProject) -> None:
    reader.goto(f"{guide.url}v/1/usage.html")
    assert entries(reader) == [("Main", False), ("Latest 2.x", False), ("Latest 1.x", True)]

    choose(reader, "Latest 2.x")
    expect(reader.locator("h1")).to_contain_text("usage of 2.1.0")
    assert reader.url == f"{guide.url}v/2/usage.html"
    entries(reader)
    choose(reader, "Main")

    assert reader.url == f"{guide.url}usage.html"
    expect(reader.locator("h1")).to_contain_text("usage of 2.1.0")


@pytest.mark.deep
@pytest.mark.parametrize("look", ["light-wide"], indirect=True)
def test_the_switcher_leads_to_the_home_page_of_an_edition_that_lacks_the_page(
    watched: Watched, reader: Page, guide: ServedProject
) -> None:
    watched.forgive("404")  # of the HEAD by which it finds out
    reader.goto(f"{guide.url}upgrade.html")
    entries(reader)
    choose(reader, "Latest 1.x")

    assert reader.url == f"{guide.url}v/1/"


@pytest.mark.deep
@pytest.mark.parametrize("look", ["light-wide"], indirect=True)
def test_only_readers_of_an_old_version_are_told_of_the_newest(reader: Page, guide: ServedProject) -> None:
    banner = reader.locator("#bd-header-version-warning")

    reader.goto(f"{guide.url}v/1/usage.html")
    expect(banner).to_contain_text("an old version (1.4.0)")
    with reader.expect_navigation():
        banner.get_by_role("link", name="Switch to stable version").click()
    assert reader.url == f"{guide.url}usage.html"

    for path in ("usage.html", "v/2/usage.html"):
        reader.goto(f"{guide.url}{path}", wait_until="networkidle")
        expect(reader.locator(BUTTON).locator("visible=true")).to_have_attribute("data-active-version", "2")
        expect(banner).to_be_hidden()
