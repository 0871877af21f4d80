"""What callers may say of organisations, projects and builds; what is wrong is refused with the field's name."""

from typing import Any

import msgspec
import pytest

from pressroom.apps.docs.errors import BuildNotFound, OrgInUse, OrgNotFound, ProjectNotFound, SlugTaken
from pressroom.apps.docs.model import AutoCreate, BuildStatus, TrackingMode
from pressroom.apps.docs.requests import BuildDraft, OrgChanges, OrgDraft, ProjectChanges, ProjectDraft
from pressroom.errors import InvalidArgument
from tests.apps.docs.flow_stage import SITE, archive_of, docs_flow, hash_of

HASH = hash_of(b"")

BAD_BUILDS: dict[str, dict[str, Any]] = {
    "git_ref: empty": {"git_ref": ""},
    "git_ref: long": {"git_ref": "x" * 300},
    "git_ref: option": {"git_ref": "--upload-pack=touch /tmp/x"},
    "git_ref: way out": {"git_ref": "../x"},
    "git_ref: inner way out": {"git_ref": "a/../b"},
    "git_ref: absolute": {"git_ref": "/etc/passwd"},
    "git_ref: control": {"git_ref": "a\nb"},
    "git_ref: NUL": {"git_ref": "a\0b"},
    "git_ref: space": {"git_ref": "a b"},
    "git_ref: colon": {"git_ref": "a:b"},
    "git_ref: tilde": {"git_ref": "a~1"},
    "git_ref: braces": {"git_ref": "a@{1}"},
    "git_ref: lock": {"git_ref": "a.lock"},
    "git_ref: inner lock": {"git_ref": "a.lock/b"},
    "git_ref: dot": {"git_ref": ".hidden"},
    "git_ref: inner dot": {"git_ref": "a/.b"},
    "git_ref: slash": {"git_ref": "a/"},
    "git_ref: slashes": {"git_ref": "a//b"},
    "git_ref: surrogate": {"git_ref": "a\ud800"},
    "git_ref: at": {"git_ref": "@"},
    "content_hash: short": {"content_hash": "sha256:00"},
    "content_hash: other": {"content_hash": f"md5:{'0' * 64}"},
    "content_hash: case": {"content_hash": f"sha256:{'A' * 64}"},
    "content_hash: line": {"content_hash": f"{HASH}\n"},
    "alternate_name: empty": {"alternate_name": ""},
    "alternate_name: long": {"alternate_name": "x" * 129},
    "alternate_name: slash": {"alternate_name": "a/b"},
    "annotations: many": {"annotations": {str(number): "" for number in range(101)}},
    "annotations: large": {"annotations": {"log": "x" * 20_000}},
    "annotations: NUL": {"annotations": {"log": "\0"}},
    "annotations: surrogate": {"annotations": {"log": "\ud800"}},
    "annotations: number": {"annotations": {"log": float("nan")}},
    "annotations: name": {"annotations": {"x" * 101: ""}},
    "annotations: deep": {"annotations": {"log": [[[[[[]]]]]] * 5_000}},
}


@pytest.mark.parametrize("what", BAD_BUILDS)
async def test_a_build_that_cannot_be_is_refused(file: str, what: str) -> None:
    draft = msgspec.structs.replace(BuildDraft(git_ref="main", content_hash=HASH), **BAD_BUILDS[what])
    async with docs_flow(file, workers=None) as flow:
        with pytest.raises(InvalidArgument, match=f"^{what.partition(':')[0]}"):
            await flow.app.builds.announce("acme", "guide", draft, uploader="ci", base_url="http://localhost")
        assert (await flow.app.builds.list("acme", "guide"))[1] == 0


