"""How long a caller wants to wait (`?mode=sync`, `?wait=N`, `Prefer: wait=N`, `Prefer: respond-async`), and the waiting."""

import asyncio
import re

import msgspec
from starlette.requests import Request

from pressroom.api.problems import HttpError
from pressroom.api.service import Service
from pressroom.errors import QueueClosed
from pressroom.model import Job
from pressroom.submission.request import JobLike

MAX_WAIT = 60.0
SYNC_WAIT = 45.0  # more than a diagram may take, so that its own time limit is the error and not the end of the wait

_PREFERENCE = re.compile(r'\s*([a-z-]+)\s*(?:=\s*"?([^",;]*)"?)?', re.IGNORECASE)


class WaitPreference(msgspec.Struct, frozen=True):
    """`seconds` to wait, 0 for not at all. `applied` is the preference that was followed, for the response."""

    seconds: float = 0.0
    applied: str | None = None
    sync: bool = False  # the caller wants the result and not a job: past the time it is an error


def parse_wait_preference(request: Request) -> WaitPreference:
    mode = request.query_params.get("mode")
    if mode == "sync":
        return WaitPreference(SYNC_WAIT, sync=True)
    if (asked := request.query_params.get("wait")) is not None:
        return WaitPreference(_parse_seconds(asked))
    preferences = {
        found[1].lower(): found[2]
        for part in ",".join(request.headers.getlist("prefer")).split(",")
        if (found := _PREFERENCE.match(part))
    }
    if "wait" in preferences:
        try:
            seconds = min(MAX_WAIT, max(0.0, float(preferences["wait"] or 0)))
        except ValueError:
            return WaitPreference()  # a preference that cannot be understood is not followed
        return WaitPreference(seconds, f"wait={seconds:g}")
    if "respond-async" in preferences:
        return WaitPreference(0.0, "respond-async")
    return WaitPreference()


async def wait_until_ended(service: Service, job: JobLike, seconds: float) -> Job:
    """The job once it has ended. Raises WaitTimeout when the caller's time is over, and QueueClosed when the service closes.

    A wait must not hold up a stop. The job goes on in either case, and can be asked for again.
    """
    ending = asyncio.ensure_future(service.queue.wait_until_ended(job, timeout=seconds))
    closing = asyncio.ensure_future(service.closing.wait())
    try:
        await asyncio.wait({ending, closing}, return_when=asyncio.FIRST_COMPLETED)
        return ending.result() if ending.done() else await _get_ended_or_raise_closed(service, job)
    finally:
        ending.cancel()
        closing.cancel()


async def _get_ended_or_raise_closed(service: Service, job: JobLike) -> Job:
    """A last look: what ended in time is an answer."""
    current = await service.queue.get(job)
    if not current.status.ended:
        raise QueueClosed(f"the service is closing; {current} goes on, and can be asked for again")
    return current


def _parse_seconds(text: str) -> float:
    if not re.fullmatch(r"\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?", text):
        raise HttpError(422, "invalid_argument", f"wait is a number of seconds, of which at most {MAX_WAIT:g} are waited")
    return min(MAX_WAIT, float(text))
