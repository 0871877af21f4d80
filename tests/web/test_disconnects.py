"""A preview that nobody waits for any more holds neither a slot nor a press."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pressroom.api.disconnects import cancel_on_disconnect
from pressroom.api.problems import HttpError
from pressroom.errors import SourceInvalid
from tests.service.access_stage import on_stage
from tests.web.browsing import member


class Leaving:
    """RequestMiddleware an application: the client is gone when `left` is set."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.left = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_more = True

        async def receive_until_left() -> Message:
            nonlocal has_more
            if not has_more:
                await self.left.wait()
                return {"type": "http.disconnect"}
            message = await receive()
            has_more = message.get("more_body", False)
            return message

        await self._app(scope, receive_until_left, send)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/wiki/Home", {"action": "preview", "source": "text", "previous": "0"}),
        ("/playground/preview", {"language": "dot", "output": "svg", "source": "digraph { a }"}),
    ],
)
async def test_who_goes_away_frees_the_slot_of_a_preview(
    file: str, monkeypatch: pytest.MonkeyPatch, path: str, fields: dict[str, str]
) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def render_for_ever(_: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with on_stage(file, works=False) as stage:
        monkeypatch.setattr(stage.press.rendering, "preview", render_for_ever)
        app: Any = Leaving(stage.app)
        async with member(replace(stage, app=app)) as person:
            asking = asyncio.create_task(person.post(path, fields))
            await begun.wait()
            app.left.set()
            async with asyncio.timeout(60):
                await ended.wait()
                await asking


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/wiki/Home", {"action": "preview", "source": "text", "previous": "0"}),
        ("/playground/preview", {"language": "dot", "output": "svg", "source": "digraph { a }"}),
    ],
)
async def test_previews_of_one_organisation_leave_room_for_those_of_another(
    file: str, monkeypatch: pytest.MonkeyPatch, path: str, fields: dict[str, str]
) -> None:
    """Forty slow previews of one made the other's answer a 503."""
    slow, begun = asyncio.Event(), asyncio.Event()

    async def render_slowly(_: Any) -> None:
        begun.set()
        await slow.wait()
        raise SourceInvalid("there is nothing to see")

    async with on_stage(file, works=False) as stage:
        monkeypatch.setattr(stage.press.rendering, "preview", render_slowly)
        async with member(stage, org="acme") as flooder, member(stage, org="globex") as other:
            flood = [asyncio.create_task(flooder.post(path, fields)) for _ in range(60)]
            await begun.wait()
            await asyncio.wait(flood, timeout=60, return_when=asyncio.FIRST_COMPLETED)  # until the first is refused
            asking = asyncio.create_task(other.post(path, fields))
            await asyncio.wait({asking}, timeout=1)
            slow.set()
            answers = [await task for task in flood]
            answer = await asking

    assert 503 in {one.status_code for one in answers}
    assert answer.status_code != 503


async def test_what_is_done_before_the_client_goes_is_returned_and_errors_are_raised() -> None:
    async def receive() -> Message:
        return await asyncio.Event().wait() and {}

    async def fail() -> None:
        raise ValueError("wrong")

    request = Request({"type": "http"}, receive)
    assert await cancel_on_disconnect(request, asyncio.sleep(0, "done")) == "done"
    with pytest.raises(ValueError, match="wrong"):
        await cancel_on_disconnect(request, fail())


async def test_what_the_work_holds_is_let_go_of_before_anybody_hears_of_it() -> None:
    held = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def hold() -> None:
        held.append("slot")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            held.pop()

    with pytest.raises(HttpError, match="has disconnected"):
        await cancel_on_disconnect(Request({"type": "http"}, receive), hold())
    assert held == []
