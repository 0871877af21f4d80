"""The maintenance of one process beside others: what a clock jump may delay, and what only some of them do."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

from pressroom import Kind, Pressroom, Status, kind
from pressroom.store.jobs import claiming, rescue, worker_records
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.testing import ManualClock
from pressroom.worker import maintenance as maintenance_module
from pressroom.worker import process
from pressroom.worker.maintenance import FOLLOWER_ROUNDS, Maintenance

LEASE = 15.0


@kind("any")
async def any_kind(job, payload):
    return None


def a_dead_process():
    """A process on this machine that had our pid before us."""
    place, _, started = process.process_identity().rpartition("/")
    return f"{place}/{int(started) - 1}"


async def claimed_by(press, worker, identity, lease=LEASE):
    """A job that a worker in another process runs, with its entry in the register of workers."""
    job = await press.submit("any")
    card = worker_records.WorkerRecord(worker, identity, ["any"], 1, 1)
    await press._database.run(lambda: worker_records.save_worker(card), name="heartbeat")
    claims = await press._database.run(lambda: claiming.claim(worker, ["any"], FreeSlots(1, 1), int(lease * 1000)), name="turn")
    assert [claim.uid for claim in claims] == [job.uid]
    return job


async def test_after_a_clock_jump_the_jobs_of_a_dead_worker_are_rescued_all_the_same(database):
    """That a process is gone does not depend on the clock. What only looks late is left alone."""
    clock = ManualClock()
    async with Pressroom(database, kinds=[any_kind], workers=None, clock=clock, lease=LEASE) as press:
        elsewhere = await claimed_by(press, "elsewhere", "another-host/boot/namespace/4711/1")
        dead = await claimed_by(press, "dead", a_dead_process())
        press.maintenance._clock_is_steady()

        clock.advance(hours=1)
        rescued = await press.maintenance.rescue()

        assert rescued == 1
        assert (await press.get(dead)).status is Status.QUEUED
        assert (await press.get(elsewhere)).status is Status.IN_PROGRESS


async def test_one_lease_after_a_clock_jump_what_is_still_silent_is_rescued(file, monkeypatch):
    """The living have renewed theirs meanwhile."""
    clock, steady = ManualClock(), [1000.0]

    def pass_by(seconds):
        steady[0] += seconds
        clock.advance(seconds=seconds)

    monkeypatch.setattr(maintenance_module, "time", SimpleNamespace(monotonic=lambda: steady[0]))
    async with Pressroom(file, kinds=[any_kind], workers=None, clock=clock, lease=LEASE) as press:
        job = await claimed_by(press, "elsewhere", "another-host/boot/namespace/4711/1")
        rescued = [await press.maintenance.rescue()]

        clock.advance(hours=1)
        rescued.append(await press.maintenance.rescue())
        pass_by(LEASE - 1)
        rescued.append(await press.maintenance.rescue())
        pass_by(1)
        rescued.append(await press.maintenance.rescue())

        assert rescued == [0, 0, 0, 1]
        assert (await press.get(job)).status is Status.QUEUED


async def test_a_dead_worker_is_remembered_until_its_last_job_is_taken_over(database):
    """A process that knows the kind's hook must end its job, and sees the death only while the worker is listed."""
    hooked = Kind("hooked", any_kind.handler, max_crashes=1, settling=lambda ending: iter(()))
    clock = ManualClock()
    ignorant = Pressroom(database, workers=None, clock=clock)
    async with Pressroom(database, kinds=[hooked], workers=None, clock=clock) as knowing, ignorant:
        job = await knowing.submit("hooked")
        card = worker_records.WorkerRecord("dead", a_dead_process(), ["hooked"], 1, 1)
        await knowing._database.run(lambda: worker_records.save_worker(card), name="heartbeat")
        await knowing._database.run(lambda: claiming.claim("dead", ["hooked"], FreeSlots(1, 1), 3_600_000), name="turn")

        await ignorant.maintenance.rescue()
        assert (await knowing.get(job)).status is Status.IN_PROGRESS
        await knowing.maintenance.rescue()

        assert (await knowing.get(job)).status is Status.FAILED
        await ignorant.maintenance.rescue()
        assert await knowing._database.read(worker_records.list_workers) == []


