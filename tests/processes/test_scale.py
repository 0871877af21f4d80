"""At most so many of a kind at once, over all processes of a database. P4: no job is taken twice; P5: what ended makes room."""

import asyncio

import pytest

from pressroom import Request, Status, kind
from pressroom.errors import InvalidArgument, NotFound
from pressroom.model import Succeeded
from pressroom.store.jobs import claiming, concurrency_limits
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.worker import maintenance
from tests.journeys.stage import Steps
from tests.processes.stage import here, most_at_once, pids


async def in_progress(press, name="press"):
    return sum(line.running for line in (await press.stats()).running if line.kind == name)


async def test_a_limit_holds_over_all_processes_and_moves_while_they_work(database, start, log, gate, eventually):
    """Three processes with four slots each run two at once, then three, then as many as there are."""
    for _ in range(3):
        start("work", "--slots", "4", wait=False)
    async with here(database) as press:
        await press.scale("press", 2)
        held = await press.submit_many([Request("press", {"log": str(log), "until": str(gate)}) for _ in range(12)])
        await eventually(lambda: in_progress(press), within=60)
        for _ in range(3):  # meanwhile everybody claims other jobs, again and again
            stamps = await press.submit_many([Request("stamp", {"log": str(log.with_name("stamps"))}) for _ in range(20)])
            await asyncio.gather(*(press.wait_until_ended(job, timeout=60) for job in stamps))
        await eventually(lambda: log.read_text().count("+") == 2)
        assert await in_progress(press) == 2

        await press.scale("press", 3)
        await eventually(lambda: log.read_text().count("+") == 3)
        assert await in_progress(press) == 3

        gate.touch()
        await asyncio.gather(*(press.wait_until_ended(job, timeout=60) for job in held))

    assert most_at_once(log) == 3


async def test_without_a_limit_all_slots_are_used_again(database, start, log, gate, eventually):
    start("work", "--slots", "4", wait=False)
    start("work", "--slots", "4", wait=False)
    async with here(database) as press:
        await press.scale("press", 1)
        held = await press.submit_many([Request("press", {"log": str(log), "until": str(gate)}) for _ in range(6)])
        await eventually(lambda: log.read_text().count("+") == 1, within=60)

        await press.scale("press", None)

        await eventually(lambda: log.read_text().count("+") == 6, within=60)
        assert len(pids(log)) == 2
        gate.touch()
        assert {(await press.wait_until_ended(job, timeout=60)).status for job in held} == {Status.COMPLETED}


async def test_pause_and_resume_act_on_all_processes_and_leave_the_limit_as_it_is(database, start, log, gate, eventually):
    for _ in range(2):
        start("work", "--slots", "4", wait=False)
    async with here(database) as press:
        await press.scale("press", 2)
        await press.pause("press")
        held = await press.submit_many([Request("press", {"log": str(log), "until": str(gate)}) for _ in range(6)])
        stamps = await press.submit_many([Request("stamp", {"log": str(log.with_name("stamps"))}) for _ in range(40)])
        await asyncio.gather(*(press.wait_until_ended(job, timeout=60) for job in stamps))
        assert log.read_text() == ""

        await press.resume("press")
        await eventually(lambda: log.read_text().count("+") == 2)
        gate.touch()
        await asyncio.gather(*(press.wait_until_ended(job, timeout=60) for job in held))

        assert (await press.stats()).limits == {"press": 2}
    assert most_at_once(log) == 2


async def test_a_full_kind_makes_nobody_busy(database, log, gate, eventually, monkeypatch):
    """While the limit is reached a worker looks, and writes nothing: it takes no turn until there is room."""
    monkeypatch.setattr(maintenance, "ANNOUNCE_INTERVAL", 3600)
    async with here(database, workers=4) as press:
        await press.scale("press", 1)
        held = await press.submit_many([Request("press", {"log": str(log), "until": str(gate)}) for _ in range(3)])
        await eventually(lambda: log.read_text().count("+") == 1)
        turns, looks = 0, 0
        run, read = press._database.run, press._database.read

        async def counted_run(unit, *, name, **how):
            nonlocal turns
            turns += name == "turn"
            return await run(unit, name=name, **how)

        async def counted_read(unit):
            nonlocal looks
            looks += getattr(unit, "func", None) is claiming.survey
            return await read(unit)

        await eventually(lambda: not press.worker._loop._jobs_expected)
        press._database.run, press._database.read = counted_run, counted_read
        await eventually(lambda: looks > 20)

        assert turns <= looks / 5, "now and then one hears of something; it does not try at every look"
        gate.touch()
        await asyncio.gather(*(press.wait_until_ended(job, timeout=60) for job in held))
    assert most_at_once(log) == 1


