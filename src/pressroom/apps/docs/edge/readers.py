"""Who may read the sites of a private organisation: holders of a token of it, and of a link that was signed for it.

A link brings `?token=`, which is exchanged for a cookie of the site's own origin. The cookies of Pressroom's pages count for
nothing here: every site could use them.
"""

import base64
import binascii
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice

from starlette.requests import Request
from starlette.types import Scope

from pressroom.api.access import Caller
from pressroom.api.limits import Quotas
from pressroom.apps.docs.edge.answers import RequestHeaders
from pressroom.apps.docs.model import Org
from pressroom.clock import Clock
from pressroom.errors import InvalidArgument, PressroomError
from pressroom.sealing import SEALED, Keyring
from pressroom.web.cookies import read_cookies

COOKIE = "pressroom_docs_reader"
PARAMETER = "token"
LONGEST = 366 * 24 * 3600  # seconds for which a link works
_COOKIES = 8  # of this name that are tried: one path may have several
_COOKIE_BYTES = 64 * 1024  # sites set cookies of their own beside it; a request's head has no more


class ReaderLinks:
    """Signed links. Whoever has one reads all sites of its organisation until it expires."""

    def __init__(self, keyring: Keyring, clock: Clock) -> None:
        self._keyring = keyring
        self._clock = clock

    def sign(self, org: str, seconds: int) -> str:
        """The `token` of a link. Raises InvalidArgument without a key to sign with."""
        if not 0 < seconds <= LONGEST:
            raise InvalidArgument(f"a link works for 1 to {LONGEST:,} seconds")
        expires = self._clock.now_ms() + seconds * 1000
        sealed = self._keyring.seal(str(expires), _context(org))
        if not sealed.startswith(SEALED):
            raise InvalidArgument("there is no key to sign links with; name one in PRESSROOM_SECRET_KEY")
        return base64.urlsafe_b64encode(sealed.encode()).decode().rstrip("=")

    def seconds_left(self, org: str, token: str) -> int:
        """0 for a token that is not for this organisation, was changed, or has expired."""
        try:
            sealed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode("ascii")
            if not sealed.startswith(SEALED) or len(token) > 512:
                return 0
            expires = int(self._keyring.open(sealed, _context(org)))
        except (binascii.Error, ValueError, PressroomError):
            return 0
        return max(0, (expires - self._clock.now_ms()) // 1000)


class Readers:
    def __init__(self, look_up: Callable[[str], Awaitable[Caller | None]], links: ReaderLinks, quotas: Quotas) -> None:
        self._look_up = look_up
        self._quotas = quotas
        self.links = links

    async def may_read(self, org: Org, headers: RequestHeaders, scope: Scope) -> bool:
        """Raises HttpError 429 after too many wrong tokens from one address."""
        if any(self.links.seconds_left(org.slug, token) for token in _reader_cookies(headers)):
            return True
        kind, _, secret = headers.authorization.partition(" ")
        if kind.lower() != "bearer":
            return False
        request = Request(scope)
        self._quotas.refuse_guesser(request)
        caller = await self._look_up(secret.strip())
        if caller is None:
            self._quotas.note_wrong_guess(request)
            return False
        return caller.owns(org.slug)


def reader_cookie(token: str, seconds: int, path: str, *, is_secure: bool) -> str:
    """A Set-Cookie header."""
    secure = "; Secure" if is_secure else ""
    return f"{COOKIE}={token}; Max-Age={seconds}; Path={path}; HttpOnly; SameSite=Lax{secure}"


def _reader_cookies(headers: RequestHeaders) -> Iterator[str]:
    sent = (value.encode("latin-1") for value in headers.cookie_headers)
    return islice(read_cookies(sent, COOKIE, limit=_COOKIE_BYTES), _COOKIES)


def _context(org: str) -> str:
    return f"docs reader {org}"
