"""Requests to submit a job. Everything that enters the queue is checked here, and nowhere else."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from pressroom.base import json_text
from pressroom.base.fingerprint import Fingerprint, fingerprint_input
from pressroom.definitions import Kind
from pressroom.errors import InvalidArgument, UnknownKind
from pressroom.ids import new_uid, parse_uid
from pressroom.model import Job, OnKey, Row, Submitted, Tier, to_ms
from pressroom.store.jobs.submitting import CheckedJob

PAYLOAD_LIMIT = 1024 * 1024
KEY_LIMIT = 512
NAME_LIMIT = 255
FURTHEST = timedelta(days=3660)

type JobLike = Job | Submitted | str


class Request(msgspec.Struct, frozen=True):
    """One job to submit, for `submit_many`. The fields are those of `Queue.submit`.

    `fingerprint` names the fields that the result depends on, or is what `fingerprint_input` made of them already.
    """

    kind: str | Kind
    payload: Any = None
    tier: Tier | None = None
    key: str | None = None
    delay: float | timedelta = 0
    run_at: datetime | None = None
    fingerprint: Mapping[str, Any] | Fingerprint | None = None
    org_id: str | None = None
    project_id: str | None = None
    build_id: str | None = None
    subject: str | None = None
    parent: JobLike | None = None
    trace: Mapping[str, str] | None = None
    max_attempts: int | None = None


def check_request(request: Request, kinds: Mapping[str, Kind]) -> CheckedJob:
    """A request that may be stored, or the error that says what is wrong with it."""
    kind = kinds.get(str(request.kind))
    if kind is None:
        raise UnknownKind(str(request.kind)[:NAME_LIMIT], list(kinds))
    org_id = _check_text(request.org_id, "org_id", NAME_LIMIT) or ""
    fingerprint = _fingerprint(request, kind, org_id)
    return CheckedJob(
        uid=new_uid(),
        kind=kind.name,
        tier=kind.tier if request.tier is None else _check_tier(request.tier),
        payload=json_text.encode(request.payload, limit=PAYLOAD_LIMIT),
        on_key=kind.on_key,
        max_attempts=_check_max_attempts(request.max_attempts, kind),
        max_crashes=kind.max_crashes,
        retention=int(kind.retention.total_seconds() * 1000),
        delay=_delay_in_ms(request.delay),
        run_at=None if request.run_at is None else to_ms(request.run_at),
        key=_check_text(request.key, "key", KEY_LIMIT),
        fingerprint=fingerprint,
        cache_for=0 if fingerprint is None or kind.cache_for is None else int(kind.cache_for.total_seconds() * 1000),
        org_id=org_id,
        project_id=_check_text(request.project_id, "project_id", NAME_LIMIT),
        build_id=_check_text(request.build_id, "build_id", NAME_LIMIT),
        subject=_check_text(request.subject, "subject", NAME_LIMIT),
        parent=None if request.parent is None else uid_of(request.parent),
        trace=None if request.trace is None else json_text.encode(dict(request.trace), limit=4096, what="the trace"),
    )


def copy_for_retry(row: Row) -> CheckedJob:
    """An ended job as a new one. Without its fingerprint: a retry is not to be answered from the cache."""
    # fmt: off
    (uid, _, kind, tier, max_attempts, max_crashes, retention, on_key, key, org_id,
     project_id, build_id, subject, parent, body) = row
    # fmt: on
    return CheckedJob(
        uid=new_uid(),
        kind=kind,
        tier=tier,
        payload=body,
        on_key=OnKey(on_key),
        max_attempts=max_attempts,
        max_crashes=max_crashes,
        retention=retention,
        key=key,
        org_id=org_id,
        project_id=project_id,
        build_id=build_id,
        subject=subject,
        parent=parent,
        retry_of=uid,
    )


def uid_of(job: JobLike) -> str:
    return parse_uid(job) if isinstance(job, str) else job.uid


def _fingerprint(request: Request, kind: Kind, org_id: str) -> Fingerprint | None:
    """A kind that caches is fingerprinted by its payload if the caller names no fields."""
    if isinstance(request.fingerprint, Fingerprint):
        return request.fingerprint
    if request.fingerprint is None and kind.cache_for is None:
        return None
    fields = {"payload": request.payload} if request.fingerprint is None else request.fingerprint
    return fingerprint_input(kind, org_id, fields)


def _check_tier(tier: Any) -> Tier:
    try:
        return Tier(tier)
    except ValueError:
        raise InvalidArgument(f"{tier!r} is not a tier; use Tier.INTERACTIVE or Tier.BACKGROUND") from None


def _check_max_attempts(max_attempts: int | None, kind: Kind) -> int:
    attempts = kind.max_attempts if max_attempts is None else max_attempts
    if not 1 <= attempts <= 1000:
        raise InvalidArgument(f"max_attempts is 1 to 1000, not {attempts}")
    return attempts


def _delay_in_ms(delay: float | timedelta) -> int:
    seconds = delay.total_seconds() if isinstance(delay, timedelta) else delay
    if not 0 <= seconds <= FURTHEST.total_seconds():  # also false for NaN
        raise InvalidArgument(f"a delay is 0 to {FURTHEST.total_seconds():g} seconds, not {seconds:g}")
    return int(seconds * 1000)


def _check_text(value: str | None, name: str, limit: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise InvalidArgument(f"{name} is text that is not empty")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name} is not valid Unicode") from None
    if "\0" in value:
        raise InvalidArgument(f"{name} holds a NUL character")
    if size > limit:
        raise InvalidArgument(f"{name} has {size:,} bytes; the limit is {limit}")
    return value
