"""A small stage for stories of documentation whose order is forced: one server with workers, an edge, and a CI job."""

import asyncio
import contextlib
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

from tests.reliability import docs_checker, docs_dump, docs_founder, docs_inspector, http_inspector, journal
from tests.reliability.docs_checker import DocsVerdict
from tests.reliability.docs_client import DocsClient
from tests.reliability.docs_load import EdgeReader
from tests.reliability.docs_sites import PAGE, SITES, build_archive
from tests.reliability.http_stage import WITHIN, ServerStage
from tests.reliability.http_victims import free_port
from tests.reliability.workload import make_tables


class DocsStage(ServerStage):
    def __init__(self, folder: Path, address: str) -> None:
        super().__init__(folder)
        self.address = address

    async def found(self) -> None:
        make_tables(self.address)
        await docs_founder.run(self.address, self.folder, asyncio.Event())
        self.edge = free_port(2)

    @contextlib.contextmanager
    def serving(self, number: int, naive: Callable[[], None] | None = None) -> Iterator[int]:
        port = self.ports[number]
        environ = {
            "PRESSROOM_DATABASE": self.address,
            "PRESSROOM_DOCS_LISTEN": f"127.0.0.1:{self.edge}",
            "PRESSROOM_DOCS_PUBLISH_ALLOW": str(self.folder / SITES),
        }
        with mock.patch.dict(os.environ, environ), self.server(port, naive=naive):
            yield port

    async def publish(self, port: int, project: str, nonce: str) -> None:
        """And wait until nothing is open."""
        client, archive = DocsClient(self.journal), build_archive(nonce)
        told = await client.announce(port, project, nonce, archive)
        assert told is not None
        assert await client.upload(port, nonce, told[1], archive)
        assert await client.start(port, project, told[0], nonce)
        await http_inspector.drained(port, self.journal, WITHIN)

    async def read(self, project: str) -> None:
        reader = EdgeReader(self.edge, self.journal, random.Random(1))
        while (seen := await reader.read(project, PAGE)) is None:  # noqa: ASYNC110 - another process starts
            await asyncio.sleep(0.1)
        reader.tell(project, PAGE, seen)

    async def judge(self, port: int) -> DocsVerdict:
        await docs_inspector.run(port, self.edge, self.journal, WITHIN, asyncio.Event())
        return docs_checker.judge(journal.load(self.journal.path), docs_dump.read(self.address))
