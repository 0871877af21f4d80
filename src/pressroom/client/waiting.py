"""`AsyncClient`: the same talks over a connection that does not block."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from pressroom import model
from pressroom.client import calls, journeys, wire
from pressroom.client.address import address
from pressroom.client.answers import Accepted, Event, Job
from pressroom.client.calls import StatusFilter
from pressroom.client.patience import Patience
from pressroom.client.talk import Answer, Call, Give, Lost, More, Now, Pause, Reply, Talk
from pressroom.ids import new_uid
from pressroom.model import Tier

type JobLike = str | Job | Accepted | "AsyncHandle"


class AsyncHandle:
    """A job that was submitted, and what can be done with it. `answer` says how the submit came to it."""

    def __init__(self, client: "AsyncClient", accepted: Accepted) -> None:
        self._client = client
        self.accepted = accepted

    @property
    def id(self) -> str:
        return self.accepted.id

    @property
    def answer(self) -> model.Answer:
        return self.accepted.answer

    async def get(self) -> Job:
        return await self._client.get(self)

    async def wait(self, timeout: float | None = None) -> Any:
        return await self._client.wait(self, timeout)

    def events(self, after: int = 0) -> AsyncGenerator[Event]:
        return self._client.events(self, after)

    async def result(self, timeout: float | None = None) -> bytes:
        return await self._client.result(self, timeout)

    async def cancel(self) -> Job:
        return await self._client.cancel(self)

    async def retry(self) -> "AsyncHandle":
        return await self._client.retry(self)

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.accepted.kind} ({self.answer})>"


class AsyncClient:
    """The service, from a program with an event loop. Method for method as `Client`, whose words hold here too."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 10.0,
        patience: Patience = Patience(),  # noqa: B008  (frozen)
    ) -> None:
        self._address = address(url, token)
        self._timeout = timeout
        self._patience = patience
        self._http = httpx.AsyncClient(**wire.options(self._address, timeout))

    @property
    def url(self) -> str:
        return self._address.url

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def submit(
        self,
        kind: str,
        payload: Any = None,
        *,
        tier: Tier | str | None = None,
        key: str | None = None,
        delay: float = 0.0,
        subject: str | None = None,
        project_id: str | None = None,
        max_attempts: int | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncHandle:
        body = calls.new_job(
            kind,
            payload,
            tier=tier,
            key=key,
            delay=delay,
            subject=subject,
            project_id=project_id,
            max_attempts=max_attempts,
        )
        call = calls.submit(body, idempotency_key or new_uid())
        return AsyncHandle(self, await self._run(journeys.accepted(call, self._patience)))

    async def render(
        self,
        language: str,
        source: str | bytes,
        output: str,
        *,
        options: Mapping[str, Any] | None = None,
        engine: str | None = None,
        filename: str | None = None,
        tier: Tier | str | None = None,
        key: str | None = None,
        subject: str | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncHandle:
        payload = calls.render_payload(language, source, output, options=options, engine=engine, filename=filename)
        return await self.submit("render", payload, tier=tier, key=key, subject=subject, idempotency_key=idempotency_key)

    async def get(self, job: JobLike) -> Job:
        return await self._run(journeys.job(calls.get(str(job)), self._patience))

    def list(
        self,
        *,
        status: StatusFilter = None,
        kind: str | None = None,
        tier: Tier | str | None = None,
        org: str | None = None,
        subject: str | None = None,
        key: str | None = None,
        parent: JobLike | None = None,
        max_age: float | None = None,
        page_size: int = 100,
    ) -> AsyncGenerator[Job]:
        filters = calls.filters(
            status=status,
            kind=kind,
            tier=tier,
            org=org,
            subject=subject,
            key=key,
            parent=None if parent is None else str(parent),
            max_age=max_age,
            page_size=page_size,
        )
        return self._carry(journeys.pages(filters, self._patience))

    async def wait(self, job: JobLike, timeout: float | None = None) -> Any:
        return await self._run(journeys.value(str(job), self._patience, timeout, self._timeout))

    async def settled(self, job: JobLike, timeout: float | None = None) -> Job:
        return await self._run(journeys.settled(str(job), self._patience, timeout, self._timeout))

    def events(self, job: JobLike, after: int = 0) -> AsyncGenerator[Event]:
        return self._carry(journeys.events(str(job), after, self._patience))

    async def result(self, job: JobLike, timeout: float | None = None) -> bytes:
        ended = await self._run(journeys.settled(str(job), self._patience, timeout, self._timeout))
        return await self._joined(journeys.result(ended.id, self._patience))

    async def cancel(self, job: JobLike) -> Job:
        return await self._run(journeys.job(calls.cancel(str(job)), self._patience))

    async def retry(self, job: JobLike) -> AsyncHandle:
        return AsyncHandle(self, await self._run(journeys.accepted(calls.retry(str(job), new_uid()), self._patience)))

    async def artifact(self, uid: str) -> bytes:
        return await self._joined(journeys.artifact(uid, self._patience))

    async def download(self, uid: str, file: str | os.PathLike[str]) -> int:
        unfinished = Path(f"{os.fspath(file)}.{new_uid()[-8:]}.part")
        try:
            out = await asyncio.to_thread(unfinished.open, "wb")
            with out:
                async with aclosing(self._carry(journeys.artifact(uid, self._patience))) as pieces:
                    async for piece in pieces:
                        await asyncio.to_thread(out.write, piece)
                size = out.tell()
            await asyncio.to_thread(unfinished.replace, file)
        finally:
            await asyncio.to_thread(unfinished.unlink, missing_ok=True)
        return size

    async def _joined(self, talk: Talk[bytes, Any]) -> bytes:
        async with aclosing(self._carry(talk)) as pieces:
            return b"".join([piece async for piece in pieces])

    async def _run[T](self, talk: Talk[Any, T]) -> T:
        ends: list[T] = []

        def keeping_its_end() -> Talk[Any, None]:
            ends.append((yield from talk))

        async with aclosing(self._carry(keeping_its_end())) as given:
            async for _ in given:
                pass
        return ends[0]

    async def _carry[G](self, talk: Talk[G, Any]) -> AsyncGenerator[G]:
        """Do what the talk says, and tell it what came of it."""
        stream = _Stream(self._http)
        reply: Reply | Lost = None
        try:
            while True:
                try:
                    step = talk.throw(reply) if isinstance(reply, Lost) else talk.send(reply)
                except StopIteration:
                    return
                if isinstance(step, Give):
                    yield step.value
                    reply = None
                else:
                    reply = await self._do(step, stream)
        finally:
            talk.close()
            await stream.close()

    async def _do(self, step: Call | More | Pause | Now, stream: "_Stream") -> Reply | Lost:
        try:
            match step:
                case Call():
                    return await stream.send(step)
                case More():
                    return await stream.more()
                case Now():
                    return time.monotonic()
                case Pause():
                    await asyncio.sleep(step.seconds)
                    return None
        except httpx.TransportError as reason:
            return wire.lost(reason)


class _Stream:
    """The one answer of a talk that may still be open."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._open: httpx.Response | None = None
        self._pieces: AsyncIterator[bytes] | None = None

    async def send(self, call: Call) -> Answer:
        await self.close()
        response = await self._http.send(wire.request(self._http, call), stream=True)
        if call.stream and response.status_code < 300:
            self._open, self._pieces = response, response.aiter_bytes()
            return wire.answer(response, b"")
        try:
            return wire.answer(response, await response.aread())
        finally:
            await response.aclose()

    async def more(self) -> bytes:
        if self._pieces is None:
            return b""
        async for piece in self._pieces:
            if piece:
                return piece
        return b""

    async def close(self) -> None:
        if self._open is not None:
            await self._open.aclose()
            self._open = self._pieces = None
