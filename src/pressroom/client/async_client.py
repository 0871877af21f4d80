"""`AsyncClient`: the same operations on an event loop."""

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
from pressroom.client import calls, httpx_adapter, operations
from pressroom.client.address import resolve_address
from pressroom.client.calls import StatusFilter
from pressroom.client.docs.async_project import AsyncProjectDocs
from pressroom.client.exchange import (
    ConnectionLost,
    EmitValue,
    Exchange,
    HttpAnswer,
    HttpCall,
    ReadChunk,
    ReadClock,
    Reply,
    Sleep,
)
from pressroom.client.responses import RemoteEvent, RemoteJob, SubmittedJob
from pressroom.client.retries import RetryPolicy
from pressroom.ids import new_uid
from pressroom.model import Tier

type JobLike = str | RemoteJob | SubmittedJob | "AsyncHandle"


class AsyncHandle:
    """A job that was submitted, and what can be done with it. `answer` says how the submit came to it."""

    def __init__(self, client: "AsyncClient", submitted: SubmittedJob) -> None:
        self._client = client
        self.submitted = submitted

    @property
    def id(self) -> str:
        return self.submitted.id

    @property
    def answer(self) -> model.Answer:
        return self.submitted.answer

    async def get(self) -> RemoteJob:
        return await self._client.get(self)

    async def wait(self, timeout: float | None = None) -> Any:
        return await self._client.wait(self, timeout)

    def events(self, after: int = 0) -> AsyncGenerator[RemoteEvent]:
        return self._client.events(self, after)

    async def result(self, timeout: float | None = None) -> bytes:
        return await self._client.result(self, timeout)

    async def cancel(self) -> RemoteJob:
        return await self._client.cancel(self)

    async def retry(self) -> "AsyncHandle":
        return await self._client.retry(self)

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.submitted.kind} ({self.answer})>"


class AsyncClient:
    """The service, from a program with an event loop. Method for method as `Client`, whose words hold here too."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 10.0,
        retry_policy: RetryPolicy = RetryPolicy(),  # noqa: B008  (frozen)
    ) -> None:
        self._address = resolve_address(url, token)
        self._timeout = timeout
        self._retry_policy = retry_policy
        self._http = httpx.AsyncClient(**httpx_adapter.httpx_client_options(self._address, timeout))

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
        body = calls.job_body(
            kind,
            payload,
            tier=tier,
            key=key,
            delay=delay,
            subject=subject,
            project_id=project_id,
            max_attempts=max_attempts,
        )
        call = calls.submit_job(body, idempotency_key or new_uid())
        return AsyncHandle(self, await self._run(operations.submit_job(call, self._retry_policy)))

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

    async def get(self, job: JobLike) -> RemoteJob:
        return await self._run(operations.request_job(calls.get_job(str(job)), self._retry_policy))

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
    ) -> AsyncGenerator[RemoteJob]:
        filters = calls.filter_params(
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
        return self._perform(operations.list_jobs(filters, self._retry_policy))

    async def wait(self, job: JobLike, timeout: float | None = None) -> Any:
        return await self._run(operations.wait_for_value(str(job), self._retry_policy, timeout, self._timeout))

    async def wait_until_ended(self, job: JobLike, timeout: float | None = None) -> RemoteJob:
        return await self._run(operations.wait_until_ended(str(job), self._retry_policy, timeout, self._timeout))

    def events(self, job: JobLike, after: int = 0) -> AsyncGenerator[RemoteEvent]:
        return self._perform(operations.stream_events(str(job), after, self._retry_policy))

    async def result(self, job: JobLike, timeout: float | None = None) -> bytes:
        ended = await self._run(operations.wait_until_ended(str(job), self._retry_policy, timeout, self._timeout))
        return await self._download(operations.download_result(ended.id, self._retry_policy))

    async def cancel(self, job: JobLike) -> RemoteJob:
        return await self._run(operations.request_job(calls.cancel_job(str(job)), self._retry_policy))

    async def retry(self, job: JobLike) -> AsyncHandle:
        return AsyncHandle(
            self, await self._run(operations.submit_job(calls.retry_job(str(job), new_uid()), self._retry_policy))
        )

    async def artifact(self, uid: str) -> bytes:
        return await self._download(operations.download_artifact(uid, self._retry_policy))

    async def download(self, uid: str, file: str | os.PathLike[str]) -> int:
        unfinished = Path(f"{os.fspath(file)}.{new_uid()[-8:]}.part")
        try:
            out = await asyncio.to_thread(unfinished.open, "wb")
            with out:
                async with aclosing(self._perform(operations.download_artifact(uid, self._retry_policy))) as pieces:
                    async for piece in pieces:
                        await asyncio.to_thread(out.write, piece)
                size = out.tell()
            await asyncio.to_thread(unfinished.replace, file)
        finally:
            await asyncio.to_thread(unfinished.unlink, missing_ok=True)
        return size

    async def _download(self, exchange: Exchange[bytes, Any]) -> bytes:
        async with aclosing(self._perform(exchange)) as pieces:
            return b"".join([piece async for piece in pieces])

    def docs(self, org: str, project: str) -> AsyncProjectDocs:
        """The documentation of a project: its builds, its editions, and their history."""
        return AsyncProjectDocs(org, project, self._run, self._perform, self._retry_policy)

    async def _run[T](self, exchange: Exchange[Any, T]) -> T:
        ends: list[T] = []

        def collect_result() -> Exchange[Any, None]:
            ends.append((yield from exchange))

        async with aclosing(self._perform(collect_result())) as given:
            async for _ in given:
                pass
        return ends[0]

    async def _perform[G](self, exchange: Exchange[G, Any]) -> AsyncGenerator[G]:
        """Perform each step of the exchange and send it the result."""
        stream = _AsyncStream(self._http)
        reply: Reply | ConnectionLost = None
        try:
            while True:
                try:
                    step = exchange.throw(reply) if isinstance(reply, ConnectionLost) else exchange.send(reply)
                except StopIteration:
                    return
                if isinstance(step, EmitValue):
                    yield step.value
                    reply = None
                else:
                    reply = await self._perform_step(step, stream)
        finally:
            exchange.close()
            await stream.close()

    async def _perform_step(
        self, step: HttpCall | ReadChunk | Sleep | ReadClock, stream: "_AsyncStream"
    ) -> Reply | ConnectionLost:
        try:
            match step:
                case HttpCall():
                    return await stream.send(step)
                case ReadChunk():
                    return await stream.read_chunk()
                case ReadClock():
                    return time.monotonic()
                case Sleep():
                    await asyncio.sleep(step.seconds)
                    return None
        except httpx.TransportError as reason:
            return httpx_adapter.to_connection_lost(reason)


class _AsyncStream:
    """The one response of an exchange that may still be open."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._open: httpx.Response | None = None
        self._pieces: AsyncIterator[bytes] | None = None

    async def send(self, call: HttpCall) -> HttpAnswer:
        await self.close()
        response = await self._http.send(httpx_adapter.build_request(self._http, call), stream=True)
        if call.stream and response.status_code < 300:
            self._open, self._pieces = response, response.aiter_bytes()
            return httpx_adapter.to_answer(response, b"")
        try:
            return httpx_adapter.to_answer(response, await response.aread())
        finally:
            await response.aclose()

    async def read_chunk(self) -> bytes:
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
