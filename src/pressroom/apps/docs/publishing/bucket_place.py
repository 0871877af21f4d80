"""A bucket that a CDN or a website of S3 reads."""

from collections.abc import AsyncIterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import S3Store

from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.apps.docs.publishing import PurgedFiles
from pressroom.artifacts.bucket_errors import as_dependency_failed

if TYPE_CHECKING:
    from obstore import Attributes

MAX_AGE = 60  # seconds that readers and caches may keep a page
DELETE_BATCH = 1_000


class BucketPlace:
    def __init__(
        self, bucket: str, *, endpoint: str | None, region: str, access_key: str, secret_key: str, prefix: str = ""
    ) -> None:
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._place = f"the bucket {bucket}"
        self._name = f"bucket {endpoint or region} {bucket}/{self._prefix}"
        self._store = S3Store(
            bucket,
            endpoint=endpoint,
            access_key_id=access_key,
            secret_access_key=secret_key,
            region=region,
            checksum_algorithm="SHA256",
            virtual_hosted_style_request=False,
            client_options={"allow_http": True, "timeout": timedelta(seconds=30), "connect_timeout": timedelta(seconds=5)},
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=30)},
        )

    @property
    def name(self) -> str:
        return self._name

    async def read(self, path: str) -> bytes | None:
        with self._translated("get objects"):
            try:
                response = await obstore.get_async(self._store, self._key(path))
            except (NotFoundError, FileNotFoundError):
                return None
            return bytes(await response.bytes_async())

    async def write(self, path: str, data: bytes | AsyncIterable[bytes], media_type: str) -> None:
        attributes: Attributes = {"Content-Type": media_type, "Cache-Control": f"max-age={MAX_AGE}"}
        with self._translated("put objects"):
            await obstore.put_async(self._store, self._key(path), data, attributes=attributes)

    async def move(self, old: str, new: str) -> bool:
        with self._translated("copy objects"):
            try:
                await obstore.copy_async(self._store, self._key(old), self._key(new), overwrite=True)
            except (NotFoundError, FileNotFoundError):
                return False
            await obstore.delete_async(self._store, [self._key(old)])
            return True

    async def delete(self, path: str) -> None:
        with self._translated("delete objects"):
            await obstore.delete_async(self._store, [self._key(path)])

    async def list_files(self, folder: str) -> list[str]:
        return [path for path, _ in await self._list(folder)]

    async def list_folders(self, folder: str) -> list[str]:
        prefix = self._key(f"{folder}/" if folder else "").rstrip("/")
        with self._translated("list objects"):
            listed = await obstore.list_with_delimiter_async(self._store, prefix or None)
        return sorted(one.rstrip("/").rpartition("/")[2] for one in listed["common_prefixes"])

    async def delete_folder(self, folder: str) -> PurgedFiles:
        found = await self._list(folder)
        keys = [self._key(path) for path, _ in found]
        for first in range(0, len(keys), DELETE_BATCH):
            with self._translated("delete objects"):
                await obstore.delete_async(self._store, keys[first : first + DELETE_BATCH])
        return PurgedFiles(len(found), sum(size for _, size in found))

    async def delete_temporary_files(self) -> None:
        """There are none: an object is there when all of it is."""

    async def close(self) -> None:
        return None

    async def _list(self, folder: str) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        with self._translated("list objects"):
            async for page in obstore.list(self._store, self._key(folder), chunk_size=1_000):
                found += [(one["path"].removeprefix(self._prefix), one["size"]) for one in page]
        return sorted(found)

    def _key(self, path: str) -> str:
        return f"{self._prefix}{path}"

    @contextmanager
    def _translated(self, action: str) -> Iterator[None]:
        try:
            yield
        except (BaseError, FileNotFoundError, PermissionError) as error:
            raise PublisherUnavailable(str(as_dependency_failed(error, self._place, action))) from None
