"""Uploads in the folder `staging` of an artifact folder. Each gets its name when it is whole and on the disk."""

import os
import secrets
import stat
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from pressroom import failpoints
from pressroom.artifacts import CHUNK
from pressroom.artifacts.os_errors import translate_os_errors
from pressroom.artifacts.signing_secret import create_private_file
from pressroom.artifacts.staged_uploads import id_of, upload_name
from pressroom.artifacts.threads import in_thread
from pressroom.errors import NotFound

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FolderStaging:
    """`StagedUploads` in a folder, which is made with the first upload."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "staging"
        self._temporary = root / "tmp"
        self._place = f"the artifact folder {root}"

    async def upload_url(self, id: str, seconds: int) -> str | None:  # noqa: ARG002
        return None

    async def receive(self, id: str, chunks: AsyncIterable[bytes]) -> int:
        name = upload_name(id)
        path, size = self._temporary / secrets.token_hex(16), 0
        file = await self._run_in_thread(partial(create_private_file, path))
        try:
            async for chunk in chunks:
                size += len(chunk)
                await self._run_in_thread(partial(file.write, chunk))
            await self._run_in_thread(partial(self._move_into_place, file, path, name))
        finally:
            with suppress(OSError):  # what could not be flushed is thrown away anyway
                file.close()
            path.unlink(missing_ok=True)
        return size

    def _move_into_place(self, file: BinaryIO, path: Path, name: str) -> None:
        file.flush()
        os.fsync(file.fileno())
        failpoints.hit("upload.written")
        self._folder.mkdir(mode=0o700, exist_ok=True)
        os.rename(path, self._folder / name)
        _fsync_folder(self._folder)
        _fsync_folder(self._folder.parent)

    async def size(self, id: str) -> int | None:
        path = self._folder / upload_name(id)
        return await self._run_in_thread(partial(_size_of, path))

    async def read(self, id: str) -> AsyncIterator[bytes]:
        path = self._folder / upload_name(id)
        file = await self._run_in_thread(partial(_open, path))
        try:
            while chunk := await self._run_in_thread(partial(file.read, CHUNK)):
                yield chunk
        finally:
            file.close()

    async def delete(self, id: str) -> None:
        path = self._folder / upload_name(id)
        await self._run_in_thread(partial(path.unlink, missing_ok=True))

    async def list_ids(self, older_than: float) -> AsyncIterator[str]:
        for id in await self._run_in_thread(partial(self._list, older_than)):
            yield id

    async def _run_in_thread[T](self, work: Callable[[], T]) -> T:
        with translate_os_errors(self._place):
            return await in_thread(work)

    def _list(self, older_than: float) -> list[str]:
        if not self._folder.exists():
            return []
        found, before = [], time.time() - older_than
        with os.scandir(self._folder) as entries:
            for entry in entries:
                id = id_of(entry.name)
                with suppress(FileNotFoundError):
                    if id is not None and entry.stat(follow_symlinks=False).st_mtime <= before:
                        found.append(id)
        return found


def _size_of(path: Path) -> int | None:
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _open(path: Path) -> BinaryIO:
    try:
        return os.fdopen(os.open(path, _READ), "rb", buffering=0)
    except FileNotFoundError:
        raise NotFound("there is no such upload; it was deleted") from None


def _fsync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
