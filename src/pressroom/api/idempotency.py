"""`Idempotency-Key`: a request that is sent twice is carried out once, and answered twice with the same words.

The answer is kept in the transaction that submits the job, so there is no moment at which one exists without the other.
"""

import hashlib
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Caller
from pressroom.api.problems import HttpError
from pressroom.api.service import Service
from pressroom.store import Transaction, replies

KEPT = 24 * 3600 * 1000  # milliseconds
LONGEST = 255

type Act = Callable[[Transaction | None], Awaitable[Response]]


async def once(service: Service, request: Request, caller: Caller, body: bytes, act: Act) -> Response:
    key = _key_of(request)
    if key is None:
        return await act(None)
    scope = f"{caller.org_id or ''}\n{caller.name}\n{request.method} {request.url.path}"
    digest = hashlib.sha256(f"{request.url.query}\n".encode() + body).hexdigest()
    async with service.queue.transaction() as tx:
        kept = await tx.run(partial(replies.find, scope, key), name="reply")
        if kept is not None:
            return _replayed(kept, digest)
        response = await act(tx)
        if response.status_code < 500:
            headers = {name: value for name, value in response.headers.items() if name != "content-length"}
            reply = replies.Reply(digest, response.status_code, headers, bytes(response.body).decode())
            await tx.run(partial(replies.keep, scope, key, reply, KEPT), name="reply")
    return response


def _replayed(kept: replies.Reply, digest: str) -> Response:
    if kept.digest != digest:
        raise HttpError(422, "idempotency_key_reused", "this Idempotency-Key was sent with another request; use a new one")
    return Response(kept.body, kept.status, kept.headers | {"Idempotency-Replayed": "true"})


def _key_of(request: Request) -> str | None:
    given = request.headers.get("idempotency-key")
    if given is None:
        return None
    key = given.strip().removeprefix('"').removesuffix('"')
    if not 1 <= len(key) <= LONGEST or not key.isprintable():
        raise HttpError(400, "invalid_idempotency_key", f"an Idempotency-Key has 1 to {LONGEST} printable characters")
    return key