async def test_of_those_who_claim_by_name_at_once_only_as_many_get_one_as_there_is_room(database, log, gate):
    """Deliveries name jobs, and many may claim beside each other: whoever counts locks first."""
    async with here(database) as one, here(database) as other:
        await one.scale("press", 3)
        many = [Request("press", {"log": str(log), "until": str(gate)}) for _ in range(12)]
        uids = [job.uid for job in await one.submit_many(many)]

        async def claim(press, named):
            def unit():
                return claiming.claim_named("somebody", named, ["press"], 60_000, shared_lock=True)

            claims, again = await press._database.run(unit, name="turn", shared_lock=True)
            return [claim.uid for claim in claims], again

        parts = await asyncio.gather(*(claim((one, other)[n % 2], uids[3 * n : 3 * n + 3]) for n in range(4)))

        assert sum(len(claimed) for claimed, _ in parts) == 3
        assert {wait for _, again in parts for wait in again.values()} == {claiming.REFUSED_FOR}
        assert await in_progress(one) == 3


@kind("pdf")
def pdf(job, payload):
    return None


@kind("svg")
def svg(job, payload):
    return None


class TestClaiming:
    """Step by step, on a store that the test moves by hand."""

    @pytest.fixture
    def store(self):
        steps = Steps(pdf, svg)
        yield steps
        steps.close()

    def test_the_best_of_a_limited_kind_are_taken_and_the_others_wait(self, store):
        late, soon = store.submit("pdf"), store.submit("pdf", tier=0)
        store.run(concurrency_limits.set_limit("pdf", 1))

        (claim,) = store.claim(room=4)

        assert claim.uid == soon.uid
        assert store.claim(room=4) == []
        store.settle(claim, Succeeded("null"))
        assert store.claim_one().uid == late.uid

    def test_a_limit_below_what_runs_holds_once_enough_have_ended(self, store):
        for _ in range(4):
            store.submit("pdf")
        running = store.claim(room=3)
        store.run(concurrency_limits.set_limit("pdf", 1))

        for claim in running[:2]:
            store.settle(claim, Succeeded("null"))
            assert store.claim() == []
        store.settle(running[2], Succeeded("null"))

        assert len(store.claim(room=4)) == 1

    def test_a_full_kind_does_not_stand_before_another(self, store):
        store.run(concurrency_limits.set_limit("pdf", 1))
        for _ in range(5):
            store.submit("pdf")
        other = store.submit("svg")

        assert [claim.kind for claim in store.claim(room=5)] == ["pdf", "svg"]
        assert store.get(other).status is Status.IN_PROGRESS

    def test_a_look_says_ready_only_if_there_is_room(self, store):
        store.run(concurrency_limits.set_limit("pdf", 1))
        store.submit("pdf")
        store.submit("pdf")

        before = store.run(claiming.survey(store.kinds, look_for_work=True))
        store.run(claiming.claim("anybody", store.kinds, FreeSlots(4, 4), 1_000))
        full = store.run(claiming.survey(store.kinds, look_for_work=True))

        assert (before.ready, before.needs_exclusive_lock, before.limited) == (True, True, {"pdf"})
        assert (full.ready, full.needs_exclusive_lock) == (False, False)

    def test_a_job_whose_worker_was_lost_makes_room(self, store):
        store.run(concurrency_limits.set_limit("pdf", 1))
        store.submit("pdf")
        store.submit("pdf")
        store.claim_one(lease=1)
        store.clock.advance(seconds=2)

        store.rescue()

        assert len(store.claim(room=4)) == 1


async def test_a_limit_of_none_at_all_or_for_a_kind_that_never_was_is_refused(database):
    async with here(database) as press:
        for wrong in (0, -1, 1_000_001):
            with pytest.raises(InvalidArgument, match="pause"):
                await press.scale("press", wrong)
        with pytest.raises(NotFound, match="no kind 'prss'"):
            await press.scale("prss", 1)
        assert (await press.stats()).limits == {}