def test_a_job_that_was_rescued_once_is_not_taken_from_the_living_worker_that_has_it_now(steps):
    """Two processes found it with the dead worker. The first rescued it, and it was claimed; then the second comes."""
    store = steps(any_kind)
    job = store.submit("any")
    store.claim_one(worker="dead")
    (found,) = store.run(rescue.find_lost(["dead"]))
    assert store.run(rescue.rescue(found, store.kinds, 0.0)) is Status.QUEUED
    store.claim_one(worker="living")

    assert store.run(rescue.rescue(found, store.kinds, 0.0)) is None

    assert (store.get(job).status, store.get(job).worker, store.get(job).crashes) == (Status.IN_PROGRESS, "living", 1)


class Announced:
    """A delivery that only counts what it is asked to announce."""

    fires_schedules = False

    def __init__(self, sweep):
        self.min_poll_interval = sweep
        self.again = []

    async def announce_again(self, kinds, waiting):
        self.again.append([notice.uid for notice in await waiting()])


@pytest.mark.parametrize(
    ("leads", "sweep", "announced"),
    [(True, 60.0, [1, 1, 1, 1, 1, 1]), (False, 60.0, [0, 0, 1, 0, 0, 1]), (False, 0.0, [1, 1, 1, 1, 1, 1])],
    ids=["the leader", "the others", "inside one process"],
)
async def test_the_leader_announces_again_in_every_round_and_the_others_in_every_third(file, leads, sweep, announced):
    """The others do so seldom, but they do: the leader may not know the kind."""
    assert FOLLOWER_ROUNDS == 3
    clock, delivery = ManualClock(), Announced(sweep)
    async with Pressroom(file, kinds=[any_kind], workers=None, clock=clock) as press:
        own = Maintenance(
            press._database,
            delivery,
            {"any": any_kind},
            [],
            lambda ids: None,
            lambda schedule: None,
            clock,
            lease=LEASE,
            prune_interval=60,
            leads=lambda: leads,
        )
        await own.announce_again()
        assert delivery.again == [], "there is nothing to announce"
        own._rounds = 0

        job = await press.submit("any")
        counts = [0]
        for _ in announced:
            await own.announce_again()
            counts.append(len(delivery.again))

    assert [after - before for before, after in pairwise(counts)] == announced
    assert delivery.again == [[job.uid]] * sum(announced)


async def test_a_worker_that_was_silent_for_an_hour_is_deleted_unless_a_job_names_it(database):
    clock = ManualClock()
    async with Pressroom(database, kinds=[any_kind], workers=None, clock=clock) as press:

        async def known():
            return [card.uid for card, _, _ in await press._database.read(worker_records.list_workers)]

        await claimed_by(press, "busy", "another-host/boot/namespace/4711/1")
        idle = worker_records.WorkerRecord("idle", "another-host/boot/namespace/4712/1", ["any"], 1, 0)
        await press._database.run(lambda: worker_records.save_worker(idle), name="heartbeat")

        clock.advance(hours=1)
        await press.maintenance.prune()
        assert await known() == ["busy", "idle"]
        clock.advance(seconds=0.001)
        await press.maintenance.prune()

        assert await known() == ["busy"]
        await press.maintenance.rescue()
        await press.maintenance.prune()
        assert await known() == []


async def test_what_was_rescued_is_announced_and_not_left_to_the_next_poll(file, monkeypatch):
    announced = []
    async with Pressroom(file, kinds=[any_kind], workers=None, lease=LEASE) as press:
        await press.maintenance.stop()
        monkeypatch.setattr(press.maintenance._delivery, "announce", announced.append)
        assert (await press.maintenance.rescue(), announced) == (0, [])

        await claimed_by(press, "dead", a_dead_process())
        announced.clear()
        assert (await press.maintenance.rescue(), announced) == (1, [()])
