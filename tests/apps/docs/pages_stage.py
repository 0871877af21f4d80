"""Organisations, projects and builds made of rows, and a service whose pages show them."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx

from pressroom import artifact_lifecycle
from pressroom.apps.docs.app import DocsApp
from pressroom.apps.docs.model import Build, Edition, Project, TrackingParams
from pressroom.apps.docs.requests import BuildDraft, EditionDraft, OrgDraft, ProjectDraft
from pressroom.apps.docs.store import builds, editions
from pressroom.apps.docs.store.builds import Inventory, NewBuild
from pressroom.apps.docs.store.editions import EditionMove
from pressroom.ids import new_uid
from pressroom.model import Work
from pressroom.store.artifacts import artifacts
from tests.service.access_stage import Stage, on_stage
from tests.web.browsing import Person, found_token

SITE = {"index.html": b"<h1>Guide</h1>", "_static/site.css": b"h1 { color: navy }", "search.js": b"void 0;" * 40}


class SiteStage:
    """A service that strangers can reach. Rows are written by the app's own operations and units of work."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        app = stage.press.app("docs")
        assert isinstance(app, DocsApp)
        self.app = app
        self.database = stage.press.rendering.database

    async def project(self, slug: str = "guide", org: str = "red", **fields: Any) -> Project:
        """With its organisation, if that is not there yet."""
        if not any(one.slug == org for one in await self.app.orgs.list()):
            await self.app.orgs.create(OrgDraft(slug=org, title=org.capitalize()))
        return await self.app.projects.create(org, ProjectDraft(slug=slug, **fields))

    async def edition(self, project: Project, slug: str, git_ref: str = "", **fields: Any) -> Edition:
        fields = {"tracking_params": TrackingParams(git_ref=git_ref or slug)} | fields
        return await self.app.editions.create(project.org, project.slug, EditionDraft(slug=slug, **fields))

    async def build(
        self,
        project: Project,
        git_ref: str = "main",
        files: Mapping[str, bytes] = SITE,
        *,
        shown_by: Sequence[str] = (),
        problems: Sequence[dict[str, Any]] = (),
        error: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Build:
        """A completed build, or with `error` a failed one. The editions come to show it."""
        contents = [
            await artifact_lifecycle.store_file(
                self.stage.press.rendering.blobs, self.database, path, data, media_type=_media_type(path)
            )
            for path, data in files.items()
        ]
        draft = artifact_lifecycle.bundle_draft(contents, media_type="text/html", with_link=False)
        new = NewBuild(git_ref=git_ref, content_hash="sha256:" + "0" * 64, uploader="ci", **fields)
        inventory = Inventory(
            artifact=draft.uid,
            object_count=len(files),
            total_size=sum(map(len, files.values())),
            broken_links=len(problems),
            problems=list(problems),
        )

        def unit() -> Work[Build]:
            build = yield from builds.insert_build(project.id, new, None)
            yield from builds.start_build(build, new_uid())
            if error is not None:
                yield from builds.fail_build(build.uid, error)
                return (yield from builds.get_build(project.id, build.uid))
            yield from artifacts.record(draft, org_id=project.org, keep_for=60_000)
            yield from builds.record_inventory(build.uid, inventory)
            yield from builds.complete_build(build.uid)
            for slug in shown_by:
                yield from _show(project, slug, build.uid, draft.uid)
            return (yield from builds.get_build(project.id, build.uid))

        return await self.database.run(unit, name="test")

    async def new_build(self, project: Project, git_ref: str) -> Build:
        """One that waits for its upload."""
        new = NewBuild(git_ref=git_ref, content_hash="sha256:" + "1" * 64, uploader="ci")
        return await self.database.run(partial(builds.insert_build, project.id, new, None), name="test")

    async def upload(self, project: Project, git_ref: str, files: Mapping[str, bytes] = SITE) -> Build:
        """As CI does; workers have processed it when this returns."""
        build = await self.begin_upload(project, git_ref, files)
        await self.stage.press.wait_until_ended(str(build.job_uid), timeout=120)
        return await self.app.builds.get(project.org, project.slug, build.uid)

    async def begin_upload(self, project: Project, git_ref: str, files: Mapping[str, bytes] = SITE) -> Build:
        archive = _archive(files)
        draft = BuildDraft(git_ref=git_ref, content_hash=f"sha256:{hashlib.sha256(archive).hexdigest()}")
        announced = await self.app.builds.announce(project.org, project.slug, draft, uploader="ci", base_url="")

        async def chunks() -> AsyncIterator[bytes]:
            yield archive

        await self.app.staging.receive(announced.build.uid, chunks(), len(archive))
        return await self.app.builds.start(project.org, project.slug, announced.build.uid, actor="ci")

    async def get_edition(self, project: Project, slug: str = "__main") -> Edition:
        return await self.app.editions.get(project.org, project.slug, slug)


def _show(project: Project, slug: str, build: str, artifact: str) -> Work[None]:
    edition = yield from editions.get_edition(project.id, slug)
    move = EditionMove(
        edition=edition.id,
        expected_seq=edition.publish_seq,
        build=build,
        artifact=artifact,
        trigger="build",
        actor="ci",
        job_uid=None,
    )
    seq = yield from editions.move_edition(move)
    assert seq is not None
    yield from editions.mark_published(edition.id, seq)


def _archive(files: Mapping[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return gzip.compress(plain.getvalue(), mtime=0)


def _media_type(path: str) -> str:
    return {"html": "text/html", "css": "text/css", "js": "text/javascript"}.get(path.rpartition(".")[2], "image/png")


@asynccontextmanager
async def sites(database: str, *, works: bool = False, **options: Any) -> AsyncIterator[SiteStage]:
    async with on_stage(database, works=works, **options) as stage:
        yield SiteStage(stage)


async def send(person: Person, page: str, action: str, **fields: str | list[str]) -> httpx.Response:
    """Send a form of a page, as it stands there."""
    shown = (await person.get(page)).text
    assert f'action="{action}"' in shown, shown
    return await person.client.post(action, data={"form_token": found_token(shown), **fields})
