"""Which render gets a press next: interactive ones first, organisations in turn; one press is kept for interactive ones."""

import asyncio
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pressroom import Kind, Pressroom, Tier
from pressroom.app import BUILT_IN
from pressroom.renderers.sandbox.engine_pools import EnginePools
from pressroom.renderers.sandbox.fair_queue import RenderCaller, Ticket, TicketQueue
from pressroom.renderers.sandbox.process_pool import ProcessPool
from pressroom.worker import context
from pressroom.worker.context import RunningJob
from tests.renderers.toys import Patient

BACKGROUND = RenderCaller(is_background=True)


def busy_presses(presses: EnginePools) -> int:
    return sum(bool(press.waiting) for pool in presses.pools().values() for press in pool.processes)


def ticket(name: str, org: str = "", *, background: bool = False) -> Ticket:
    return Ticket(name.encode(), "txt", {}, None, RenderCaller(background, org))  # type: ignore[arg-type]


def popped(queue: TicketQueue, held: Counter[str] | None = None, *, background: bool = False) -> list[str]:
    held = Counter() if held is None else held
    names = []
    while queue.has(background=background):
        one = queue.pop(lambda: held, background=background)
        held[one.caller.org_id] += 1
        names.append(one.source.decode())
    return names


def test_one_organisation_is_served_first_in_first_out() -> None:
    queue = TicketQueue()
    for name in "abc":
        queue.add(ticket(name))

    assert popped(queue) == ["a", "b", "c"]


def test_a_second_organisation_waits_for_one_render_of_the_first_and_not_for_all() -> None:
    queue = TicketQueue()
    for number in range(4):
        queue.add(ticket(f"a{number}", "A"))
    queue.add(ticket("b0", "B"))

    assert popped(queue, Counter(A=2))[0] == "b0"


def test_organisations_with_equally_many_renders_take_turns() -> None:
    queue = TicketQueue()
    for name in ("a0", "a1", "a2", "b0", "b1", "b2"):
        queue.add(ticket(name, name[0]))

    assert popped(queue) == ["a0", "b0", "a1", "b1", "a2", "b2"]


def test_interactive_and_background_tickets_wait_apart() -> None:
    queue = TicketQueue()
    queue.add(ticket("batch", background=True))
    queue.add(ticket("person"))

    assert popped(queue) == ["person"]
    assert popped(queue, background=True) == ["batch"]


def test_what_a_dead_press_hands_back_is_the_first_of_its_organisation() -> None:
    queue = TicketQueue()
    queue.add(ticket("second"))
    queue.put_back(ticket("first"))

    assert popped(queue) == ["first", "second"]


def test_organisations_that_are_gone_are_forgotten() -> None:
    queue = TicketQueue()
    for number in range(5_000):
        queue.add(ticket("x", f"org{number}"))
        popped(queue)

    assert len(queue._last_served) < 2_000


async def test_background_renders_leave_a_press_for_an_interactive_one(eventually: Callable[..., Any]) -> None:
    presses = EnginePools(2)
    try:
        slow = [asyncio.create_task(presses.render(Patient, b"slow 600", "txt", caller=BACKGROUND)) for _ in range(4)]
        await eventually(lambda: busy_presses(presses) == 1)

        answer = await presses.render(Patient, b"person", "txt")

        assert answer.data == b"person"
        assert not any(task.done() for task in slow)
    finally:
        await presses.close()
        await asyncio.gather(*slow, return_exceptions=True)


async def test_background_renders_start_no_more_presses_than_they_may_use(eventually: Callable[..., Any]) -> None:
    presses = EnginePools(3)
    try:
        tasks = [asyncio.create_task(presses.render(Patient, b"slow 600", "txt", caller=BACKGROUND)) for _ in range(6)]
        await eventually(lambda: busy_presses(presses) == 2)

        assert len(presses.pools()["patient"].processes) == 2
    finally:
        await presses.close()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("background", [False, True])
async def test_with_one_press_both_kinds_of_renders_use_it(*, background: bool) -> None:
    presses = EnginePools(1)
    try:
        rendered = await presses.render(Patient, b"word", "txt", caller=RenderCaller(background))
        assert rendered.data == b"word"
    finally:
        await presses.close()


async def test_waiting_for_a_press_does_not_count_against_the_time_limit(database: str, eventually: Callable[..., Any]) -> None:
    """Slots are several for each press: a job whose neighbours are slow must not fail for it."""
    presses = EnginePools(1)
    blocking: asyncio.Task[Any] | None = None

    async def handle(job: Any, payload: Any) -> str:
        caller = RenderCaller(job.tier is Tier.BACKGROUND, job.org_id or "", job.pause_time_limit)
        return (await presses.for_caller(caller).render(Patient, b"word", "txt")).data.decode()

    try:
        blocking = asyncio.create_task(presses.render(Patient, b"slow 600", "txt"))
        await eventually(
            lambda: "patient" in presses.pools() and any(one.waiting for one in presses.pools()["patient"].processes)
        )
        async with Pressroom(
            database, kinds=[Kind("waits", handle, timeout=0.2, retry_timeouts=False)], apps=BUILT_IN, workers=2
        ) as press:
            job = await press.submit("waits", {})
            await eventually(lambda: press.worker is not None and press.worker.running)
            running = next(iter(press.worker._attempts.running.values()))  # type: ignore[union-attr]
            await eventually(lambda: running.job.is_time_limit_paused)
            await asyncio.sleep(0.5)  # past the limit, and past several looks at it
            assert press.worker.running  # type: ignore[union-attr]
            presses.pools()["patient"].processes[0].kill(TimeoutError())  # type: ignore[arg-type]

            assert await press.wait(job, timeout=60) == "word"
            assert running.job.paused_seconds > 0
    finally:
        await presses.close()
        if blocking is not None:
            await asyncio.gather(blocking, return_exceptions=True)


async def test_the_time_limit_goes_on_when_the_wait_is_over(database: str) -> None:
    async def handle(job: Any, payload: Any) -> None:
        with job.pause_time_limit(), job.pause_time_limit():
            await asyncio.sleep(0)
        await asyncio.sleep(600)

    async with Pressroom(
        database, kinds=[Kind("sleeps", handle, timeout=0.2, max_attempts=1)], apps=BUILT_IN, workers=2
    ) as press:
        job = await press.submit("sleeps", {})
        ended = await press.wait_until_ended(job)

    assert ended.errors[-1]["code"] == "timeout"


def test_of_pauses_inside_each_other_the_whole_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of an article whose diagrams wait for presses beside each other."""
    moment = 100.0
    monkeypatch.setattr(context, "time", SimpleNamespace(monotonic=lambda: moment))
    job = RunningJob(None, None, None)  # type: ignore[arg-type]
    with job.pause_time_limit():
        moment += 10
        with job.pause_time_limit():
            moment += 1
        assert (job.is_time_limit_paused, job.paused_seconds) == (True, 0)
        moment += 10

    assert (job.is_time_limit_paused, job.paused_seconds) == (False, 21)


async def test_presses_that_are_closed_start_no_further_process() -> None:
    pool = ProcessPool(Patient, 1)
    await pool.close()

    late = asyncio.create_task(pool.render(b"", "txt", {}))
    await asyncio.sleep(0)
    started = len(pool.processes)
    late.cancel()
    await asyncio.gather(late, *pool._starting, return_exceptions=True)
    await pool.close()

    assert started == 0
