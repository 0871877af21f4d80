"""What happens around every request: an id, a line in the log, a limit on its body, and problems instead of tracebacks."""

import asyncio
import itertools
import logging
import re
import secrets
import time
from collections.abc import Iterable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pressroom import tracing
from pressroom.api.problems import HttpError, internal, problem
from pressroom.errors import PressroomError, QueueClosed

log = logging.getLogger("pressroom.access")

# Ids of requests need not sort by time, and are made for every one: a process has its own beginning and counts.
_HERE = secrets.token_hex(9)
_numbers = itertools.count(1)
_SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_QUIET = ("/livez", "/readyz", "/metrics")
_NOSNIFF = (b"x-content-type-options", b"nosniff")
CLIENT_GONE = 499  # in the log and the metrics alone: the connection is closed, so no answer is sent
BODY_LIMIT = 12 * 1024 * 1024
FORM_LIMIT = 64 * 1024  # of routes with `small_body`
HEADERS_LIMIT = 200
HEADER_BYTES_LIMIT = 64 * 1024


class RequestMiddleware:
    """Pure ASGI, because the usual base class buffers streams and loses their cancellation."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: Any,
        *,
        body_limit: int = BODY_LIMIT,
        form_limit: int = FORM_LIMIT,
        head_limit: int = HEADER_BYTES_LIMIT,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._body_limit = body_limit
        self._form_limit = form_limit
        self._head_limit = head_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = id
        began = time.perf_counter()
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = scope["state"]["status"] = message["status"]
                message["headers"] = [*_with_nosniff(message.get("headers", ())), (b"x-request-id", id.encode())]
            await send(message)

        with tracing.request_span(scope, request.headers):
            try:
                refuse_oversized(scope, self._head_limit)
                _refuse_encoded(scope)
                await self._app(scope, self._limit_body(scope, receive), answer)
            except asyncio.CancelledError:
                if status:
                    raise
                # The grace of a stop is over. The client gets a 503, which says that it may retry.
                await problem(request, QueueClosed("the service is closing"))(scope, receive, answer)
            except ClientDisconnect:
                log.info("request %s: the client went away while it sent its body", id)
                status = status or CLIENT_GONE
            except Exception as error:
                if status:
                    raise
                response = problem(request, error) if isinstance(error, PressroomError) else internal(request, error)
                await response(scope, receive, answer)
            finally:
                self._log_and_measure(scope, status, time.perf_counter() - began, id)

    def _limit_body(self, scope: Scope, receive: Receive) -> Receive:
        """A body is counted while it comes, because what its header says about its length proves nothing; but what it says
        may be too much already.
        """
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            # The route is known by now: only its handler reads the body.
            limit = self._limit_of(scope.get("route"))
            if taken == 0 and _declared_length(scope) > limit:
                raise _body_too_large(limit)
            message = await receive()
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                if taken > limit:
                    raise _body_too_large(limit)
            return message

        return limited

    def _limit_of(self, route: Any) -> int:
        if getattr(route, "small_body", False):
            return self._form_limit
        return getattr(route, "body_limit", None) or self._body_limit

    def _log_and_measure(self, scope: Scope, status: int, seconds: float, id: str) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        self._metrics.request(route, scope["method"], status, seconds)
        if log.isEnabledFor(logging.INFO) and scope["path"] not in _QUIET:
            log.info(
                "%s %s %s", scope["method"], scope["path"], status, extra={"ms": round(seconds * 1000, 1), "request_id": id}
            )


def _with_nosniff(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """No browser takes an answer for anything else than it says, whatever the answer."""
    given = [*headers]
    return given if any(name.lower() == _NOSNIFF[0] for name, _ in given) else [*given, _NOSNIFF]


def _declared_length(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() and len(lengths[0]) < 20 else 0


def _body_too_large(limit: int) -> HttpError:
    return HttpError(413, "body_too_large", f"the body has more than {limit:,} bytes")


def refuse_oversized(scope: Scope, limit: int) -> None:
    """The server reads until it has 64 KB without an end, and more when they come all at once; no client needs so many."""
    headers = scope["headers"]
    size = sum([len(name) + len(value) for name, value in headers])
    if len(headers) > HEADERS_LIMIT or size > limit:
        raise HttpError(431, "headers_too_large", f"at most {HEADERS_LIMIT} headers of {limit:,} bytes together")


def _refuse_encoded(scope: Scope) -> None:
    """A compressed body may be a thousand times what it seems, and no client needs to send one."""
    for name, value in scope["headers"]:
        if name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
            words = "send the body as it is, without a Content-Encoding"
            raise HttpError(415, "unsupported_encoding", words, {"Accept-Encoding": "identity"})


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _SANE_ID.fullmatch(value.decode("latin-1")):
            return str(value.decode())
    return f"req_{_HERE}{next(_numbers):08x}"
