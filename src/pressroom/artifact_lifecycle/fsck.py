"""Walk every row to its bytes, and every byte to its row. Changes nothing; workers may go on meanwhile."""

from collections.abc import AsyncIterator
from functools import partial

from pressroom.artifact_lifecycle import blob_key
from pressroom.artifact_lifecycle.collect import GRACE, blob_name_of, find_unexpected_blobs
from pressroom.artifacts import Blobs
from pressroom.errors import NotFound
from pressroom.store import Database
from pressroom.store.artifacts import aliases, blobs, consistency
from pressroom.store.artifacts.consistency import ArtifactProblem, PromisedBlob

PAGE = 500


async def fsck(store: Blobs, database: Database, *, deep: bool = True, grace: float = GRACE) -> list[ArtifactProblem]:
    """What is wrong. `deep` reads all bytes and hashes them again; without it their sizes must do.

    Bytes that no row knows are named if they are older than the grace; younger ones may be of a put under way.
    """
    unsound = await database.read(consistency.find_inconsistent_artifacts)
    async for promised in _list_promised(database):
        problem = await _check_blob(store, promised, deep=deep)
        # The collector may have been quicker than we: only what is still promised is missed.
        if problem is not None and await database.read(partial(blobs.generation_of_live, promised.blob.sha256)) is not None:
            unsound.append(problem)
    unsound += await _check_aliases(store, database)
    return unsound + await _find_orphans(store, database, grace)


async def _list_promised(database: Database) -> AsyncIterator[PromisedBlob]:
    after: str | None = ""
    while after is not None:
        page, after = await database.read(partial(consistency.list_promised, after, PAGE))
        for promised in page:
            yield promised


async def _check_blob(store: Blobs, promised: PromisedBlob, *, deep: bool) -> ArtifactProblem | None:
    key = blob_key(promised.blob)
    try:
        size = await store.size(key)
        if size != promised.size:
            return ArtifactProblem("corrupt", key, f"has {size:,} bytes instead of {promised.size:,}")
        if deep and not await store.verify(key):
            return ArtifactProblem("corrupt", key, "its bytes are not those that were put")
    except NotFound:
        return ArtifactProblem("missing", key, "its bytes are gone")
    return None


async def _check_aliases(store: Blobs, database: Database) -> list[ArtifactProblem]:
    """Second names that are missing, or are those of other bytes."""
    problems, after = [], ""
    while page := await database.read(partial(aliases.list_attached, after, PAGE)):
        for alias in page:
            try:
                size = await store.alias_size(alias.path)
            except NotFound:
                problems.append(ArtifactProblem("alias", alias.path, "this second name of an artifact's bytes is gone"))
                continue
            if size != alias.size:
                problems.append(ArtifactProblem("alias", alias.path, f"has {size:,} bytes instead of {alias.size:,}"))
        after = page[-1].path
    return problems


async def _find_orphans(store: Blobs, database: Database, grace: float) -> list[ArtifactProblem]:
    names = [blob_name_of(listed) async for listed in store.list_blobs() if listed.age >= grace]
    unknown = await find_unexpected_blobs(database, names)
    return [ArtifactProblem("orphan", blob_key(name), "no row knows these bytes") for name in unknown]
