"""The faults, one by one: what is done to the house, for how long, and what callers are to expect meanwhile."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pressroom.config import DELIVERIES
from tests import looking
from tests.chaos.house import LEASE, SERVICES, WORKERS, House
from tests.reliability import journal
from tests.reliability.stage import until

CUT_EVERY = 0.15  # seconds between two commits whose answer is lost
REFUSED_WITHIN = 60.0
HOUR = 3600


@dataclass(frozen=True)
class Scenario:
    """`expects` is what callers are told meanwhile. Where `services_die`, some of them may have nobody to talk to."""

    name: str
    expects: str
    fault: Callable[[House, float], Awaitable[None]]
    deliveries: tuple[str, ...] = DELIVERIES
    services_die: bool = False
    renders: bool = False  # what is asked for, and whether S3 is needed
    refuses: bool = False  # whether somebody must be refused meanwhile: else the fault was none
    steps_clock: int = 0


async def kill_a_worker(house: House, seconds: float) -> None:
    await _without(house, WORKERS[0], seconds)


async def kill_a_service(house: House, seconds: float) -> None:
    await _without(house, SERVICES[0], seconds)


async def kill_the_leader(house: House, seconds: float) -> None:
    leader, term = await asyncio.to_thread(_leader, house)
    await _without(house, leader, seconds)
    await until(lambda: _leader(house)[1] > term)


async def pause_a_worker(house: House, seconds: float) -> None:
    worker = house.processes[WORKERS[0]]
    worker.pause()
    await asyncio.sleep(max(seconds, 2.5 * LEASE))
    worker.resume()


async def crash_postgres(house: House, seconds: float) -> None:
    began = time.monotonic_ns()
    await asyncio.to_thread(house.postgres.kill)
    await asyncio.sleep(seconds)
    await _somebody_is_refused(house, began)
    await asyncio.to_thread(house.postgres.start)


async def terminate_backends(house: House, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        await asyncio.to_thread(house.terminate_backends)
        await asyncio.sleep(min(2.0, seconds / 3))


async def empty_redis(house: House, seconds: float) -> None:
    await asyncio.to_thread(house.redis.kill)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(house.redis.start)


async def refuse_s3(house: House, seconds: float) -> None:
    house.bucket.refuse()
    await asyncio.sleep(seconds)
    house.bucket.mend()


async def stall_s3(house: House, seconds: float) -> None:
    house.bucket.stall()
    await asyncio.sleep(seconds)
    house.bucket.mend()


async def lose_commits(house: House, seconds: float) -> None:
    """By turns a commit that was done and one that never arrived, of services and of workers: no client can tell them apart."""
    began, end = time.monotonic_ns(), time.monotonic() + seconds
    proxies = (house.database_of_services, house.database_of_workers)
    for proxy, delivered in itertools.cycle(itertools.product(proxies, (True, False))):
        if time.monotonic() > end and (_is_refused(house, began) or time.monotonic() > end + REFUSED_WITHIN):
            break
        proxy.cut(delivered=delivered)
        await asyncio.sleep(CUT_EVERY)
    for proxy in proxies:
        proxy.mend()


async def _somebody_is_refused(house: House, since: int) -> None:
    """A fault that no caller met was none: on a busy machine the next one may take its time."""
    end = time.monotonic() + REFUSED_WITHIN
    while not _is_refused(house, since) and time.monotonic() < end:  # noqa: ASYNC110
        await asyncio.sleep(0.2)


def _is_refused(house: House, since: int) -> bool:
    lines = journal.load(house.journal.path)
    return any(line.do == "answer" and line.at >= since and line.data["http"] == 503 for line in lines)


async def step_ahead(house: House, seconds: float) -> None:
    await _at_another_time(house, HOUR, seconds)


async def step_back(house: House, seconds: float) -> None:
    await _at_another_time(house, -HOUR, seconds)


async def _without(house: House, name: str, seconds: float) -> None:
    await asyncio.to_thread(house.processes[name].kill)
    await asyncio.sleep(seconds)
    house.processes[name].start()


async def _at_another_time(house: House, ahead: int, seconds: float) -> None:
    """A clock cannot be set under a process that runs, so all are killed, and find that time has jumped; and then back."""
    for offset in (ahead, 0):
        for process in house.processes.values():
            await asyncio.to_thread(process.kill)
            process.start(ahead=offset)
        await asyncio.to_thread(house.settle)
        if offset:
            await asyncio.sleep(seconds)


def _leader(house: House) -> tuple[str, int]:
    while (leader := house.leader()) is None:
        time.sleep(0.05)
    ((term,),) = looking.rows(house.address, "SELECT term FROM leader")
    return leader, term


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("worker-killed", "nothing", kill_a_worker),
        Scenario("service-killed", "the other service answers", kill_a_service, services_die=True),
        Scenario("leader-killed", "nothing", kill_the_leader),
        Scenario("worker-paused", "nothing, or 503 while it holds a lock", pause_a_worker),
        Scenario("postgres-crashed", "503 and Retry-After", crash_postgres, refuses=True),
        Scenario("backends-terminated", "503 and Retry-After, or nothing", terminate_backends),
        Scenario("redis-emptied", "nothing", empty_redis, deliveries=("redis",)),
        Scenario("s3-refuses", "nothing; renders wait", refuse_s3, renders=True),
        Scenario("s3-stalls", "nothing; renders wait", stall_s3, renders=True),
        Scenario("commit-lost", "503 and Retry-After; the key tells whether it was done", lose_commits, refuses=True),
        Scenario("clock-ahead", "restarts only", step_ahead, services_die=True, steps_clock=HOUR),
        Scenario("clock-back", "restarts only", step_back, services_die=True, steps_clock=-HOUR),
    )
}
