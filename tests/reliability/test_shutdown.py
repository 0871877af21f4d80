"""A worker that is told to stop gives back what it cannot finish, and that costs the jobs nothing."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from pressroom import Status
from tests.depth import by_depth
from tests.reliability.stage import Stage, until

STAGES, STOPS = by_depth((2, 2), (4, 5))  # so many at a time, and stops of each


async def test_jobs_of_stopped_workers_are_queued_again_at_no_charge(tmp_path: Path) -> None:
    # I24
    async with asyncio.TaskGroup() as together:
        for number in range(STAGES):
            (tmp_path / str(number)).mkdir()
            together.create_task(stop_again_and_again(Stage(tmp_path / str(number))))


@pytest.mark.deep
async def test_so_they_are_on_a_server(on_server: str, tmp_path: Path) -> None:
    # I24
    await stop_again_and_again(Stage(tmp_path, on_server), stops=2)


def all_began(stage: Stage, times: int) -> bool:
    return len(stage.runs()) == 3 * times


async def stop_again_and_again(stage: Stage, stops: int = STOPS) -> None:
    await stage.found()
    gate = stage.folder / "gate"

    async with stage.desk() as press:
        client = stage.client(press)
        receipts = [await client.submit("note", gate=gate) for _ in range(3)]
        uids = [receipt.uid for receipt in receipts if receipt is not None]
        for stop in range(1, stops + 1):
            with stage.worker() as worker:
                await until(partial(all_began, stage, stop))
                worker.terminate()
                assert await worker.ended() == 0
            released = [await press.get(uid) for uid in uids]
            assert [(job.status, job.failures, job.crashes) for job in released] == [(Status.QUEUED, 0, 0)] * 3
        gate.touch()
        with stage.worker():
            done = [await press.wait_until_ended(uid, timeout=60) for uid in uids]

    assert [(job.status, job.failures, job.crashes) for job in done] == [(Status.COMPLETED, 0, 0)] * 3
    assert stage.judge().clean
