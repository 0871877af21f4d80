"""Sessions of browsers. A token opens a session; afterwards a cookie stands for it, and no page ever sees the token again.

Every browser gets a secret in a cookie. A form that it posts must carry a token derived from that secret, which only a page of
this site can contain (CSRF). A login replaces the secret by a new one, whose hash is a row.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.access import Caller, Gate, Scope, is_same
from pressroom.api.problems import HttpError
from pressroom.api.tokens import caller_of
from pressroom.clock import Clock
from pressroom.errors import PressroomError
from pressroom.model import from_ms
from pressroom.store import Database
from pressroom.store.access import sessions
from pressroom.web.cookies import read_cookie

_SECRET_PATTERN = re.compile(r"[A-Za-z0-9_-]{43}")
_SAFE_PATH = re.compile(r"[^\\\x00-\x20]*")
_DOT_SEGMENT = re.compile(r"/(\.|%2e){1,2}(?=/|$)", re.IGNORECASE)  # as browsers read it, encoded or not
DEFAULT_PAGE = "/desk"


@dataclass(frozen=True)
class BrowserSession:
    """`secret` is the value of its cookie; `is_new` if the cookie is still to be set. `caller` is None without a login."""

    secret: str
    is_new: bool
    caller: Caller | None
    has_session: bool = False

    @property
    def form_token(self) -> str:
        return hmac.digest(self.secret.encode(), b"pressroom form", "sha256").hex()


class Sessions:
    def __init__(self, gate: Gate, database: Database, clock: Clock, base_url: str) -> None:
        self._gate = gate
        self._database = database
        self._clock = clock
        self._base_url = base_url
        self.return_prefixes = [DEFAULT_PAGE]  # prefixes of the pages to which a login may return

    async def browser(self, request: Request) -> BrowserSession:
        """The caller of the session, if there is one; otherwise the caller as the HTTP interface identifies it."""
        given = read_cookie(request, self._cookie_name(request)) or ""
        secret = given if _SECRET_PATTERN.fullmatch(given) else secrets.token_urlsafe(32)
        if secret == given and (caller := await self._session_caller(secret)):
            return BrowserSession(secret, False, caller, has_session=True)
        try:
            caller = self._gate.seen_as(request, await self._gate.caller(request, Scope.VIEWER))
        except HttpError as error:
            if error.status != 401:
                raise
            caller = None
        return BrowserSession(secret, secret != given, caller)

    async def still_admits(self, request: Request, session: BrowserSession) -> bool:
        """Whether the session still holds. For long streams: this check does not count against the rate limit."""
        if session.caller is None:
            return False
        if not session.has_session:
            return await self._gate.still_admits(request, session.caller)
        try:
            caller = await self._session_caller(session.secret)
        except PressroomError:
            return False
        return caller is not None and is_same(caller, session.caller)

    def admit(self, request: Request, session: BrowserSession, needed: Scope) -> Caller:
        """Check the scope. Raises HttpError: 401 without a login, 403 without the scope."""
        if session.caller is None:
            raise HttpError(401, "unauthorized", "log in with a token to see this")
        return self._gate.admit(request, session.caller, needed)

    async def log_in(self, request: Request, token: str) -> BrowserSession | None:
        """None for a token that is unknown, expired or revoked. The secret is a new one (no session fixation)."""
        caller = await self._gate.check_credentials(request, "bearer", token.strip())
        if caller is None or caller.token is None:
            return None
        secret = secrets.token_urlsafe(32)
        await self._database.run(partial(sessions.start, _digest(secret), caller.token), name="session")
        return BrowserSession(secret, True, caller, has_session=True)

    async def log_out(self, session: BrowserSession) -> BrowserSession:
        await self._database.run(partial(sessions.end, _digest(session.secret)), name="session")
        return BrowserSession(secrets.token_urlsafe(32), True, None)

    def check_form_token(self, request: Request, session: BrowserSession, token: str) -> None:
        """Refuse a form that another site made this browser send (CSRF). Raises HttpError."""
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc not in self.own_hosts(request):
            message = "this came from another site; if this is the right place, BASE_URL must say how it is reached"
            raise HttpError(403, "forbidden", message)
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise HttpError(403, "forbidden", "this came from another site")
        if not hmac.compare_digest(token.encode(), session.form_token.encode()):
            raise HttpError(403, "form_expired", "this form is too old: go back, reload the page, and send it again")

    def set_cookie_if_new(self, request: Request, session: BrowserSession, response: Response) -> None:
        if session.is_new:
            secure = self._is_secure(request)
            response.set_cookie(
                self._cookie_name(request), session.secret, path="/", httponly=True, samesite="lax", secure=secure
            )

    def safe_return_path(self, path: str) -> str:
        """The path to return to after the login, if it is a page of this site; otherwise the dashboard."""
        page = path.partition("?")[0]
        is_ours = any(page == start or page.startswith(f"{start}/") for start in self.return_prefixes)
        is_plain = len(path) < 2000 and _SAFE_PATH.fullmatch(path) and not _DOT_SEGMENT.search(page)
        return path if is_ours and is_plain else DEFAULT_PAGE

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def own_hosts(self, request: Request) -> set[str]:
        """Hosts, with their ports, that are this service."""
        return {urlsplit(self._base_url).netloc, request.url.netloc} - {""}

    def _is_secure(self, request: Request) -> bool:
        return self._base_url.startswith("https:") or request.url.scheme == "https"

    def _cookie_name(self, request: Request) -> str:
        """The prefix makes browsers refuse one that another host of our domain has set. It works over HTTPS only."""
        return "__Host-pressroom" if self._is_secure(request) else "pressroom"

    async def _session_caller(self, secret: str) -> Caller | None:
        digest = _digest(secret)
        row = await self._database.read(partial(sessions.find, digest))
        if row is None:
            return None
        token, is_late = row
        if not token.is_valid_at(from_ms(self._clock.now_ms())):
            return None
        if is_late:
            await self._database.run(partial(sessions.touch, digest), name="session", durable=False)
        return caller_of(token)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
