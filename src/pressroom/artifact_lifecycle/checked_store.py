"""An artifact store that is used only if it is the one that the database records.

Settings that differ between processes would otherwise lose bytes silently: a worker puts them where the others do not look.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pressroom.artifacts import LINK_SECONDS, ArtifactStore, Blob, Data, ListedBlob, Reserve
from pressroom.artifacts.local_files import LocalFile
from pressroom.artifacts.staged_uploads import StagedUploads
from pressroom.errors import ArtifactStoreMismatch
from pressroom.store import Database
from pressroom.store.artifacts import store_identity
from pressroom.store.artifacts.store_identity import RecordedStore


class CheckedStore:
    """`Blobs`, with a check before the first use. A database that records no store yet records this one then.

    `location` is where this store is, for people.
    """

    def __init__(self, store: ArtifactStore, database: Database, location: str) -> None:
        self._store = store
        self._database = database
        self._location = location
        self._is_checked = False
        self._checking = asyncio.Lock()

    @property
    def check_link(self) -> Any:
        """Checks a signed link. None for a store whose links lead elsewhere."""
        return getattr(self._store, "check_link", None)

    async def put(self, data: Data, *, reserve: Reserve | None = None) -> Blob:
        await self.check_identity()
        return await self._store.put(data, reserve=reserve)

    async def put_files(self, files: Sequence[LocalFile]) -> None:
        await self.check_identity()
        await self._store.put_files(files)

    async def make_scratch_folder(self) -> Path:
        await self.check_identity()
        return await self._store.make_scratch_folder()

    async def open_staging(self) -> StagedUploads:
        await self.check_identity()
        return await self._store.open_staging()

    async def get(self, key: str, start: int = 0, stop: int | None = None) -> AsyncIterator[bytes]:
        await self.check_identity()
        return await self._store.get(key, start, stop)

    async def size(self, key: str) -> int:
        await self.check_identity()
        return await self._store.size(key)

    async def verify(self, key: str) -> bool:
        await self.check_identity()
        return await self._store.verify(key)

    async def url(
        self,
        key: str,
        *,
        seconds: int = LINK_SECONDS,
        media_type: str = "application/octet-stream",
        filename: str | None = None,
    ) -> str:
        await self.check_identity()
        return await self._store.url(key, seconds=seconds, media_type=media_type, filename=filename)

    async def delete(self, keys: Iterable[str]) -> None:
        await self.check_identity()
        await self._store.delete(keys)

    async def alias(self, key: str, path: str) -> None:
        await self.check_identity()
        await self._store.alias(key, path)

    async def alias_size(self, path: str) -> int:
        await self.check_identity()
        return await self._store.alias_size(path)

    async def unalias(self, paths: Iterable[str]) -> None:
        await self.check_identity()
        await self._store.unalias(paths)

    async def list_blobs(self) -> AsyncIterator[ListedBlob]:
        await self.check_identity()
        async for listed in self._store.list_blobs():
            yield listed

    async def delete_temporary_files(self, older_than: float) -> int:
        await self.check_identity()
        return await self._store.delete_temporary_files(older_than)

    async def check_identity(self) -> None:
        """Raises ArtifactStoreMismatch. Asks the database and the store once, and never again after they agreed."""
        if self._is_checked:
            return
        async with self._checking:
            if self._is_checked:
                return
            recorded = await self._database.read(store_identity.find)
            if recorded is None:
                this = RecordedStore(await self._store.create_id(), self._location)
                recorded = await self._database.run(partial(store_identity.record, this), name="record")
            require_same_store(recorded, await self._store.read_id(), self._location)
            self._is_checked = True

    async def adopt_store(self) -> None:
        """Record this store as the one of the database, whatever was recorded."""
        this = RecordedStore(await self._store.create_id(), self._location)
        await self._database.run(partial(store_identity.replace, this), name="record")


def require_same_store(recorded: RecordedStore, store_id: str | None, location: str) -> None:
    """Raises ArtifactStoreMismatch. `store_id` is the id in the store at `location`, None if it has none."""
    if store_id == recorded.id:
        return
    what = f"the artifact store {store_id}" if store_id else "no artifact store, or a new one"
    raise ArtifactStoreMismatch(
        f"this database keeps its {recorded.location} (store {recorded.id}), and these settings say {location}, where there is "
        f"{what}; give every process the same artifact settings. `pressroom promote --artifacts-to s3` moves artifacts to a "
        "bucket. If they were moved by hand, run `pressroom fsck --artifacts --adopt-store` with the new settings"
    )
