"""Rows into values, values into JSON parameters."""

import json
from typing import Any

import msgspec

from pressroom.model import Event, Job, Row, Status, Tier, from_ms

_encode = msgspec.json.Encoder().encode


def compact(value: Any) -> str:
    """A parameter for json_each. Its parts were checked before; this is only fast."""
    return _encode(value).decode()


def job_of(row: Row, payload: str | None = None) -> Job:
    """A row of the view `job_shown` as a Job."""
    # fmt: off
    (id, uid, kind, tier, seq, run_at, status, waits_for, phase, progress, errors, last_error, failures, max_attempts,
     crashes, claim, worker, lease_until, key, fingerprint, org_id, project_id, build_id, subject, result, parent, retry_of,
     superseded_by, version, cancel_requested, delivery_ref, trace, created, started, completed, items) = row
    # fmt: on
    return Job(
        id=id,
        uid=uid,
        kind=kind,
        tier=Tier(tier),
        seq=seq,
        run_at=from_ms(run_at),
        status=Status(status),
        waits_for=waits_for,
        phase=phase,
        progress=_progress_view(progress, items),
        errors=_decode_or_none(errors) or [],
        last_error=last_error,
        failures=failures,
        max_attempts=max_attempts,
        crashes=crashes,
        claim=claim,
        worker=worker,
        lease_until=_moment(lease_until),
        key=key,
        fingerprint=fingerprint,
        org_id=org_id or None,
        project_id=project_id,
        build_id=build_id,
        subject=subject,
        payload=_decode_or_none(payload),
        result=_decode_or_none(result),
        parent=parent,
        retry_of=retry_of,
        superseded_by=superseded_by,
        version=version,
        cancel_requested=bool(cancel_requested),
        delivery_ref=delivery_ref,
        trace=_decode_or_none(trace),
        date_created=from_ms(created),
        date_started=_moment(started),
        date_completed=_moment(completed),
    )


def event_of(row: Row) -> Event:
    id, job_id, uid, at, type, data = row
    return Event(id, job_id, uid, from_ms(at), type, _decode_or_none(data))


def _progress_view(text: str | None, items: str | None) -> dict[str, Any] | None:
    """Progress as people see it. Named items are rows of their own; here they take the shape of design 004."""
    progress: dict[str, Any] | None = _decode_or_none(text)
    if progress is None or "items" not in progress:
        return progress
    noun = progress.pop("items")
    mine = [(name, state, error) for of, name, state, error in _decode_or_none(items) or [] if of == noun]
    return progress | {
        f"{noun}_total": len(mine),
        f"{noun}_completed": [name for name, state, _ in mine if state == "completed"],
        f"{noun}_failed": [{"slug": name, "error": error} for name, state, error in mine if state == "failed"],
        f"{noun}_in_progress": [name for name, state, _ in mine if state == "in_progress"],
    }


def _decode_or_none(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _moment(milliseconds: int | None) -> Any:
    return None if milliseconds is None else from_ms(milliseconds)
