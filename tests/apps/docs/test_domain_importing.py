"""Folders with a site for each version, as they lie on servers of static files, become builds and editions."""

import json
from pathlib import Path

import pytest

from pressroom.apps.docs.model import Edition, EditionKind, TrackingMode
from pressroom.apps.docs.operations.importing import ImportedVersion
from pressroom.apps.docs.uploads.version_folder import find_versions, is_release_name, newest_release
from pressroom.errors import InvalidArgument
from tests.apps.docs.flow_stage import LONG, DocsFlow, docs_flow


def write_sites(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name / "_static").mkdir(parents=True)
        (folder / name / "index.html").write_text(f"<h1>{name}</h1>")
        (folder / name / "_static" / "site.css").write_text("h1 {}")
    return folder


async def run(flow: DocsFlow, folder: Path) -> dict[str, ImportedVersion]:
    results = await flow.app.importing.run("acme", "guide", folder, actor="ada", timeout=LONG)
    return {one.name: one for one in results}


async def shown(flow: DocsFlow, slug: str = "__main") -> bytes:
    edition = await flow.edition(slug)
    assert edition.build is not None
    return await flow.read(await flow.build(edition.build), "index.html")


async def test_versions_branches_and_links_become_editions(database: str, tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "sites", "v1.9.0", "v1.10.0", "dev", ".git", "_sources")
    (sites / "stable").symlink_to("v1.10.0")
    (sites / "passwords").symlink_to("/etc")
    (sites / "index.html").write_text('<meta http-equiv="refresh" content="0; url=stable/">')
    (sites / "pictures").mkdir()
    async with docs_flow(database) as flow:
        results = await run(flow, sites)

        assert {name: one.status for name, one in results.items()} == {
            ".git": "ignored",
            "_sources": "ignored",
            "pictures": "ignored",
            "passwords": "ignored",
            "dev": "imported",
            "v1.9.0": "imported",
            "v1.10.0": "imported",
            "stable": "alias",
        }
        assert "/etc" in results["passwords"].problem
        assert results["dev"].files == 2
        assert await shown(flow) == await shown(flow, "stable") == await shown(flow, "v1.10.0") == b"<h1>v1.10.0</h1>"
        assert await shown(flow, "dev") == b"<h1>dev</h1>"
        assert await shown(flow, "1") == b"<h1>v1.10.0</h1>"  # the streams of releases
        assert await shown(flow, "1.9") == b"<h1>v1.9.0</h1>"
        assert kind_and_mode(await flow.edition("v1.9.0")) == (EditionKind.RELEASE, TrackingMode.GIT_REF)
        assert kind_and_mode(await flow.edition("dev")) == (EditionKind.DRAFT, TrackingMode.GIT_REF)
        assert kind_and_mode(await flow.edition("stable")) == (EditionKind.RELEASE, TrackingMode.SEMVER_RELEASE)


async def test_an_import_again_changes_nothing(database: str, tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "sites", "v1.0.0", "main")
    async with docs_flow(database) as flow:
        await run(flow, sites)
        before = [(edition.slug, edition.build) for edition in await flow.app.editions.list("acme", "guide")]
        (sites / "v1.1.0").mkdir()
        (sites / "v1.1.0" / "index.html").write_text("<h1>v1.1.0</h1>")
        results = await run(flow, sites)

        assert {name: one.status for name, one in results.items()} == {
            "main": "unchanged",
            "v1.0.0": "unchanged",
            "v1.1.0": "imported",
        }
        after = {edition.slug: edition.build for edition in await flow.app.editions.list("acme", "guide")}
        assert {slug: build for slug, build in before if after[slug] != build}.keys() == {"1"}
        assert await shown(flow) == b"<h1>main</h1>"


async def test_a_version_that_cannot_be_imported_leaves_the_others_alone(database: str, tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "sites", "1.0", "with space", "2.0")
    (sites / "2.0" / "leak.html").symlink_to("/etc/passwd")
    (sites / "latest").symlink_to("2.0")
    async with docs_flow(database) as flow:
        results = await run(flow, sites)

        assert {name: one.status for name, one in results.items()} == {
            "1.0": "imported",
            "2.0": "failed",
            "with space": "failed",
            "latest": "failed",
        }
        assert "leak.html" in results["2.0"].problem
        assert await shown(flow) == b"<h1>1.0</h1>"


