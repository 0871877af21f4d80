"""`POST /render` and `POST /render/pdf`: JSON in, a PDF out."""

import asyncio
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.json_body import decode_json
from pressroom.api.problems import HttpError
from pressroom.api.routes import Routes
from pressroom.render_client.bodies import AnyRenderBody, HtmlBody, MarkdownBody, SectionsBody, TemplateBody
from pressroom.render_service.answers import pdf_response
from pressroom.render_service.service import RenderService

READ_IN_THREAD = 256 * 1024  # bytes

# By the member that tells them apart.
_BODIES: dict[str, type[AnyRenderBody]] = {
    "html": HtmlBody,
    "template": TemplateBody,
    "markdown": MarkdownBody,
    "sections": SectionsBody,
}


def router(service: RenderService) -> Routes:
    routes = Routes("render")
    api = PdfApi(service)
    routes.add("/render", api.render, "POST")
    routes.add("/render/pdf", api.render_markdown, "POST")
    return routes


class PdfApi:
    def __init__(self, service: RenderService) -> None:
        self._service = service

    async def render(self, request: Request) -> Response:
        return await self._render(request, tuple(_BODIES))

    async def render_markdown(self, request: Request) -> Response:
        return await self._render(request, ("markdown",))

    async def _render(self, request: Request, members: tuple[str, ...]) -> Response:
        await self._service.admit(request)
        _require_json(request)
        text = await request.body()
        body = _read_body(text, members)
        # Many sections take long to go through.
        wanted = await asyncio.to_thread(body.to_request) if len(text) > READ_IN_THREAD else body.to_request()
        return await pdf_response(await self._service.render(request, wanted))


def _require_json(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise HttpError(415, "unsupported_media_type", f"send application/json, not {media_type[:100]!r}")


def _read_body(body: bytes, members: tuple[str, ...]) -> AnyRenderBody:
    try:
        told = decode_json(body, dict[str, Any])
    except msgspec.ValidationError as reason:
        raise HttpError(400, "invalid_argument", f"the body is a JSON object: {reason}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as reason:
        raise HttpError(400, "invalid_json", f"the body is not JSON: {reason}") from None
    found = [name for name in members if name in told]
    if len(found) != 1:
        words = " or ".join(f"`{name}`" for name in members)
        raise HttpError(400, "invalid_argument", f"the body has {words}{', and one of them only' if found else ''}")
    try:
        return msgspec.convert(told, _BODIES[found[0]])
    except msgspec.ValidationError as reason:
        raise HttpError(400, "invalid_argument", str(reason)) from None
