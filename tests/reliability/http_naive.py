"""Servers that are broken on purpose, to show that the judge sees it. Each spoils the process that it is called in."""

import asyncio
import hashlib
import os
from collections.abc import Coroutine
from functools import partial
from typing import Any

import msgspec

from pressroom import artifact_lifecycle, failpoints
from pressroom.artifacts import Blobs
from pressroom.artifacts.disk import Disk
from pressroom.errors import NotFound
from pressroom.ids import new_uid
from pressroom.model import Answer, Submitted, Work
from pressroom.queue import Queue
from pressroom.renderers import Rendered, documents
from pressroom.renderers.documents import PreparedRender
from pressroom.store import Database
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import Artifact, ArtifactDraft, new_link

LATER = 0.05
_errands: set[asyncio.Task[Any]] = set()


def answer_before_the_commit() -> None:
    """The client is told an id at once, and the job is written a moment later."""
    submit = Queue.submit

    async def hasty(self: Queue, kind: str, payload: Any = None, **how: Any) -> Submitted:
        async def commit() -> None:
            await asyncio.sleep(LATER)
            await submit(self, kind, payload, **how)

        run_errand(commit())
        return Submitted(id=0, uid=new_uid(), kind=kind, answer=Answer.NEW, version=1)

    Queue.submit = hasty  # type: ignore[assignment, method-assign]


def write_in_place() -> None:
    """An artifact gets its final name before it has its bytes, and what has the name is taken for whole."""

    def write(self: Disk, data: bytes, key: str) -> None:
        with self._folder_of(key, make=True) as folder:
            if key in os.listdir(folder):
                return
            file = os.open(key, os.O_WRONLY | os.O_CREAT, dir_fd=folder)
            os.write(file, data[: len(data) // 2])
            failpoints.hit("blob.temp_written")
            os.write(file, data[len(data) // 2 :])
            os.close(file)

    Disk._write_blob = write  # type: ignore[method-assign]


def settle_before_the_bytes() -> None:
    """The job ends with an artifact whose bytes are put as soon as its row is there, and not before."""

    async def keep(
        store: Blobs, database: Database, data: bytes, *, media_type: str, filename: str | None = None
    ) -> ArtifactDraft:
        sha256 = hashlib.sha256(data).hexdigest()
        generation = await artifact_lifecycle.make_reserve(database)(sha256, len(data))
        draft = ArtifactDraft(
            link=new_link(), sha256=sha256, generation=generation, size=len(data), media_type=media_type, filename=filename
        )

        async def put() -> None:
            while not await _is_recorded(database, draft.uid):  # noqa: ASYNC110 - another process may settle it
                await asyncio.sleep(0.005)
            await store.put(data, reserve=artifact_lifecycle.make_reserve(database))

        run_errand(put())
        return draft

    artifact_lifecycle.store_artifact = keep  # type: ignore[assignment]


async def _is_recorded(database: Database, uid: str) -> bool:
    try:
        await database.read(partial(artifacts.get, uid))
    except NotFound:
        return False
    return True


def keep_what_came_so_far() -> None:
    """What a press said before its end is taken for all of it, and kept under its own hash."""
    render = documents.render

    async def cut_short(*asked: Any) -> Rendered:
        rendered = await render(*asked)
        return msgspec.structs.replace(rendered, data=rendered.data[:-8])

    documents.render = cut_short


def remember_links_in_memory() -> None:
    """A short link is known to the process that made it, and to no other."""
    known: dict[str, str] = {}
    record = artifacts.record

    def recorded(draft: ArtifactDraft, **how: Any) -> Work[Artifact]:
        if draft.link is not None:
            known[draft.link] = draft.uid
        return (yield from record(msgspec.structs.replace(draft, link=None), **how))

    def by_link(link: str) -> Work[Artifact]:
        return (yield from artifacts.get(known.get(link, "")))

    artifacts.record, artifacts.by_link = recorded, by_link


def forget_the_key() -> None:
    """An Idempotency-Key is not looked at, so a client that asks again gets another job."""
    from pressroom.api import idempotency

    idempotency._key_of = lambda request: None  # type: ignore[assignment]


def forget_the_input() -> None:
    """Two sources are never the same, and neither are two requests with one Idempotency-Key."""
    prepare = documents.prepare

    def another(request: Any) -> PreparedRender:
        prepared = prepare(request)
        return msgspec.structs.replace(prepared, inputs=prepared.inputs | {"salt": new_uid()})

    documents.prepare = another
    forget_the_key()


def run_errand(errand: Coroutine[Any, Any, None]) -> None:
    task = asyncio.create_task(errand)
    _errands.add(task)
    task.add_done_callback(_errands.discard)
