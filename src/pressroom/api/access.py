"""Authentication and scopes. The loopback may be open; every other caller needs a token."""

import ipaddress
from collections.abc import Awaitable, Callable, Collection
from enum import IntEnum
from functools import lru_cache
from typing import Protocol

import msgspec
from starlette.requests import Request

from pressroom.api.problems import HttpError
from pressroom.errors import NotFound, PressroomError
from pressroom.model import Job
from pressroom.store.operators.audit import EVERYWHERE


class Scope(IntEnum):
    """Each may do all that the one before may."""

    VIEWER = 0
    SUBMITTER = 1
    OPERATOR = 2
    ADMIN = 3


class Caller(msgspec.Struct, frozen=True):
    """`org_id` is whose rows exist for them. None is the default organisation, and with `everywhere` all of them.

    `token` is the id of the token they came with, if they came with one.
    """

    name: str
    scope: Scope
    org_id: str | None = None
    everywhere: bool = False
    token: str | None = None

    @property
    def org_filter(self) -> str | None:
        """Whose rows they see, as the `org_id` of what lists rows: None for every organisation, "" for the default one."""
        return None if self.everywhere else self.org_id or ""

    @property
    def audit_org(self) -> str | None:
        """The `org_id` of an entry of the audit log about what they do."""
        return EVERYWHERE if self.everywhere else self.org_id

    def owns(self, org_id: str | None) -> bool:
        return self.everywhere or org_id == self.org_id


LOCAL = Caller("local", Scope.ADMIN, everywhere=True)


def cache_visibility(caller: Caller, org_id: str | None) -> str:
    """`public` for bytes of the default organisation that this caller got without a token: a shared cache may keep those.

    What needed a token is `private`, or a cache in front of us would hand it to callers who have none.
    """
    return "public" if caller is LOCAL and not org_id else "private"


# Finds the caller behind a token, or None for one that is unknown, expired or revoked.
type Lookup = Callable[[str], Awaitable[Caller | None]]


class BasicCredentials(Protocol):
    def caller(self, credentials: str) -> Caller | None:
        """Whose name and password these are, or None."""
        ...


class Quota(Protocol):
    def charge(self, request: Request, caller: Caller) -> None:
        """Count a request of this caller. Raises HttpError 429 when there were too many."""
        ...

    def refuse_guesser(self, request: Request) -> None:
        """Raises HttpError 429 if too many wrong credentials came from where this comes from."""
        ...

    def note_wrong_guess(self, request: Request) -> None: ...


_UNAUTHORIZED_WORDS = (
    "a valid token is needed: Authorization: Bearer pr_..., for Pressroom's own clients in PRESSROOM_TOKEN; "
    "who runs this service makes one with `pressroom token create`"
)


