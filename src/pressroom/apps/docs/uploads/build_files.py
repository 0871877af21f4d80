"""The files of a build, and their bytes."""

from functools import partial

from pressroom.apps.docs.model import Build
from pressroom.artifact_lifecycle import blob_key
from pressroom.artifacts import Blobs
from pressroom.store import Database
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import ArtifactFile

FILES_AT_ONCE = 5_000


async def list_files(database: Database, build: Build) -> list[ArtifactFile]:
    """By path; empty before the inventory."""
    files: list[ArtifactFile] = []
    if build.artifact is None:
        return files
    while True:
        after = files[-1].path if files else ""
        page = await database.read(partial(artifacts.files_of, build.artifact, after=after, limit=FILES_AT_ONCE))
        files += page
        if len(page) < FILES_AT_ONCE:
            return files


async def read_file(store: Blobs, file: ArtifactFile) -> bytes:
    """Whole, in memory."""
    return b"".join([chunk async for chunk in await store.get(blob_key(file))])
