"""CI jobs that publish builds all the time, and readers that fetch what is published all the time."""

import asyncio
import random
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tests.reliability.docs_client import DocsClient
from tests.reliability.docs_sites import ASSET, ORG, PAGE, PROJECTS, Archive, build_archive, nonce_of
from tests.reliability.http_exchange import Unheard, exchange
from tests.reliability.journal import Journal

UPLOADERS = 3
PAUSE = (0.05, 0.4)  # seconds between two steps of one CI job
READ_PAUSE = (0.02, 0.1)
TRIES = 8
BROKEN = 0.1  # of the archives


class DocsLoad:
    def __init__(self, ports: Sequence[int], edges: Sequence[int], journal: Journal, seed: str) -> None:
        self._ports = ports
        self._edges = edges
        self._journal = journal
        self._dice = random.Random(seed)

    async def run(self, stopping: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as together:
            uploaders = [together.create_task(self._publish()) for _ in range(UPLOADERS)]
            readers = [together.create_task(Reader(edge, self._journal, self._dice).run()) for edge in self._edges]
            await stopping.wait()
            for task in uploaders + readers:
                task.cancel()

    async def _publish(self) -> None:
        client = DocsClient(self._journal)
        while True:
            nonce, project = secrets.token_hex(8), self._dice.choice(PROJECTS)
            is_broken = self._dice.random() < BROKEN
            await self._publish_one(client, project, nonce, build_archive(nonce, is_broken=is_broken))
            await self._pause()

    async def _publish_one(self, client: DocsClient, project: str, nonce: str, archive: Archive) -> None:
        found: list[tuple[str, str]] = []

        async def announce() -> bool:
            if (told := await client.announce(self._port, project, nonce, archive)) is not None:
                found.append(told)
            return told is not None

        if not await self._try(announce):
            return
        uid, url = found[-1]
        if await self._try(lambda: client.upload(self._port, nonce, url, archive)):
            await self._try(lambda: client.start(self._port, project, uid, nonce))

    async def _try(self, step: Callable[[], Awaitable[bool]]) -> bool:
        for _ in range(TRIES):
            if await step():
                return True
            await self._pause()
        return False

    async def _pause(self) -> None:
        await asyncio.sleep(self._dice.uniform(*PAUSE))

    @property
    def _port(self) -> int:
        return self._dice.choice(self._ports)


class Reader:
    """Reads each project in turn at one edge. What it saw is told when it changes: the same again says nothing new."""

    def __init__(self, edge: int, journal: Journal, dice: random.Random) -> None:
        self._edge = edge
        self._journal = journal
        self._dice = dice
        self._seen: dict[tuple[str, str], Any] = {}

    async def run(self) -> None:
        while True:
            for project in PROJECTS:
                for path in (PAGE, ASSET):
                    await self.read(project, path)
                    await asyncio.sleep(self._dice.uniform(*READ_PAUSE))

    async def read(self, project: str, path: str) -> None:
        try:
            answer = await exchange(self._edge, "GET", f"/{ORG}/{project}/{path}")
        except Unheard:
            return
        seen = {"http": answer.status, "build": answer.headers.get("x-docverse-build"), "nonce": nonce_of(answer.body)}
        if answer.status != 200:
            seen["nonce"] = None
        if self._seen.get((project, path)) != seen:
            self._seen[project, path] = seen
            self._journal.write("ok", "read", edge=self._edge, project=project, path=path, **seen)
