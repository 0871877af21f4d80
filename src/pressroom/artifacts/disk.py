"""Bytes in a folder: `blobs/ab/<key>`, `renders/` with hard links to some of them, `staging/` with uploads that wait, and
`tmp/` for what is still being written.

A file gets its final name when it is whole and on the disk, so a crash leaves either the file or a temporary one that `sweep`
removes. There is one level of folders, because a new one costs two more fsyncs, and with two levels nearly every file would
need one. Symbolic links inside the folder are not followed, wherever they come from.
"""

import errno
import hashlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from pressroom import failpoints
from pressroom.artifacts import (
    CHUNK,
    LINK_SECONDS,
    Blob,
    Data,
    ListedBlob,
    Reserve,
    checked_alias,
    checked_key,
    checked_media_type,
    checked_range,
    is_key,
    key_of,
    matches_hash,
)
from pressroom.artifacts.disposition import safe_filename
from pressroom.artifacts.folder_staging import FolderStaging
from pressroom.artifacts.local_files import LocalFile, sync_filesystem
from pressroom.artifacts.os_errors import translate_os_errors
from pressroom.artifacts.signed_links import SignedLink, Signer
from pressroom.artifacts.signing_secret import create_private_file, load_or_create_secret
from pressroom.artifacts.store_id import create_folder_id, read_folder_id
from pressroom.artifacts.threads import in_thread
from pressroom.clock import Clock
from pressroom.errors import BlobGone, NotFound, StoreUnavailable
from pressroom.ids import new_uid

MAX_SMALL_BYTES = 256 * 1024  # hashed in 0.2 ms: less than it takes to ask a thread
WRITE_SIZE = 1024 * 1024  # small pieces of a stream are gathered up to this, so that each trip to a thread is worth it

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # nonblocking: a planted FIFO must not hang us
_MISSING_ERRORS = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})  # the last two: a symbolic link where a step should be


