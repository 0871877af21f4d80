"""What the journeys of artifacts are staged with: rows and bytes moved by hand, on one clock."""

import hashlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from typing import Any

import msgspec

from pressroom.artifacts import Blob, Data, ListedBlob, Reserve, key_of
from pressroom.definitions import Settling
from pressroom.errors import NotFound
from pressroom.model import Ending, Status, Work
from pressroom.store.artifacts.artifacts import ArtifactDraft, record
from pressroom.testing import ManualClock, SteppedStore


def record_artifacts_hook(keep_for: int | None = None) -> Settling:
    """A settling hook that records what a completed job made (see `result_with_artifacts`), for so many milliseconds."""

    def settling(ending: Ending) -> Work[None]:
        if ending.status in (Status.COMPLETED, Status.COMPLETED_WITH_ERRORS):
            for draft in msgspec.convert(ending.result["artifacts"], list[ArtifactDraft]):
                yield from record(draft, job=ending.uid, org_id=ending.org_id, keep_for=keep_for)

    return settling


class Rows:
    """A `Database` for coroutines on a store that is moved by hand."""

    volatile = True

    def __init__(self, store: SteppedStore) -> None:
        self.store = store

    async def run[T](self, unit: Callable[[], Work[T]], *, name: str, **how: Any) -> T:
        return self.store.run(unit())

    async def read[T](self, unit: Callable[[], Work[T]]) -> T:
        return self.store.run(unit())


class Bytes:
    """`Blobs` in memory. `before` is called with the name of every step, so that a test can do something just then."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.kept: dict[str, tuple[bytes, int]] = {}
        self.before: Callable[[str], None] = lambda step: None

    async def put(self, data: Data, *, reserve: Reserve | None = None) -> Blob:
        whole = data if isinstance(data, bytes) else await _whole(data)
        sha256 = hashlib.sha256(whole).hexdigest()
        self.before("reserve")
        key = key_of(sha256, 0 if reserve is None else await reserve(sha256, len(whole)))
        self.before("write")
        self.kept.setdefault(key, (whole, self.clock.now_ms()))
        self.before("return")
        return Blob(key, len(whole))

    async def get(self, key: str, start: int = 0, stop: int | None = None) -> AsyncIterator[bytes]:
        whole = self._found(key)
        return _pieces(whole[start:stop])

    async def size(self, key: str) -> int:
        return len(self._found(key))

    async def verify(self, key: str) -> bool:
        return hashlib.sha256(self._found(key)).hexdigest() == key[:64]

    async def url(self, key: str, **asked: Any) -> str:
        raise AssertionError(f"these stories hand out no links, and somebody asked for one to {key}")

    async def delete(self, keys: Iterable[str]) -> None:
        doomed = list(keys)
        self.before("delete")
        for key in doomed:
            self.kept.pop(key, None)
        self.before("bury")

    async def list_blobs(self) -> AsyncIterator[ListedBlob]:
        for key, (whole, at) in list(self.kept.items()):
            yield ListedBlob(key, len(whole), (self.clock.now_ms() - at) / 1000)

    async def delete_temporary_files(self, older_than: float) -> int:
        return 0

    def _found(self, key: str) -> bytes:
        if key not in self.kept:
            raise NotFound(key)
        return self.kept[key][0]


async def _whole(data: AsyncIterable[bytes]) -> bytes:
    return b"".join([piece async for piece in data])


async def _pieces(whole: bytes) -> AsyncIterator[bytes]:
    yield whole
