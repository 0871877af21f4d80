"""Intentions as requests. Nothing is sent here."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from pressroom.client.exchange import HttpCall
from pressroom.errors import InvalidArgument, InvalidPayload
from pressroom.model import Status, Tier

STREAM_SILENCE = 45.0  # three heartbeats of the server: a stream that is silent for longer is dead

type StatusFilter = Status | str | Sequence[Status | str] | None


def submit_job(body: Mapping[str, Any], key: str) -> HttpCall:
    """`key` makes one job of a request that is sent twice."""
    try:
        encoded = msgspec.json.encode(body)
    except (TypeError, ValueError, RecursionError) as reason:
        raise InvalidPayload(f"the payload cannot be sent as JSON: {reason}") from None
    return HttpCall(
        "POST",
        "/jobs",
        headers={"Content-Type": "application/json", "Idempotency-Key": f'"{checked_key(key)}"'},
        body=encoded,
    )


def job_body(
    kind: str,
    payload: Any,
    *,
    tier: Tier | str | None,
    key: str | None,
    delay: float,
    subject: str | None,
    project_id: str | None,
    max_attempts: int | None,
) -> dict[str, Any]:
    given = {
        "kind": kind,
        "payload": payload,
        "tier": tier.name.lower() if isinstance(tier, Tier) else tier,
        "key": key,
        "delay": delay or None,
        "subject": subject,
        "project_id": project_id,
        "max_attempts": max_attempts,
    }
    return {name: value for name, value in given.items() if value is not None or name == "payload"}


def render_payload(
    language: str,
    source: str | bytes,
    output: str,
    *,
    options: Mapping[str, Any] | None,
    engine: str | None,
    filename: str | None,
) -> dict[str, Any]:
    given = {
        "language": language,
        "output": output,
        "source": _decode_source(source),
        "options": dict(options or {}),
        "engine": engine,
        "filename": filename,
    }
    return {name: value for name, value in given.items() if value is not None}


def get_job(id: str, *, wait: float = 0.0, timeout: float | None = None) -> HttpCall:
    return HttpCall("GET", f"/jobs/{quote(id, safe='')}", params=_wait_param(wait), timeout=timeout)


def get_result(id: str) -> HttpCall:
    return HttpCall("GET", f"/jobs/{quote(id, safe='')}/result")


def list_jobs(filters: Sequence[tuple[str, str]], cursor: str | None) -> HttpCall:
    return HttpCall("GET", "/jobs", params=(*filters, *([("cursor", cursor)] if cursor else [])))


def filter_params(
    *,
    status: StatusFilter,
    kind: str | None,
    tier: Tier | str | None,
    org: str | None,
    subject: str | None,
    key: str | None,
    parent: str | None,
    max_age: float | None,
    page_size: int,
) -> list[tuple[str, str]]:
    statuses = [status] if isinstance(status, str) else status or []
    single = {
        "kind": kind,
        "tier": tier.name.lower() if isinstance(tier, Tier) else tier,
        "org": org,
        "subject": subject,
        "key": key,
        "parent": parent,
        "max_age": None if max_age is None else f"{max_age:.3f}",
        "limit": str(page_size),
    }
    return [("status", str(one)) for one in statuses] + [(name, value) for name, value in single.items() if value is not None]


def cancel_job(id: str) -> HttpCall:
    return HttpCall("POST", f"/jobs/{quote(id, safe='')}/cancel")


def retry_job(id: str, key: str) -> HttpCall:
    headers = {"Idempotency-Key": f'"{checked_key(key)}"'}
    return HttpCall("POST", f"/jobs/{quote(id, safe='')}/retry", headers=headers, repeatable=False)


def stream_events(id: str, last: int) -> HttpCall:
    headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"} | ({"Last-Event-ID": str(last)} if last else {})
    return HttpCall("GET", f"/jobs/{quote(id, safe='')}/events", headers=headers, stream=True, timeout=STREAM_SILENCE)


def get_artifact(uid: str, *, start: int = 0, tag: str | None = None) -> HttpCall:
    """From `start` on, if it still is what `tag` names. Not compressed on the way: its hash is that of the plain bytes."""
    headers = {"Accept-Encoding": "identity"}
    if start and tag is not None:
        headers |= {"Range": f"bytes={start}-", "If-Range": tag}
    return HttpCall("GET", f"/artifacts/{quote(uid, safe='')}", headers=headers, stream=True)


def checked_key(key: str) -> str:
    if not 1 <= len(key) <= 255 or not (key.isascii() and key.isprintable()) or '"' in key or "\\" in key:
        raise InvalidArgument("an idempotency key has 1 to 255 printable ASCII characters, and no quotes or backslashes")
    return key


def _wait_param(seconds: float) -> tuple[tuple[str, str], ...]:
    return (("wait", f"{seconds:.3f}"),) if seconds > 0 else ()


def _decode_source(source: str | bytes) -> str:
    try:
        text = source if isinstance(source, str) else source.decode()
        text.encode()
    except UnicodeError:
        raise InvalidArgument("the source is not UTF-8; the service takes text") from None
    return text
