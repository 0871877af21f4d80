"""The job that every measurement submits: 1 KiB of JSON, and a handler that does nothing with it."""

from typing import Any

from pressroom import Kind, kind
from pressroom.ids import new_uid
from pressroom.model import OnKey, Tier
from pressroom.store.jobs import NewJob

KIND = "noop"
PAYLOAD = {"text": "x" * (1024 - len('{"text":""}'))}
PAYLOAD_TEXT = '{"text":"' + PAYLOAD["text"] + '"}'


@kind(KIND)
async def noop(job: Any, payload: Any) -> None:
    return None


def new_job(of: Kind = noop, payload: str = PAYLOAD_TEXT, *, delay: int = 0, tier: Tier | None = None) -> NewJob:
    """What `submit` makes of a request, without the request. `delay` is in milliseconds."""
    return NewJob(
        uid=new_uid(),
        kind=of.name,
        tier=of.tier if tier is None else tier,
        payload=payload,
        on_key=OnKey.COALESCE,
        max_attempts=of.max_attempts,
        max_crashes=of.max_crashes,
        retention=int(of.retention.total_seconds() * 1000),
        delay=delay,
    )
