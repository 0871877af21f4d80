"""Pages of PDF files as pictures, and two files compared, by the engine `pdf` in the sandbox.

Some at a time, so that pages cannot keep jobs waiting. What was made is remembered by the hashes of the files.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import msgspec
from cachetools import LRUCache

from pressroom.errors import EngineMissing, NotFound, SourceInvalid, TooLarge
from pressroom.kinds.rendering import Rendering
from pressroom.renderers import documents
from pressroom.renderers.documents import RenderRequest
from pressroom.store.artifacts.artifacts import Artifact
from pressroom.submission.fair_slots import FairSlots

SMALL, LARGE = 240, 900  # pixels of a picture's width: for lists, and to read
CONCURRENT = 2
MAX_WAITING = 100
REMEMBERED = 16 * 1024 * 1024  # bytes
ENTRY_SIZE = 1_000  # bytes that an entry counts besides its data, so that those without any are bounded too
MAX_SIZE = 30 * 1024 * 1024  # bytes of a file; of longer ones there are no pictures


class ComparedPage(msgspec.Struct, frozen=True):
    """The text of a page in two files. None where a file has no such page."""

    page: int
    same: bool
    before: str | None
    after: str | None


class ComparedFiles(msgspec.Struct, frozen=True):
    same: bool
    page_counts: tuple[int, int]
    pages: list[ComparedPage]


type _Key = tuple[Any, ...]


class PdfViews:
    def __init__(self, rendering: Rendering) -> None:
        self._rendering = rendering
        self._slots = FairSlots(CONCURRENT, MAX_WAITING)
        self._remembered: LRUCache[_Key, bytes] = LRUCache(REMEMBERED, getsizeof=_entry_size)
        self._under_way: dict[_Key, asyncio.Task[bytes]] = {}

    async def picture(self, artifact: Artifact, org_id: str, page: int, width: int) -> bytes:
        """A page as PNG. Raises NotFound if there is no such page, or the file cannot be drawn."""
        return await self._view([artifact], org_id, "png", {"page": page, "width": width})

    async def overlay(self, before: Artifact, after: Artifact, org_id: str, page: int) -> bytes:
        """A page of two files in one picture: what only the first has is red, what only the second has green."""
        return await self._view([before, after], org_id, "png", {"page": page, "width": LARGE, "overlay": True})

    async def compare(self, before: Artifact, after: Artifact, org_id: str) -> ComparedFiles:
        """The text of two files, page by page. Raises NotFound."""
        data = await self._view([before, after], org_id, "json", {"compare": True})
        return await asyncio.to_thread(msgspec.json.decode, data, type=ComparedFiles)

    async def _view(self, files: Sequence[Artifact], org_id: str, output: str, options: dict[str, Any]) -> bytes:
        """Requests for the same wait for one render. Nothing at all is remembered of a file that cannot be drawn."""
        key = (*(file.sha256 for file in files), output, *options.items())
        data = self._remembered.get(key)
        if data is None:
            render = lambda: self._render(files, org_id, output, options)  # noqa: E731
            data = await asyncio.shield(self._start(key, render))
            if _entry_size(data) <= REMEMBERED:
                self._remembered[key] = data
        if not data:
            raise NotFound("there is no picture of this page")
        return data

    def _start(self, key: _Key, render: Callable[[], Awaitable[bytes]]) -> "asyncio.Task[bytes]":
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.ensure_future(render())
            task.add_done_callback(partial(self._forget, key))
        return task

    def _forget(self, key: _Key, task: "asyncio.Task[bytes]") -> None:
        """Also looks at its error: those who waited for it may have gone."""
        del self._under_way[key]
        if not task.cancelled():
            task.exception()

    async def _render(self, files: Sequence[Artifact], org_id: str, output: str, options: dict[str, Any]) -> bytes:
        """Empty for a file that cannot be drawn, which is so for ever."""
        if sum(file.size for file in files) > MAX_SIZE:
            return b""
        async with self._slots.hold_slot(org_id):
            parts = [await self._rendering.read_all(file) for file in files]
            source = parts[0] if len(parts) == 1 else _pack(parts)
            request = RenderRequest("pdf", output, source, options, "pdf")
            try:
                rendered = await self._rendering.preview(documents.prepare(request))
            except (SourceInvalid, TooLarge, EngineMissing):
                return b""
            return rendered.data


def _entry_size(data: bytes) -> int:
    return len(data) + ENTRY_SIZE


def _pack(parts: Sequence[bytes]) -> bytes:
    from pressroom.renderers.pdf.container import pack_pdfs

    return pack_pdfs(parts)
