"""Correctness does not hang on the clock: it may jump, and nobody loses a job that is being worked on."""

import asyncio
import subprocess
import sys
from typing import Any

from pressroom import Pressroom, Status, kind
from pressroom.clock import ManualClock
from pressroom.worker import process

LEASE = 3600.0  # long: no heartbeat comes between two steps of a test


class Slow:
    """A kind whose handler runs until it is told to go on."""

    def __init__(self) -> None:
        self.runs = 0
        self.started = asyncio.Event()
        self.go_on = asyncio.Event()

    def kind(self) -> Any:
        @kind("slow", timeout=None)
        async def slow(job: Any, payload: Any) -> str:
            self.runs += 1
            self.started.set()
            await self.go_on.wait()
            return "done"

        return slow


async def test_a_clock_that_jumps_ahead_takes_no_job_from_a_living_worker(database: str) -> None:  # I21
    clock, slow = ManualClock(), Slow()
    async with Pressroom(database, kinds=[slow.kind()], workers=2, clock=clock, lease=LEASE) as press:
        job = await press.submit("slow")
        await slow.started.wait()
        await press.maintenance.rescue()

        clock.advance(hours=2)
        rescued = await press.maintenance.rescue()
        slow.go_on.set()

        assert rescued == 0
        assert await press.wait(job, timeout=60) == "done"
        assert (slow.runs, (await press.get(job)).crashes) == (1, 0)


async def test_a_lease_that_ran_out_is_rescued_and_its_late_result_refused(database: str) -> None:  # I4, D12, D17
    """For a neighbour that comes later there was no jump: this worker sent no heartbeat for two hours."""
    clock, slow = ManualClock(), Slow()
    here = Pressroom(database, kinds=[slow.kind()], workers=2, clock=clock, lease=LEASE)
    neighbour = Pressroom(database, kinds=[slow.kind()], workers=None, clock=clock, lease=LEASE)
    async with here as press, neighbour:
        job = await press.submit("slow")
        await slow.started.wait()
        clock.advance(hours=2)

        rescued = await neighbour.maintenance.rescue()
        slow.go_on.set()

        assert rescued == 1
        assert await press.wait(job, timeout=60) == "done"
        ended = await press.get(job)
        assert (ended.status, ended.crashes, ended.failures) == (Status.COMPLETED, 1, 0)
        assert [event.type for event in await press.history(job)].count("completed") == 1


async def test_a_clock_that_is_set_back_does_not_keep_a_dead_workers_job(database: str) -> None:  # I21
    clock, slow = ManualClock(), Slow()
    async with Pressroom(database, kinds=[slow.kind()], workers=2, clock=clock, lease=LEASE) as press:
        job = await press.submit("slow")
        await slow.started.wait()
        clock.advance(hours=-2)

        await press.maintenance.rescue()
        lease_until = (await press.get(job)).lease_until

        assert lease_until is not None
        assert lease_until.timestamp() * 1000 <= clock.now_ms() + LEASE * 1000
        slow.go_on.set()
        assert await press.wait(job, timeout=60) == "done"


def test_a_process_is_told_from_another_that_got_its_number() -> None:
    me = process.process_identity()
    place, _, started = me.rpartition("/")

    assert not process.is_dead(me)
    assert process.is_dead(f"{place}/{int(started) + 1}")


def test_of_another_machine_we_know_nothing() -> None:
    assert not process.is_dead("elsewhere/boot/pid:[1]/1/1")
    assert not process.is_dead("nonsense")


def test_a_process_that_ended_is_dead() -> None:
    program = "from pressroom.worker import process; print(process.process_identity())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert process.is_dead(done.stdout.strip())
