"""Each story is told twice: by a queue with one deliberate mistake, which the judge must catch, and by ours."""

import asyncio
from pathlib import Path

from pressroom import Pressroom
from tests.reliability.naive import no_fence, pop_deletes
from tests.reliability.naive.waiters_by_key import PressWithWaitersByKey
from tests.reliability.stage import Stage, drained, is_running, until
from tests.reliability.workload import LEASE, POLL, Handlers


async def die_with_jobs_in_hand(stage: Stage, naive: str | None) -> None:
    async with stage.desk() as press:
        client = stage.client(press)
        for _ in range(6):
            await client.submit("note")
        with stage.worker(naive=naive, failpoints="handler.returned=kill@2") as first:
            await first.ended()
        with stage.worker(naive=naive) as second:
            await until(lambda: drained(press))
            second.terminate()  # what it has popped is nowhere to be seen; a graceful stop settles it
            await second.ended()


async def test_a_pop_that_deletes_loses_the_jobs_of_a_killed_worker(tmp_path: Path) -> None:
    # I1, D17
    stage = Stage(tmp_path)
    await stage.found()
    stage.unguard(pop_deletes.UNGUARD)

    await die_with_jobs_in_hand(stage, "pop_deletes")

    verdict = stage.judge()
    assert 0 < len(verdict.lost) < 6
    assert not verdict.stuck


async def test_a_claim_under_a_lease_loses_nothing_with_a_killed_worker(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    await stage.found()

    await die_with_jobs_in_hand(stage, None)

    assert stage.judge().clean


async def settle_after_somebody_else_did(stage: Stage, naive: str | None) -> None:
    """A worker falls asleep with a job in hand. When it wakes up, another one has settled the job; it carries on regardless."""
    async with stage.desk() as press:
        receipt = await stage.client(press).submit("stare")
        assert receipt is not None
        with stage.sleeper(naive=naive) as sleeper:
            await until(lambda: is_running(press, receipt.uid))
            sleeper.fall_asleep()
            stage.end_lease(receipt.uid)
            with stage.worker(naive=naive):
                await press.wait(receipt.uid, timeout=60)
            sleeper.wake_up()
            await until(lambda: "refused" in log(stage) or "settling job" in log(stage) or stage.judge().duplicated)
            sleeper.terminate()
            await sleeper.ended()


def log(stage: Stage) -> str:
    return (stage.folder / "log").read_text()


async def test_without_a_fence_a_late_worker_publishes_a_second_time(tmp_path: Path) -> None:
    # I3, I4, I6
    stage = Stage(tmp_path)
    await stage.found()
    stage.unguard(no_fence.UNGUARD)

    await settle_after_somebody_else_did(stage, "no_fence")

    verdict = stage.judge()
    assert verdict.duplicated
    assert verdict.two_terminal
    assert verdict.stale_accepted


async def test_where_the_code_forgets_the_fence_the_database_refuses(tmp_path: Path) -> None:
    # I3: the guards stay on in production
    stage = Stage(tmp_path)
    await stage.found()

    await settle_after_somebody_else_did(stage, "no_fence")

    assert "illegal move" in log(stage)
    assert stage.judge().clean


async def test_with_the_fence_a_late_result_is_refused_and_counted(tmp_path: Path) -> None:
    # I4
    stage = Stage(tmp_path)
    await stage.found()

    await settle_after_somebody_else_did(stage, None)

    verdict = stage.judge()
    assert verdict.clean
    assert verdict.stale_provoked == 1


async def test_without_a_heartbeat_a_job_longer_than_the_lease_never_ends(tmp_path: Path) -> None:
    # I5; test_lease.py tells the same story with a heartbeat
    stage = Stage(tmp_path, lease=LEASE)
    await stage.found()

    async with stage.desk() as press:
        receipt = await stage.client(press).submit("note", seconds=5 * LEASE)
        assert receipt is not None
        with stage.worker(naive="no_heartbeat"), stage.worker(naive="no_heartbeat"):
            await until(lambda: len(stage.runs(receipt.uid)) >= 3)

    assert stage.judge().stuck == [receipt.uid]


async def wait_for_two_revisions(stage: Stage, press: Pressroom) -> None:
    """The second revision is submitted, and waited for, while the first is being printed."""
    gate = stage.folder / "gate"
    async with press:
        client = stage.client(press)
        first = await client.submit("page", key="page:/Home", gate=gate)
        await until(lambda: stage.runs())
        second = await client.submit("page", key="page:/Home")
        assert first is not None
        assert second is not None
        waiter = asyncio.create_task(client.wait(second, timeout=60))
        gate.touch()
        await press.wait_until_ended(first.uid)
        await waiter
        await until(lambda: drained(press))


def press_of(stage: Stage, type: type[Pressroom]) -> Pressroom:
    return type(stage.url, kinds=Handlers(stage.journal).kinds(), workers=2, lease=stage.lease, poll_interval=POLL)


async def test_waiters_by_key_are_told_of_an_older_version(tmp_path: Path) -> None:
    # I8, D2
    stage = Stage(tmp_path)
    await stage.found()

    await wait_for_two_revisions(stage, press_of(stage, PressWithWaitersByKey))

    assert stage.judge().stale_answer


async def test_waiters_by_job_are_told_of_their_own_version_or_a_newer_one(tmp_path: Path) -> None:
    # I8, D2
    stage = Stage(tmp_path)
    await stage.found()

    await wait_for_two_revisions(stage, press_of(stage, Pressroom))

    assert stage.judge().clean
