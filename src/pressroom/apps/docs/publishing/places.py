"""Where a tree of files is written: a folder, or a bucket (`bucket_place`). Paths have slashes and no `..`."""

import asyncio
import errno
import os
import secrets
import shutil
import time
from collections.abc import AsyncIterable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.apps.docs.publishing import PurgedFiles
from pressroom.artifacts.threads import in_thread

TEMPORARY = "__tmp"
TEMPORARY_KEPT = 24 * 3600.0  # seconds; longer than any job may write one file
TRIES = 10


class TreePlace(Protocol):
    """A file is there whole or not at all. Raises PublisherUnavailable."""

    @property
    def name(self) -> str:
        """The same for all processes that write to it."""
        ...

    async def read(self, path: str) -> bytes | None: ...

    async def write(self, path: str, data: bytes | AsyncIterable[bytes], media_type: str) -> None:
        """In place of what is there."""
        ...

    async def move(self, old: str, new: str) -> bool:
        """False if there is nothing to move."""
        ...

    async def delete(self, path: str) -> None:
        """What is not there is not missed."""
        ...

    async def list_files(self, folder: str) -> list[str]:
        """All paths below a folder."""
        ...

    async def list_folders(self, folder: str) -> list[str]:
        """Names of the folders right in it."""
        ...

    async def delete_folder(self, folder: str) -> PurgedFiles: ...

    async def delete_temporary_files(self) -> None:
        """Those of processes that were killed while they wrote."""
        ...

    async def close(self) -> None: ...


class FolderPlace:
    """A folder that a web server reads. Files are written beside it in `__tmp` and renamed into place."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def name(self) -> str:
        return f"folder {self._root}"

    async def read(self, path: str) -> bytes | None:
        return await self._run(lambda: _read(self._root / path))

    async def write(self, path: str, data: bytes | AsyncIterable[bytes], media_type: str) -> None:  # noqa: ARG002
        if not isinstance(data, bytes):
            await self._write_stream(path, data)
            return
        await self._run(lambda: self._write(path, data))

    async def move(self, old: str, new: str) -> bool:
        return await self._run(lambda: self._move(old, new))

    async def delete(self, path: str) -> None:
        await self._run(lambda: self._delete(path))

    async def list_files(self, folder: str) -> list[str]:
        return await self._run(lambda: self._list_files(folder))

    async def list_folders(self, folder: str) -> list[str]:
        return await self._run(lambda: sorted(path.name for path in _scan(self._root / folder) if path.is_dir()))

    async def delete_folder(self, folder: str) -> PurgedFiles:
        return await self._run(lambda: self._delete_folder(folder))

    async def delete_temporary_files(self) -> None:
        await self._run(self._delete_temporary_files)

    async def close(self) -> None:
        return None

    async def _run[T](self, work: Callable[[], T]) -> T:
        with _translated():
            return await in_thread(work)

    def _temporary(self) -> Path:
        folder = self._root / TEMPORARY
        folder.mkdir(parents=True, exist_ok=True)
        return folder / secrets.token_hex(16)

    def _write(self, path: str, data: bytes) -> None:
        temporary = self._temporary()
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            self._rename(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

    async def _write_stream(self, path: str, data: AsyncIterable[bytes]) -> None:
        temporary = await self._run(self._temporary)
        try:
            file = await self._run(lambda: temporary.open("wb"))
            try:
                async for chunk in data:
                    await self._run(lambda chunk=chunk: file.write(chunk))  # type: ignore[misc]
                await self._run(file.flush)
                await self._run(lambda: os.fsync(file.fileno()))
            finally:
                file.close()
            await self._run(lambda: self._rename(temporary, path))
        finally:
            await asyncio.shield(self._run(lambda: temporary.unlink(missing_ok=True)))

    def _rename(self, temporary: Path, path: str) -> None:
        target = self._root / path
        if not _replace(temporary, target):
            raise FileNotFoundError(errno.ENOENT, "the temporary file is gone")
        _fsync_folder(target.parent)

    def _move(self, old: str, new: str) -> bool:
        moved = _replace(self._root / old, self._root / new)
        if moved:
            self._remove_empty_folders(old)
        return moved

    def _delete(self, path: str) -> None:
        with suppress(FileNotFoundError, NotADirectoryError):
            (self._root / path).unlink()
            self._remove_empty_folders(path)

    def _remove_empty_folders(self, path: str) -> None:
        with suppress(OSError):
            for folder in (self._root / path).parents:
                if folder == self._root:
                    return
                folder.rmdir()

    def _list_files(self, folder: str) -> list[str]:
        below = self._root / folder
        return sorted(str(Path(base, name).relative_to(self._root)) for base, _, names in os.walk(below) for name in names)

    def _delete_folder(self, folder: str) -> PurgedFiles:
        paths = [self._root / path for path in self._list_files(folder)]
        sizes = [path.lstat().st_size for path in paths]
        with suppress(FileNotFoundError):  # another process deletes it too
            shutil.rmtree(self._root / folder)
        return PurgedFiles(len(paths), sum(sizes))

    def _delete_temporary_files(self) -> None:
        before = time.time() - TEMPORARY_KEPT
        for path in _scan(self._root / TEMPORARY):
            with suppress(FileNotFoundError):
                if path.lstat().st_mtime < before:
                    path.unlink()


def _replace(source: Path, target: Path) -> bool:
    """False if the source is not there. Another process may remove an empty folder that was made for the target just now."""
    for _ in range(TRIES):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            source.replace(target)
        except NotADirectoryError:
            return False
        except FileNotFoundError:
            if not source.exists():
                return False
        else:
            return True
    raise FileNotFoundError(errno.ENOENT, "its folder is removed again and again")


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _scan(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except OSError as reason:
        raise PublisherUnavailable(
            f"the folder of the sites cannot be used: {reason.strerror or type(reason).__name__}"
        ) from None