@pytest.mark.parametrize(
    "ref", ["main", "v1.0.0+build.5", "feature/ünïcode", "release-1.x", "tickets/DM-1", "x" * 256, "a@b", "ü" * 256]
)
async def test_refs_as_git_has_them_are_taken(database: str, ref: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        build = await flow.submit(SITE, ref)
        assert (build.git_ref, build.status) == (ref, BuildStatus.PROCESSING)


BAD_ORGS: dict[str, dict[str, Any]] = {
    "slug": {"slug": "Acme"},
    "title": {"title": "x" * 300},
    "base_domain": {"base_domain": "docs example"},
    "base_domain: path": {"base_domain": "docs.example/x"},
    "base_domain: port": {"base_domain": "docs.example:99999"},
    "url_scheme": {"url_scheme": "both"},
    "root_path_prefix": {"root_path_prefix": "/../x"},
    "root_path_prefix: query": {"root_path_prefix": "/a?b"},
    "slug_rewrite_rules": {"slug_rewrite_rules": [{"type": "no such rule"}]},
    "slug_rewrite_rules: field": {"slug_rewrite_rules": [{"type": "ignore", "glob": "x", "more": 1}]},
    "slug_rewrite_rules: regex": {"slug_rewrite_rules": [{"type": "regex", "pattern": "(?P<slug>("}]},
    "slug_rewrite_rules: large": {"slug_rewrite_rules": [{"type": "ignore", "glob": "x" * 70_000}]},
    "lifecycle_rules": {"lifecycle_rules": [{"type": "no such rule"}]},
    "lifecycle_rules: field": {"lifecycle_rules": [{"type": "draft_inactivity", "max_days_inactive": -1}]},
    "default_edition_config": {"default_edition_config": {"tracking_mode": "no such mode"}},
    "default_edition_config: field": {"default_edition_config": {"colour": "blue"}},
    "tracking_params": {"default_edition_config": {"tracking_mode": "semver_major"}},
    "purgatory_retention": {"purgatory_retention": -1},
    "purgatory_retention: long": {"purgatory_retention": 10**12},
}


@pytest.mark.parametrize("what", BAD_ORGS)
async def test_an_organisation_that_cannot_be_is_refused(file: str, what: str) -> None:
    draft = msgspec.structs.replace(OrgDraft(slug="other"), **BAD_ORGS[what])
    async with docs_flow(file, workers=None) as flow:
        with pytest.raises(InvalidArgument):
            await flow.app.orgs.create(draft)
        if "slug" not in BAD_ORGS[what]:
            with pytest.raises(InvalidArgument):
                await flow.app.orgs.change("acme", OrgChanges(**BAD_ORGS[what]))
        assert [org.slug for org in await flow.app.orgs.list()] == ["acme"]


@pytest.mark.parametrize("slots", [{"no_such_slot": "x"}, {"cdn_service": "A B"}, {"cdn_service": "x" * 200}])
async def test_a_slot_names_a_service(file: str, slots: dict[str, str]) -> None:
    async with docs_flow(file, workers=None) as flow:
        with pytest.raises(InvalidArgument, match=r"^slots"):
            await flow.app.orgs.change("acme", OrgChanges(slots=slots))


async def test_organisations_are_changed_and_deleted(database: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        changes = OrgChanges(
            base_domain="https://Docs.Example.org/",
            root_path_prefix="docs",
            auto_create=AutoCreate(semver=False),
            default_edition_config={"tracking_mode": "lsst_doc"},
        )
        changed = await flow.app.orgs.change("acme", changes)
        assert (changed.base_domain, changed.root_path_prefix) == ("docs.example.org", "/docs/")
        assert (changed.title, changed.auto_create.semver) == ("Acme", False)
        project = await flow.app.projects.create("acme", ProjectDraft(slug="second"))
        (main,) = await flow.app.editions.list("acme", project.slug)
        assert (main.slug, main.tracking_mode, main.lifecycle_exempt) == ("__main", TrackingMode.LSST_DOC, True)
        with pytest.raises(OrgInUse):
            await flow.app.orgs.delete("acme")
        with pytest.raises(SlugTaken):
            await flow.app.orgs.create(OrgDraft(slug="acme"))
        await flow.app.orgs.create(OrgDraft(slug="other"))
        await flow.app.orgs.delete("other")
        with pytest.raises(OrgNotFound):
            await flow.app.orgs.get("other")
        with pytest.raises(OrgNotFound):
            await flow.app.projects.get("other", "guide")


BAD_PROJECTS: dict[str, dict[str, Any]] = {
    "slug": {"slug": "a/b"},
    "title": {"title": "\x07"},
    "source_url": {"source_url": "javascript:alert(1)"},
    "source_url: data": {"source_url": "data:text/html,x"},
    "source_url: bracket": {"source_url": "https://[x"},
    "git_url": {"git_url": "--upload-pack=x"},
    "git_url: control": {"git_url": "https://x/\n"},
    "slug_rewrite_rules": {"slug_rewrite_rules": [{}]},
    "lifecycle_rules": {"lifecycle_rules": [{"type": "ref_deleted"}, {"type": "ref_deleted"}]},
    "purgatory_retention": {"purgatory_retention": -5},
    "on_broken_links": {"on_broken_links": "panic"},
}


@pytest.mark.parametrize("what", BAD_PROJECTS)
async def test_a_project_that_cannot_be_is_refused(file: str, what: str) -> None:
    draft = msgspec.structs.replace(ProjectDraft(slug="other"), **BAD_PROJECTS[what])
    async with docs_flow(file, workers=None) as flow:
        with pytest.raises(InvalidArgument):
            await flow.app.projects.create("acme", draft)
        if "slug" not in BAD_PROJECTS[what]:
            with pytest.raises(InvalidArgument):
                await flow.app.projects.change("acme", "guide", ProjectChanges(**BAD_PROJECTS[what]))
        assert (await flow.app.projects.list("acme"))[1] == 1


async def test_projects_are_listed_and_found(database: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        for slug, title in (("alpha", "First"), ("beta", "100% certain"), ("gamma", "Ünïcode")):
            await flow.app.projects.create("acme", ProjectDraft(slug=slug, title=title))
        page, count = await flow.app.projects.list("acme", limit=2)
        assert ([project.slug for project in page], count) == (["alpha", "beta"], 4)
        page, _ = await flow.app.projects.list("acme", after="beta")
        assert [project.slug for project in page] == ["gamma", "guide"]
        newest, _ = await flow.app.projects.list("acme", order="date_created")
        assert [project.slug for project in newest] == ["gamma", "beta", "alpha", "guide"]
        found, count = await flow.app.projects.list("acme", text="100%")
        assert ([project.slug for project in found], count) == (["beta"], 1)
        with pytest.raises(InvalidArgument):
            await flow.app.projects.list("acme", order="size")
        with pytest.raises(ProjectNotFound):
            await flow.app.projects.get("acme", "delta")


async def test_the_slug_of_a_deleted_project_is_free_again(database: str) -> None:
    """D27, for projects: and the one that was deleted cannot take it back."""
    async with docs_flow(database, workers=None) as flow:
        await flow.app.projects.delete("acme", "guide", actor="anna")
        with pytest.raises(ProjectNotFound):
            await flow.app.projects.get("acme", "guide")
        again = await flow.app.projects.create("acme", ProjectDraft(slug="guide"))
        assert again.id != flow.project.id
        (entry,) = await flow.app.purgatory.list("acme")
        with pytest.raises(SlugTaken):
            await flow.app.purgatory.restore("acme", entry.id, actor="anna")


async def test_which_edition_a_ref_would_make(database: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        rules = [{"type": "prefix_strip", "prefix": "tickets/", "edition_kind": "draft"}]
        await flow.app.orgs.change("acme", OrgChanges(slug_rewrite_rules=rules))
        preview = await flow.app.orgs.preview_slug("acme", "tickets/DM-1", project="guide")
        assert (preview.edition_slug, preview.rule_source) == ("DM-1", "org")
        own = [{"type": "ignore", "glob": "tickets/*"}]
        await flow.app.projects.change("acme", "guide", ProjectChanges(slug_rewrite_rules=own))
        preview = await flow.app.orgs.preview_slug("acme", "tickets/DM-1", project="guide")
        assert (preview.edition_slug, preview.rule_source) == (None, "project")
        with pytest.raises(InvalidArgument):
            await flow.app.orgs.preview_slug("acme", "../x")


async def test_builds_are_compared_by_id_and_by_edition(database: str) -> None:
    async with docs_flow(database) as flow:
        first, _ = await flow.process(SITE)
        second, _ = await flow.process(
            {"index.html": b"new", "more.html": b"", "usage/index.html": SITE["usage/index.html"]}, "dev"
        )
        compared = await flow.app.builds.compare("acme", "guide", "__main", second.uid.lower())
        assert (compared.added, compared.removed, compared.same) == (["more.html"], ["_static/site.css"], 1)
        assert [one.path for one in compared.changed] == ["index.html"]
        for nothing in ("no-such-edition", "0" * 26):
            with pytest.raises(BuildNotFound):
                await flow.app.builds.compare("acme", "guide", first.uid, nothing)
        listed, count = await flow.app.builds.list("acme", "guide", status="completed")
        assert ([build.uid for build in listed], count) == ([second.uid, first.uid], 2)
        with pytest.raises(InvalidArgument):
            await flow.app.builds.list("acme", "guide", status="lost")


async def test_a_project_of_another_organisation_is_not_found(database: str) -> None:
    async with docs_flow(database, workers=None) as flow:
        await flow.app.orgs.create(OrgDraft(slug="other"))
        announced = await flow.announce(archive_of(SITE))
        for call in (
            flow.app.projects.get("other", "guide"),
            flow.app.builds.get("other", "guide", announced.build.uid),
            flow.app.editions.get("other", "guide", "__main"),
        ):
            with pytest.raises(ProjectNotFound):
                await call
        await flow.app.projects.create("acme", ProjectDraft(slug="second"))
        with pytest.raises(BuildNotFound):
            await flow.app.builds.get("acme", "second", announced.build.uid)
