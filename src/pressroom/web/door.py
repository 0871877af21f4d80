"""Who a browser is. A token opens a session; afterwards a cookie stands for it, and no page ever sees the token again.

Every browser gets a secret in a cookie. What it posts must carry a word that only a page of ours can have written into the
form: one that is made from that secret. Once somebody logs in with a token, the secret is a new one, and its hash is a row.
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

_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
_PLAIN = re.compile(r"[^\\\x00-\x20]*")
_UPWARDS = re.compile(r"/(\.|%2e){1,2}(?=/|$)", re.IGNORECASE)  # as browsers read it, encoded or not
HOME = "/desk"


@dataclass(frozen=True)
class Browser:
    """`secret` is what its cookie holds; `is_new` if it is yet to be given one. `caller` is None for a stranger."""

    secret: str
    is_new: bool
    caller: Caller | None
    has_session: bool = False

    @property
    def form_token(self) -> str:
        return hmac.digest(self.secret.encode(), b"pressroom form", "sha256").hex()


class Door:
    def __init__(self, gate: Gate, database: Database, clock: Clock, base_url: str) -> None:
        self._gate = gate
        self._database = database
        self._clock = clock
        self._base_url = base_url
        self.returns_to = [HOME]  # what pages begin with, to which a login may lead

    async def browser(self, request: Request) -> Browser:
        """Whoever has a session is who they logged in as. Everybody else is judged as at any other door of the service."""
        given = read_cookie(request, self._cookie(request)) or ""
        secret = given if _SECRET.fullmatch(given) else secrets.token_urlsafe(32)
        if secret == given and (caller := await self._logged_in(secret)):
            return Browser(secret, False, caller, has_session=True)
        try:
            caller = self._gate.seen_as(request, await self._gate.caller(request, Scope.VIEWER))
        except HttpError as refused:
            if refused.status != 401:
                raise
            caller = None
        return Browser(secret, secret != given, caller)

    async def still_admits(self, request: Request, browser: Browser) -> bool:
        """Whether who logged in is logged in still. For an answer that goes on for long: it is not counted."""
        if browser.caller is None:
            return False
        if not browser.has_session:
            return await self._gate.still_admits(request, browser.caller)
        try:
            caller = await self._logged_in(browser.secret)
        except PressroomError:
            return False
        return caller is not None and is_same(caller, browser.caller)

    def admit(self, request: Request, browser: Browser, needed: Scope) -> Caller:
        """What is asked for may need more than a look. Raises HttpError: 401 for a stranger, 403 for who may not."""
        if browser.caller is None:
            raise HttpError(401, "unauthorized", "log in with a token to see this")
        return self._gate.admit(request, browser.caller, needed)

    async def log_in(self, request: Request, token: str) -> Browser | None:
        """None for a token that is unknown, expired or revoked. The secret is a new one: who knew the old one knows nothing."""
        caller = await self._gate.proven(request, "bearer", token.strip())
        if caller is None or caller.token is None:
            return None
        secret = secrets.token_urlsafe(32)
        await self._database.run(partial(sessions.start, _digest(secret), caller.token), name="session")
        return Browser(secret, True, caller, has_session=True)

    async def log_out(self, browser: Browser) -> Browser:
        await self._database.run(partial(sessions.end, _digest(browser.secret)), name="session")
        return Browser(secrets.token_urlsafe(32), True, None)

    def require_own_form(self, request: Request, browser: Browser, token: str) -> None:
        """Refuses what another site made this browser send. Raises HttpError."""
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc not in self.own_places(request):
            words = "this came from another site; if this is the right place, BASE_URL must say how it is reached"
            raise HttpError(403, "forbidden", words)
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise HttpError(403, "forbidden", "this came from another site")
        if not hmac.compare_digest(token.encode(), browser.form_token.encode()):
            raise HttpError(403, "form_expired", "this form is too old: go back, reload the page, and send it again")

    def give_cookie(self, request: Request, browser: Browser, response: Response) -> None:
        if browser.is_new:
            secure = self._is_secure(request)
            response.set_cookie(self._cookie(request), browser.secret, path="/", httponly=True, samesite="lax", secure=secure)

    def inside(self, path: str) -> str:
        """Where to go after the login: a page of ours, or else the first one."""
        page = path.partition("?")[0]
        is_ours = any(page == start or page.startswith(f"{start}/") for start in self.returns_to)
        is_plain = len(path) < 2000 and _PLAIN.fullmatch(path) and not _UPWARDS.search(page)
        return path if is_ours and is_plain else HOME

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def own_places(self, request: Request) -> set[str]:
        """Hosts, with their ports, that are this service."""
        return {urlsplit(self._base_url).netloc, request.url.netloc} - {""}

    def _is_secure(self, request: Request) -> bool:
        return self._base_url.startswith("https:") or request.url.scheme == "https"

    def _cookie(self, request: Request) -> str:
        """The prefix makes browsers refuse one that another host of our domain has set. It works over HTTPS only."""
        return "__Host-pressroom" if self._is_secure(request) else "pressroom"

    async def _logged_in(self, secret: str) -> Caller | None:
        digest = _digest(secret)
        found = await self._database.read(partial(sessions.find, digest))
        if found is None:
            return None
        token, is_late = found
        if not token.holds_at(from_ms(self._clock.now_ms())):
            return None
        if is_late:
            await self._database.run(partial(sessions.touch, digest), name="session", durable=False)
        return caller_of(token)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
