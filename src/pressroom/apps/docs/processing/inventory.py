"""The first phase of a build (Q20): its archive becomes an artifact, which the build holds from then on."""

from collections.abc import Mapping
from functools import partial
from itertools import batched

from pressroom import artifact_lifecycle, failpoints
from pressroom.app import Core
from pressroom.apps.docs.model import Build, BuildStatus, Org
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import builds as rows
from pressroom.apps.docs.store.builds import Inventory, build_holder
from pressroom.apps.docs.uploads.build_files import list_files
from pressroom.apps.docs.uploads.staging import Staging
from pressroom.apps.docs.uploads.unpacking import KnownFile, unpacked
from pressroom.artifact_lifecycle import FILES_AT_ONCE
from pressroom.errors import BlobGone, NotFound, SourceInvalid, TooLarge
from pressroom.model import Work
from pressroom.store.artifacts import recording
from pressroom.store.artifacts.artifacts import ArtifactFile
from pressroom.worker.context import RunningJob

SITE = "application/vnd.pressroom.site"


class BuildInventory:
    def __init__(self, core: Core, staging: Staging) -> None:
        self._core = core
        self._staging = staging
        self._settings: DocsSettings = core.app_settings

    async def take(self, job: RunningJob, org: Org, build: Build) -> Build:
        """The build with its artifact. What an earlier attempt has recorded is not done again. Raises SourceInvalid and
        TooLarge, and then deletes the archive: it will never be anything else."""
        if build.artifact is not None:
            await job.message(f"Cataloged {build.object_count or 0:,} objects before")
            await self._staging.delete(build.uid)
            return build
        try:
            await self._take(job, org, build)
        except (SourceInvalid, TooLarge):
            await self._staging.delete(build.uid)
            raise
        failpoints.hit("inventory.recorded")
        await self._staging.delete(build.uid)
        return await self._core.database.read(partial(rows.get_build_by_uid, build.uid))

    async def _take(self, job: RunningJob, org: Org, build: Build) -> None:
        size, settings = await self._staging.size(build.uid), self._settings
        if size is None:
            raise SourceInvalid("the uploaded archive is gone; create a new build and upload it again")
        if size > settings.max_upload:  # a bucket takes another one in its place as long as the address works
            raise TooLarge(f"the archive is larger than {settings.max_upload:,} bytes")
        try:
            files = await self._unpack(job, build, await self._find_known_files(build))
        except BlobGone:  # of bytes that the store should have: all are put, what is missing too
            files = await self._unpack(job, build, {})
        artifact = await self._record(org, build, files)
        inventory = Inventory(artifact=artifact, object_count=len(files), total_size=sum(file.size for file in files))
        await job.write(partial(_seal, build.uid, inventory))

    async def _unpack(self, job: RunningJob, build: Build, known: Mapping[str, KnownFile]) -> list[ArtifactFile]:
        settings, store = self._settings, self._core.rendering.blobs
        archive = self._staging.read(build.uid)
        try:
            async with unpacked(
                store,
                archive,
                build.content_hash,
                max_files=settings.max_files,
                max_size=settings.max_size,
                known=known,
            ) as scratch:
                await job.message(f"Cataloging {len(scratch):,} objects")
                return await artifact_lifecycle.store_files(store, self._core.database, scratch)
        except NotFound as gone:
            raise SourceInvalid(f"the uploaded archive is gone: {gone}") from None

    async def _find_known_files(self, build: Build) -> dict[str, KnownFile]:
        """By their hashes, those of the project's last build: most of what is uploaded is the same again."""
        database = self._core.database
        last = await database.read(partial(rows.list_builds, build.project, status=BuildStatus.COMPLETED, limit=1))
        files = await list_files(database, last[0]) if last else []
        return {file.sha256: KnownFile(file.size, file.media_type) for file in files}

    async def _record(self, org: Org, build: Build, files: list[ArtifactFile]) -> str:
        """In pieces, so that other writers do not wait for all of them."""
        database = self._core.database
        size = sum(file.size for file in files)
        begin = partial(
            recording.begin_artifact, f"site {build.uid}", files=len(files), size=size, media_type=SITE, org_id=org.slug
        )
        artifact = await database.run(begin, name="record")
        for batch in batched(files, FILES_AT_ONCE):
            await database.run(partial(recording.add_files, artifact, batch), name="record", durable=False)
        return artifact


def _seal(uid: str, inventory: Inventory) -> Work[None]:
    build = yield from rows.get_build_by_uid(uid)
    if build.artifact is None:
        yield from recording.seal_artifact(inventory.artifact, build_holder(uid))
        yield from rows.record_inventory(uid, inventory)
