"""A healthy worker keeps what it holds, however long it takes; a worker that slept too long changes nothing."""

from pressroom import Status
from tests.reliability.stage import Stage, is_running, until

LEASE = 5.0  # seconds, in which a busy machine finds the time for a heartbeat


async def test_a_slow_job_is_not_stolen_from_a_healthy_worker(stage: Stage) -> None:
    # I5: three times the lease; and one that blocks the event loop, for the heartbeat is a thread
    stage.lease = LEASE
    await stage.found()

    async with stage.desk() as press:
        client = stage.client(press)
        slow = await client.submit("book", seconds=3 * LEASE)
        rude = await client.submit("stare", seconds=2 * LEASE)
        assert slow is not None
        assert rude is not None
        with stage.worker(), stage.worker():
            jobs = [await press.wait_until_ended(receipt.uid, timeout=60) for receipt in (slow, rude)]

    assert [job.status for job in jobs] == [Status.COMPLETED_WITH_ERRORS, Status.COMPLETED]
    assert [job.crashes for job in jobs] == [0, 0]
    assert len(stage.runs()) == 2
    assert stage.judge().clean


async def test_a_worker_that_slept_past_its_lease_settles_nothing(stage: Stage) -> None:
    # I4
    await stage.found()

    async with stage.desk() as press:
        receipt = await stage.client(press).submit("stare")
        assert receipt is not None
        with stage.sleeper() as sleeper:
            await until(lambda: is_running(press, receipt.uid))
            sleeper.fall_asleep()
            stage.end_lease(receipt.uid)
            with stage.worker():
                ended = await press.wait_until_ended(receipt.uid, timeout=60)
            sleeper.wake_up()
            await until(lambda: stage.judge().stale_provoked)
        after = await press.get(receipt.uid)

    assert ended.status is Status.COMPLETED
    assert ended.result["token"] == 2
    assert after == ended
    assert [run.data["token"] for run in stage.runs()] == [2, 1]
    assert stage.judge().clean
