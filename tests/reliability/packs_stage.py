"""A small stage for stories of packs whose order is forced: one server with workers, and a render service that is fake."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator

from tests.reliability import journal, packs_checker, packs_dump, packs_founder, packs_inspector
from tests.reliability.http_stage import WITHIN, ServerStage
from tests.reliability.packs_checker import PacksVerdict
from tests.reliability.packs_client import PacksClient


class PacksStage(ServerStage):
    async def found(self) -> None:
        await packs_founder.run(self.database(), asyncio.Event())

    @contextlib.contextmanager
    def serving(self, number: int, naive: Callable[[], None] | None = None, failpoints: str = "") -> Iterator[int]:
        port = self.ports[number]
        with self.server(port, naive=naive, failpoints=failpoints):
            yield port

    def client(self) -> PacksClient:
        return PacksClient(self.journal)

    async def judge(self, naive: Callable[[], None] | None = None) -> PacksVerdict:
        """By what a server makes of what is left."""
        path = self.database()
        with self.serving(1, naive) as port:
            await self.listens(port)
            await packs_inspector.run(port, self.journal, path, WITHIN, asyncio.Event())
        return packs_checker.judge(journal.load(self.journal.path), packs_dump.read(path))
