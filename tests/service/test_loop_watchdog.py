"""A callback that holds the event loop is logged with its stack and counted; one that only waits is not."""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pressroom.api import loop_watchdog
from pressroom.api.loop_watchdog import Hold, LoopWatchdog
from pressroom.api.metrics import Metrics
from tests import loop_guard


class HeldLoop:
    """A loop in a thread of its own, and callbacks on it that run until they are told to return."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self._release = threading.Event()

    def hold(self) -> None:
        running = threading.Event()
        self._release = threading.Event()

        def callback_that_holds(release: threading.Event = self._release) -> None:
            running.set()
            release.wait(60)

        self.loop.call_soon_threadsafe(callback_that_holds)
        assert running.wait(60)

    def release(self) -> None:
        self._release.set()
        done = threading.Event()
        self.loop.call_soon_threadsafe(done.set)
        assert done.wait(60)

    def close(self) -> None:
        self._release.set()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@contextmanager
def held_loop() -> Iterator[HeldLoop]:
    held = HeldLoop()
    try:
        yield held
    finally:
        held.close()


def watchdog_of(held: HeldLoop, begun: list[int], ended: list[Hold]) -> LoopWatchdog:
    assert held.thread.ident is not None
    return LoopWatchdog(held.thread.ident, began=lambda: begun.append(1), ended=ended.append)


def test_a_callback_that_holds_the_loop_is_logged_with_its_stack(caplog: pytest.LogCaptureFixture) -> None:
    begun: list[int] = []
    ended: list[Hold] = []
    with held_loop() as held, caplog.at_level(logging.WARNING, "pressroom.loop"):
        watchdog = watchdog_of(held, begun, ended)
        held.hold()
        for now in (10.0, 10.1, 10.2):
            watchdog.sample(now, cpu=now - 5)
        assert begun == []

        watchdog.sample(10.3, cpu=5.2)  # while it still runs
        watchdog.sample(10.4, cpu=5.3)
        assert begun == [1]
        assert "callback_that_holds" in caplog.text
        assert ended == []

        held.release()
        watchdog.sample(10.5, cpu=5.4)

    assert begun == [1]
    assert [(round(hold.seconds, 3), round(hold.cpu, 3)) for hold in ended] == [(0.4, 0.3)]


def test_a_loop_that_waits_or_runs_many_short_callbacks_is_not_held() -> None:
    begun: list[int] = []
    with held_loop() as held:
        watchdog = watchdog_of(held, begun, [])
        for now in (10.0, 11.0, 12.0):  # it waits
            watchdog.sample(now, cpu=0)
        for now in (13.0, 14.0, 15.0):  # another callback each time
            held.hold()
            watchdog.sample(now, cpu=0)
            held.release()

    assert begun == []


async def test_the_thread_that_watches_sees_the_loop_that_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_watchdog, "INTERVAL", 0.001)
    noticed = threading.Event()
    metrics = Metrics()

    with loop_watchdog.watching_loop(began=noticed.set, ended=metrics.loop_was_held):
        assert noticed.wait(60)  # holds the loop until it is noticed
        for _ in range(1000):
            await asyncio.sleep(0.01)
            if held_seconds(metrics):
                break

    assert held_seconds(metrics) >= loop_watchdog.LIMIT


def held_seconds(metrics: Metrics) -> float:
    return metrics.registry.get_sample_value("pressroom_event_loop_held_seconds_total") or 0.0


async def _burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_the_guard_of_these_tests_finds_a_callback_that_burns() -> None:
    with loop_guard.watched_loops() as holders:
        asyncio.run(_burn(0.3))

    assert len(holders) == 1
    assert "ms of CPU" in holders[0]


def test_the_guard_of_these_tests_does_not_count_waiting_or_the_tests_own_work() -> None:
    async def wait_and_compute() -> None:
        time.sleep(0.3)  # noqa: ASYNC251 (blocked, but not on the processor)
        with loop_guard.own_work():
            await _burn(0.3)

    with loop_guard.watched_loops() as holders:
        asyncio.run(wait_and_compute())

    assert holders == []