class Disk:
    """`Blobs` in a folder, which is made if it is not there. Any number of processes may share it.

    `base` is the address under which the service answers to `url`, and asks `check` what such a link allows.
    """

    def __init__(self, folder: str | Path, clock: Clock, *, base: str = "/blobs") -> None:
        self._root = Path(folder).absolute()
        self._temporary = self._root / "tmp"
        self._base = base.rstrip("/")
        with translate_os_errors(str(self._root)):
            missing = [path for path in (self._root, *self._root.parents) if not path.exists()]
            for part in (self._root, self._temporary, self._root / "blobs"):
                part.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._signer = Signer(load_or_create_secret(self._root), clock)
            for changed in (self._root, *(path.parent for path in missing)):
                _fsync_folder(changed)

    async def put(self, data: Data, *, reserve: Reserve | None = None) -> Blob:
        if not isinstance(data, bytes):
            return await self._put_stream(data, reserve)
        sha256 = _sha256(data) if len(data) <= MAX_SMALL_BYTES else await in_thread(partial(_sha256, data))
        key = await _key_for(sha256, len(data), reserve)
        await self._run_in_thread(partial(self._write_blob, data, key))
        return Blob(key, len(data))

    async def put_files(self, files: Sequence[LocalFile]) -> None:
        await self._run_in_thread(partial(self._move_files_into_place, files))

    async def make_scratch_folder(self) -> Path:
        folder = self._temporary / f"files-{secrets.token_hex(16)}"
        await self._run_in_thread(partial(folder.mkdir, mode=0o700))
        return folder

    async def open_staging(self) -> FolderStaging:
        return FolderStaging(self._root)

    async def get(self, key: str, start: int = 0, stop: int | None = None) -> AsyncIterator[bytes]:
        first, end = await self._run_in_thread(partial(self._read_first, checked_key(key), start, stop))
        return self._chunks(key, first, start + len(first), end)

    async def size(self, key: str) -> int:
        return await self._run_in_thread(partial(self._size, checked_key(key)))

    async def verify(self, key: str) -> bool:
        return await matches_hash(await self.get(key), key)

    async def url(
        self,
        key: str,
        *,
        seconds: int = LINK_SECONDS,
        media_type: str = "application/octet-stream",
        filename: str | None = None,
    ) -> str:
        allowed = SignedLink(checked_key(key), checked_media_type(media_type), safe_filename(filename or "") or None)
        return f"{self._base}/{self._signer.sign(allowed, seconds=seconds)}"

    def check_link(self, url: str) -> SignedLink:
        """What a link from `url` allows. Raises NotFound if it was changed, is not ours, or its time is over."""
        return self._signer.check_link(url)

    async def delete(self, keys: Iterable[str]) -> None:
        await self._run_in_thread(partial(self._delete, [checked_key(key) for key in keys]))

    async def alias(self, key: str, path: str) -> None:
        await self._run_in_thread(partial(self._alias, checked_key(key), checked_alias(path)))

    async def alias_size(self, path: str) -> int:
        return await self._run_in_thread(partial(self._alias_size, checked_alias(path)))

    async def unalias(self, paths: Iterable[str]) -> None:
        await self._run_in_thread(partial(self._unalias, [checked_alias(path) for path in paths]))

    async def list_blobs(self) -> AsyncIterator[ListedBlob]:
        for folder in await self._run_in_thread(partial(_list_names, self._root / "blobs")):
            for listed in await self._run_in_thread(partial(self._list, folder)):
                yield listed

    async def delete_temporary_files(self, older_than: float) -> int:
        return await self._run_in_thread(partial(self._delete_temporary_files, older_than))

    async def read_id(self) -> str | None:
        return await in_thread(partial(read_folder_id, self._root))

    async def create_id(self) -> str:
        return await self._run_in_thread(self._create_id)

    def _create_id(self) -> str:
        found = read_folder_id(self._root)
        if found is None:
            create_folder_id(self._root, new_uid())
            found = read_folder_id(self._root)
            assert found is not None
        _fsync_folder(self._root)  # also if another process made it: it may not have come to this yet
        return found

    async def _run_in_thread[T](self, work: Callable[[], T]) -> T:
        with translate_os_errors(f"the artifact folder {self._root}"):
            return await in_thread(work)

    async def _put_stream(self, data: AsyncIterable[bytes], reserve: Reserve | None) -> Blob:
        path = self._new_temporary()
        digest, size = hashlib.sha256(), 0
        file = await self._run_in_thread(partial(create_private_file, path))
        try:
            async for chunk in _gather_chunks(data):
                size += len(chunk)
                await self._run_in_thread(partial(_write_and_hash, file, digest.update, chunk))
            key = await _key_for(digest.hexdigest(), size, reserve)
            await self._run_in_thread(partial(self._move_into_place, file, path, key, size))
        finally:
            with suppress(OSError):  # what could not be flushed is thrown away anyway
                file.close()
            path.unlink(missing_ok=True)
        return Blob(key, size)

    def _write_blob(self, data: bytes, key: str) -> None:
        if self._has_blob(key, len(data)):
            return
        path = self._new_temporary()
        file = create_private_file(path)
        try:
            file.write(data)
            self._move_into_place(file, path, key, len(data))
        finally:
            with suppress(OSError):
                file.close()
            path.unlink(missing_ok=True)

    def _move_into_place(self, file: BinaryIO, path: Path, key: str, size: int) -> None:
        """Give a written file its final name."""
        if self._has_blob(key, size):
            return
        file.flush()
        os.fsync(file.fileno())
        failpoints.hit("blob.temp_written")
        with self._folder_of(key, make=True) as folder:
            os.rename(path, key, dst_dir_fd=folder)
            failpoints.hit("blob.renamed")
            os.fsync(folder)

    def _move_files_into_place(self, files: Sequence[LocalFile]) -> None:
        """Give many written files their final names, with one sync for their bytes and one for their names."""
        with self._folder_at(()) as root:
            sync_filesystem(root)
            failpoints.hit("blob.temp_written")
            self._make_folders({file.key[:2] for file in files})
            for _, group in groupby(sorted(files, key=lambda file: file.key), key=lambda file: file.key[:2]):
                same = [*group]
                with self._folder_of(same[0].key, make=True) as folder:
                    for file in same:
                        if _is_in_folder(folder, file.key, file.size):
                            continue
                        if file.path is None:
                            raise BlobGone(
                                f"the bytes of {file.key} are not in the artifact folder; run `pressroom fsck --artifacts`"
                            )
                        os.rename(file.path, file.key, dst_dir_fd=folder)
            failpoints.hit("blob.renamed")
            sync_filesystem(root)

    def _make_folders(self, names: Iterable[str]) -> None:
        """With one sync for all that are new."""
        with self._folder_at(("blobs",)) as folder:
            made = 0
            for name in sorted(names):
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=folder)
                    made += 1
            if made:
                os.fsync(folder)

    def _has_blob(self, key: str, size: int) -> bool:
        try:
            with self._folder_of(key) as folder:
                if not _is_in_folder(folder, key, size):
                    return False
                os.fsync(folder)  # the process that renamed it may not have synced it yet, and we are about to rely on the name
                return True
        except OSError as error:
            if error.errno in _MISSING_ERRORS:
                return False
            raise

    def _new_temporary(self) -> Path:
        return self._temporary / secrets.token_hex(16)

    def _alias(self, key: str, path: str) -> None:
        *folders, name = path.split("/")
        temporary = f".{secrets.token_hex(16)}"
        try:
            with self._folder_of(key) as source, self._folder_at(folders, make=True) as target:
                os.link(key, temporary, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
                os.replace(temporary, name, src_dir_fd=target, dst_dir_fd=target)
                with suppress(FileNotFoundError):  # where both are links to one file, replacing does nothing
                    os.unlink(temporary, dir_fd=target)
                os.fsync(target)
        except OSError as error:
            if error.errno in _MISSING_ERRORS:
                raise NotFound("there are no bytes under that key") from None
            raise

    def _alias_size(self, path: str) -> int:
        *folders, name = path.split("/")
        try:
            with self._folder_at(folders) as folder:
                return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
        except OSError as error:
            if error.errno in _MISSING_ERRORS:
                raise NotFound(f"there is no {path}") from None
            raise

    def _unalias(self, paths: list[str]) -> None:
        for path in paths:
            *folders, name = path.split("/")
            try:
                with self._folder_at(folders) as folder:
                    os.unlink(name, dir_fd=folder)
                if len(folders) > 1:
                    with self._folder_at(folders[:-1]) as above:
                        os.rmdir(folders[-1], dir_fd=above)
            except OSError as error:
                if error.errno not in _MISSING_ERRORS | {errno.ENOTEMPTY, errno.EEXIST}:
                    raise

    @contextmanager
    def _folder_of(self, key: str, *, make: bool = False) -> Iterator[int]:
        """A descriptor of the folder that holds a key."""
        with self._folder_at(("blobs", key[:2]), make=make) as folder:
            yield folder

    @contextmanager
    def _folder_at(self, names: Iterable[str], *, make: bool = False) -> Iterator[int]:
        """A descriptor of a folder. Step by step, because O_NOFOLLOW looks at the last step only."""
        current = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in names:
                following = _open_folder(current, name, make=make)
                os.close(current)
                current = following
            yield current
        finally:
            os.close(current)

    def _open(self, key: str) -> tuple[BinaryIO, int]:
        try:
            with self._folder_of(key) as folder:
                descriptor = os.open(key, _READ, dir_fd=folder)
        except OSError as error:
            if error.errno in _MISSING_ERRORS:
                raise NotFound("there are no bytes under that key") from None
            raise
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            os.close(descriptor)
            raise NotFound("there are no bytes under that key")
        return os.fdopen(descriptor, "rb", buffering=0), found.st_size

    def _read_first(self, key: str, start: int, stop: int | None) -> tuple[bytes, int]:
        """The first chunk of a range, and where the range ends. A small file so costs one trip to a thread."""
        file, size = self._open(key)
        with file:
            start, end = checked_range(start, stop, size)
            file.seek(start)
            return _read_fully(file, min(CHUNK, end - start)), end

    async def _chunks(self, key: str, first: bytes, position: int, end: int) -> AsyncIterator[bytes]:
        # Opened again rather than held: a reader that never comes back would leave a descriptor behind.
        if first:
            yield first
        if position >= end:
            return
        file, _ = await self._run_in_thread(partial(self._open, key))
        try:
            file.seek(position)
            while position < end:
                chunk = await self._run_in_thread(partial(_read_fully, file, min(CHUNK, end - position)))
                position += len(chunk)
                yield chunk
        finally:
            file.close()

    def _size(self, key: str) -> int:
        file, size = self._open(key)
        file.close()
        return size

    def _delete(self, keys: list[str]) -> None:
        for key in keys:
            try:
                with self._folder_of(key) as folder:
                    os.unlink(key, dir_fd=folder)
            except OSError as error:
                if error.errno not in _MISSING_ERRORS:
                    raise

    def _list(self, upper: str) -> list[ListedBlob]:
        now = time.time()
        listed = []
        with os.scandir(self._root / "blobs" / upper) as entries:
            for entry in entries:
                if is_key(entry.name) and entry.is_file(follow_symlinks=False):
                    with suppress(FileNotFoundError):
                        found = entry.stat(follow_symlinks=False)
                        listed.append(ListedBlob(entry.name, found.st_size, max(0.0, now - found.st_mtime)))
        return listed

    def _delete_temporary_files(self, older_than: float) -> int:
        swept = 0
        now = time.time()
        with os.scandir(self._temporary) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    if now - entry.stat(follow_symlinks=False).st_mtime < older_than:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path)
                    else:
                        os.unlink(entry.path)
                    swept += 1
        return swept


