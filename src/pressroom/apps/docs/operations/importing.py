"""Import a folder with a site for each version: every version becomes a build and an edition, every alias an edition."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import IO, Literal

import msgspec

from pressroom.app import Core
from pressroom.apps.docs.commands.site_archive import PackedSite, list_site, pack_site
from pressroom.apps.docs.domain.slugs import check_slug
from pressroom.apps.docs.domain.versions import parse_release
from pressroom.apps.docs.errors import SlugTaken
from pressroom.apps.docs.model import MAIN, Build, BuildStatus, Edition, EditionKind, TrackingMode, TrackingParams
from pressroom.apps.docs.operations.builds import Builds
from pressroom.apps.docs.operations.editions import Editions
from pressroom.apps.docs.requests import BuildDraft, EditionChanges, EditionDraft
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.uploads.staging import Staging
from pressroom.apps.docs.uploads.version_folder import ALIASES, VersionFolders, find_versions, is_release_name, newest_release
from pressroom.errors import NotFound, Refused

CHUNK = 256 * 1024


class ImportedVersion(msgspec.Struct, frozen=True, kw_only=True):
    """`name` is that of the folder or alias. `unchanged`: a build of the same files was there."""

    name: str
    status: Literal["imported", "unchanged", "alias", "ignored", "failed"]
    build: str | None = None
    files: int = 0
    problem: str = ""  # why it was ignored or failed


class FolderImport:
    """Nothing is overwritten: an edition that is there and shows a build is left alone, unless it tracks what is imported."""

    def __init__(self, core: Core, builds: Builds, editions: Editions, staging: Staging) -> None:
        self._core = core
        self._settings: DocsSettings = core.app_settings
        self._builds = builds
        self._editions = editions
        self._staging = staging

    async def run(
        self,
        org: str,
        project: str,
        folder: Path,
        *,
        actor: str,
        on_version: Callable[[ImportedVersion], None] | None = None,
        timeout: float | None = None,
    ) -> list[ImportedVersion]:
        """Version by version, oldest first; each is processed before the next one begins, by workers of this process or of
        another one. `timeout`: seconds for each. Raises InvalidArgument for a folder without versions, and WaitTimeout."""
        await self._editions.get(org, project, MAIN)  # raises OrgNotFound and ProjectNotFound before anything is read
        found = await asyncio.to_thread(find_versions, folder)
        run = _ImportRun(self, org, project, folder, found, actor, timeout)
        results = []
        async for result in run.results():
            results.append(result)
            if on_version is not None:
                on_version(result)
        return results

    async def upload(self, org: str, project: str, folder: Path, git_ref: str, actor: str) -> tuple[Build, PackedSite, bool]:
        """The build, started, and whether it is new."""
        with tempfile.TemporaryFile(prefix="pressroom-import-") as archive:
            packed = await asyncio.to_thread(_pack, folder, archive)
            draft = BuildDraft(git_ref=git_ref, content_hash=packed.content_hash, annotations={"imported_from": folder.name})
            announced = await self._builds.announce(org, project, draft, uploader=actor, base_url="")
            if announced.upload_url is None:
                return announced.build, packed, False
            archive.seek(0)
            await self._staging.receive(announced.build.uid, _chunks(archive), self._settings.max_upload)
        return await self._builds.start(org, project, announced.build.uid, actor=actor), packed, True

    async def wait(self, job_uid: str, timeout: float | None) -> None:
        await self._core.queue.wait_until_ended(job_uid, timeout=timeout)

    async def finish(self, org: str, project: str, build: Build, timeout: float | None) -> Build:
        """The build at the end of its job."""
        if build.job_uid is not None and build.status is BuildStatus.PROCESSING:
            await self.wait(build.job_uid, timeout)
        return await self._builds.get(org, project, build.uid)

    async def ensure_edition(self, org: str, project: str, draft: EditionDraft) -> Edition:
        try:
            return await self._editions.create(org, project, draft)
        except SlugTaken:
            return await self._editions.get(org, project, draft.slug)

    async def show(self, org: str, project: str, slug: str, build: Build, *, actor: str, timeout: float | None) -> None:
        """Where the edition shows nothing yet."""
        try:
            edition = await self._editions.get(org, project, slug)
        except NotFound:
            return
        if edition.build is not None:
            return
        _, job = await self._editions.change(org, project, slug, EditionChanges(build=build.uid), actor=actor)
        if job is not None:
            await self.wait(job.uid, timeout)


class _ImportRun:
    """One import."""

    def __init__(
        self,
        importer: FolderImport,
        org: str,
        project: str,
        folder: Path,
        found: VersionFolders,
        actor: str,
        timeout: float | None,
    ) -> None:
        self._importer = importer
        self._org, self._project = org, project
        self._folder, self._found = folder, found
        self._actor, self._timeout = actor, timeout
        self._builds: dict[str, Build] = {}

    async def results(self) -> AsyncIterator[ImportedVersion]:
        for name, reason in self._found.ignored.items():
            yield ImportedVersion(name=name, status="ignored", problem=reason)
        for name in self._found.versions:
            yield await self._import_version(name)
        for alias, target in self._found.aliases.items():
            yield await self._import_alias(alias, target)
        chosen = self._choose_main()
        if chosen is not None:
            await self._show(MAIN, self._builds[chosen])

    async def _import_version(self, name: str) -> ImportedVersion:
        try:
            await self._make_edition(name)
            build, packed, is_new = await self._importer.upload(
                self._org, self._project, self._folder / name, name, self._actor
            )
            build = await self._importer.finish(self._org, self._project, build, self._timeout)
        except Refused as refusal:
            return ImportedVersion(name=name, status="failed", problem=str(refusal))
        if build.status is not BuildStatus.COMPLETED:
            problem = (build.error or {}).get("message", "the build failed")
            return ImportedVersion(name=name, status="failed", build=build.uid, problem=problem)
        self._builds[name] = build
        await self._show(name, build)
        return ImportedVersion(name=name, status="imported" if is_new else "unchanged", build=build.uid, files=packed.files)

    async def _make_edition(self, name: str) -> None:
        """A name of one letter is left to tracking, which may make an edition of it."""
        if len(name) == 1:
            return
        kind = EditionKind.RELEASE if is_release_name(name) else EditionKind.DRAFT
        await self._ensure(name, kind, TrackingMode.GIT_REF, TrackingParams(git_ref=name), self._found.titles.get(name, ""))

    async def _import_alias(self, alias: str, target: str) -> ImportedVersion:
        build = self._builds.get(target)
        if build is None:
            return ImportedVersion(name=alias, status="failed", problem=f"{target} was not imported")
        follows_releases = parse_release(target) is not None and target == newest_release(self._builds)
        mode = TrackingMode.SEMVER_RELEASE if follows_releases else TrackingMode.GIT_REF
        parameters = TrackingParams() if follows_releases else TrackingParams(git_ref=target)
        try:
            await self._ensure(alias, EditionKind.RELEASE, mode, parameters, "")
        except Refused as refusal:
            return ImportedVersion(name=alias, status="failed", problem=str(refusal))
        await self._show(alias, build)
        return ImportedVersion(name=alias, status="alias", build=build.uid)

    async def _ensure(self, slug: str, kind: EditionKind, mode: TrackingMode, parameters: TrackingParams, title: str) -> None:
        check_slug("edition", slug)
        draft = EditionDraft(slug=slug, title=title, kind=kind, tracking_mode=mode, tracking_params=parameters)
        await self._importer.ensure_edition(self._org, self._project, draft)

    async def _show(self, slug: str, build: Build) -> None:
        importer = self._importer
        await importer.show(self._org, self._project, slug, build, actor=self._actor, timeout=self._timeout)

    def _choose_main(self) -> str | None:
        """What the main edition shows, if it shows nothing: what people called the latest, else the newest release."""
        named = (self._found.aliases.get(alias, alias) for alias in ALIASES)
        called = next((name for name in named if name in self._builds), None)
        return called or newest_release(self._builds) or next(reversed(self._builds), None)


def _pack(folder: Path, archive: IO[bytes]) -> PackedSite:
    return pack_site(list_site(folder), archive)


async def _chunks(archive: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(archive.read, CHUNK):
        yield chunk
