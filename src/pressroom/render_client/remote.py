"""PDF files by a render service: one POST, to that address alone, with bounds on its time and on the size of its answer."""

import asyncio
import base64
import hashlib
import ssl
from typing import Any
from urllib.parse import quote

import httpx
import msgspec

from pressroom.base.dependencies import DependencyFailed
from pressroom.errors import RenderNotPdf, RenderUnreachable, Timeout, TooLarge
from pressroom.model import VERSION, Tier
from pressroom.render_client.answers import ERROR_BODY_LIMIT, SERVICE, error_of, printable
from pressroom.render_client.bodies import encode_request
from pressroom.renderers import MEDIA_TYPES, Notice, Rendered
from pressroom.renderers.documents import RenderRequest

ANSWER_LIMIT = 128 * 1024 * 1024  # bytes: more than any engine may make
PDF_MARK = b"%PDF-"
# What an answer that is no PDF mostly is. No other is named: callers read none of the words of the service (D22).
NAMED_MEDIA_TYPES = ("text/html", "text/plain", "application/json", "application/problem+json", "application/xml")


class ServiceHealth(msgspec.Struct, frozen=True):
    """Of the answer of `GET /health`: what a client needs to know."""

    status: str
    version: str
    authorized: bool
    code: str | None = None


class RemoteRenderer:
    """Belongs to one event loop. `timeout` is for all of one render: to connect, to wait, and to read the answer."""

    def __init__(self, url: str, *, token: str = "", timeout: float = 120.0, answer_limit: int = ANSWER_LIMIT) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._answer_limit = answer_limit
        self._client: httpx.AsyncClient | None = None

    async def render_pdf(self, request: RenderRequest, *, job: Any = None) -> Rendered:
        body = encode_request(request)
        headers = {"Content-Type": "application/json", "Accept": "application/pdf, application/problem+json", **_turn_of(job)}
        try:
            async with asyncio.timeout(self._timeout):
                client = self._client or await self._open_client()
                async with client.stream("POST", f"{self.url}/render", content=body, headers=headers) as response:
                    return await self._read(response)
        except TimeoutError:
            raise Timeout(f"{SERVICE} did not answer within {self._timeout:g} s") from None
        except httpx.ConnectError:
            raise RenderUnreachable(f"{SERVICE} cannot be reached") from None
        except httpx.HTTPError as broken:  # half an answer, a reset, or no HTTP at all
            raise RenderUnreachable(f"the connection to {SERVICE} broke: {type(broken).__name__}") from None

    async def probe(self) -> str:
        """Where the service is. Raises DependencyFailed if it would not render for us."""
        try:
            client = self._client or await self._open_client()
            response = await client.get(f"{self.url}/health")
        except httpx.HTTPError as reason:
            raise DependencyFailed("render_unreachable", f"{self.url}: {type(reason).__name__}") from None
        try:
            told = msgspec.json.decode(response.content, type=ServiceHealth)
        except (msgspec.DecodeError, UnicodeDecodeError):
            words = f"{self.url}/health answered with status {response.status_code} and not as a render service does"
            raise DependencyFailed("render_service_unknown", words) from None
        if not told.authorized:
            raise DependencyFailed("render_token_refused", f"{self.url} does not accept render_token")
        if told.status != "pass":
            raise DependencyFailed("render_service_failing", f"{self.url} cannot render: {str(told.code)[:100]}")
        return f"{self.url}, version {told.version[:40]}"

    async def _open_client(self) -> httpx.AsyncClient:
        # Its own context, because without the environment httpx would not know the certificates of this machine. They take
        # long to read.
        tls = await asyncio.to_thread(ssl.create_default_context) if self.url.startswith("https:") else False
        if self._client is None:
            self._client = httpx.AsyncClient(
                headers={
                    "User-Agent": f"pressroom/{VERSION}",
                    "Accept-Encoding": "identity",
                    **({"Authorization": f"Bearer {self._token}"} if self._token else {}),
                },
                verify=tls,
                trust_env=False,  # no proxy
                follow_redirects=False,  # the token and the document go to the address of the settings alone
                timeout=None,  # asyncio's is for all of it  # noqa: S113
                # No connection is used twice: one that the service closes meanwhile would cost the next job an attempt.
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            )
        return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _read(self, response: httpx.Response) -> Rendered:
        if response.status_code != 200:
            excerpt, _ = await _read_up_to(response, ERROR_BODY_LIMIT)
            raise error_of(response.status_code, response.headers.get("retry-after"), excerpt)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise RenderNotPdf(f"{SERVICE} answered with compressed data that was not asked for")
        data, is_whole = await _read_up_to(response, self._answer_limit)
        if not data.startswith(PDF_MARK):
            wrong = RenderNotPdf(f"{SERVICE} answered with {_media_type(response)} that is no PDF")
            wrong.detail = printable(data[:ERROR_BODY_LIMIT])
            raise wrong
        if not is_whole:
            raise TooLarge(f"{SERVICE} answered with more than {self._answer_limit:,} bytes")
        if not await asyncio.to_thread(_matches_digest, data, response.headers.get("content-digest", "")):
            raise RenderUnreachable(f"what came from {SERVICE} is not what it sent")
        return Rendered(data, MEDIA_TYPES["pdf"], _warnings(response), _details(response))


def _turn_of(job: Any) -> dict[str, str]:
    """Whose turn it is in the service: organisations share its slots, and background renders do not take every press."""
    if job is None:
        return {}
    org = {"Pressroom-Org": quote(job.org_id, safe="")} if job.org_id else {}
    return org | ({"Pressroom-Tier": "background"} if job.tier is Tier.BACKGROUND else {})


async def _read_up_to(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    """The beginning of the body, and whether that is all of it."""
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        if len(data) > limit:
            return bytes(data[:limit]), False
    return bytes(data), True


def _media_type(response: httpx.Response) -> str:
    found = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return found if found in NAMED_MEDIA_TYPES else "something"


def _matches_digest(data: bytes, told: str) -> bool:
    """RFC 9530. Without a digest of a kind that we know, everything matches."""
    for one in told.split(","):
        name, _, value = one.strip().partition("=")
        if name == "sha-256":
            return value == f":{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"
    return True


def _warnings(response: httpx.Response) -> list[Notice]:
    try:
        return msgspec.json.decode(response.headers.get("pressroom-notices", "[]"), type=list[Notice])
    except msgspec.DecodeError:
        return []


def _details(response: httpx.Response) -> dict[str, Any]:
    pages = response.headers.get("pressroom-pages", "")
    details: dict[str, Any] = {"pages": int(pages)} if pages.isdecimal() and len(pages) < 10 else {}
    try:
        engines = msgspec.json.decode(response.headers.get("pressroom-engines", "{}"), type=dict[str, str])
    except msgspec.DecodeError:
        engines = {}
    return details | {"engines": engines}
