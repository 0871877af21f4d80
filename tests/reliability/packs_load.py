"""Many applications at once: each makes packs, renders them, asks again if it was not answered, and looks at what is there."""

import asyncio
import random
import secrets
from collections.abc import Sequence

from tests.reliability.journal import Journal
from tests.reliability.packs_client import PacksClient

CLIENTS = 6
PAUSE = (0.02, 0.2)  # seconds between two requests of one client
TRIES = 6
DOCUMENTS = ("note", "receipt")


class PacksLoad:
    def __init__(self, ports: Sequence[int], journal: Journal, seed: str) -> None:
        self._ports = ports
        self._journal = journal
        self._dice = random.Random(seed)
        self._packs: list[str] = []

    async def run(self, stopping: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as together:
            clients = [together.create_task(self._live()) for _ in range(CLIENTS)]
            await stopping.wait()
            for client in clients:
                client.cancel()

    async def _live(self) -> None:
        client = PacksClient(self._journal)
        while True:
            match self._dice.choices(["new", "again", "look"], [60, 25, 15])[0]:
                case "again" if self._packs:
                    await self._render(client, self._dice.choice(self._packs), self._dice.choice(DOCUMENTS))
                case "look" if self._packs:
                    await client.look_at(self._port, self._dice.choice(self._packs[-20:]))
                case _:
                    await self._make(client)
            await self._pause()

    async def _make(self, client: PacksClient) -> None:
        nonce = secrets.token_hex(8)
        for _ in range(TRIES):
            pack = await client.create_pack(self._port, nonce)
            if pack is not None:
                self._packs.append(pack)
                await self._render(client, pack, None)
                return
            await self._pause()

    async def _render(self, client: PacksClient, pack: str, doc_id: str | None) -> None:
        key = secrets.token_hex(8)
        for _ in range(TRIES):
            if await client.render(self._port, pack, doc_id, key):
                return
            await self._pause()

    async def _pause(self) -> None:
        await asyncio.sleep(self._dice.uniform(*PAUSE))

    @property
    def _port(self) -> int:
        return self._dice.choice(self._ports)
