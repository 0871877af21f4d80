"""A lease is renewed in time while its job may run, and no longer."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from pressroom import Pressroom, Status, kind
from pressroom.errors import StopTimeout, StoreUnavailable
from pressroom.store.jobs import claiming, rescue, worker_records
from pressroom.store.jobs.claiming import FreeSlots, Turn
from pressroom.testing import ManualClock
from pressroom.worker import attempts, process
from pressroom.worker import lease as lease_module
from pressroom.worker.lease import RENEWALS_PER_LEASE, LeaseKeeper
from tests import looking

LIMIT = 60.0
NO_BEAT = 3600.0  # a lease so long that the keeper's own thread renews nothing while a test runs


@pytest.fixture(autouse=True)
def _usual_beats(monkeypatch):
    """As many as there are, and not as many as other tests have on a busy machine."""
    monkeypatch.setattr(lease_module, "RENEWALS_PER_LEASE", RENEWALS_PER_LEASE)


def later(monkeypatch, seconds):
    """The worker's own clock is ahead by so many seconds. Until the test awaits, its event loop notices nothing of it."""
    real = time.monotonic
    monkeypatch.setattr(attempts, "time", SimpleNamespace(monotonic=lambda: real() + seconds))


async def test_past_its_time_limit_a_lease_is_not_renewed_so_that_a_hanging_job_is_taken_over(
    database, gate, eventually, monkeypatch
):
    """The handler blocks the event loop: the worker cannot stop it, and only the keeper's thread still runs."""
    clock = ManualClock()

    @kind("hangs", timeout=LIMIT)
    async def hangs(job, payload):
        await gate.hold()

    async with Pressroom(database, kinds=[hangs], workers=1, clock=clock, lease=NO_BEAT) as press:
        job = await press.submit("hangs")
        await eventually(lambda: gate.came)
        keeper, granted = press.worker._keeper, clock.now_ms()

        renewed = []
        for ahead in (0, LIMIT - 1, LIMIT + 2 * attempts.STOP_GRACE):
            clock.advance(seconds=1)
            with monkeypatch.context() as patched:
                later(patched, ahead)
                keeper._renew()  # blocks the loop, as the handler does
            renewed.append(int((await press.get(job)).lease_until.timestamp() * 1000 - granted - NO_BEAT * 1000))
        gate.open()
        await press.wait_until_ended(job, timeout=60)

    assert renewed == [1000, 2000, 2000], "the third was past the limit"


async def test_without_a_time_limit_a_lease_is_renewed_for_ever(file, gate, eventually, monkeypatch):
    @kind("endless", timeout=None)
    async def endless(job, payload):
        await gate.hold()

    async with Pressroom(file, kinds=[endless], workers=1, lease=NO_BEAT) as press:
        job = await press.submit("endless")
        await eventually(lambda: gate.came)

        with monkeypatch.context() as patched:
            later(patched, 1e9)
            held = press.worker._attempts.leases_to_renew()
        gate.open()
        await press.wait_until_ended(job, timeout=60)

    assert [id for id, _ in held] == [job.id]


async def test_a_handler_whose_claim_was_lost_is_stopped_at_the_next_heartbeat(database, eventually):
    """Another process took its job because it seemed to be gone. What it still does is in vain, and in the way."""
    clock, stopped, begun, end = ManualClock(), [], [], asyncio.Event()

    @kind("slow", timeout=None)
    async def slow(job, payload):
        begun.append(job.id)
        try:
            await end.wait()
        except asyncio.CancelledError:
            stopped.append(len(begun))
            end.set()  # the next run need not wait
            raise
        return "done"

    neighbour = Pressroom(database, kinds=[slow], workers=None, clock=clock)
    async with Pressroom(database, kinds=[slow], workers=1, clock=clock, lease=NO_BEAT) as press, neighbour:
        job = await press.submit("slow")
        await eventually(lambda: begun)
        await asyncio.to_thread(press.worker._keeper._renew)
        assert stopped == []

        clock.advance(seconds=2 * NO_BEAT)
        assert await neighbour.maintenance.rescue() == 1
        await asyncio.to_thread(press.worker._keeper._renew)

        await eventually(lambda: stopped, within=60)
        assert await press.wait(job, timeout=60) == "done"
        assert (stopped, len(begun), (await press.get(job)).crashes) == ([1], 2, 1)


async def test_leases_are_kept_until_what_was_released_is_written(database, gate, eventually, monkeypatch):
    """Else a job whose handler is slow to stop is taken by another worker while it still runs here."""

    @kind("held", timeout=None)
    async def held(job, payload):
        await gate.hold()

    press = Pressroom(database, kinds=[held], workers=1)
    await press.start()
    keeper, seen = press.worker._keeper, []
    stop = keeper.stop
    monkeypatch.setattr(keeper, "stop", lambda: (seen.extend(looking.rows(database, "SELECT status FROM job")), stop()))
    await press.submit("held")
    await eventually(lambda: gate.came)

    with pytest.raises(StopTimeout):
        await press.stop(grace=0)

    assert seen == [("queued",)]


