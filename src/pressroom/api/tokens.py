"""Tokens: created and looked up. The secret is shown once; only its hash is stored."""

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
import zlib
from functools import partial

import msgspec
from cachetools import LRUCache

from pressroom.api.access import Caller, Scope
from pressroom.clock import Clock
from pressroom.errors import InvalidArgument, PressroomError
from pressroom.ids import new_uid
from pressroom.model import from_ms
from pressroom.store import Database
from pressroom.store.access import tokens
from pressroom.store.access.tokens import NewToken, Token

log = logging.getLogger("pressroom.access")

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM = 34  # letters of 5.95 bits: 202 bits, of which a list shows 36
_CHECKSUM = 6  # a CRC-32 in base 62. Secret scanners tell a token from its like by it, and we spare the database
_SECRET = re.compile(rf"pr_[0-9A-Za-z]{{{_RANDOM + _CHECKSUM}}}")
_SHOWN = 9

# A revocation by another process takes effect after this long. Long enough that a busy caller costs one read.
CACHE_MS = 5_000
MAX_CACHED = 1_000
LONGEST_TTL = 3650 * 24 * 3600 * 1000


class CreatedToken(msgspec.Struct, frozen=True):
    """`secret` is shown once, to the caller that created the token; afterwards only its hash is stored."""

    secret: str
    token: Token


class Tokens:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._cache: LRUCache[str, tuple[int, Token | None]] = LRUCache(MAX_CACHED)
        self._touched: dict[str, int] = {}
        self._notes: set[asyncio.Task[None]] = set()

    async def create(
        self, scope: Scope, *, org: str | None = None, everywhere: bool = False, name: str = "", ttl_ms: int | None = None
    ) -> CreatedToken:
        """A new token. Without an org it is the default one's; `everywhere` is all of them."""
        _check(org, everywhere, name, ttl_ms)
        secret = new_secret()
        new = NewToken(
            uid=new_uid(),
            digest=digest_of(secret),
            prefix=secret[:_SHOWN],
            name=name,
            scope=scope.name.lower(),
            org_id=org,
            everywhere=everywhere,
            ttl=ttl_ms,
        )
        return CreatedToken(secret, await self._database.run(partial(tokens.create, new), name="token"))

    async def all(self) -> list[Token]:
        return await self._database.read(tokens.list_all)

    async def any_holds(self) -> bool:
        return await self._database.read(tokens.any_valid)

    async def revoke(self, name: str) -> None:
        """By its id or its beginning. It is refused from here on; other processes refuse it within seconds."""
        await self._database.run(partial(tokens.revoke, name), name="token")
        self._cache.clear()

    async def lookup(self, secret: str) -> Caller | None:
        """Who holds this secret. None if it is malformed, unknown, expired or revoked; callers cannot tell which."""
        if not is_well_formed(secret):
            return None
        token = await self._find(digest_of(secret))
        if token is None or not token.is_valid_at(from_ms(self._clock.now_ms())):
            return None
        self._note_use(token)
        return caller_of(token)

    async def _find(self, digest: str) -> Token | None:
        moment = self._clock.now_ms()
        known = self._cache.get(digest)
        if known is not None and 0 <= moment - known[0] < CACHE_MS:
            return known[1]
        token = await self._database.read(partial(tokens.find, digest))
        if token is not None and not hmac.compare_digest(token.digest, digest):
            token = None
        self._cache[digest] = (moment, token)
        return token

    def _note_use(self, token: Token) -> None:
        """In a task of its own: a request does not wait for the update of `last used`."""
        moment = self._clock.now_ms()
        if moment - self._touched.get(token.uid, 0) < tokens.USED_AT_MOST_EVERY:
            return
        self._touched[token.uid] = moment
        note = asyncio.create_task(self._touch(token.uid))
        self._notes.add(note)
        note.add_done_callback(self._notes.discard)

    async def _touch(self, uid: str) -> None:
        try:
            await self._database.run(partial(tokens.touch, uid), name="token", durable=False)
        except PressroomError as reason:
            log.warning("the use of token %s was not noted: %s", uid, reason)


def new_secret() -> str:
    body = "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM))
    return f"pr_{body}{_checksum(body)}"


def is_well_formed(secret: str) -> bool:
    return _SECRET.fullmatch(secret) is not None and _checksum(secret[3:-_CHECKSUM]) == secret[-_CHECKSUM:]


def digest_of(secret: str) -> str:
    """Plain SHA-256: 202 random bits need no salt and no slowness."""
    return hashlib.sha256(secret.encode()).hexdigest()


def caller_of(token: Token) -> Caller:
    # The name is part of what an Idempotency-Key is kept under, so no two tokens may share it.
    name = f"{token.name} ({token.prefix})" if token.name else token.prefix
    return Caller(name, Scope[token.scope.upper()], token.org_id, token.everywhere, token.uid)


def _checksum(body: str) -> str:
    number, letters = zlib.crc32(body.encode()), ""
    for _ in range(_CHECKSUM):
        number, place = divmod(number, len(_ALPHABET))
        letters = _ALPHABET[place] + letters
    return letters


def _check(org: str | None, everywhere: bool, name: str, ttl_ms: int | None) -> None:
    if everywhere and org is not None:
        raise InvalidArgument("a token is for one organisation or for all of them, not both")
    for what, text in (("org", org), ("name", name)):
        if text is not None and (len(text) > 255 or not text.isprintable()):
            raise InvalidArgument(f"{what} has up to 255 printable characters")
    if org is not None and (not org or org != org.strip()):
        raise InvalidArgument("an org is not empty and does not begin or end with a space; leave it out for the default one")
    if org == "*":
        raise InvalidArgument("an org is not called *: what concerns all of them is kept under that name")
    if ttl_ms is not None and not 0 < ttl_ms <= LONGEST_TTL:
        raise InvalidArgument("a token lives longer than no time and at most ten years")
