"""An outage is told when it begins, now and then while it lasts, and when it is over; the pauses between tries grow."""

import logging

import pytest

from pressroom.base import outages
from pressroom.base.outages import Outage
from pressroom.errors import StoreUnavailable

log = logging.getLogger("test")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(outages, "time", clock)
    return clock


def test_an_hour_of_failures_is_told_each_minute_and_not_each_time(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage("looking for work", log)
    for _ in range(3600):
        outage.record_failure(StoreUnavailable("the server is away\nand more"))
        clock.now += 1.0
    outage.record_success()
    outage.record_success()

    first, *others, last = [one.getMessage() for one in caplog.records]
    assert first == "looking for work failed, and is tried again: StoreUnavailable: the server is away"
    assert len(others) == 59
    assert others[0] == "looking for work has failed 61 times in 60 s: StoreUnavailable: the server is away"
    assert last == "looking for work works again; it failed 3600 times in 3600 s"
    assert "Traceback" not in caplog.text


def test_pauses_grow_to_a_bound_and_begin_again(clock: Clock) -> None:
    outage = Outage("looking", log)

    pauses = [outage.record_failure(ValueError()) for _ in range(7)]
    outage.record_success()

    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]
    assert outage.record_failure(ValueError()) == 0.1


def test_what_nobody_foresaw_is_told_with_its_traceback_once(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage("looking", log)
    for _ in range(3):
        try:
            raise ValueError("who would have thought")
        except ValueError as reason:
            outage.record_failure(reason)

    assert caplog.text.count("Traceback") == 1
    assert len(caplog.records) == 1


def test_every_failure_is_passed_on_and_the_last_one_is_known_until_it_works_again(clock: Clock) -> None:
    seen: list[BaseException] = []
    outage = Outage("looking", log, seen.append)
    failures = [StoreUnavailable("away"), ValueError(), StoreUnavailable("still away")]

    for reason in failures:
        outage.record_failure(reason)

    assert seen == failures
    assert outage.reason is failures[-1]
    outage.record_success()
    assert outage.reason is None
