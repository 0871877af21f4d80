"""What an application imports from `pressroom`, as docs/library.md says."""

import asyncio
import inspect
from typing import Any, get_type_hints

import pytest

import pressroom
from pressroom import BlockingJob, InvalidArgument, Pressroom, RunningJob, StopTimeout, kind
from pressroom.queue import Queue


@kind("shout")
async def shout(job: RunningJob, payload: str) -> str:
    await job.phase("shouting")
    return f"{type(job).__name__} {payload.upper()}"


@kind("count")
def count(job: BlockingJob, payload: list[str]) -> str:
    job.phase("counting")
    return f"{type(job).__name__} {len(payload)}"


def test_every_public_name_is_there() -> None:
    assert {"BlockingJob", "Expired", "InvalidArgument", "RunningJob", "StopTimeout"} <= {*pressroom.__all__}
    assert all(hasattr(pressroom, name) for name in pressroom.__all__)


async def test_handlers_are_annotated_with_what_they_are_given(anywhere: str) -> None:
    assert get_type_hints(shout.handler)["job"] is RunningJob
    async with Pressroom(anywhere, kinds=[shout, count], workers=1) as press:
        assert await press.wait(await press.submit(shout, "hi"), timeout=60) == "RunningJob HI"
        assert await press.wait(await press.submit(count, ["a", "b"]), timeout=60) == "BlockingJob 2"


async def test_errors_are_caught_by_their_public_names(anywhere: str, gate: Any, eventually: Any) -> None:
    @kind("held")
    async def held(job: RunningJob, payload: Any) -> None:
        await gate.hold(payload)

    async with Pressroom(anywhere, kinds=[held], workers=1) as press:
        with pytest.raises(InvalidArgument):
            await press.list(limit=0)
        await press.submit(held)
        await eventually(lambda: gate.came)
        with pytest.raises(StopTimeout):
            await press.stop(grace=0)


def test_methods_of_the_queue_have_its_signatures_and_documentation() -> None:
    for name in ("submit", "submit_many", "get", "list", "wait", "watch", "cancel", "retry", "transaction"):
        assert inspect.signature(getattr(Pressroom, name)) == inspect.signature(getattr(Queue, name))
        assert inspect.getdoc(getattr(Pressroom, name)) == inspect.getdoc(getattr(Queue, name))


async def test_a_part_that_fails_to_stop_does_not_keep_the_others_open(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    press = Pressroom(file, kinds=[shout], workers=1)
    await press.start()

    async def fail() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(press.leader_tasks, "stop", fail)
    with pytest.raises(ZeroDivisionError):
        await press.stop()
    assert press._database._closed  # type: ignore[attr-defined]
    for task in press.leader_tasks._tasks:
        task.cancel()
    await asyncio.gather(*press.leader_tasks._tasks, return_exceptions=True)
