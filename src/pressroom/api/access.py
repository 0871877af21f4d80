"""Who asks, and what they may do. Open on the loopback; everything else needs a token."""

import ipaddress
from collections.abc import Awaitable, Callable
from enum import IntEnum

import msgspec
from starlette.requests import Request

from pressroom.api.problems import HttpError
from pressroom.errors import NotFound
from pressroom.model import Job


class Scope(IntEnum):
    """Each may do all that the one before may."""

    VIEWER = 0
    SUBMITTER = 1
    OPERATOR = 2
    ADMIN = 3


class Caller(msgspec.Struct, frozen=True):
    """`org_id` is whose rows exist for them. None with `everywhere` is the operator of the whole place."""

    name: str
    scope: Scope
    org_id: str | None = None
    everywhere: bool = False

    def owns(self, org_id: str | None) -> bool:
        return self.everywhere or org_id == self.org_id


LOCAL = Caller("local", Scope.ADMIN, everywhere=True)

# Finds the caller behind a token, or None for one that is unknown, expired or revoked.
type Lookup = Callable[[str], Awaitable[Caller | None]]


class Gate:
    """`open_to_loopback` lets whoever sits at this machine in without a token."""

    def __init__(self, lookup: Lookup | None = None, *, open_to_loopback: bool = True) -> None:
        self._lookup = lookup
        self._open_to_loopback = open_to_loopback

    async def caller(self, request: Request, needed: Scope) -> Caller:
        caller = await self._who(request)
        if caller.scope < needed:
            raise HttpError(
                403, "forbidden", f"this needs the scope {needed.name.lower()}; yours is {caller.scope.name.lower()}"
            )
        return caller

    async def _who(self, request: Request) -> Caller:
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._lookup is not None:
            found = await self._lookup(secret.strip())
            if found is not None:
                return found
        elif not kind and self._open_to_loopback and _is_local(request):
            return LOCAL
        raise HttpError(
            401, "unauthorized", "a valid token is needed: Authorization: Bearer pr_...", {"WWW-Authenticate": "Bearer"}
        )


def require_own(caller: Caller, job: Job) -> Job:
    """Another organisation's job does not exist: the answer is the one for a job that never was."""
    if not caller.owns(job.org_id):
        raise NotFound(f"there is no job_{job.uid}; it never was, or its retention is over")
    return job


def _is_local(request: Request) -> bool:
    """Straight from this machine: a proxy's word for who is behind it is not taken."""
    if request.client is None or "x-forwarded-for" in request.headers or "forwarded" in request.headers:
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
