"""From an uploaded archive to files that can be put: unpacked in a sandboxed process, measured here."""

import asyncio
import hashlib
import os
import shutil
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import batched
from pathlib import Path
from typing import NamedTuple

import msgspec

from pressroom.apps.docs.uploads.archive import UnpackedFile, clean_path
from pressroom.apps.docs.uploads.media_types import media_type_of, media_type_of_file
from pressroom.apps.docs.uploads.unpacking_process import Unpacked
from pressroom.artifact_lifecycle import ScratchFile
from pressroom.artifacts import Blobs
from pressroom.artifacts.local_files import measure_file
from pressroom.artifacts.os_errors import translate_os_errors
from pressroom.errors import EngineCrashed, InvalidArgument, SourceInvalid, TooLarge
from pressroom.renderers.sandbox.confined_run import run_confined

MEMORY = 256 * 1024 * 1024  # bytes that the process may have
SECONDS = 1_800.0
ANSWER = 64 * 1024 * 1024  # bytes: the names of all files
MEASURED_AT_ONCE = 500
KNOWN = "known"  # a file beside those that are unpacked; their names are numbers


class KnownFile(NamedTuple):
    """One that the store has, by its hash."""

    size: int
    media_type: str


class HashMismatch(SourceInvalid):
    code = "hash_mismatch"

    def __init__(self, announced: str, found: str) -> None:
        super().__init__(f"the archive has the hash {found}, and {announced} was announced; upload the one that was meant")


@asynccontextmanager
async def unpacked(
    store: Blobs,
    archive: AsyncIterable[bytes],
    content_hash: str,
    *,
    max_files: int,
    max_size: int,
    known: Mapping[str, KnownFile] | None = None,
) -> AsyncIterator[list[ScratchFile]]:
    """The files of an archive, in a scratch folder of the artifact store that is removed at the end. Raises HashMismatch,
    SourceInvalid and TooLarge, and StoreUnavailable if the files cannot be written.

    `known` are files that the store has and that the uploader may read, by their hashes: those are not unpacked. The process
    that finds them is believed: it can say no more than its archive could hold."""
    folder = await store.make_scratch_folder()
    try:
        yield await _unpack(archive, folder, content_hash, max_files, max_size, known or {})
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))


async def _unpack(
    archive: AsyncIterable[bytes],
    folder: Path,
    content_hash: str,
    max_files: int,
    max_size: int,
    known: Mapping[str, KnownFile],
) -> list[ScratchFile]:
    digest = hashlib.sha256()
    instructions = {"folder": str(folder), "files": max_files, "size": max_size, "memory": MEMORY}
    if known:
        instructions["known"] = str(folder / KNOWN)
        await asyncio.to_thread((folder / KNOWN).write_bytes, bytes.fromhex("".join(known)))
    module = "pressroom.apps.docs.uploads.unpacking_process"
    error: SourceInvalid | TooLarge | EngineCrashed | None = None
    answer = Unpacked()
    try:
        written = await run_confined(
            module, instructions, _hashed(archive, digest.update), folder=folder, seconds=SECONDS, output=ANSWER
        )
        answer = await asyncio.to_thread(_decode, written)
        if answer.code:
            error = (TooLarge if answer.code == TooLarge.code else SourceInvalid)(answer.message)
        if answer.errno:  # the archive is not to blame: the disk is full, or broken
            with translate_os_errors(f"the scratch folder {folder}"):
                raise OSError(answer.errno, os.strerror(answer.errno))
    except EngineCrashed as crashed:
        error = crashed
    found = f"sha256:{digest.hexdigest()}"
    if found != content_hash:  # whatever is wrong inside: it is not what was announced
        raise HashMismatch(content_hash, found)
    if error is not None:
        raise error
    files: list[ScratchFile] = []
    for batch in batched(answer.files, MEASURED_AT_ONCE):
        files += await asyncio.to_thread(_measure, folder, batch, known)
    return files


async def _hashed(chunks: AsyncIterable[bytes], update: Callable[[bytes], None]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        update(chunk)
        yield chunk


def _decode(written: bytes) -> Unpacked:
    try:
        return msgspec.json.decode(written, type=Unpacked)
    except msgspec.DecodeError:
        raise EngineCrashed("the process that unpacks archives wrote what cannot be understood") from None


def _measure(folder: Path, files: tuple[UnpackedFile, ...], known: Mapping[str, KnownFile]) -> list[ScratchFile]:
    """Believes nothing that the process says of what it wrote: names, sizes and hashes are looked at again."""
    return [_measured(folder, file, known) for file in files]


def _measured(folder: Path, file: UnpackedFile, known: Mapping[str, KnownFile]) -> ScratchFile:
    same = known.get(file.sha256)
    is_known = same is not None and same.size == file.size
    if clean_path(file.path) != file.path or not file.path or not (is_known or file.name.isdecimal()):
        raise EngineCrashed("the process that unpacks archives named a file that it may not")
    if same is not None and is_known:
        media_type = media_type_of(file.path)
        if same.media_type.startswith(f"{media_type};"):  # with the encoding that the page names
            media_type = same.media_type
        return ScratchFile(path=file.path, source=None, sha256=file.sha256, size=file.size, media_type=media_type)
    source = folder / file.name
    try:
        sha256, size = measure_file(source)
    except InvalidArgument as reason:
        raise EngineCrashed(f"the process that unpacks archives left no file: {reason}") from None
    media_type = media_type_of_file(file.path, source)
    return ScratchFile(path=file.path, source=source, sha256=sha256, size=size, media_type=media_type)