def kind_and_mode(edition: Edition) -> tuple[EditionKind, TrackingMode]:
    return edition.kind, edition.tracking_mode


def test_the_list_of_mike_names_aliases_and_titles(tmp_path: Path) -> None:
    write_sites(tmp_path, "1.0", "2.0", "latest", "dev")
    listed = [{"version": "2.0", "title": "2.0 (new)", "aliases": ["latest", "gone"]}, {"version": "3.0", "aliases": ["next"]}]
    (tmp_path / "versions.json").write_text(json.dumps(listed))
    found = find_versions(tmp_path)

    assert found.versions == ["dev", "1.0", "2.0"]
    assert found.aliases == {"latest": "2.0", "gone": "2.0"}
    assert found.titles == {"2.0": "2.0 (new)"}
    assert found.ignored == {"next": "it leads to '3.0', which is no version"}


@pytest.mark.parametrize("content", ["", "{}", "[1]", '[{"version": 1}]', "[" * 100_000, "\xff"])
def test_a_list_that_is_something_else_is_ignored(tmp_path: Path, content: str) -> None:
    write_sites(tmp_path, "1.0")
    (tmp_path / "versions.json").write_text(content)

    assert find_versions(tmp_path).versions == ["1.0"]


def test_older_versions_come_first_and_branches_before_them(tmp_path: Path) -> None:
    write_sites(tmp_path, "v1.10.0", "v1.9.0", "main", "v1.10.0-rc.1")

    assert find_versions(tmp_path).versions == ["main", "v1.9.0", "v1.10.0-rc.1", "v1.10.0"]


def test_short_versions_are_versions_too(tmp_path: Path) -> None:
    write_sites(tmp_path, "1.10", "1.9", "2", "main", "1.9.1", "0.x")

    assert find_versions(tmp_path).versions == ["0.x", "main", "1.9", "1.9.1", "1.10", "2"]
    assert newest_release(["1.10", "1.9.1", "main", "2.0.0-rc.1"]) == "1.10"
    assert newest_release(["main"]) is None


def test_an_alias_of_an_alias_leads_to_the_version_and_a_circle_nowhere(tmp_path: Path) -> None:
    write_sites(tmp_path, "1.0")
    for alias, target in (("latest", "stable"), ("stable", "./1.0/"), ("here", "there"), ("there", "here")):
        (tmp_path / alias).symlink_to(target)

    found = find_versions(tmp_path)

    assert found.versions == ["1.0"]
    assert found.aliases == {"latest": "1.0", "stable": "1.0"}
    assert found.ignored.keys() == {"here", "there"}


def test_a_link_elsewhere_is_not_followed(tmp_path: Path) -> None:
    write_sites(tmp_path / "other", "2.0")
    write_sites(tmp_path / "sites", "1.0")
    (tmp_path / "sites" / "2.0").symlink_to("../other/2.0")
    (tmp_path / "sites" / "loop").symlink_to("loop")
    found = find_versions(tmp_path / "sites")

    assert (found.versions, found.aliases) == (["1.0"], {})
    assert found.ignored.keys() == {"2.0", "loop"}


@pytest.mark.parametrize(
    ("files", "said"), [([], "no folders"), (["index.html"], "a single site"), (["a/x.txt"], "no folders")]
)
def test_a_folder_without_versions_is_refused(tmp_path: Path, files: list[str], said: str) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("x")

    with pytest.raises(InvalidArgument, match=said):
        find_versions(tmp_path)
    with pytest.raises(InvalidArgument, match="no such folder"):
        find_versions(tmp_path / "gone")


@pytest.mark.parametrize(
    ("name", "expected"), [("1.0", True), ("v2", True), ("2.x", True), ("1.0.0", True), ("1.0.0-rc.1", False), ("main", False)]
)
def test_names_of_releases(name: str, expected: bool) -> None:
    assert is_release_name(name) is expected
