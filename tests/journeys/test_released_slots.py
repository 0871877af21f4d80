"""A handler that waits for another job releases its slot meanwhile, and takes it back."""

import asyncio

import pytest

from pressroom import Pressroom, Tier, kind
from tests.journeys.stage import Gate


@pytest.fixture
def gates():
    """Before, while and after a handler releases its slot."""
    gates = [Gate(), Gate(), Gate()]
    yield gates
    for gate in gates:
        gate.open()


@pytest.mark.parametrize(
    ("tier", "running", "released"),
    [(Tier.BACKGROUND, (1, 0), (2, 1)), (Tier.INTERACTIVE, (1, 1), (2, 1))],
    ids=["background", "interactive"],
)
async def test_a_released_slot_is_free_for_its_tier_until_it_is_taken_back(file, gates, eventually, tier, running, released):
    """Of two slots background work may have one, in all and not only where it began."""
    before, meanwhile, after = gates

    @kind("waits")
    async def waits(job, payload):
        await before.hold()
        with job.release_slot():
            await meanwhile.hold()
        await after.hold()

    async with Pressroom(file, kinds=[waits], workers=2) as press:
        job = await press.submit("waits", tier=tier)
        free = []
        for gate in gates:
            await eventually(lambda gate=gate: gate.came)
            await eventually(lambda: not press.worker._loop.turns_in_flight)
            free.append(press.worker._loop.free_slots())
            gate.open()
        await press.wait_until_ended(job, timeout=60)
        await eventually(lambda: press.worker.running == 0)

        assert free == [running, released, running]
        assert press.worker._worker_slots.free_for_claims().background == 1


async def test_background_jobs_that_wait_for_background_jobs_come_to_an_end(file):
    """With two slots, one of them for background work, two wait for the third."""

    @kind("chain", timeout=None)
    async def chain(job, payload):
        if payload == 0:
            return 0
        with job.release_slot():
            return 1 + await press.wait(await press.submit("chain", payload - 1), timeout=60)

    async with Pressroom(file, kinds=[chain], workers=2) as press:
        assert await press.wait(await press.submit("chain", 2, tier=Tier.BACKGROUND), timeout=60) == 2


async def test_as_many_slots_are_released_as_there_are_and_no_more(file, eventually):
    """Each waiting handler costs memory: their number is bounded."""
    inside, end = [], asyncio.Event()

    @kind("waits", timeout=None)
    async def waits(job, payload):
        with job.release_slot():
            inside.append(job.id)
            await end.wait()

    async with Pressroom(file, kinds=[waits], workers=2, poll_interval=0.005) as press:
        waiting = [await press.submit("waits", tier=Tier.INTERACTIVE) for _ in range(6)]
        await eventually(lambda: len(inside) == 4)
        await eventually(lambda: not press.worker._loop.turns_in_flight)

        assert press.worker._loop.free_slots() == (0, 0)
        assert press.worker.running == 4
        end.set()
        for job in waiting:
            await press.wait_until_ended(job, timeout=60)
        await eventually(lambda: press.worker.running == 0)
        assert press.worker._worker_slots.released == 0


async def test_releases_of_one_job_beside_each_other_free_one_slot(file, gates, eventually):
    """An article with several diagrams waits for all of them at once; it had one slot, and gives one away."""
    _, meanwhile, _ = gates

    @kind("waits", timeout=None)
    async def waits(job, payload):
        async def wait():
            with job.release_slot():
                await meanwhile.hold()

        await asyncio.gather(wait(), wait(), wait())

    async with Pressroom(file, kinds=[waits], workers=3) as press:
        job = await press.submit("waits", tier=Tier.INTERACTIVE)
        await eventually(lambda: meanwhile.came)
        await eventually(lambda: not press.worker._loop.turns_in_flight)
        assert (press.worker._worker_slots.running, press.worker._worker_slots.released) == (1, 1)
        assert press.worker._worker_slots.busy == 0
        meanwhile.open()
        await press.wait_until_ended(job, timeout=60)
        await eventually(lambda: press.worker.running == 0)
        assert press.worker._worker_slots.released == 0


async def test_a_handler_left_behind_while_its_slot_is_released_frees_no_second_slot(file, eventually):
    started, released, ended_late = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @kind("stubborn")
    async def stubborn(job, payload):
        with job.release_slot():
            started.set()
            while not released.is_set():
                try:
                    await released.wait()
                except asyncio.CancelledError:
                    continue
        ended_late.set()

    async with Pressroom(file, kinds=[stubborn], workers=1) as press:
        job = await press.submit("stubborn", tier=Tier.INTERACTIVE)
        await started.wait()
        await press.cancel(job)
        await press.wait_until_ended(job, timeout=60)
        slots = press.worker._worker_slots

        assert (slots.running, slots.released) == (0, 0)
        released.set()
        await ended_late.wait()
        assert (slots.running, slots.released) == (0, 0)
