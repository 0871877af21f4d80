"""`pressroom_queue_oldest_age_seconds` is how long the oldest job that may start has waited, and nothing else."""

import re
from datetime import timedelta

from pressroom.clock import ManualClock
from tests.service.access_stage import on_stage


async def test_jobs_that_are_not_ready_do_not_count(database: str) -> None:
    clock = ManualClock()
    async with (
        on_stage(database, works=False, clock=clock) as stage,
        stage.client(await stage.token(everywhere=True)) as client,
    ):

        async def age() -> float:
            text = (await client.get("/metrics")).text
            found = re.search(r'^pressroom_queue_oldest_age_seconds\{queue="shout"\} (\S+)$', text, re.MULTILINE)
            return float(found[1]) if found else -1.0

        await stage.press.submit("shout", "later", delay=timedelta(hours=2))
        clock.advance(hours=1)
        assert await age() == 0.0

        await stage.press.submit("shout", "now")
        clock.advance(seconds=30)
        assert await age() == 30.0
