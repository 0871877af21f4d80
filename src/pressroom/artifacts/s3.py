"""Bytes in an S3 bucket, or in anything that speaks S3."""

import asyncio
import hashlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import S3Store

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
from pressroom.artifacts.bucket_errors import EXPIRED, as_dependency_failed, error_code
from pressroom.artifacts.bucket_staging import BucketStaging
from pressroom.artifacts.credentials import CredentialProvider, StaticCredentials
from pressroom.artifacts.disposition import content_disposition
from pressroom.artifacts.local_files import LocalFile
from pressroom.artifacts.os_errors import translate_os_errors
from pressroom.artifacts.presign import presign_put, presign_url
from pressroom.artifacts.store_id import NAME, parse_id
from pressroom.artifacts.threads import in_thread
from pressroom.clock import Clock
from pressroom.config import mask_password
from pressroom.errors import NotFound, S3CredentialsExpired, StoreUnavailable
from pressroom.ids import new_uid

if TYPE_CHECKING:
    from obstore.store import S3Credential

PART = 8 * 1024 * 1024  # up to here in one request, from memory; above in parts, from a file
PARTS_AT_ONCE = 2
FILES_AT_ONCE = 16
SCRATCH = "pressroom-files-"  # how the names of scratch folders begin
DELETE_BATCH = 1_000  # the most that one S3 request may name
MAX_LINK_SECONDS = 7 * 24 * 3600  # seconds; S3 refuses to sign for longer
PROBE_NAME = "pressroom-probe"  # of the objects that a probe asks for or writes; no key of a blob begins like this


@dataclass(frozen=True)
class Bucket:
    """Where the bucket is. `presign_endpoint` is the same server as browsers reach it; both may come without a scheme.

    Without an `access_key` the credentials come from a `CredentialProvider`.
    """

    endpoint: str
    bucket: str
    access_key: str = ""
    secret_key: str = field(default="", repr=False)
    use_ssl: bool = True
    presign_endpoint: str | None = None
    region: str = "us-east-1"
    prefix: str = ""

    def address(self) -> str:
        return _with_scheme(self.endpoint, self.use_ssl)

    def public_address(self) -> str:
        return _with_scheme(self.presign_endpoint or self.endpoint, self.use_ssl)


def _with_scheme(endpoint: str, use_ssl: bool) -> str:
    with_scheme = endpoint if "://" in endpoint else f"{'https' if use_ssl else 'http'}://{endpoint}"
    return with_scheme.rstrip("/")


