"""A kind may say that a newer payload of its key stops the running one: a fix does not wait for what it mends."""

import asyncio
import time
from typing import Any

import pytest

from pressroom import Pressroom, Status, kind
from pressroom.errors import InvalidArgument
from pressroom.model import OnKey
from pressroom.worker import attempts


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "PREEMPT_AFTER", 0.0)


class Page:
    def __init__(self) -> None:
        self.began: list[str] = []
        self.stopped: list[str] = []

    async def render(self, job: Any, payload: str) -> str:
        self.began.append(payload)
        if payload == "endless":
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped.append(payload)
        return payload

    def sync(self, job: Any, payload: str) -> str:
        self.began.append(payload)
        try:
            while payload == "endless":
                time.sleep(0.01)
        finally:
            self.stopped.append(payload)
        return payload


@pytest.mark.parametrize("way", ["render", "sync"])
async def test_a_newer_payload_stops_the_running_one_which_ends_as_superseded(database: str, eventually: Any, way: str) -> None:
    page = Page()
    kinds = [kind("page", preempt=True)(getattr(page, way))]
    async with Pressroom(database, kinds=kinds, workers=1) as press:
        first = await press.submit("page", "endless", key="home")
        await eventually(lambda: page.began)
        second = await press.submit("page", "fixed", key="home")

        assert await press.wait(second, timeout=60) == "fixed"
        old = await press.wait_until_ended(first, timeout=60)
        assert await press.wait(first, timeout=60) == "fixed", "whoever waits for the old one gets the new one's result"

    assert page.stopped[0] == "endless"
    assert (old.status, old.superseded_by, old.failures) == (Status.CANCELLED, second.uid, 0)


async def test_another_key_or_kind_stops_nothing(file: str, eventually: Any) -> None:
    page = Page()
    kinds = [kind("page", preempt=True)(page.render), kind("other")(page.render)]
    async with Pressroom(file, kinds=kinds, workers=4) as press:
        mine = await press.submit("page", "endless", key="home")
        patient = await press.submit("other", "endless", key="there")
        await eventually(lambda: len(page.began) == 2)
        elsewhere = await press.submit("page", "x", key="elsewhere")
        other = await press.submit("other", "y", key="there")
        await press.wait(elsewhere, timeout=60)
        later = await press.submit("page", "z")
        await press.wait(later, timeout=60)

        assert [(await press.get(job)).status for job in (mine, patient, other)] == ["in_progress", "in_progress", "queued"]
        assert page.stopped == []
        await press.cancel(mine)
        await press.cancel(patient)


async def test_what_is_young_is_left_to_finish(file: str, eventually: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "PREEMPT_AFTER", 3600.0)
    begun, go_on = asyncio.Event(), asyncio.Event()

    @kind("page", preempt=True)
    async def page(job: Any, payload: str) -> str:
        begun.set()
        await go_on.wait()
        return payload

    async with Pressroom(file, kinds=[page], workers=1, poll_interval=0.01) as press:
        first = await press.submit("page", "one", key="home")
        await begun.wait()
        second = await press.submit("page", "two", key="home")
        await asyncio.sleep(0.2)  # twenty looks
        go_on.set()

        assert (await press.wait_until_ended(first, timeout=60)).result == "one"
        assert (await press.wait_until_ended(second, timeout=60)).result == "two"


def test_only_what_coalesces_can_be_preempted() -> None:
    with pytest.raises(InvalidArgument, match="preempt needs on_key='coalesce'"):
        kind("page", preempt=True, on_key=OnKey.LINE_UP)(lambda job, payload: None)