class LosesAnswers:
    """A database whose first answer to a claim is lost on the way: the commit was made, and the worker does not know."""

    def __init__(self, database):
        self._database = database
        self.lost = []

    def __getattr__(self, name):
        return getattr(self._database, name)

    async def run(self, unit, **how):
        result = await self._database.run(unit, **how)
        if isinstance(result, Turn) and result.claims and not self.lost:
            self.lost = result.claims
            raise StoreUnavailable("the connection broke after the commit")
        return result


async def test_a_claim_whose_answer_was_lost_is_given_back_at_once(database):
    """Nobody renews it and nobody runs it: it would wait for the end of a lease, here of an hour."""

    @kind("any")
    async def any_kind(job, payload):
        return "done"

    async with Pressroom(database, kinds=[any_kind], workers=1, lease=NO_BEAT) as press:
        press.worker._turns._database = broken = LosesAnswers(press._database)
        while not broken.lost:  # the turn that was under way when the database was replaced is not lost
            job = await press.submit("any")
            assert await press.wait(job, timeout=60) == "done"

        assert [claim.uid for claim in broken.lost] == [job.uid]
        assert [event.type for event in await press.history(job)] == ["queued", "started", "released", "started", "completed"]
        assert ((await press.get(job)).crashes, (await press.get(job)).failures) == (0, 0)


def test_a_worker_that_shows_life_after_it_was_found_silent_keeps_its_job(steps):
    """The chore looks first and takes away later, one job at a time; meanwhile a heartbeat may come."""

    @kind("any")
    async def any_kind(job, payload):
        return None

    store = steps(any_kind)
    job = store.submit("any")
    claim = store.claim_one(lease=15)
    store.clock.advance(seconds=15)
    (lost,) = store.run(rescue.find_lost([]))
    store.run(claiming.renew([(claim.id, claim.token)]))

    assert store.run(rescue.rescue(lost, store.kinds, 0.0)) is None

    assert (store.get(job).status, store.get(job).crashes) == (Status.IN_PROGRESS, 0)


class Beats:
    """Stands in for the event that ends a keeper: waiting moves the clock, and after `count` beats the keeper ends."""

    def __init__(self, clock, count):
        self._clock = clock
        self._left = count

    def wait(self, seconds):
        if self._left == 0:
            return True
        self._left -= 1
        self._clock.advance(seconds=seconds)
        return False


class FailingStore:
    """A stepped store that refuses the first beats, as a database does that is away for a moment."""

    def __init__(self, store, failures):
        self._store = store
        self._left = failures
        self.lost = []

    def run_from_thread(self, unit, **options):
        self.lost += self._store.run(rescue.find_lost([]))
        if self._left > 0:
            self._left -= 1
            raise StoreUnavailable("away")
        return self._store.run(unit())


@pytest.mark.parametrize("lease", [15.0, 1.0])
def test_three_heartbeats_may_fail_before_a_lease_is_lost(steps, lease):
    @kind("any")
    async def any_kind(job, payload):
        return None

    store = steps(any_kind)
    job = store.submit("any")
    (claim,) = store.run(claiming.claim("w1", store.kinds, FreeSlots(1, 1), int(lease * 1000)))
    reported = []
    failing = FailingStore(store, 3)
    card = worker_records.WorkerRecord("w1", process.process_identity(), ["any"], 1, 1)
    keeper = LeaseKeeper(failing, lease, lambda: [(claim.id, claim.token)], lambda kept, _: reported.append(kept), lambda: card)
    keeper._stopping = Beats(store.clock, 4)

    keeper._run()

    assert reported == [{(claim.id, claim.token): False}]
    assert failing.lost == [], "another process could have taken it before it was renewed"
    assert store.get(job).lease_until.timestamp() * 1000 == store.clock.now_ms() + lease * 1000
    store.clock.advance(seconds=lease - 0.001)
    assert store.run(rescue.find_lost([])) == []
    store.clock.advance(seconds=0.001)
    assert len(store.run(rescue.find_lost([]))) == 1


def test_a_worker_that_only_beats_is_seen_although_it_holds_nothing(steps):
    store = steps()
    card = worker_records.WorkerRecord("idle", process.process_identity(), [], 1, 0)
    keeper = LeaseKeeper(FailingStore(store, 0), 15.0, list, lambda *_: None, lambda: card)
    keeper._stopping = Beats(store.clock, 2)

    keeper._run()

    ((found, started, seen),) = store.run(worker_records.list_workers())
    assert (found.uid, seen - started) == ("idle", 3000)
