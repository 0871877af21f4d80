"""`GET /events` tells where it begins, so that whoever is cut off before the first event resumes without a gap."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from pressroom.api import streams
from pressroom.api.access import Scope
from pressroom.api.metrics import Metrics
from pressroom.model import Event
from tests.service.access_stage import Stage, on_stage


async def cut_off(stage: Stage, headers: dict[str, str] | None = None, *, query: bytes = b"", until: bytes = b"\n\n") -> bytes:
    """What a client has seen of /events when its connection breaks. httpx's transport would wait for the end."""
    seen, enough = b"", asyncio.Event()

    async def receive() -> dict[str, Any]:
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal seen
        seen += message.get("body", b"")
        if until in seen:
            enough.set()

    raw = [(b"host", b"localhost"), *((name.lower().encode(), value.encode()) for name, value in (headers or {}).items())]
    scope = {
        "type": "http", "method": "GET", "path": "/events", "raw_path": b"/events", "query_string": query, "headers": raw,
        "scheme": "http", "client": ("127.0.0.1", 1), "server": ("localhost", 80), "asgi": {"version": "3.0"},
        "http_version": "1.1",
    }  # fmt: skip
    await asyncio.wait_for(stage.app(scope, receive, send), 60)  # type: ignore[arg-type]
    return seen


def ids(seen: bytes) -> Iterator[int]:
    return (int(line[4:]) for line in seen.decode().split("\n") if line.startswith("id: "))


async def test_a_browser_that_comes_back_goes_on_after_what_it_saw_whatever_its_address_says(file: str) -> None:
    """It repeats the address that it began with, and adds the header."""
    async with on_stage(file, works=False, listen="127.0.0.1:8000") as stage:
        assert [*ids(await cut_off(stage, {"Last-Event-ID": "7"}, query=b"after=3"))] == [7]


async def test_a_client_that_is_cut_off_before_an_event_misses_none(database: str) -> None:
    async with on_stage(database, works=False, listen="127.0.0.1:8000") as stage:
        await stage.press.submit("shout", "before")
        (begins,) = ids(await cut_off(stage))

        missed = await stage.press.submit("shout", "while nobody looked")
        seen = await cut_off(stage, {"Last-Event-ID": str(begins)}, until=b"data: ")

    assert f"job_{missed.uid}".encode() in seen
    assert seen.count(b"data: ") == 1, "and what came before is not told again"


async def test_an_empty_queue_begins_at_nought(database: str) -> None:
    async with on_stage(database, works=False, listen="127.0.0.1:8000") as stage:
        assert list(ids(await cut_off(stage))) == [0]

        await stage.press.submit("shout", "the first")
        assert b"data: " in await cut_off(stage, {"Last-Event-ID": "0"}, until=b"data: ")


async def test_a_member_of_the_default_organisation_is_told_of_no_other(file: str) -> None:
    async with on_stage(file, works=False) as stage:
        token = await stage.token(Scope.VIEWER)
        theirs = await stage.press.submit("shout", 1, org_id="acme")
        ours = await stage.press.submit("shout", 2)

        seen = await cut_off(stage, {"Authorization": f"Bearer {token}", "Last-Event-ID": "0"}, until=b"data: ")

    assert f"job_{ours.uid}".encode() in seen
    assert theirs.uid.encode() not in seen


async def test_a_stream_that_is_left_between_two_events_is_closed_and_no_longer_counted() -> None:
    """Just then nothing waits for the next event, so there is nothing to cancel: the source itself must be closed."""
    closed, metrics = asyncio.Event(), Metrics()

    async def two_events() -> AsyncGenerator[Event]:
        try:
            for number in (1, 2):
                yield Event(id=number, job_id=1, uid="0" * 26, type="queued", at=datetime.now(UTC), data={})
        finally:
            closed.set()

    async def still_admitted() -> bool:
        return True

    source = two_events()
    frames: Any = streams.respond(source, asyncio.Event(), metrics, still_admitted=still_admitted).body_iterator
    assert [(await anext(frames))[:6] for _ in range(2)] == [b"retry:", b"id: 1\n"]
    assert metrics.streams._value.get() == 1
    await frames.aclose()

    assert closed.is_set()
    assert metrics.streams._value.get() == 0


@pytest.mark.parametrize(("after", "opening"), [(None, b"retry: 2000\n\n"), (7, b"id: 7\nretry: 2000\n\n")])
async def test_the_opening_is_no_event(after: int | None, opening: bytes) -> None:
    async def nothing() -> Any:
        return
        yield

    async def always() -> bool:
        return True

    response = streams.respond(nothing(), asyncio.Event(), Metrics(), after=after, still_admitted=always)

    assert [piece async for piece in response.body_iterator] == [opening]
