"""Delete what nothing needs any more: first the rows, then, after a grace and for good, the bytes.

Any number of processes may do this at once, and each may stop or die anywhere: what one has begun, the next one ends.
"""

import logging
from collections.abc import Callable
from functools import partial
from itertools import batched
from typing import NamedTuple

from pressroom import failpoints
from pressroom.artifact_lifecycle import blob_key
from pressroom.artifacts import Blob, Blobs, ListedBlob
from pressroom.model import Work
from pressroom.store import Database
from pressroom.store.artifacts import aliases, artifacts, blobs, render_cache
from pressroom.store.artifacts.blobs import BlobName

log = logging.getLogger("pressroom.keeping")

GRACE = 24 * 3600.0  # longer than any attempt may take between putting its bytes and settling
BATCH = 500
FEW = 100  # so many orphans are never suspicious


class CollectedCounts(NamedTuple):
    """What one round came to. `spared` are orphans that were left alone because there were too many to be true."""

    dropped: int = 0
    condemned: int = 0
    deleted: int = 0
    forgotten: int = 0
    swept: int = 0
    orphans: int = 0
    evicted: int = 0
    spared: int = 0
    unaliased: int = 0


async def collect_garbage(
    store: Blobs,
    database: Database,
    *,
    grace: float = GRACE,
    min_age: float = GRACE,
    orphans: bool = False,
    cache_limit: int = 0,
) -> CollectedCounts:
    """One round. `grace` is for rows; what no row knows goes when it was `min_age` for so many seconds.

    The cache is brought down to `cache_limit` bytes; 0 is no limit. `orphans` looks through the whole artifact store for
    bytes that no row knows: once a day is enough.
    """
    wait = int(grace * 1000)
    evicted = await evict_cache_entries(database, cache_limit) if cache_limit else 0
    await _in_batches(database, lambda: artifacts.delete_files_of_unreferenced(BATCH))
    dropped = await _in_batches(database, lambda: artifacts.delete_unreferenced(BATCH))
    unaliased = await _delete_aliases(store, database, wait)
    condemned = await _in_batches(database, lambda: blobs.condemn_marked(wait, BATCH))
    deleted = await delete_condemned(store, database)
    forgotten = await _in_batches(database, lambda: blobs.delete_rows(wait, BATCH))
    swept = await store.delete_temporary_files(min_age)
    found = CollectedCounts(dropped, condemned, deleted, forgotten, swept, evicted=evicted, unaliased=unaliased)
    return await _collect_orphans(store, database, min_age, found) if orphans else found


async def _in_batches(database: Database, unit: Callable[[], Work[int]]) -> int:
    """Durable, because bytes that were deleted must stay condemned, whatever else a power failure forgets."""
    done = 0
    while batch := await database.run(unit, name="collect"):
        done += batch
        if batch < BATCH:
            break
    return done


async def _delete_aliases(store: Blobs, database: Database, grace: int) -> int:
    """Names of artifacts that are gone, and of attempts that never came to settle."""
    deleted = 0
    while paths := await database.run(partial(aliases.condemn_unattached, grace, BATCH), name="collect"):
        await store.unalias(paths)
        await database.run(partial(aliases.delete_rows, paths), name="collect", durable=False)
        deleted += len(paths)
    return deleted


async def evict_cache_entries(database: Database, limit: int) -> int:
    """Delete the least recently used entries of the cache until it holds no more than `limit` bytes."""
    size, evicted = await database.read(render_cache.total_size), 0
    while size > limit:
        entries, freed = await database.run(
            partial(render_cache.evict_entries, size - limit, BATCH), name="collect", durable=False
        )
        if not entries:
            break  # what is left was used or kept meanwhile
        size, evicted = size - freed, evicted + entries
    if evicted:
        log.info("the cache was full (limit %d bytes): the %d least recently used entries were evicted", limit, evicted)
    return evicted


async def delete_condemned(store: Blobs, database: Database) -> int:
    deleted = 0
    while names := await database.read(lambda: blobs.list_condemned(BATCH)):
        failpoints.hit("blob.condemned")
        await store.delete(map(blob_key, names))
        failpoints.hit("blob.deleted")
        buried = await database.run(partial(blobs.record_deleted, names), name="collect", durable=False)
        deleted += buried
        if not buried:
            break  # another process was quicker
    return deleted


async def _collect_orphans(store: Blobs, database: Database, min_age: float, counts: CollectedCounts) -> CollectedCounts:
    listed = [one async for one in store.list_blobs()]
    old = {blob_name_of(one): one.size for one in listed if one.age >= min_age}
    unknown = await find_unexpected_blobs(database, list(old))
    if len(unknown) > max(FEW, len(listed) // 2):
        log.error("no row knows %d of %d blobs; they are left alone: is this the right database?", len(unknown), len(listed))
        return counts._replace(spared=len(unknown))
    condemned = 0
    for batch in batched(unknown, BATCH):
        doomed = await database.run(partial(_condemn_orphans, batch, old), name="collect")
        await store.delete(map(blob_key, doomed))
        await database.run(partial(blobs.record_deleted, doomed), name="collect", durable=False)
        condemned += len(doomed)
    return counts._replace(orphans=condemned)


def _condemn_orphans(names: tuple[BlobName, ...], sizes: dict[BlobName, int]) -> Work[list[BlobName]]:
    doomed = []
    for name in names:
        if (yield from blobs.condemn_orphan(name, sizes[name])):
            doomed.append(name)
    return doomed


async def find_unexpected_blobs(database: Database, names: list[BlobName]) -> list[BlobName]:
    unknown: list[BlobName] = []
    for batch in batched(names, BATCH):
        unknown += await database.read(partial(blobs.find_unexpected, batch))
    return unknown


def blob_name_of(listed: ListedBlob) -> BlobName:
    blob = Blob(listed.key, listed.size)
    return BlobName(blob.sha256, blob.generation)
