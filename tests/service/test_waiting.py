"""A wait ends with the job, with the caller's time, or with the service, whichever comes first."""

import asyncio
from typing import Any

import httpx
import msgspec
import pytest

from pressroom.api.metrics import Metrics
from pressroom.api.middleware import RequestMiddleware
from pressroom.api.waiting import wait_until_ended
from pressroom.errors import QueueClosed, WaitTimeout
from tests.service.access_stage import Stage, on_stage

HERE = ("127.0.0.1", 1)
SOON = 50.0  # seconds; a wait that nobody ends would take sixty


def waiting(stage: Stage) -> int:
    return sum(map(len, stage.press.queue.listeners._listeners.values()))


async def closed_while_they_wait(
    stage: Stage, eventually: Any, *requests: tuple[str, str, dict[str, Any]]
) -> list[httpx.Response]:
    """What each is answered when the service closes once all of them wait."""
    async with stage.client(address=HERE) as client:
        waits = [asyncio.create_task(client.request(method, path, **how)) for method, path, how in requests]
        await eventually(lambda: waiting(stage) == len(waits) or any(wait.done() for wait in waits))
        stage.service.closing.set()
        async with asyncio.timeout(SOON):
            return await asyncio.gather(*waits)


async def test_a_hundred_waits_are_answered_with_the_job_as_it_is(database: str, eventually: Any) -> None:
    async with on_stage(database, works=False, listen="127.0.0.1:8000") as stage:
        job = await stage.press.submit("shout", "nobody works here")
        polls = [("GET", f"/jobs/{job}?wait=60", {}), ("GET", f"/jobs/{job}/result?wait=60", {})]

        answers = await closed_while_they_wait(stage, eventually, *(polls * 50))

    assert [answer.status_code for answer in answers] == [200, 202] * 50
    assert {answer.json()["status"] for answer in answers} == {"queued"}
    assert all(answer.headers["retry-after"] for answer in answers)


async def test_a_render_that_is_waited_for_is_a_job_or_a_503(database: str, eventually: Any) -> None:
    def asked(number: int) -> dict[str, Any]:
        return {"json": {"source": f"digraph {{ n{number} }}", "format": "dot"}}

    requests: list[tuple[str, str, dict[str, Any]]] = []
    for number in range(10):
        requests += [
            ("POST", "/render?mode=sync", asked(3 * number)),
            ("POST", "/render?wait=60", asked(3 * number + 1)),
            ("POST", "/render", asked(3 * number + 2) | {"headers": {"Prefer": "wait=60"}}),
            ("PUT", f"/diagrams/waits{number}?wait=60", asked(100 + number)),
            ("PUT", f"/diagrams/sync{number}?mode=sync", asked(200 + number)),
            ("POST", "/kroki/graphviz/svg", {"content": f"digraph {{ k{number} }}"}),
        ]
    async with on_stage(database, works=False, listen="127.0.0.1:8000") as stage:
        answers = await closed_while_they_wait(stage, eventually, *requests)

    assert [answer.status_code for answer in answers] == [503, 202, 202, 202, 503, 503] * 10
    assert all(answer.headers["retry-after"] for answer in answers)
    assert answers[0].json()["code"] == "queue_closed"
    assert answers[1].json()["status"] == "pending"


async def test_what_ended_before_it_closed_is_told(database: str) -> None:
    async with on_stage(database) as stage:
        job = await stage.press.submit("shout", "done")
        await stage.press.wait_until_ended(job, timeout=60)
        stage.service.closing.set()

        assert (await wait_until_ended(stage.service, job, 60)).result == "done"


async def test_a_wait_says_why_it_ended(database: str, eventually: Any) -> None:
    async with on_stage(database, works=False) as stage:
        job = await stage.press.submit("shout", "nobody works here")

        with pytest.raises(WaitTimeout):
            await wait_until_ended(stage.service, job, 0.01)
        stage.service.closing.set()
        with pytest.raises(QueueClosed, match="can be asked for again"):
            await wait_until_ended(stage.service, job, 60)
        await eventually(lambda: waiting(stage) == 0)


async def test_what_still_waits_when_the_grace_is_over_is_told_so() -> None:
    """The server cancels it then. A caller that was told nothing, or 500, would not know that it may try again."""
    reached = asyncio.Event()
    sent: list[Any] = []

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        reached.set()
        await asyncio.sleep(3600)

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "POST", "path": "/jobs", "query_string": b"", "headers": [], "server": ("here", 80)}
    request = asyncio.create_task(RequestMiddleware(slow, Metrics())(scope, receive, send))
    await reached.wait()
    request.cancel()
    await request

    assert sent[0]["status"] == 503
    assert dict(sent[0]["headers"])[b"retry-after"]
    assert msgspec.json.decode(sent[1]["body"])["code"] == "queue_closed"


async def test_a_wait_that_is_over_leaves_nothing_behind(file: str) -> None:
    async with on_stage(file, works=False) as stage:
        job = await stage.press.submit("shout", "hi")
        before = asyncio.all_tasks()
        asking = asyncio.create_task(wait_until_ended(stage.service, job, 600))
        while len(asyncio.all_tasks() - before) < 3:  # noqa: ASYNC110 - the caller, and its waits for the job and the service
            await asyncio.sleep(0)
        stage.service.closing.set()

        with pytest.raises(QueueClosed):
            await asking

        for _ in range(5):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() - before == set()
