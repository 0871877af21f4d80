"""`Idempotency-Key`: a request that is sent twice is carried out once, and answered twice with the same words.

The answer is kept in the transaction that submits the job, so there is no moment at which one exists without the other.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from functools import partial
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Caller
from pressroom.api.problems import HttpError
from pressroom.api.service import Service
from pressroom.store import Transaction
from pressroom.store.access import idempotency

KEPT = 24 * 3600 * 1000  # milliseconds
LONGEST = 255

type Act = Callable[[Transaction | None], Awaitable[Response]]


async def act_once(service: Service, request: Request, caller: Caller, body: bytes, act: Act) -> Response:
    """For what must not happen twice: the job and the answer are written in one transaction, which `act` is given."""
    key = _key_of(request)
    if key is None:
        return await act(None)
    scope, digest = _scope(request, caller), _digest(request, body)
    async with service.queue.transaction() as tx:
        kept = await tx.run(partial(idempotency.find, scope, key), name="reply")
        if kept is not None:
            return _replay(kept, digest)
        response = await act(tx)
        await tx.run(partial(idempotency.save_reply, scope, key, _reply_record(response, digest), KEPT), name="reply")
    return response


async def act_or_replay(service: Service, request: Request, caller: Caller, body: bytes, act: Act) -> Response:
    """For what holds no transaction: the answer is kept after the fact. Of two at once, the second waits for the first.

    Renders may, because the same source is the same job anyway; so may whatever a crash in between may repeat.
    """
    key = _key_of(request)
    if key is None:
        return await act(None)
    scope, digest = _scope(request, caller), _digest(request, body)
    async with _lock_for_key(service, scope, key):
        return await _kept_or_new(service, scope, key, digest, act)


async def _kept_or_new(service: Service, scope: str, key: str, digest: str, act: Act) -> Response:
    kept = await service.rendering.database.read(partial(idempotency.find, scope, key))
    if kept is not None:
        return _replay(kept, digest)
    response = await act(None)
    if response.status_code < 400:  # a refusal may be over by the next try
        keep = partial(idempotency.save_reply, scope, key, _reply_record(response, digest), KEPT)
        await service.rendering.database.run(keep, name="reply")
    return response


def _lock_for_key(service: Service, scope: str, key: str) -> asyncio.Lock:
    """Removed as soon as no request holds it or waits for it."""
    return _turns.setdefault((id(service), scope, key), asyncio.Lock())


_turns: WeakValueDictionary[tuple[int, str, str], asyncio.Lock] = WeakValueDictionary()


def _scope(request: Request, caller: Caller) -> str:
    return f"{caller.org_id or ''}\n{caller.name}\n{request.method} {request.url.path}"


def _digest(request: Request, body: bytes) -> str:
    return hashlib.sha256(f"{request.url.query}\n".encode() + body).hexdigest()


def _reply_record(response: Response, digest: str) -> idempotency.StoredReply:
    headers = {name: value for name, value in response.headers.items() if name != "content-length"}
    return idempotency.StoredReply(digest, response.status_code, headers, bytes(response.body).decode())


def _replay(kept: idempotency.StoredReply, digest: str) -> Response:
    if kept.digest != digest:
        raise HttpError(422, "idempotency_key_reused", "this Idempotency-Key was sent with another request; use a new one")
    return Response(kept.body, kept.status, kept.headers | {"Idempotency-Replayed": "true"})


def _key_of(request: Request) -> str | None:
    given = request.headers.get("idempotency-key")
    if given is None:
        return None
    key = given.strip().removeprefix('"').removesuffix('"')
    if not key or len(given) > LONGEST or not key.isprintable():
        raise HttpError(400, "invalid_idempotency_key", f"an Idempotency-Key has 1 to {LONGEST} printable characters")
    return key
