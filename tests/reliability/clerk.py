"""Somebody in operations, who cancels jobs of kinds that this process has never heard of."""

import asyncio
import random

from pressroom import Pressroom, Status
from pressroom.config import Settings
from tests.reliability.client import Client
from tests.reliability.journal import Journal
from tests.reliability.workload import POISON


async def run(place: Settings, journal: Journal, seed: str, stopping: asyncio.Event) -> None:
    dice = random.Random(seed)
    async with Pressroom(settings=place, workers=None) as press:
        client = Client(press, journal)
        while not stopping.is_set():
            page = await press.list(status=[Status.QUEUED, Status.IN_PROGRESS])
            found = [job for job in page.jobs if job.kind != POISON]  # those have to end in their own way
            if found:
                await client.cancel(dice.choice(found).uid)
            await asyncio.sleep(dice.uniform(0.1, 0.5))
