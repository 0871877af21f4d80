"""Answers as values."""

from datetime import datetime
from typing import Any

import msgspec

from pressroom import model
from pressroom.client.errors import InvalidAnswer
from pressroom.client.event_stream import ServerSentEvent
from pressroom.client.exchange import HttpAnswer
from pressroom.model import Status


class RemoteJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job as the service shows it. `position` and `estimate` (seconds: p50, p90) are there while it is queued."""

    id: str
    kind: str
    status: Status
    tier: str
    date_created: datetime
    date_started: datetime | None = None
    date_completed: datetime | None = None
    run_at: datetime | None = None
    phase: str | None = None
    progress: dict[str, Any] | None = None
    subject: str | None = None
    key: str | None = None
    attempts: int = 0
    max_attempts: int = 1
    errors: list[dict[str, Any]] = []
    last_error: str | None = None
    result: Any = None
    position: int | None = None
    estimate: dict[str, float] | None = None
    parent: str | None = None
    retry_of: str | None = None
    superseded_by: str | None = None
    cancel_requested: bool = False

    def __str__(self) -> str:
        return self.id


class SubmittedJob(msgspec.Struct, frozen=True, kw_only=True):
    """The job that a submit came to. `answer` says how; `differs` names what kept the nearest earlier result from being it."""

    id: str
    kind: str
    answer: model.Answer
    version: int = 1
    differs: list[str] | None = None

    def __str__(self) -> str:
        return self.id


class RemoteEvent(msgspec.Struct, frozen=True):
    """One line of a job's history. A stream can be resumed after its `id`."""

    id: int
    job: str
    type: str
    at: datetime
    data: dict[str, Any]

    @property
    def ends(self) -> bool:
        return self.type in _FINAL_TYPES


class JobPage(msgspec.Struct, frozen=True):
    items: list[RemoteJob]
    next_cursor: str | None = None


class _WrappedJob(msgspec.Struct):
    """An app may tell of its jobs in its own words, with the usual ones inside."""

    job: RemoteJob | None = None


class _EventBody(msgspec.Struct):
    job: str
    type: str
    at: datetime
    data: dict[str, Any] = {}


_FINAL_TYPES = frozenset(status.value for status in Status if status.ended)


def parse_job(answer: HttpAnswer) -> RemoteJob:
    wrapped = decode_response(answer, _WrappedJob).job
    return wrapped if wrapped is not None else decode_response(answer, RemoteJob)


def parse_event(message: ServerSentEvent) -> RemoteEvent:
    body = _decode(message.data.encode(), _EventBody)
    return RemoteEvent(int(message.id), body.job, body.type, body.at, body.data)


def decode_response[T](answer: HttpAnswer, kind: type[T]) -> T:
    return _decode(answer.body, kind)


def _decode[T](body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as reason:
        raise InvalidAnswer(f"the answer is not what this client understands ({reason}); is this Pressroom?") from None
