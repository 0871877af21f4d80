"""Errors as the service tells them: RFC 9457 problems with stable codes, and never a traceback."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.errors import (
    ArtifactStoreMismatch,
    Ended,
    PressroomError,
    QueueFull,
    SourceInvalid,
    StoreUnavailable,
    Unavailable,
    WaitTimeout,
)

log = logging.getLogger("pressroom.api")

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = 5


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong. `code` is stable; `detail` is for people."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    instance: str
    request_id: str
    retryable: bool = False
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    job_id: str | None = None
    missing: list[str] | None = None  # paths of the data that a document needs


class HttpError(PressroomError):
    """A refusal that only HTTP knows: a method, a header or a body that cannot be."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status  # type: ignore[misc]
        self.code = code  # type: ignore[misc]
        self.headers = dict(headers or {})


def problem(request: Request, error: PressroomError, *, status: int | None = None) -> Response:
    """An error as a response."""
    return problem_response(error, describe(request, error, status=status))


def problem_response(error: PressroomError, described: Problem) -> Response:
    headers = dict(getattr(error, "headers", {}))
    if described.retryable:
        headers.setdefault("Retry-After", str(retry_after(error)))
    headers["Cache-Control"] = "no-store"
    return Response(msgspec.json.encode(described), described.status, headers, MEDIA_TYPE)


_STORE_PROBLEMS = {
    "store_unavailable": "the store cannot be reached just now; try again in a moment",
    "store_busy": "the store is busy with others just now; try again in a moment",
    "store_full": "the store has no room left; nothing was written",
    "artifact_store_mismatch": "this process has other artifact settings than its database; an operator must mend them",
    "s3_credentials_missing": "the artifact store cannot be used: an operator must mend its credentials",
    "s3_credentials_failed": "the artifact store cannot be used: an operator must mend its credentials",
    "s3_credentials_expired": "the artifact store cannot be used: an operator must mend its credentials",
    "store_read_only": "the store cannot be written to just now; nothing was written",
}


def describe(request: Request, error: PressroomError, *, status: int | None = None) -> Problem:
    status = status or error.status
    code, detail = error.code, str(error)
    # Their own words name addresses and folders, which are the operator's business.
    if isinstance(error, StoreUnavailable | ArtifactStoreMismatch):
        log.warning("request %s was refused: %s", request_id_of(request), error)
        detail = _STORE_PROBLEMS.get(code, _STORE_PROBLEMS[StoreUnavailable.code])
    place: dict[str, Any] = {}
    if isinstance(error, Ended) and error.error:
        code, detail = error.error.get("code", code), error.error.get("message", detail)
        place = {name: error.error.get(name) for name in ("line", "column", "excerpt")}
    if isinstance(error, SourceInvalid):
        place = {"line": error.line, "column": error.column, "excerpt": error.excerpt}
    return Problem(
        type=f"urn:pressroom:problem:{code}",
        title=title_of(status),
        status=status,
        code=code,
        detail=detail,
        instance=request.url.path,
        request_id=request_id_of(request),
        retryable=isinstance(error, Unavailable) or status in (429, 503),
        job_id=f"job_{error.uid}" if isinstance(error, Ended | WaitTimeout) else None,
        missing=getattr(error, "missing", None),
        **place,
    )


def internal(request: Request, error: Exception) -> Response:
    """What we did not foresee: the log has it all, the caller a request id to ask about."""
    log.error("request %s failed", request_id_of(request), exc_info=error)
    return problem(request, HttpError(500, "internal", "something went wrong here; the request id leads to it in the log"))


def without_request(status: int, code: str, detail: str) -> bytes:
    """For a connection without a whole request: there is no path and no request id to name."""
    body = Problem(
        type=f"urn:pressroom:problem:{code}",
        title=title_of(status),
        status=status,
        code=code,
        detail=detail,
        instance="",
        request_id="",
        retryable=status in (429, 503),
    )
    return msgspec.json.encode(body)


def retry_after(error: PressroomError) -> int:
    return max(1, round(error.retry_after)) if isinstance(error, QueueFull) else RETRY_AFTER


def request_id_of(request: Request) -> str:
    return str(request.scope.get("state", {}).get("request_id", ""))


def title_of(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
