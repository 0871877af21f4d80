"""What oban calls: a job of ours, and the ticks of the schedules. The rows name these classes by their path."""

from typing import Any

from oban import Cancel, Snooze, worker
from oban.job import Job

from pressroom.delivery.oban import registry

PUT_BACK_FOR = 5  # seconds


@worker(queue="pressroom", max_attempts=20)
class Perform:
    """A job of ours. Our dispatcher offers every row that names a job to a worker; only a row that names none comes here.

    An oban that is not Pressroom's and serves our queues (`oban start --queues …`) has no dispatcher. It puts the row back.
    """

    async def process(self, job: Job) -> Any:
        if "uid" in job.args:
            return Snooze(PUT_BACK_FOR, meta={"why": "only `pressroom work` runs jobs of Pressroom"})
        return Cancel("it does not say which job of Pressroom it is")


@worker(queue=registry.TICK_QUEUE, max_attempts=1)
class Tick:
    """It is time for some schedule. Which one, and whether it was fired already, the store knows."""

    async def process(self, job: Job) -> Any:
        await registry.node_of_job(job).fire_schedules()
