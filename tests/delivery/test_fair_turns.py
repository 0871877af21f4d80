"""However jobs are delivered, one organisation does not wait for the backlog of another."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pressroom import Kind, Request, Status, Tier
from tests.delivery.conftest import Open

BACKLOG = 24


@pytest.mark.parametrize("tier", [Tier.INTERACTIVE, Tier.BACKGROUND])
async def test_a_job_overtakes_the_backlog_of_another_organisation(
    open_press: Open, eventually: Callable[..., Any], tier: Tier
) -> None:
    started: list[str] = []
    one_may_end = asyncio.Semaphore(0)

    async def work(job: Any, payload: str) -> None:
        started.append(payload)
        await one_may_end.acquire()

    async with open_press(Kind("work", work, tier=tier), workers=2) as press:
        backlog = await press.submit_many([Request("work", f"acme-{n}", org_id="acme") for n in range(BACKLOG)])
        await eventually(lambda: started)
        tiny = await press.submit("work", "globex", org_id="globex")
        if press._delivery.min_poll_interval > 0:  # on a slow machine it may have had the second slot already
            await eventually(
                lambda: "globex" in started or (press.worker is not None and press.worker._turns.several_orgs_wait)
            )
        before = len(started)
        while "globex" not in started:
            started_so_far = len(started)
            one_may_end.release()
            await eventually(lambda seen=started_so_far: len(started) > seen)  # type: ignore[misc]

        assert started.index("globex") - before <= 4  # what was on its way already
        for _ in range(BACKLOG + 1):
            one_may_end.release()
        for job in [tiny, *backlog]:
            await press.wait(job, timeout=60)
        assert len(started) == BACKLOG + 1
        assert {job.status for job in (await press.list()).jobs} == {Status.COMPLETED}
