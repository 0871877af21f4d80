"""A job that kills whoever runs it is parked; everybody else's jobs are done."""

from pressroom import Status
from tests.reliability.stage import Stage, drained, until
from tests.reliability.workload import POISON


async def test_a_job_that_kills_three_workers_is_parked_and_the_others_proceed(stage: Stage) -> None:
    # I17
    await stage.found()

    async with stage.desk() as press:
        client = stage.client(press)
        bomb = await client.submit(POISON)
        innocents = [await client.submit("note", seconds=0.01) for _ in range(40)]
        assert bomb is not None
        deaths = 0
        while not await drained(press):
            with stage.worker() as worker:
                await until(lambda: worker.dead or drained(press))
                deaths += worker.dead
        parked = await press.get(bomb.uid)
        others = [await press.get(receipt.uid) for receipt in innocents if receipt is not None]

    assert parked.status is Status.FAILED
    assert parked.errors[-1]["code"] == "worker_crash"
    assert parked.crashes == 3
    assert deaths == 3
    assert [job.status for job in others] == [Status.COMPLETED] * 40
    assert all(job.failures == 0 for job in others)
    assert stage.judge().clean