def _is_in_folder(folder: int, key: str, size: int) -> bool:
    try:
        found = os.stat(key, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == size


async def _key_for(sha256: str, size: int, reserve: Reserve | None) -> str:
    return key_of(sha256, 0 if reserve is None else await reserve(sha256, size))


async def _gather_chunks(data: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    gathered = bytearray()
    async for chunk in data:
        gathered += chunk
        if len(gathered) >= WRITE_SIZE:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write_and_hash(file: BinaryIO, hashed: Callable[[bytes], None], chunk: bytes) -> None:
    hashed(chunk)
    file.write(chunk)


def _read_fully(file: BinaryIO, count: int) -> bytes:
    pieces = []
    while count > 0:
        chunk = file.read(count)
        if not chunk:
            message = "a file of the artifact folder is shorter than it was; run `pressroom fsck --artifacts`"
            raise StoreUnavailable(message, dependency="artifacts")
        pieces.append(chunk)
        count -= len(chunk)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _open_folder(parent: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=parent)
    os.fsync(parent)
    return os.open(name, _FOLDER, dir_fd=parent)


def _fsync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _list_names(folder: Path) -> list[str]:
    """The two-letter folders in a folder, in order."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if len(entry.name) == 2 and entry.is_dir(follow_symlinks=False))
