"""Fails a test in which one callback of an event loop used more than 250 ms of processor time.

It is the CPU time of the loop's own thread: a busy machine makes nothing longer. Collecting garbage is not counted, because
it is mostly that of earlier tests. A test runs on the loop as well as the service: where it is the test itself that computes,
it says so with `own_work`.
"""

import asyncio
import contextlib
import functools
import gc
import importlib
import pkgutil
import threading
import time
from collections.abc import Iterator

import pytest

from pressroom.app import BUILT_IN
from pressroom.web.site import compile_templates

LIMIT = 0.25
_RUN = asyncio.Handle._run


class _Now(threading.local):
    not_counted = 0.0  # CPU seconds of this thread that are no callback's
    collecting_since = 0.0


_now = _Now()


def _collected(phase: str, _: object) -> None:
    if phase == "start":
        _now.collecting_since = time.thread_time()
    else:
        _now.not_counted += time.thread_time() - _now.collecting_since


@contextlib.contextmanager
def own_work() -> Iterator[None]:
    """What the test itself computes. No await belongs in it."""
    collected, began = _now.not_counted, time.thread_time()
    try:
        yield
    finally:
        _now.not_counted = collected + time.thread_time() - began


@contextlib.contextmanager
def watched_loops() -> Iterator[list[str]]:
    """Gives a list of the callbacks that held a loop, with how long each did."""
    holders: list[str] = []
    before = asyncio.Handle._run

    def run(self: asyncio.Handle) -> None:
        not_counted, began = _now.not_counted, time.thread_time()
        try:
            _RUN(self)
        finally:
            used = time.thread_time() - began - (_now.not_counted - not_counted)
            if used > LIMIT:
                holders.append(f"{used * 1000:.0f} ms of CPU: {self!r}")

    asyncio.Handle._run = run  # type: ignore[method-assign]
    gc.callbacks.append(_collected)
    try:
        yield holders
    finally:
        gc.callbacks.remove(_collected)
        asyncio.Handle._run = before  # type: ignore[method-assign]


@functools.cache
def _import_apps() -> None:
    """The first service of a process imports them while it is put together, before it listens."""
    for name in BUILT_IN:
        package = importlib.import_module(f"pressroom.apps.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


@pytest.fixture(autouse=True)
def _no_callback_holds_the_loop() -> Iterator[None]:
    _import_apps()
    compile_templates([(name, f"pressroom.apps.{name}") for name in BUILT_IN])  # as a service does while it starts
    with watched_loops() as holders:
        yield
    if holders:
        pytest.fail("the event loop was held by a single callback:\n" + "\n".join(holders), pytrace=False)
