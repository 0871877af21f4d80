"""`Client`: performs the operations over blocking connections."""

import os
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from pressroom import model
from pressroom.client import calls, httpx_adapter, operations
from pressroom.client.address import resolve_address
from pressroom.client.calls import StatusFilter
from pressroom.client.docs.sync_project import ProjectDocs
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

type JobLike = str | RemoteJob | SubmittedJob | "Handle"


class Handle:
    """A job that was submitted, and what can be done with it. `answer` says how the submit came to it."""

    def __init__(self, client: "Client", submitted: SubmittedJob) -> None:
        self._client = client
        self.submitted = submitted

    @property
    def id(self) -> str:
        return self.submitted.id

    @property
    def answer(self) -> model.Answer:
        return self.submitted.answer

    def get(self) -> RemoteJob:
        return self._client.get(self)

    def wait(self, timeout: float | None = None) -> Any:
        return self._client.wait(self, timeout)

    def events(self, after: int = 0) -> Generator[RemoteEvent]:
        return self._client.events(self, after)

    def result(self, timeout: float | None = None) -> bytes:
        return self._client.result(self, timeout)

    def cancel(self) -> RemoteJob:
        return self._client.cancel(self)

    def retry(self) -> "Handle":
        return self._client.retry(self)

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.submitted.kind} ({self.answer})>"


class Client:
    """The service, from a program that waits for its answers. May be used by several threads at once.

    `url` and `token` are read from PRESSROOM_URL and PRESSROOM_TOKEN if they are left out. `timeout` is how long one
    answer may take to come; how long a job may take is an argument of `wait`.

    Every method raises the errors of `pressroom.errors`, by the code that the service answers with. A code that this
    version does not know is a PressroomError with that `code` and `status`. No answer is `Unreachable`.
    """

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
        self._http = httpx.Client(**httpx_adapter.httpx_client_options(self._address, timeout))

    @property
    def url(self) -> str:
        return self._address.url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def submit(
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
    ) -> Handle:
        """Submit a job. When this returns, it is on stable storage, and there is one of it however often it was sent.

        A program that may be run again after a crash names its own `idempotency_key`, to come to the same job.
        """
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
        return Handle(self, self._run(operations.submit_job(call, self._retry_policy)))

    def render(
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
    ) -> Handle:
        """Have a source rendered. What was rendered before is the answer at once; a wrong source is told by its job."""
        payload = calls.render_payload(language, source, output, options=options, engine=engine, filename=filename)
        return self.submit("render", payload, tier=tier, key=key, subject=subject, idempotency_key=idempotency_key)

    def get(self, job: JobLike) -> RemoteJob:
        return self._run(operations.request_job(calls.get_job(str(job)), self._retry_policy))

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
    ) -> Generator[RemoteJob]:
        """All that match, newest first. Pages are asked for as they are needed."""
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
        return self._iterate(operations.list_jobs(filters, self._retry_policy))

    def wait(self, job: JobLike, timeout: float | None = None) -> Any:
        """What the job returned, as soon as it has ended; for a render, the names of its artifact.

        Goes on through restarts of the server. Raises JobFailed, JobCancelled, and WaitTimeout when `timeout` is over.
        """
        return self._run(operations.wait_for_value(str(job), self._retry_policy, timeout, self._timeout))

    def wait_until_ended(self, job: JobLike, timeout: float | None = None) -> RemoteJob:
        """The job as soon as it has ended, whichever way."""
        return self._run(operations.wait_until_ended(str(job), self._retry_policy, timeout, self._timeout))

    def events(self, job: JobLike, after: int = 0) -> Generator[RemoteEvent]:
        """The job's events from its first, or the one after `after`, to its last, as they happen: each once.

        A connection that breaks is made anew, and goes on after the last event that came.
        """
        return self._iterate(operations.stream_events(str(job), after, self._retry_policy))

    def result(self, job: JobLike, timeout: float | None = None) -> bytes:
        """Wait for the job, and fetch the bytes of its artifact; or its value as JSON, if it made none.

        Raises what the job failed of: SourceInvalid has the line and the column.
        """
        ended = self._run(operations.wait_until_ended(str(job), self._retry_policy, timeout, self._timeout))
        return b"".join(self._iterate(operations.download_result(ended.id, self._retry_policy)))

    def cancel(self, job: JobLike) -> RemoteJob:
        """Cancel a job. One that runs is being stopped when this returns; its status tells."""
        return self._run(operations.request_job(calls.cancel_job(str(job)), self._retry_policy))

    def retry(self, job: JobLike) -> Handle:
        """Run an ended job again, as a new one."""
        return Handle(self, self._run(operations.submit_job(calls.retry_job(str(job), new_uid()), self._retry_policy)))

    def artifact(self, uid: str) -> bytes:
        """The bytes of an artifact, checked by their hash. A download that breaks goes on where it broke."""
        return b"".join(self._iterate(operations.download_artifact(uid, self._retry_policy)))

    def download(self, uid: str, file: str | os.PathLike[str]) -> int:
        """An artifact into a file, which is there when it is whole and not before. Returns its size."""
        unfinished = Path(f"{os.fspath(file)}.{new_uid()[-8:]}.part")
        try:
            with unfinished.open("wb") as out:
                for piece in self._iterate(operations.download_artifact(uid, self._retry_policy)):
                    out.write(piece)
                size = out.tell()
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)
        return size

    def docs(self, org: str, project: str) -> ProjectDocs:
        """The documentation of a project: its builds, its editions, and their history."""
        return ProjectDocs(org, project, self._run, self._iterate, self._retry_policy)

    def _run[T](self, exchange: Exchange[Any, T]) -> T:
        carried = self._perform(exchange)
        while True:
            try:
                next(carried)
            except StopIteration as end:
                value: T = end.value
                return value

    def _iterate[G](self, exchange: Exchange[G, Any]) -> Generator[G]:
        with closing(self._perform(exchange)) as given:
            yield from given

    def _perform[G, T](self, exchange: Exchange[G, T]) -> Generator[G, None, T]:
        """Perform each step of the exchange and send it the result."""
        stream = _SyncStream(self._http)
        reply: Reply | ConnectionLost = None
        with closing(exchange), closing(stream):
            while True:
                try:
                    step = exchange.throw(reply) if isinstance(reply, ConnectionLost) else exchange.send(reply)
                except StopIteration as end:
                    result: T = end.value
                    return result
                if isinstance(step, EmitValue):
                    yield step.value
                    reply = None
                else:
                    reply = self._perform_step(step, stream)

    def _perform_step(self, step: HttpCall | ReadChunk | Sleep | ReadClock, stream: "_SyncStream") -> Reply | ConnectionLost:
        try:
            match step:
                case HttpCall():
                    return stream.send(step)
                case ReadChunk():
                    return stream.read_chunk()
                case ReadClock():
                    return time.monotonic()
                case Sleep():
                    time.sleep(step.seconds)
                    return None
        except httpx.TransportError as reason:
            return httpx_adapter.to_connection_lost(reason)


class _SyncStream:
    """The one response of an exchange that may still be open."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._open: httpx.Response | None = None
        self._pieces: Iterator[bytes] = iter(())

    def send(self, call: HttpCall) -> HttpAnswer:
        self.close()
        response = self._http.send(httpx_adapter.build_request(self._http, call), stream=True)
        if call.stream and response.status_code < 300:
            self._open, self._pieces = response, response.iter_bytes()
            return httpx_adapter.to_answer(response, b"")
        with closing(response):
            return httpx_adapter.to_answer(response, response.read())

    def read_chunk(self) -> bytes:
        return next((piece for piece in self._pieces if piece), b"")

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