class S3:
    """`Blobs` in a bucket. Uploads that died in the middle are the bucket's own to tidy: give it a lifecycle rule.

    `credentials` are used if the bucket has no access key.
    """

    def __init__(
        self,
        bucket: Bucket,
        clock: Clock,
        *,
        credentials: CredentialProvider | None = None,
        timeout: float = 30.0,
        retries: int = 3,
    ) -> None:
        self._place = bucket
        self._clock = clock
        self._credentials: CredentialProvider
        if credentials is None or bucket.access_key:
            self._credentials = StaticCredentials(bucket.access_key, bucket.secret_key)
        else:
            self._credentials = credentials
        self._prefix = bucket.prefix.strip("/")
        self._store = S3Store(
            bucket.bucket,
            endpoint=bucket.address(),
            # Always ours: left alone, obstore adds what it finds in the environment, such as a session token of other keys.
            # Not a method: obstore would hold this object for ever.
            credential_provider=partial(_held_credentials, self._credentials),
            skip_signature=False,
            region=bucket.region,
            checksum_algorithm="SHA256",  # the server hashes what it got and refuses what was damaged on the way
            virtual_hosted_style_request=False,
            client_options={"allow_http": True, "timeout": timedelta(seconds=timeout), "connect_timeout": timedelta(seconds=5)},
            retry_config={"max_retries": retries, "retry_timeout": timedelta(seconds=timeout)},
        )

    @asynccontextmanager
    async def _requests(self) -> AsyncIterator[None]:
        """Requests to the server, with valid credentials. Raises NotFound and StoreUnavailable."""
        await self._credentials.current()
        with _translate_errors():
            yield

    async def put(self, data: Data, *, reserve: Reserve | None = None) -> Blob:
        if isinstance(data, bytes):
            return await self._put_bytes(data, reserve)
        head, rest = await _read_head(data)
        if rest is None:
            return await self._put_bytes(head, reserve)
        return await self._put_stream(head, rest, reserve)

    async def put_files(self, files: Sequence[LocalFile]) -> None:
        """What an artifact refers to already is taken to be in the bucket, and is not sent again."""
        slots = asyncio.Semaphore(FILES_AT_ONCE)

        async def put_file(file: LocalFile) -> None:
            async with slots:
                await self._put_file(file)

        async with asyncio.TaskGroup() as tasks:
            for file in files:
                if not file.is_known:
                    tasks.create_task(put_file(file))

    async def make_scratch_folder(self) -> Path:
        return Path(await _run_disk_work(partial(tempfile.mkdtemp, prefix=SCRATCH)))

    async def open_staging(self) -> BucketStaging:
        return BucketStaging(self._store, self._prefix, self._requests, self._sign_put)

    async def _sign_put(self, path: str, seconds: int, content_type: str) -> str:
        place = self._place
        return presign_put(
            f"{place.public_address()}/{quote(place.bucket)}/{quote(path)}",
            await self._credentials.current(),
            place.region,
            now=datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC),
            seconds=min(seconds, MAX_LINK_SECONDS),
            content_type=content_type,
        )

    async def get(self, key: str, start: int = 0, stop: int | None = None) -> AsyncIterator[bytes]:
        path = self._path(key)
        if start == 0 and stop is None:
            async with self._requests():
                return _chunks(await obstore.get_async(self._store, path))
        start, stop = checked_range(start, stop, await self.size(key))
        if start == stop:  # S3 knows no empty range
            return _empty_stream()
        async with self._requests():
            return _chunks(await obstore.get_async(self._store, path, options={"range": (start, stop)}))

    async def size(self, key: str) -> int:
        async with self._requests():
            return (await obstore.head_async(self._store, self._path(key)))["size"]

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
        place = self._place
        answer = {
            "response-content-type": checked_media_type(media_type),
            "response-content-disposition": content_disposition(filename),
        }
        return presign_url(
            f"{place.public_address()}/{quote(place.bucket)}/{quote(self._path(key))}",
            await self._credentials.current(),
            place.region,
            now=datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC),
            seconds=min(seconds, MAX_LINK_SECONDS),
            response_headers=answer,
        )

    async def delete(self, keys: Iterable[str]) -> None:
        paths = [self._path(key) for key in keys]
        for first in range(0, len(paths), DELETE_BATCH):
            async with self._requests():
                await obstore.delete_async(self._store, paths[first : first + DELETE_BATCH])

    async def alias(self, key: str, path: str) -> None:
        async with self._requests():
            await obstore.copy_async(self._store, self._path(key), self._alias_path(path), overwrite=True)

    async def alias_size(self, path: str) -> int:
        async with self._requests():
            return (await obstore.head_async(self._store, self._alias_path(path)))["size"]

    async def unalias(self, paths: Iterable[str]) -> None:
        names = [self._alias_path(path) for path in paths]
        for first in range(0, len(names), DELETE_BATCH):
            async with self._requests():
                await obstore.delete_async(self._store, names[first : first + DELETE_BATCH])

    async def list_blobs(self) -> AsyncIterator[ListedBlob]:
        now = datetime.now(UTC)
        async with self._requests():
            async for page in obstore.list(self._store, self._prefix or None, chunk_size=1_000):
                await self._credentials.current()  # a long listing may outlive those that it began with
                for response in page:
                    key = response["path"].removeprefix(f"{self._prefix}/" if self._prefix else "")
                    if is_key(key):
                        yield ListedBlob(key, response["size"], max(0.0, (now - response["last_modified"]).total_seconds()))

    async def delete_temporary_files(self, older_than: float) -> int:
        """Scratch folders of this machine."""
        return await _run_disk_work(partial(_delete_scratch_folders, older_than))

    async def probe(self, *, write: bool) -> str:
        """List and get, and with `write` put and delete, an object that is no blob. Raises DependencyFailed."""
        place = f"the bucket {self._place.bucket} at {mask_password(self._place.address())}"
        path = f"{self._prefix}/{PROBE_NAME}" if self._prefix else PROBE_NAME
        action = "list objects"
        credentials = await self._credentials.current()
        try:
            async for _ in obstore.list(self._store, path, chunk_size=1):
                break
            action = "get objects"
            try:
                await obstore.get_async(self._store, path)
            except (NotFoundError, FileNotFoundError) as missing:
                if error_code(missing) != "NoSuchKey":
                    raise
            if write:
                path = f"{path}-{secrets.token_hex(8)}"
                action = "put objects"
                await obstore.put_async(self._store, path, b"probe")
                action = "delete objects"
                await obstore.delete_async(self._store, path)
        except (BaseError, FileNotFoundError, PermissionError) as error:
            raise as_dependency_failed(error, place, action) from None
        return f"{place}, with credentials from {credentials.origin}" if credentials.origin else place

    async def read_id(self) -> str | None:
        try:
            async with self._requests():
                response = await obstore.get_async(self._store, self._id_path)
                data = bytes(await response.bytes_async())
        except NotFound:
            return None
        return parse_id(data, f"the object {self._id_path} of the bucket {self._place.bucket}")

    async def create_id(self) -> str:
        response = await self.read_id()
        if response is None:
            with suppress(AlreadyExistsError):
                async with self._requests():
                    await obstore.put_async(self._store, self._id_path, f"{new_uid()}\n".encode(), mode="create")
            response = await self.read_id()
        if response is None:
            message = f"the bucket {self._place.bucket} does not keep what is put into it"
            raise StoreUnavailable(message, dependency="artifacts")
        return response

    @property
    def _id_path(self) -> str:
        return f"{self._prefix}/{NAME}" if self._prefix else NAME

    def _alias_path(self, path: str) -> str:
        return f"{self._prefix}/{checked_alias(path)}" if self._prefix else checked_alias(path)

    def _path(self, key: str) -> str:
        return f"{self._prefix}/{checked_key(key)}" if self._prefix else checked_key(key)

    async def _put_file(self, file: LocalFile) -> None:
        assert file.path is not None  # an artifact does not refer to it yet
        if file.size > PART:
            await self._upload_in_parts(file.key, file.path, file.size)
            return
        data = await _run_disk_work(file.path.read_bytes)
        with suppress(AlreadyExistsError):  # the same bytes: the key says so
            async with self._requests():
                await obstore.put_async(self._store, self._path(file.key), data, mode="create")

    async def _put_bytes(self, data: bytes, reserve: Reserve | None) -> Blob:
        sha256 = await in_thread(lambda: hashlib.sha256(data).hexdigest())
        key = key_of(sha256, 0 if reserve is None else await reserve(sha256, len(data)))
        if len(data) > PART:
            await self._upload_in_parts(key, data, len(data))
        else:
            try:
                async with self._requests():
                    await obstore.put_async(self._store, self._path(key), data, mode="create")
            except AlreadyExistsError:
                pass  # the same bytes: the key says so
        return Blob(key, len(data))

    async def _put_stream(self, head: bytes, rest: AsyncIterator[bytes], reserve: Reserve | None) -> Blob:
        """The key is known when the last byte is, so a long stream goes to a local file first."""
        digest, size = hashlib.sha256(), 0
        file = await _run_disk_work(_open_spool_file)
        try:
            async for chunk in _join_chunks(head, rest):
                size += len(chunk)
                await _run_disk_work(partial(_write_and_hash, file, digest, chunk))
            await _run_disk_work(file.flush)
            sha256 = digest.hexdigest()
            key = key_of(sha256, 0 if reserve is None else await reserve(sha256, size))
            await self._upload_in_parts(key, Path(file.name), size)
        finally:
            with suppress(OSError):  # what could not be flushed is thrown away anyway
                file.close()
        return Blob(key, size)

    async def _upload_in_parts(self, key: str, source: bytes | Path, size: int) -> None:
        """An upload in parts cannot be conditional; but whatever it replaces is the same, and becomes visible at once."""
        try:
            if await self.size(key) == size:
                return
        except NotFound:
            pass
        async with self._requests():
            await obstore.put_async(
                self._store, self._path(key), source, use_multipart=True, chunk_size=PART, max_concurrency=PARTS_AT_ONCE
            )


