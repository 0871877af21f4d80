"""Answers as values."""

from datetime import datetime
from typing import Any

import msgspec

from pressroom import model
from pressroom.client.frames import Frame
from pressroom.client.talk import Answer
from pressroom.client.trouble import Garbled
from pressroom.model import Status


class Job(msgspec.Struct, frozen=True, kw_only=True):
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


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The job that a submit came to. `answer` says how; `differs` names what kept the nearest earlier result from being it."""

    id: str
    kind: str
    answer: model.Answer
    version: int = 1
    differs: list[str] | None = None

    def __str__(self) -> str:
        return self.id


class Event(msgspec.Struct, frozen=True):
    """One line of a job's history. A stream can be resumed after its `id`."""

    id: int
    job: str
    type: str
    at: datetime
    data: dict[str, Any]

    @property
    def ends(self) -> bool:
        return self.type in _ENDINGS


class Listed(msgspec.Struct, frozen=True):
    items: list[Job]
    next_cursor: str | None = None


class _Spoken(msgspec.Struct):
    """An app may tell of its jobs in its own words, with the usual ones inside."""

    job: Job | None = None


class _Told(msgspec.Struct):
    job: str
    type: str
    at: datetime
    data: dict[str, Any] = {}


_ENDINGS = frozenset(status.value for status in Status if status.ended)


def job(answer: Answer) -> Job:
    own_words = read(answer, _Spoken).job
    return own_words if own_words is not None else read(answer, Job)


def event(frame: Frame) -> Event:
    told = _decoded(frame.data.encode(), _Told)
    return Event(int(frame.id), told.job, told.type, told.at, told.data)


def read[T](answer: Answer, kind: type[T]) -> T:
    return _decoded(answer.body, kind)


def _decoded[T](body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as reason:
        raise Garbled(f"the answer is not what this client understands ({reason}); is this Pressroom?") from None
