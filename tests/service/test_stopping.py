"""SIGTERM: no longer ready, streams closed, what runs finished or released, nobody left behind. Then it comes back."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom import Pressroom
from pressroom.client import AsyncClient, Client, RemoteEvent, RetryPolicy
from pressroom.model import Status
from tests.client.stage import Served, lives, until

PATIENT = RetryPolicy(base=0.05, cap=0.3)


@pytest.fixture
def served(database: str, tmp_path: Path) -> Any:
    """As many as a test wants; none outlives it."""
    started: list[Served] = []

    def start(**how: Any) -> Served:
        started.append(Served(tmp_path / f"served{len(started)}", database=database, **how))
        started[-1].start()
        return started[-1]

    yield start
    for service in started:
        service.kill()


def is_ready(service: Served) -> bool:
    try:
        return httpx.get(f"{service.url}/readyz", trust_env=False, timeout=60).status_code == 200
    except httpx.TransportError:
        return False


STOPPED_AS_SOON_AS_HEARD = """
import asyncio, os, signal, sys
from pressroom.serving import serve
from pressroom.config import Settings

asyncio.run(serve(
    Settings(database=sys.argv[1], listen="127.0.0.1:0"),
    works=False,
    listening=lambda *_: os.kill(os.getpid(), signal.SIGTERM),
))
"""


def test_whoever_is_told_where_it_listens_may_stop_it(file: str) -> None:
    done = subprocess.run([sys.executable, "-c", STOPPED_AS_SOON_AS_HEARD, file], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


async def test_a_stop_closes_a_hundred_streams_and_lets_what_runs_finish(
    served: Callable[..., Served], tmp_path: Path, eventually: Any
) -> None:
    service = served(grace=900)  # longer than we wait for its end: a stop that sat it out would be noticed
    gate = tmp_path / "gate"
    async with AsyncClient(service.url, retry_policy=PATIENT) as client:
        await (await client.render("dot", "digraph { a }", "svg")).wait(timeout=60)  # so that there is a press
        presses = service.children()
        running = await client.submit("gated", {"gate": str(gate)})
        await eventually(lambda: is_running(running))
        async with httpx.AsyncClient(
            base_url=service.url, trust_env=False, timeout=60, limits=httpx.Limits(max_connections=None)
        ) as http:
            opened = asyncio.Semaphore(0)
            streams = [asyncio.create_task(read_to_its_end(http, running.id, opened)) for _ in range(100)]
            for _ in streams:
                await opened.acquire()

            service.signal(signal.SIGTERM)
            await eventually(lambda: not is_ready(service))
            endings = await asyncio.gather(*streams)
            gate.touch()
            code = await asyncio.to_thread(service.wait)

    assert presses
    assert code == 0
    assert endings == ["closed"] * 100
    assert not [pid for pid in presses if lives(pid)]
    assert "Traceback" not in service.log
    async with Pressroom(service.database, workers=None) as press:
        assert (await press.get(running.id)).status is Status.COMPLETED


async def is_running(job: Any) -> bool:
    return bool((await job.get()).status is Status.IN_PROGRESS)


async def read_to_its_end(http: httpx.AsyncClient, id: str, opened: asyncio.Semaphore) -> str:
    """'closed' if the server ended it properly, and told no ending."""
    seen = b""
    try:
        async with http.stream("GET", f"/jobs/{id}/events") as response:
            async for piece in response.aiter_bytes():
                if not seen:
                    opened.release()
                seen += piece
    except httpx.TransportError as reason:
        return repr(reason)
    return "ended" if b"event: completed" in seen else "closed"


def test_what_does_not_finish_within_the_grace_goes_back_to_the_queue(served: Callable[..., Served], tmp_path: Path) -> None:
    service = served(grace=1)
    with Client(service.url, retry_policy=PATIENT) as client:
        job = client.submit("gated", {"gate": str(tmp_path / "gate")})
        until(lambda: job.get().status is Status.IN_PROGRESS)

        began = time.monotonic()
        assert service.stop() == 0
        assert time.monotonic() - began >= 1

        service.start()
        (tmp_path / "gate").touch()
        assert job.wait(timeout=60) == "through"
        assert job.get().attempts == 1  # our own stop costs no attempt


@pytest.mark.parametrize("database", ["file"], indirect=True)  # it does not wait for one
def test_a_second_signal_ends_it_at_once(served: Callable[..., Served], tmp_path: Path) -> None:
    service = served(grace=900)
    with Client(service.url, retry_policy=PATIENT) as client:
        client.render("dot", "digraph { a }", "svg").wait(timeout=60)
        job = client.submit("gated", {"gate": str(tmp_path / "gate")})
        until(lambda: job.get().status is Status.IN_PROGRESS)
        presses = service.children()
    service.signal(signal.SIGTERM)
    until(lambda: not is_ready(service))

    service.signal(signal.SIGTERM)

    assert service.wait() == -signal.SIGTERM  # and not 0, as after the grace
    assert presses
    until(lambda: not [pid for pid in presses if lives(pid)])


def test_a_long_poll_does_not_hold_up_the_stop(served: Callable[..., Served], tmp_path: Path) -> None:
    service = served(grace=900)  # longer than we wait for its end
    with Client(service.url, retry_policy=PATIENT) as client:
        job = client.submit("shout", {"text": "later"}, delay=600)

    async def poll_and_stop() -> tuple[int, str]:
        async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=60) as http:
            polling = asyncio.create_task(http.get(f"/jobs/{job.id}?wait=60"))
            for _ in range(3):  # what was asked before these is under way when they are answered
                await http.get("/livez")
            service.signal(signal.SIGTERM)
            answer = await polling
            return answer.status_code, answer.json()["status"]

    assert asyncio.run(poll_and_stop()) == (200, "queued")
    assert service.wait() == 0


@pytest.mark.deep
async def test_events_go_on_after_restarts_without_a_gap_or_repeat(served: Callable[..., Served], eventually: Any) -> None:
    service = served(grace=0)
    async with AsyncClient(service.url, retry_policy=PATIENT) as client:
        job = await client.submit("counting", {"to": 60, "pause": 0.02})
        seen: list[RemoteEvent] = []
        following = asyncio.create_task(collect(client, job.id, seen))
        waiting = asyncio.create_task(job.wait(timeout=100))
        await eventually(lambda: len(seen) > 10)

        await asyncio.to_thread(service.stop)
        await asyncio.to_thread(service.start)
        stopped_at = len(seen)
        await eventually(lambda: len(seen) > stopped_at + 10, within=60)
        await asyncio.to_thread(service.kill)
        await asyncio.to_thread(service.start)
        await following

        assert await waiting == 60
        assert seen == [event async for event in client.events(job)]
        assert seen[-1].type == "completed"


async def collect(client: AsyncClient, id: str, into: list[RemoteEvent]) -> None:
    async for event in client.events(id):
        into.append(event)
