"""Somebody in operations, who cancels jobs of kinds that this process has never heard of."""

import asyncio
import random

from pressroom import Pressroom, Status
from tests.reliability.client import Client
from tests.reliability.journal import Journal
from tests.reliability.workload import LEASE, POISON, POLL


async def run(url: str, journal: Journal, seed: str, stopping: asyncio.Event) -> None:
    dice = random.Random(seed)
    async with Pressroom(url, workers=None, lease=LEASE, poll_interval=POLL) as press:
        client = Client(press, journal)
        while not stopping.is_set():
            page = await press.list(status=[Status.QUEUED, Status.IN_PROGRESS])
            found = [job for job in page.jobs if job.kind != POISON]  # those have to end in their own way
            if found:
                await client.cancel(dice.choice(found).uid)
            await asyncio.sleep(dice.uniform(0.1, 0.5))
