"""Artifacts over HTTP: they never change, so they are cached for ever; they are strangers' work, so they may do nothing."""

import base64
from functools import lru_cache
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pressroom import artifact_lifecycle
from pressroom.api import examples
from pressroom.api.access import Caller, Scope, cache_visibility
from pressroom.api.byte_ranges import requested_range
from pressroom.api.problems import HttpError
from pressroom.api.replies import matches, reply
from pressroom.api.routes import Routes
from pressroom.api.schema import binary_response, header, json_response, path, query, responses
from pressroom.api.service import Service
from pressroom.artifacts import CHUNK, LINK_SECONDS
from pressroom.artifacts.disposition import content_disposition
from pressroom.artifacts.presign import max_lifetime
from pressroom.errors import NotFound
from pressroom.store.artifacts.artifacts import Artifact

_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
FOREVER = "max-age=31536000, immutable"


class Link(msgspec.Struct, frozen=True):
    """Its holder may fetch the bytes without a token, for `expires_in` seconds."""

    url: str
    expires_in: int


_BYTES = binary_response("The bytes", "*/*", example=examples.SVG)
_UID = path("uid", examples.ARTIFACT_ID, "The artifact")
_RESPONSES: dict[int | str, Any] = {
    200: _BYTES,
    206: binary_response("Some of the bytes", "*/*", example=examples.SVG[:4]),
    304: {"description": "You have it"},
}


_GET_ARTIFACT: dict[str, Any] = {
    "responses": responses(_RESPONSES, 401, 404, 416, 422),
    "openapi": {
        "parameters": [
            _UID,
            header("Range", "One range of bytes"),
            header("If-None-Match", "The tag of what you have"),
            query("download", {"enum": ["", "1", "true", "0", "false"]}, "As a file to keep"),
        ]
    },
}
_LINK_ARTIFACT: dict[str, Any] = {
    "responses": responses(
        {
            200: json_response(
                Link,
                "A link that works without a token, for a while",
                example={"url": "/blobs/c29tZXRoaW5n?expires=1767225900&signature=…", "expires_in": LINK_SECONDS},
            )
        },
        *(401, 404),
    ),
    "openapi": {"parameters": [_UID]},
}


def router(service: Service) -> Routes:
    routes = Routes("artifacts")
    api = ArtifactsApi(service)
    routes.add("/artifacts/{uid}", api.get_artifact, "HEAD")
    routes.add("/artifacts/{uid}", api.get_artifact, "GET", **_GET_ARTIFACT)
    routes.add("/artifacts/{uid}/link", api.link_artifact, "GET", **_LINK_ARTIFACT)
    routes.add("/blobs/{key}", api.get_blob, "GET")
    return routes


class ArtifactsApi:
    def __init__(self, service: Service) -> None:
        self._service = service

    async def get_artifact(self, request: Request, uid: str) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        artifact = await _get_own_artifact(self._service, caller, uid)
        visibility = cache_visibility(caller, artifact.org_id)
        return await send(self._service, request, artifact, cache=f"{visibility}, {FOREVER}")

    async def link_artifact(self, request: Request, uid: str) -> Response:
        caller = await self._service.gate.caller(request, Scope.VIEWER)
        artifact = await _get_own_artifact(self._service, caller, uid)
        key = artifact_lifecycle.blob_key(artifact)
        url = await self._service.rendering.blobs.url(key, media_type=artifact.media_type, filename=artifact.filename)
        link = Link(f"{self._service.base_url}{url}" if url.startswith("/") else url, max_lifetime(url) or LINK_SECONDS)
        return reply(link, headers={"Cache-Control": "no-store"})

    async def get_blob(self, request: Request, key: str) -> Response:
        """What a link that we signed leads to. In S3 such links lead to the bucket, and never here."""
        check = getattr(self._service.rendering.blobs, "check_link", None)
        if check is None:
            raise NotFound("there is nothing under this link, or its time is over")
        allowed = check(f"/blobs/{key}?{request.url.query}")
        chunks = await self._service.rendering.blobs.get(allowed.key)
        headers = _untrusted_content_headers(allowed.media_type, allowed.filename, download=True)
        return StreamingResponse(chunks, 200, headers | {"Cache-Control": "private, no-store"}, allowed.media_type)


async def _get_own_artifact(service: Service, caller: Caller, uid: str) -> Artifact:
    artifact = await service.rendering.artifact(uid) if len(uid) == 26 else None
    if artifact is None or not caller.owns(artifact.org_id):
        raise NotFound(f"there is no artifact {uid[:80]!r}")
    return artifact


async def send(service: Service, request: Request, artifact: Artifact, *, cache: str) -> Response:
    """An artifact's bytes, or the range that was asked for, with headers that keep it harmless in a browser."""
    tag, download = f'"sha256-{artifact.sha256}"', _wants_download(request)
    if matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers={"ETag": tag, "Cache-Control": cache})
    headers = [*_headers(artifact.sha256, artifact.media_type, artifact.filename, download=download)]
    headers.append((b"cache-control", cache.encode()))
    start, stop = requested_range(request.headers.get("range"), request.headers.get("if-range"), artifact.size, tag)
    status = 200
    if (start, stop) != (0, artifact.size):
        status = 206
        headers.append((b"content-range", f"bytes {start}-{stop - 1}/{artifact.size}".encode()))
    headers.append((b"content-length", str(stop - start).encode()))
    if request.method == "HEAD":
        return _Prepared(status, headers)
    if artifact.size <= CHUNK:  # most are small, and are sent in one piece
        data = await service.rendering.read_all(artifact)
        return _Prepared(status, headers, data if status == 200 else data[start:stop])
    response = StreamingResponse(await service.rendering.read(artifact, start, stop), status)
    response.raw_headers = headers
    return response


class _Prepared(Response):
    """A response whose headers are bytes already. Making them so costs as much as finding the picture."""

    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes = b"") -> None:
        self.status_code = status
        self.raw_headers = headers
        self.body = body
        self.background = None


@lru_cache(maxsize=1024)
def _headers(sha256: str | None, media_type: str, filename: str | None, *, download: bool) -> list[tuple[bytes, bytes]]:
    headers = {"ETag": f'"sha256-{sha256}"', "Accept-Ranges": "bytes"} | _untrusted_content_headers(
        media_type, filename, download=download
    )
    if sha256:
        headers["Content-Digest"] = f"sha-256=:{base64.b64encode(bytes.fromhex(sha256)).decode()}:"
    made = Response(headers=headers, media_type=media_type).raw_headers
    return [header for header in made if header[0] != b"content-length"]  # which is that of nothing


def _untrusted_content_headers(media_type: str, filename: str | None, *, download: bool) -> dict[str, str]:
    """A stranger's work in a browser: it runs nothing, fetches nothing, and is taken for nothing else than it is."""
    as_file = download or media_type.startswith("text/html")
    disposition = content_disposition(filename) if filename else "attachment"
    return {
        "Content-Security-Policy": _POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Content-Disposition": disposition if as_file else disposition.replace("attachment", "inline", 1),
    }


def _wants_download(request: Request) -> bool:
    if not request.scope["query_string"]:
        return False
    asked = request.query_params.get("download", "false").lower()
    if asked not in ("", "1", "true", "0", "false"):
        raise HttpError(422, "invalid_argument", "download is true or false")
    return asked in ("", "1", "true")