class Gate:
    """`open_to_loopback` admits requests from this machine without a token. `own_host` is a host name that they may use, beside
    localhost. With `basic`, a name and password are accepted as well, and writing needs one or the other even from here.
    `origins` are the web pages that may read our responses; those that are named are admitted like this machine.
    `unauthorized` says how to get a token."""

    def __init__(
        self,
        lookup: Lookup | None = None,
        *,
        open_to_loopback: bool = True,
        basic: BasicCredentials | None = None,
        quota: Quota | None = None,
        own_host: str | None = None,
        origins: Collection[str] = (),
        unauthorized: str = _UNAUTHORIZED_WORDS,
    ) -> None:
        self._lookup = lookup
        self._unauthorized_words = unauthorized
        self._basic = basic
        self._quota = quota
        self._open_to_loopback = open_to_loopback
        self._own_host = own_host
        self._origins = origins

    @property
    def is_open(self) -> bool:
        """Whether callers on this machine are admitted without a token."""
        return self._open_to_loopback

    async def caller(self, request: Request, needed: Scope) -> Caller:
        return self.admit(request, await self._identify(request, needed), needed)

    def admit(self, request: Request, caller: Caller, needed: Scope) -> Caller:
        """Count a request of an authenticated caller, and refuse it if the scope does not allow it."""
        if self._quota is not None:
            self._quota.charge(request, caller)
        if caller.scope < needed:
            raise HttpError(
                403,
                "forbidden",
                f"this needs the scope {needed.name.lower()}; yours is {caller.scope.name.lower()}. Ask for a token that was "
                f"made with `pressroom token create --scope {needed.name.lower()}`",
            )
        return caller

    def seen_as(self, request: Request, caller: Caller) -> Caller:
        """The caller with the scope that a page may offer: a viewer, if writing would need credentials that were not sent."""
        is_anonymous = "authorization" not in request.headers
        return msgspec.structs.replace(caller, scope=Scope.VIEWER) if is_anonymous and self._basic is not None else caller

    async def _identify(self, request: Request, needed: Scope) -> Caller:
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        found = (
            await self.check_credentials(request, kind.lower(), secret.strip()) if kind else self._anonymous(request, needed)
        )
        if found is None:
            raise self._unauthorized()
        return found

    async def check_credentials(self, request: Request, kind: str, secret: str) -> Caller | None:
        """An address with too many wrong guesses is refused before anything is hashed, so that guessing costs us little."""
        if self._quota is not None:
            self._quota.refuse_guesser(request)
        found = await self._look_up_credentials(kind, secret)
        if found is None and self._quota is not None:
            self._quota.note_wrong_guess(request)
        return found

    async def still_admits(self, request: Request, caller: Caller) -> bool:
        """Whether the credentials of a request are still this caller's. For long answers: it is not counted as a request."""
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        try:
            found = (
                await self._look_up_credentials(kind.lower(), secret.strip())
                if kind
                else self._anonymous(request, Scope.VIEWER)
            )
        except PressroomError:
            return False  # the client asks again
        return found is not None and is_same(found, caller)

    async def _look_up_credentials(self, kind: str, secret: str) -> Caller | None:
        if kind == "bearer" and self._lookup is not None:
            return await self._lookup(secret)
        if kind == "basic" and self._basic is not None:
            return self._basic.caller(secret)
        return None

    def _anonymous(self, request: Request, needed: Scope) -> Caller | None:
        if not self._open_to_loopback or (self._basic is not None and needed > Scope.VIEWER):
            return None
        return LOCAL if _is_local(request) and _meant_us(request, self._own_host, self._origins) else None

    def _unauthorized(self) -> HttpError:
        """The same words for a token that is unknown, expired, revoked or malformed, and for none."""
        ways = 'Bearer, Basic realm="pressroom", charset="UTF-8"' if self._basic is not None else "Bearer"
        return HttpError(401, "unauthorized", self._unauthorized_words, {"WWW-Authenticate": ways})


def is_same(one: Caller, other: Caller) -> bool:
    """Whether the same rows exist for both."""
    return (one.token, one.org_id, one.everywhere) == (other.token, other.org_id, other.everywhere)


def require_own(caller: Caller, job: Job) -> Job:
    """Another organisation's job does not exist: the answer is the one for a job that never was."""
    if not caller.owns(job.org_id):
        raise NotFound(f"there is no job_{job.uid}; the id is wrong, or it was deleted after its retention")
    return job


def _is_local(request: Request) -> bool:
    """Straight from this machine: a proxy's word for who is behind it is not taken."""
    if request.client is None or "x-forwarded-for" in request.headers or "forwarded" in request.headers:
        return False
    return is_loopback(request.client.host)


def _meant_us(request: Request, own_host: str | None, origins: Collection[str]) -> bool:
    """Whether the request is not from a web page of another site in a browser on this machine.

    A page may post to any address, and by pointing its own name at 127.0.0.1 it may even read the answer. The first shows in
    what browsers say of the sender, the second in the name that they were asked to call. A page that the operator named
    is as good as them; one that only `*` lets read is any page at all, and needs a token.
    """
    origin = request.headers.get("origin")
    named = origin in origins
    if origins and not named and not _is_own(origin, request):
        return False
    if not named and request.method not in ("GET", "HEAD", "OPTIONS") and request.headers.get("sec-fetch-site") == "cross-site":
        return False
    host = request.url.hostname or ""
    return host == own_host or "." not in host.rstrip(".") or host.endswith(".localhost") or is_loopback(host)


def _is_own(origin: str | None, request: Request) -> bool:
    """Whether it is no page at all that asks, or one of this very host."""
    return origin is None or origin == f"{request.url.scheme}://{request.url.netloc}"


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
