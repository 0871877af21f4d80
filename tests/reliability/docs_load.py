"""CI jobs that publish builds all the time, and readers that fetch what is published all the time."""

import asyncio
import random
import secrets
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from tests.reliability.docs_client import DocsClient
from tests.reliability.docs_sites import ASSET, COPIED, PAGE, POINTED, PROJECTS, Archive, build_archive, nonce_of
from tests.reliability.http_exchange import Unheard, exchange
from tests.reliability.journal import Journal

UPLOADERS = 3
PAUSE = (0.05, 0.4)  # seconds between two steps of one CI job
BETWEEN = (1.5, 4.0)  # seconds between two CI jobs: a build takes a second of a core, and most are to end while faults go on
READ_PAUSE = (0.02, 0.1)
TRIES = 8
BROKEN = 0.1  # of the archives
FOLDER = 0  # instead of the port of an edge


class DocsLoad:
    def __init__(self, ports: Sequence[int], edges: Sequence[int], sites: Path, journal: Journal, seed: str) -> None:
        self._ports = ports
        self._edges = edges
        self._sites = sites
        self._journal = journal
        self._dice = random.Random(seed)

    async def run(self, stopping: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as together:
            uploaders = [together.create_task(self._publish()) for _ in range(UPLOADERS)]
            readers = [together.create_task(EdgeReader(edge, self._journal, self._dice).run()) for edge in self._edges]
            readers.append(together.create_task(FolderReader(self._sites, self._journal, self._dice).run()))
            await stopping.wait()
            for task in uploaders + readers:
                task.cancel()

    async def _publish(self) -> None:
        client = DocsClient(self._journal)
        while True:
            nonce, project = secrets.token_hex(8), self._dice.choice([*PROJECTS])
            is_broken = self._dice.random() < BROKEN
            await self._publish_one(client, project, nonce, build_archive(nonce, is_broken=is_broken))
            await asyncio.sleep(self._dice.uniform(*BETWEEN))

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


class Reader(ABC):
    """Reads each project of an organisation in turn. What it saw is told when it changes: the same again says nothing new."""

    org: str

    def __init__(self, place: int, journal: Journal, dice: random.Random) -> None:
        self._place = place
        self._journal = journal
        self._dice = dice
        self._seen: dict[tuple[str, str], Any] = {}

    async def run(self) -> None:
        projects = [project for project, org in PROJECTS.items() if org == self.org]
        while True:
            for project in projects:
                for path in (PAGE, ASSET):
                    self.tell(project, path, await self.read(project, path))
                    await asyncio.sleep(self._dice.uniform(*READ_PAUSE))

    @abstractmethod
    async def read(self, project: str, path: str) -> dict[str, Any] | None:
        """Status, build and nonce of a page; None if nothing answered."""

    def tell(self, project: str, path: str, seen: dict[str, Any] | None) -> None:
        if seen is not None and self._seen.get((project, path)) != seen:
            self._seen[project, path] = seen
            self._journal.write("ok", "read", edge=self._place, project=project, path=path, **seen)


class EdgeReader(Reader):
    org = POINTED

    async def read(self, project: str, path: str) -> dict[str, Any] | None:
        try:
            answer = await exchange(self._place, "GET", f"/{self.org}/{project}/{path}")
        except Unheard:
            return None
        nonce = nonce_of(answer.body) if answer.status == 200 else None
        return {"http": answer.status, "build": answer.headers.get("x-docverse-build"), "nonce": nonce}


class FolderReader(Reader):
    """As a web server over the folder would. What it reads names no build but by its nonce."""

    org = COPIED

    def __init__(self, sites: Path, journal: Journal, dice: random.Random) -> None:
        super().__init__(FOLDER, journal, dice)
        self._sites = sites

    async def read(self, project: str, path: str) -> dict[str, Any] | None:
        try:
            data = (self._sites / project / path).read_bytes()
        except FileNotFoundError:
            return {"http": 404, "build": None, "nonce": None}
        return {"http": 200, "build": None, "nonce": nonce_of(data)}
