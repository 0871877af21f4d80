"""A kind of the application's own, for `pressroom serve --import`: not a render, so only its idempotency key makes it one."""

from typing import Any

from pressroom import kind


@kind("note", max_crashes=1000)
async def note(job: Any, payload: Any) -> Any:
    return {"nonce": payload["nonce"]}
