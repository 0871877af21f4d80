"""One of many processes does the maintenance that needs doing once. I22: two leaders; nothing is done twice for it."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from types import SimpleNamespace

import pytest

from pressroom import Pressroom, Schedule, Status, backends, failpoints, kind
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.config import Settings
from pressroom.failpoints import LEADER_POINTS
from pressroom.store.jobs import claiming, leader, worker_records
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.testing import ManualClock
from pressroom.worker import leader as leader_module
from pressroom.worker import process
from pressroom.worker.leader import NAME, Leadership
from tests.processes.stage import here

ELSEWHERE = "another-host/boot/namespace/4711/1"
LEASE = 600.0  # seconds: nobody leads because the machine stood still for a while


@kind("tick", retention=timedelta(seconds=30))
async def tick(job, payload):
    return None


HOURLY = Schedule("hourly", "0 * * * *", kind="tick")


@pytest.fixture(autouse=True)
def _long_lease(monkeypatch):
    monkeypatch.setattr(leader_module, "LEASE", LEASE)


@pytest.fixture
def clock():
    return ManualClock()


@asynccontextmanager
async def opened(database, clock):
    """The database alone: nobody campaigns but the test."""
    found = await asyncio.to_thread(backends.open_database, Settings(database=database), clock, BUILT_IN_SCHEMA)
    try:
        yield found
    finally:
        await found.close()


def press_on(database, clock, **options):
    return Pressroom(database, kinds=[tick], workers=1, clock=clock, **options)


async def who_leads(press):
    return await press._database.read(lambda: leader.find(NAME))


async def test_of_many_who_ask_at_once_one_leads(database, clock):
    async with opened(database, clock) as one, opened(database, clock) as other:
        asking = [Leadership((one, other)[number % 2], f"worker {number}") for number in range(10)]

        await asyncio.gather(*(leadership.renew_or_acquire() for leadership in asking))

        assert [leadership.term for leadership in asking if leadership.leads] == [1]


async def test_a_leader_that_stops_gives_it_up_at_once(database, clock, eventually):
    async with press_on(database, clock) as first, press_on(database, clock) as second:
        assert (first.leadership.leads, second.leadership.leads) == (True, False)

        await first.stop()

        await eventually(lambda: second.leadership.leads)
        assert (first.leadership.term, second.leadership.term) == (1, 2)


async def test_a_leader_elsewhere_that_went_silent_is_followed_when_its_lease_is_over(database, clock):
    async with opened(database, clock) as database:
        lease = int(LEASE * 1000)
        await database.run(lambda: leader.acquire_leadership(NAME, "a worker there", ELSEWHERE, lease), name="leader")
        ours = Leadership(database, "a worker here")

        clock.advance(seconds=LEASE - 1)
        await ours.renew_or_acquire()
        assert not ours.leads
        clock.advance(seconds=1)
        await ours.renew_or_acquire()

        assert (ours.leads, ours.term) == (True, 2)


async def test_a_leader_that_renews_keeps_its_term_and_one_that_was_late_gets_another(database, clock):
    async with opened(database, clock) as database:
        lease = int(LEASE * 1000)

        async def take(worker):
            return await database.run(lambda: leader.acquire_leadership(NAME, worker, ELSEWHERE, lease), name="leader")

        assert await take("one") == 1
        clock.advance(seconds=LEASE - 1)
        assert await take("one") == 1
        assert await take("other") is None
        clock.advance(seconds=LEASE)
        assert await take("one") == 2


async def test_a_lease_from_before_the_clock_was_set_back_is_not_waited_for(database, clock):
    async with opened(database, clock) as database:
        await database.run(
            lambda: leader.acquire_leadership(NAME, "a worker there", ELSEWHERE, int(LEASE * 1000)), name="leader"
        )
        ours = Leadership(database, "a worker here")
        clock.advance(hours=-1)

        await ours.renew_or_acquire()

        assert ours.leads


async def test_a_term_only_grows_whoever_writes(database, clock):
    async with press_on(database, clock) as press:
        with pytest.raises(Exception, match="a term only grows"):
            async with press.transaction() as tx:
                await tx.execute("UPDATE leader SET term = term - 1")


async def test_a_leader_that_was_killed_on_this_machine_is_noticed_by_its_pid(database, start, eventually):
    """Nobody moves the clock: its lease would last for ten minutes more, and on SQLite and PostgreSQL alike."""
    doomed = start("work", "--slots", "1")
    async with here(database, workers=1) as press:
        there = await who_leads(press)
        assert f".{doomed.pid}." in there.worker
        assert not press.leadership.leads

        doomed.kill()
        await _prolong(press, there.worker)

        await eventually(lambda: press.leadership.leads)
        assert press.leadership.term == there.term + 1


async def test_a_leader_that_is_told_to_stop_hands_over_to_another_process(database, start, eventually):
    stopping = start("work", "--slots", "1")
    async with here(database, workers=1) as press:
        there = await who_leads(press)
        assert not press.leadership.leads

        assert stopping.stop() == 0
        await _prolong(press, there.worker)

        await eventually(lambda: press.leadership.leads)
        assert press.leadership.term == 2


async def _prolong(press, worker):
    """Another process has a shorter lease than ours, and its end would be mistaken for what is tested."""
    async with press.transaction() as tx:
        await tx.execute("UPDATE leader SET until = until + 600000 WHERE worker = :worker", {"worker": worker})


async def test_a_paused_leader_that_wakes_up_does_no_harm(database, start, tmp_path, eventually, monkeypatch):
    """It was elected, stood still past its lease, and goes on where it was, believing that it leads."""
    monkeypatch.setattr(leader_module, "LEASE", 20.0)  # longer, and the other process would take it for one of another time
    wake_up = tmp_path / "wake up"
    paused = start("work", "--slots", "1", wait=False, PRESSROOM_FAILPOINTS=f"leader.elected=wait:{wake_up}@1")
    async with here(database) as looking:
        await eventually(lambda: who_leads(looking), within=60)
        async with looking.transaction() as tx:
            await tx.execute("UPDATE leader SET until = 0")  # as if ten seconds had passed

        async with here(database, workers=1) as press:
            assert (press.leadership.leads, press.leadership.term) == (True, 2)
            wake_up.touch()
            await asyncio.to_thread(paused.ready)

            await eventually(lambda: _seen(press, paused.pid))
            holder = await who_leads(press)
            assert (holder.worker, holder.term) == (press.worker.name, 2)
            job = await press.submit("stamp", {"log": str(tmp_path / "stamps")})
            assert (await press.wait_until_ended(job, timeout=60)).status is Status.COMPLETED
            assert paused.stop() == 0
            assert (await who_leads(press)).worker == press.worker.name, "it could not give up what was not its own"


async def _seen(press, pid):
    return any(member.pid == pid for member in await press.members())


async def test_two_that_both_believe_they_lead_do_everything_once(database, clock):
    """I22: the first was paused past its lease and has not noticed; each task looks before it acts."""
    async with (
        press_on(database, clock, schedules=[HOURLY]) as paused,
        press_on(database, clock, schedules=[HOURLY]) as other,
    ):
        clock.advance(seconds=LEASE + 1)
        await other.leadership.renew_or_acquire()
        assert paused.leadership.leads
        assert other.leadership.leads

        clock.advance(hours=1)
        both = (paused.maintenance, other.maintenance)
        await asyncio.gather(
            *(maintenance._fire_schedules_if_due() for maintenance in both),
            *(maintenance._rescue_if_due() for maintenance in both),
        )
        (fired,) = (await other.list(kind="tick")).jobs
        await other.wait_until_ended(fired, timeout=60)
        clock.advance(minutes=1)
        deleted = await asyncio.gather(*(maintenance.prune() for maintenance in both))

        assert sum(deleted) <= 1, "its own beat may have been quicker"
        assert (await other.list(kind="tick")).jobs == []


async def test_a_leader_that_was_overtaken_learns_of_it_when_it_renews(database, clock):
    async with opened(database, clock) as store:
        paused, other = Leadership(store, "paused"), Leadership(store, "other")
        await paused.renew_or_acquire()
        clock.advance(seconds=LEASE)
        await other.renew_or_acquire()
        assert paused.leads

        paused._renew_at = 0.0
        await paused.renew_or_acquire()

        assert (paused.leads, other.leads, other.term) == (False, True, 2)


async def test_a_lead_is_counted_from_the_moment_it_was_asked_for(monkeypatch):
    """The answer took eight seconds: the others have counted them already, and follow when the lease in the database ends."""
    steady = [100.0]
    monkeypatch.setattr(leader_module, "time", SimpleNamespace(monotonic=lambda: steady[0]))

    class Slow:
        async def read(self, unit):
            return None

        async def run(self, unit, **how):
            steady[0] += 8
            return 1

    leadership = Leadership(Slow(), "slow")
    await leadership.renew_or_acquire()

    assert leadership.leads
    steady[0] = 100 + LEASE - 0.01
    assert leadership.leads
    steady[0] = 100 + LEASE
    assert not leadership.leads


async def test_a_leader_renews_after_a_third_of_its_lease_and_not_before(monkeypatch):
    """Two renewals may fail before another process leads."""
    steady, asked = [100.0], []
    monkeypatch.setattr(leader_module, "time", SimpleNamespace(monotonic=lambda: steady[0]))

    class Counting:
        async def read(self, unit):
            return None

        async def run(self, unit, **how):
            asked.append(steady[0] - 100)
            return 1

    leadership = Leadership(Counting(), "quick")
    for tenths in range(8):
        steady[0] = 100.0 + tenths * LEASE / 10
        await leadership.renew_or_acquire()

    assert asked == [0, 4 * LEASE / 10]


async def test_a_follower_on_the_machine_of_a_dead_worker_rescues_its_jobs_at_once(database, clock):
    """A leader elsewhere cannot see that a pid is gone."""
    async with opened(database, clock) as store:
        await store.run(lambda: leader.acquire_leadership(NAME, "a worker there", ELSEWHERE, 3_600_000), name="leader")
        async with press_on(database, clock) as press:
            await press.pause("tick")
            job = await press.submit("tick")
            place, _, started = process.process_identity().rpartition("/")
            ghost = worker_records.WorkerRecord("ghost", f"{place}/{int(started) + 1}", ["tick"], 1, 1)
            await store.run(lambda: worker_records.save_worker(ghost), name="heartbeat")
            await _claim_paused(store, job)

            await press.maintenance._rescue_if_due()

            assert (await press.get(job)).status is Status.QUEUED


async def test_a_follower_leaves_the_leader_a_moment_and_then_rescues_itself(database, clock):
    """The leader may not know the kind: what it leaves undone, somebody else does."""
    async with opened(database, clock) as store:
        await store.run(lambda: leader.acquire_leadership(NAME, "a worker there", ELSEWHERE, 10_000), name="leader")
        async with press_on(database, clock) as press:
            assert not press.leadership.leads
            await press.pause("tick")
            job = await press.submit("tick")
            await _claim_paused(store, job, lease=1_000)
            clock.advance(seconds=1.5)
            await press.maintenance._rescue_if_due()
            assert (await press.get(job)).status is Status.IN_PROGRESS

            clock.advance(seconds=2)
            press.maintenance._trust_clock_from = 0.0  # the test moved the clock, and it is steady all the same
            press.maintenance._last_clock_reading = None
            await press.maintenance._rescue_if_due()

            assert (await press.get(job)).status is Status.QUEUED


async def _claim_paused(store, job, lease=3_600_000):
    """Claimed by a worker of another time, before the kind was paused."""

    def unit():
        yield from kind_rows.set_paused("tick", False)
        claims = yield from claiming.claim("ghost", ["tick"], FreeSlots(1, 1), lease)
        yield from kind_rows.set_paused("tick", True)
        return claims

    (claim,) = await store.run(unit, name="turn")
    assert claim.uid == job.uid


async def test_a_schedule_that_the_leader_does_not_know_is_fired_by_one_who_does(database, clock, monkeypatch):
    """I22"""
    monkeypatch.setattr(leader_module, "LEASE", 7200.0)  # it lasts beyond the hour
    async with press_on(database, clock) as leading, press_on(database, clock, schedules=[HOURLY]) as knowing:
        assert (leading.leadership.leads, knowing.leadership.leads) == (True, False)
        clock.advance(seconds=3600 - clock.now_ms() // 1000 % 3600)
        await knowing.maintenance._fire_schedules_if_due()
        assert (await knowing.list(kind="tick")).jobs == []

        clock.advance(seconds=2)
        await knowing.maintenance._fire_schedules_if_due()

        assert len((await knowing.list(kind="tick")).jobs) == 1


async def test_every_failpoint_of_a_leader_is_passed(database, clock):
    failpoints.arm(";".join(f"{point}=sleep:0" for point in LEADER_POINTS))
    async with press_on(database, clock) as press:
        press.leadership._renew_at = 0.0
        await press.leadership.renew_or_acquire()

    assert failpoints._registry.seen >= LEADER_POINTS
