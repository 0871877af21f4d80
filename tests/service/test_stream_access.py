"""A stream goes on only as long as its caller would be admitted: the token is looked up again at every heartbeat."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

import pytest

from pressroom.api import streams
from pressroom.api.access import Scope
from pressroom.api.metrics import Metrics
from pressroom.clock import ManualClock
from pressroom.errors import StoreBusy
from pressroom.model import Event
from tests.service.access_stage import Stage, on_stage
from tests.web.browsing import member
from tests.web.test_live import OPEN, Ear, ear_of

BEGUN = b"retry: "
AN_HOUR = 3600 * 1000


@pytest.fixture(autouse=True)
def _heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.05)


async def paths(stage: Stage) -> list[str]:
    job = await stage.press.submit("shout", "x", org_id="ours", delay=3600)
    return ["/events", f"/jobs/{job}/events"]


@pytest.mark.parametrize("how", ["revoked", "expired"])
async def test_a_token_that_opens_nothing_any_more_hears_nothing_more(database: str, how: str) -> None:
    clock = ManualClock()
    async with on_stage(database, works=False, clock=clock) as stage:
        for path in await paths(stage):
            token = await stage.token(Scope.VIEWER, "ours", ttl_ms=AN_HOUR)
            async with Ear(stage, path, token=token) as ear:
                await ear.until(b": still here", 3)
                if how == "revoked":
                    await stage.press.tokens.revoke(token[:9])
                else:
                    clock.advance(hours=2)
                await ear.end()
                assert ear.status == 200
            async with Ear(stage, path, token=token) as again:
                await again.end()
            assert again.status == 401


@pytest.mark.parametrize("how", ["revoked", "expired", "logged out"])
async def test_a_page_of_someone_whose_session_ended_hears_nothing_more(database: str, how: str) -> None:
    clock = ManualClock()
    async with (
        on_stage(database, works=False, clock=clock) as stage,
        member(stage, Scope.VIEWER, "ours", ttl_ms=AN_HOUR) as person,
        ear_of(stage, person) as ear,
    ):
        await ear.until(OPEN)
        await ear.until(b": still here", 2)
        if how == "revoked":
            await stage.press.tokens.revoke(str(person.token)[:9])
        elif how == "expired":
            clock.advance(hours=2)
        else:
            await person.post("/desk/logout")
        await ear.end()


async def test_a_heartbeat_is_not_counted_as_a_request(file: str) -> None:
    async with on_stage(file, works=False, rate_limit=1, rate_limit_address=1) as stage:
        token = await stage.token(Scope.VIEWER)
        async with Ear(stage, "/events", token=token) as ear:
            await ear.until(b": still here", 5)


async def test_a_stream_that_is_never_idle_is_checked_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.0)
    left = iter([True, True, False])

    async def busy() -> AsyncGenerator[Event]:
        while True:
            yield Event(1, 1, "A" * 26, datetime.now(UTC), "progress", {})

    async def still_admitted() -> bool:
        return next(left)

    response = streams.respond(busy(), asyncio.Event(), Metrics(), still_admitted=still_admitted)
    frames = 0
    async for _ in response.body_iterator:
        frames += 1
        assert frames <= 3


async def test_a_database_that_cannot_be_asked_ends_the_stream(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage(file, works=False) as stage, Ear(stage, "/events", token=await stage.token(Scope.VIEWER)) as ear:
        await ear.until(BEGUN)

        async def busy(_: str) -> Any:
            raise StoreBusy("for a moment")

        monkeypatch.setattr(stage.service.gate, "_lookup", busy)
        await ear.end()
