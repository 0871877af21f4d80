"""One fault upon a house at work: a while before, the fault, a while after, until everything has ended; then the judge."""

import asyncio
import time
from dataclasses import dataclass

from tests import looking
from tests.chaos import judge
from tests.chaos.clients import Clients
from tests.chaos.house import LEASE, House
from tests.chaos.judge import ChaosVerdict
from tests.chaos.scenarios import Scenario
from tests.reliability import dump, journal
from tests.reliability.dump import Dump

DRAIN_LIMIT = 300.0
WINDOW = 2.0  # seconds over which a rate is taken
RECOVERED = 0.95  # of the rate before


@dataclass(frozen=True)
class Times:
    before: float
    during: float
    after: float


@dataclass(frozen=True)
class Outcome:
    """Rates are jobs that ended in a second. `recovery` is seconds from the fault's end until the rate is back; None: never."""

    name: str
    before: float
    during: float
    after: float
    recovery: float | None
    verdict: ChaosVerdict


async def endure(house: House, scenario: Scenario, times: Times, *, rate: float, keyed: bool = True) -> Outcome:
    await asyncio.to_thread(house.settle)
    first = time.monotonic_ns()
    clients = Clients(
        [*house.ports.values()],
        house.journal,
        rate=rate,
        lease=LEASE,
        keyed=keyed,
        may_fail=not scenario.steps_clock,  # a retry waits for its moment, and that would be an hour away
        renders=scenario.renders,
    )
    clients.start()
    try:
        await asyncio.sleep(times.before)
        began = time.time()
        await scenario.fault(house, times.during)
        ended = time.time()
        await asyncio.sleep(times.after)
    finally:
        await clients.stop()
    await asyncio.to_thread(house.settle)
    await clients.make_every_mistake()
    await _drained(house)
    lines = [line for line in journal.load(house.journal.path) if line.at >= first]
    held = await asyncio.to_thread(dump.read, house.address)
    if scenario.renders:
        held.complaints.extend(await asyncio.to_thread(house.unsound_artifacts))
    verdict = judge.judge(lines, held, services_die=scenario.services_die)
    moments = moments_of(judge.only_of(lines, held), began, scenario.steps_clock)
    return Outcome(
        scenario.name,
        _rate(moments, began - times.before / 2, began),  # the first half is for warming up
        _rate(moments, began, ended),
        _rate(moments, ended, ended + times.after),
        recovery(moments, began, ended, times),
        verdict,
    )


async def _drained(house: House) -> None:
    deadline = time.monotonic() + DRAIN_LIMIT
    still = "SELECT count(*) FROM job WHERE status IN ('queued', 'in_progress')"
    while time.monotonic() < deadline:
        if await asyncio.to_thread(looking.rows, house.address, still) == [(0,)]:
            return
        await asyncio.sleep(0.1)


def moments_of(held: Dump, began: float, step: int) -> list[float]:
    """When jobs ended, by the clock that was not stepped."""
    stamps = [job.date_completed / 1000 for job in held.jobs if job.date_completed is not None]
    return sorted(stamp - step if step and abs(stamp - began) > abs(step) / 2 else stamp for stamp in stamps)


def recovery(moments: list[float], began: float, ended: float, times: Times) -> float | None:
    wanted = RECOVERED * _rate(moments, began - times.before / 2, began)
    for tenth in range(int((times.after - WINDOW) * 10) + 1):
        start = ended + tenth / 10
        if _rate(moments, start, start + WINDOW) >= wanted:
            return tenth / 10
    return None


def _rate(moments: list[float], start: float, end: float) -> float:
    return sum(start <= moment < end for moment in moments) / (end - start) if end > start else 0.0
