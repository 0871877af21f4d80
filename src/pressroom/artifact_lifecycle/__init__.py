"""Bytes and rows together: what is kept has both.

Bytes are put first, reserved by a row that keeps the collector away; then one transaction, the one that ends the job, makes the
rows that refer to them (`store.artifacts.record`).
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import batched
from pathlib import Path

import msgspec

from pressroom.artifacts import Blobs, Data, Reserve, key_of
from pressroom.artifacts.local_files import LocalFile
from pressroom.errors import BlobGone
from pressroom.store import Database
from pressroom.store.artifacts import aliases, blobs
from pressroom.store.artifacts.artifacts import OUTPUT, Artifact, ArtifactDraft, ArtifactFile, new_link
from pressroom.store.artifacts.blobs import BlobName


async def store_artifact(
    store: Blobs,
    database: Database,
    data: Data,
    *,
    media_type: str,
    filename: str | None = None,
    name: str = OUTPUT,
    with_link: bool = True,
) -> ArtifactDraft:
    """Put the bytes of an artifact. The draft is to be recorded within the collector's grace, or the bytes go again."""
    blob = await store.put(data, reserve=make_reserve(database))
    return ArtifactDraft(
        link=new_link() if with_link else None,
        name=name,
        sha256=blob.sha256,
        generation=blob.generation,
        size=blob.size,
        media_type=media_type,
        filename=filename,
    )


async def name_artifact(store: Blobs, database: Database, draft: ArtifactDraft, path: str) -> None:
    """Give the bytes of a draft a second name. It is to be attached (`aliases.attach`) when the draft is recorded."""
    assert draft.sha256 is not None
    blob = BlobName(draft.sha256, draft.generation)
    await database.run(partial(aliases.reserve, path, blob, draft.size), name="reserve")
    await store.alias(blob_key(blob), path)


async def store_file(store: Blobs, database: Database, path: str, data: Data, *, media_type: str) -> ArtifactFile:
    """Put one file of an artifact that has many."""
    blob = await store.put(data, reserve=make_reserve(database))
    return ArtifactFile(path=path, sha256=blob.sha256, generation=blob.generation, size=blob.size, media_type=media_type)


FILES_AT_ONCE = 500  # whose rows are written in one transaction: about 30 ms of the one writer


class ScratchFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of an artifact that lies in a scratch folder of the store. Its hash was measured there.

    Without a `source` it is one that another artifact refers to."""

    path: str  # in the artifact
    source: Path | None
    sha256: str
    size: int
    media_type: str


async def store_files(store: Blobs, database: Database, files: Sequence[ScratchFile]) -> list[ArtifactFile]:
    """Put many files: reserved in batches, synced together, equal ones once. As with `store_artifact`, they are to be recorded
    within the collector's grace (`store.artifacts.recording`). Raises BlobGone if one without a source is not there."""
    by_hash: dict[str, ScratchFile] = {}
    for file in files:
        if file.source is not None or file.sha256 not in by_hash:
            by_hash[file.sha256] = file
    generations: dict[str, int] = {}
    local: list[LocalFile] = []
    for batch in batched(by_hash.values(), FILES_AT_ONCE):
        reserved = await _reserve_many(database, {file.sha256: file.size for file in batch})
        for file in batch:
            generation, is_live = reserved[file.sha256]
            if file.source is None and not is_live:
                raise BlobGone(f"the bytes of {file.path} were collected meanwhile; they must be put again")
            generations[file.sha256] = generation
            local.append(LocalFile(file.source, key_of(file.sha256, generation), file.size, is_live))
    await store.put_files(local)
    return await asyncio.to_thread(_name_stored, files, generations)  # 50,000 would hold the event loop


def _name_stored(files: Sequence[ScratchFile], generations: dict[str, int]) -> list[ArtifactFile]:
    return [
        ArtifactFile(
            path=file.path,
            sha256=file.sha256,
            generation=generations[file.sha256],
            size=file.size,
            media_type=file.media_type,
        )
        for file in files
    ]


async def _reserve_many(database: Database, sizes: dict[str, int]) -> dict[str, tuple[int, bool]]:
    """By hash, the generation to put bytes under, and whether an artifact refers to them already."""
    live = await database.read(partial(blobs.generations_of_live, [*sizes]))
    others = {sha256: size for sha256, size in sizes.items() if sha256 not in live}
    found = {sha256: (generation, True) for sha256, generation in live.items()}
    if not others:
        return found
    # As in `make_reserve`: a reservation that a power failure forgets was ours.
    reserve = partial(blobs.reserve_many, others)
    reserved = await database.run(reserve, name="reserve", durable=False, shared_lock=True)
    return found | {sha256: (generation, False) for sha256, generation in reserved.items()}


def bundle_draft(
    files: Sequence[ArtifactFile], *, media_type: str, name: str = OUTPUT, with_link: bool = True
) -> ArtifactDraft:
    """The draft of an artifact that has many files."""
    size = sum(part.size for part in files)
    return ArtifactDraft(link=new_link() if with_link else None, name=name, size=size, media_type=media_type, files=list(files))


def blob_key(stored: Artifact | ArtifactFile | BlobName) -> str:
    """The key under which the artifact store has these bytes."""
    return key_of(*(stored if isinstance(stored, BlobName) else stored.blob))


def make_reserve(database: Database) -> Reserve:
    async def reserve(sha256: str, size: int) -> int:
        live = await database.read(partial(blobs.generation_of_live, sha256))
        if live is not None:
            return live
        # A reservation that a power failure forgets was ours, and we are gone too; or record() refuses, and we put again.
        return await database.run(partial(blobs.reserve, sha256, size), name="reserve", durable=False, shared_lock=True)

    return reserve
