"""Events as they happen, over one long response (server-sent events)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

import msgspec
from starlette.responses import StreamingResponse

from pressroom.api.metrics import Metrics
from pressroom.errors import QueueClosed
from pressroom.model import Event

HEARTBEAT = 15.0
RETRY_MS = 2000

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def respond(
    events: AsyncGenerator[Event],
    closing: asyncio.Event,
    metrics: Metrics,
    *,
    after: int | None = None,
    still_admitted: Callable[[], Awaitable[bool]],
) -> StreamingResponse:
    """`after` is the event that the stream follows. Its id is sent first, so that a client can always resume there.

    `still_admitted` is asked at every heartbeat; a caller whose token was revoked or has expired gets no more events.
    """
    frames = _frames(events, closing, metrics, _first_frame(after), still_admitted)
    return StreamingResponse(frames, media_type="text/event-stream", headers=_HEADERS)


def _first_frame(after: int | None) -> bytes:
    """A frame without data is no event, but its id counts."""
    place = "" if after is None else f"id: {after}\n"
    return f"{place}retry: {RETRY_MS}\n\n".encode()


async def _frames(
    events: AsyncGenerator[Event],
    closing: asyncio.Event,
    metrics: Metrics,
    opening: bytes,
    still_admitted: Callable[[], Awaitable[bool]],
) -> AsyncIterator[bytes]:
    yield opening
    loop = asyncio.get_running_loop()
    next_check = loop.time() + HEARTBEAT  # also for a stream whose events leave no time for a heartbeat
    end = asyncio.ensure_future(closing.wait())
    next_one = asyncio.ensure_future(anext(events))
    metrics.streams.inc()
    try:
        while True:
            done, _ = await asyncio.wait({next_one, end}, timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
            if end in done:
                return  # the client comes back with the id of the last event it saw
            if not done or loop.time() >= next_check:
                if not await still_admitted():
                    return  # the client comes back, and is refused
                next_check = loop.time() + HEARTBEAT
            if not done:
                yield b": still here\n\n"
                continue
            try:
                event = next_one.result()
            except (StopAsyncIteration, QueueClosed):
                return
            yield frame(event)
            next_one = asyncio.ensure_future(anext(events))
    finally:
        metrics.streams.dec()
        for task in (next_one, end):
            task.cancel()
        await asyncio.gather(next_one, end, return_exceptions=True)
        await events.aclose()  # only now: a generator that runs cannot be closed


def frame(event: Event) -> bytes:
    body = msgspec.json.encode({"job": f"job_{event.uid}", "type": event.type, "at": event.at, "data": event.data})
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.id, event.type.encode(), body)