def _held_credentials(credentials: CredentialProvider) -> "S3Credential":
    """Called by obstore before each request, in a thread of its own, which must not be kept waiting."""
    held = credentials.cached()
    return {
        "access_key_id": held.access_key,
        "secret_access_key": held.secret_key,
        "token": held.session_token,
        # A past time: obstore is not to keep those that are renewed.
        "expires_at": None if isinstance(credentials, StaticCredentials) else datetime.now(UTC),
    }


def _delete_scratch_folders(older_than: float) -> int:
    deleted, before = 0, time.time() - older_than
    for folder in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*"):
        with suppress(OSError):
            if folder.lstat().st_mtime <= before and folder.lstat().st_uid == os.getuid():
                shutil.rmtree(folder)
                deleted += 1
    return deleted


async def _read_head(data: AsyncIterable[bytes]) -> tuple[bytes, AsyncIterator[bytes] | None]:
    """The beginning of a stream, and the rest of it if there is more."""
    chunks = aiter(data)
    head = bytearray()
    async for chunk in chunks:
        head += chunk
        if len(head) > PART:
            return bytes(head), chunks
    return bytes(head), None


async def _join_chunks(head: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield head
    buffer = bytearray()
    async for chunk in rest:
        buffer += chunk
        if len(buffer) >= CHUNK:
            yield bytes(buffer)
            buffer.clear()
    yield bytes(buffer)


def _open_spool_file() -> "tempfile._TemporaryFileWrapper[bytes]":
    return tempfile.NamedTemporaryFile(prefix="pressroom-")


async def _run_disk_work[T](work: Callable[[], T]) -> T:
    with translate_os_errors(f"the temporary folder {tempfile.gettempdir()}"):
        return await in_thread(work)


def _write_and_hash(file: "tempfile._TemporaryFileWrapper[bytes]", digest: "hashlib._Hash", chunk: bytes) -> None:
    digest.update(chunk)
    file.write(chunk)


async def _chunks(response: "obstore.GetResult") -> AsyncIterator[bytes]:
    with _translate_errors():
        async for chunk in response.stream(min_chunk_size=CHUNK):
            yield bytes(chunk)


async def _empty_stream() -> AsyncIterator[bytes]:
    return
    yield b""


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except AlreadyExistsError:
        raise
    except (NotFoundError, FileNotFoundError):
        raise NotFound("there are no bytes under that key") from None
    except BaseError as error:
        if error_code(error) in EXPIRED:
            raise S3CredentialsExpired("the artifact bucket refuses the session token: it has expired") from error
        # obstore's message holds the address and the server's whole answer: for the log, not for a caller.
        message = "the artifact bucket does not answer as it should"
        raise StoreUnavailable(message, dependency="artifacts") from error
