"""What oban calls: a job of ours, and the ticks of the schedules. The rows name these classes by their path."""

from typing import Any

from oban import Cancel, worker
from oban.job import Job

from pressroom.delivery.oban import registry


@worker(queue="pressroom", max_attempts=20)
class Perform:
    """A job of ours. Our dispatcher offers every row that names a job to a worker; only a row that names none comes here."""

    async def process(self, _job: Job) -> Any:
        return Cancel("it does not say which job of Pressroom it is")


@worker(queue=registry.TICK_QUEUE, max_attempts=1)
class Tick:
    """It is time for some schedule. Which one, and whether it was fired already, the store knows."""

    async def process(self, job: Job) -> Any:
        await registry.node_of_job(job).fire_schedules()
