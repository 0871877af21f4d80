"""A submitter: hands in work of every sort, waits for some of it, cancels some of it."""

import asyncio
import random
from typing import Any

from pressroom import Pressroom, Tier
from pressroom.config import Settings
from tests.reliability.client import Client, Receipt
from tests.reliability.journal import Journal
from tests.reliability.workload import LEASE, Handlers

# How often each kind is submitted, and how long its jobs run: far shorter than a worker lives, or nothing would ever
# complete and nothing would be tested. Books are longer than the lease, and have workers of their own.
MIX = {"note": 30, "page": 30, "line": 12, "poster": 12, "leaflet": 8, "book": 2}
SECONDS = {
    "note": (0.0, 0.02),
    "page": (0.0, 0.06),
    "line": (0.0, 0.03),
    "poster": (0.0, 0.08),
    "leaflet": (0.0, 0.01),
    "book": (1.2 * LEASE, 2.0 * LEASE),
}
PAUSE = (0.0, 0.12)  # between two submits of one hand
CROWD = 60  # with so many jobs queued, a desk waits for the workers


class Desk:
    def __init__(self, place: Settings, journal: Journal, name: str, seed: str, crowd: int = CROWD) -> None:
        self._name = name
        self._crowd = crowd
        self._dice = random.Random(seed)
        self._waiters: set[asyncio.Task[None]] = set()
        self._press = Pressroom(settings=place, kinds=Handlers(journal).kinds(), workers=None, max_queued=1000)
        self._client = Client(self._press, journal)

    async def run(self, stopping: asyncio.Event) -> None:
        async with self._press:
            await asyncio.gather(*(self._hand(number, stopping) for number in range(2)))
            for waiter in self._waiters:
                waiter.cancel()
            await asyncio.gather(*self._waiters, return_exceptions=True)
            self._client.leave()

    async def _hand(self, number: int, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            if (await self._press.stats()).queued < self._crowd:
                await self._submit(self._dice.choices([*MIX], [*MIX.values()])[0], f"{self._name}.{number}")
            await asyncio.sleep(self._dice.uniform(*PAUSE))

    async def _submit(self, kind: str, owner: str) -> None:
        options: dict[str, Any] = {
            "tier": self._dice.choice([*Tier]),
            "seconds": round(self._dice.uniform(*SECONDS[kind]), 4),
            "fails": self._dice.choices([0, 1, 2], [85, 10, 5])[0],
            "letter": kind == "note" and self._dice.random() < 0.2,
        }
        if kind in ("page", "line"):
            # A key belongs to one hand, which submits one after the other: so it is known which revision is the newest.
            options["key"] = f"{kind}:{owner}:{self._dice.randrange(3)}"
        if kind == "poster":
            options["fingerprint"] = {"text": self._dice.randrange(6)}
        receipt = await self._client.submit(kind, **options)
        if receipt is not None:
            await self._follow(receipt)

    async def _follow(self, receipt: Receipt) -> None:
        luck = self._dice.random()
        if luck < 0.06:
            await asyncio.sleep(self._dice.uniform(0, 0.05))
            await self._client.cancel(receipt.uid)
        elif luck < 0.3:
            waiter = asyncio.create_task(self._client.wait(receipt))
            self._waiters.add(waiter)
            waiter.add_done_callback(self._waiters.discard)
