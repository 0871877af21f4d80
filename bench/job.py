"""The job that is submitted everywhere: 1 KiB of JSON, and a handler that does nothing with it."""

from typing import Any

from pressroom import kind
from pressroom.ids import new_uid
from pressroom.model import OnKey
from pressroom.store.jobs.submitting import CheckedJob

PAYLOAD = {"text": "x" * (1024 - len('{"text":""}'))}
PAYLOAD_TEXT = f'{{"text":"{PAYLOAD["text"]}"}}'


@kind("noop")
async def noop(job: Any, payload: Any) -> None:
    return None


def checked(payload: str = PAYLOAD_TEXT, *, delay: int = 0, key: str | None = None) -> CheckedJob:
    """What `submit` makes of a request for `noop`, for those who talk to the store directly. `delay` is in milliseconds."""
    return CheckedJob(
        uid=new_uid(),
        kind=noop.name,
        tier=noop.tier,
        payload=payload,
        on_key=OnKey.LINE_UP,
        max_attempts=noop.max_attempts,
        max_crashes=noop.max_crashes,
        retention=int(noop.retention.total_seconds() * 1000),
        delay=delay,
        key=key,
    )
