"""`/a/{name}.svg`: the picture that a README shows. It follows the name, it never breaks, and it is never out of date."""

import re
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Scope, cache_visibility
from pressroom.api.artifacts import FOREVER, send
from pressroom.api.problems import MEDIA_TYPE, HttpError, Problem
from pressroom.api.routes import Routes
from pressroom.api.schema import binary_response, header, json_response, path, query
from pressroom.api.service import Service
from pressroom.api.waiting import wait_until_ended
from pressroom.apps.diagrams import error_images
from pressroom.apps.diagrams.named.diagrams import OUTPUTS, THEMES, NamedDiagrams, ResolvedPicture
from pressroom.apps.diagrams.responses import RenderFailed
from pressroom.errors import JobFailed, NotFound, PressroomError, Unavailable, WaitTimeout
from pressroom.model import Status

PATIENCE = 10.0  # seconds; image proxies wait no longer than that either

_FILE = re.compile(r"(?P<name>[A-Za-z0-9_-]{1,100})(?:@(?P<number>[1-9]\d{0,8}))?\.(?P<output>[a-z]{3})")


class EmbedRequest(NamedTuple):
    name: str
    number: int | None
    output: str
    theme: str | None


_MEDIA_TYPES = ("image/*", "application/pdf")
_SHOW: dict[str, Any] = {
    "responses": error_images.responses_with_images(
        {
            200: binary_response(
                "The latest good picture, or a placeholder before there is one", *_MEDIA_TYPES, example=examples.SVG
            ),
            206: binary_response("Some of its bytes", *_MEDIA_TYPES, example=examples.SVG[:4]),
            304: {"description": "You have it"},
            410: json_response(Problem, "This version is no longer kept", media_type=MEDIA_TYPE),
        },
        *(400, 401, 404, 409, 413, 416, 422, 429, 500, 501, 503, 504),
    ),
    "openapi": {
        "parameters": [
            path("file", "team-map.svg", "The name and what it is wanted as; with a version as in `team-map@3.png`"),
            query("theme", {"enum": list(THEMES)}, "Another theme than the diagram's own"),
            query("key", {"type": "string"}, "As `embed` of the diagram has it; takes the place of a token"),
            query("download", {"enum": ["", "1", "true", "0", "false"]}, "As a file to keep"),
            header("Range", "One range of bytes"),
            header("If-None-Match", "The tag of what you have"),
        ]
    },
}


def router(service: Service, names: NamedDiagrams) -> Routes:
    routes = Routes()
    api = EmbedApi(service, names)
    routes.add("/a/{file}", api.show_diagram, "HEAD")
    routes.add("/a/{file}", api.show_diagram, "GET", **_SHOW)
    return routes


class EmbedApi:
    def __init__(self, service: Service, names: NamedDiagrams) -> None:
        self._service = service
        self._names = names

    async def show_diagram(self, request: Request, file: str) -> Response:
        """`name.svg`, `name.png` or `name.pdf` follow the name; `name@3.svg` is version 3 for ever.

        What goes wrong is told as a picture, unless JSON is asked for.
        """
        try:
            return await self._respond(request, file)
        except PressroomError as error:
            if not error_images.wants_picture(request, default=True):
                raise
            return error_images.error_response(request, error)

    async def _respond(self, request: Request, file: str) -> Response:
        link = request.query_params.get("key")
        caller = None if link else await self._service.gate.caller(request, Scope.VIEWER)
        org_id = None if caller is None else caller.org_id
        embed = _parse_request(request, file)
        named = await self._names.find(org_id, embed.name, link)
        resolved = await self._names.resolve_picture(named, embed.output, embed.theme, embed.number)
        if _needs_render(resolved) and await self._render_missing(resolved, embed.output):
            resolved = await self._names.resolve_picture(named, embed.output, embed.theme, embed.number)
        if resolved.picture is None:
            return _no_picture_response(resolved)
        return await self._picture_response(
            request, resolved, embed, is_public=caller is None or cache_visibility(caller, named.org_id) == "public"
        )

    async def _render_missing(self, resolved: ResolvedPicture, output: str) -> bool:
        """Make the picture that is missing. False if it takes too long, or if there is an older one to show instead."""
        try:
            ended = await wait_until_ended(self._service, await self._names.submit_picture(resolved, output), PATIENCE)
        except WaitTimeout:
            return False
        except Unavailable:
            if resolved.picture is None:
                raise
            return False
        if ended.status is Status.FAILED and resolved.picture is None:
            raise RenderFailed(ended)
        return True

    async def _picture_response(
        self, request: Request, resolved: ResolvedPicture, embed: EmbedRequest, *, is_public: bool
    ) -> Response:
        assert resolved.picture is not None
        visibility = "public" if is_public else "private"
        if embed.number is not None:
            return await send(self._service, request, resolved.picture, cache=f"{visibility}, {FOREVER}")
        cache = "no-cache, must-revalidate" if is_public else "private, no-cache, must-revalidate"
        response = await send(self._service, request, resolved.picture, cache=cache)
        themed = f"?theme={embed.theme}" if embed.theme else ""
        response.headers["Content-Location"] = (
            f"{self._service.base_url}/a/{embed.name}@{resolved.number}.{embed.output}{themed}"
        )
        response.headers["Cache-Status"] = _cache_status(resolved)
        return response


def _parse_request(request: Request, file: str) -> EmbedRequest:
    found = _FILE.fullmatch(file)
    if found is None or found["output"] not in OUTPUTS:
        raise NotFound(f"ask for a diagram by its name and one of: {', '.join(OUTPUTS)}; such as arrows.svg or arrows@3.svg")
    theme = request.query_params.get("theme")
    if theme is not None and theme not in THEMES:
        raise HttpError(400, "invalid_argument", f"theme is one of: {', '.join(THEMES)}")
    return EmbedRequest(found["name"], int(found["number"]) if found["number"] else None, found["output"], theme)


def _needs_render(resolved: ResolvedPicture) -> bool:
    """Whether the wanted version has no picture of this kind and one can be made. One that failed would fail again."""
    wanted = resolved.wanted
    return wanted is not None and resolved.number != wanted.number and wanted.status in ("completed", "superseded")


def _no_picture_response(resolved: ResolvedPicture) -> Response:
    version = resolved.wanted or resolved.newest
    if version.status == "failed":
        failed = JobFailed(version.job_uid or "", version.error)
        failed.status = 422  # type: ignore[misc]
        raise failed
    return error_images.placeholder_response(resolved.named.name)


def _cache_status(resolved: ResolvedPicture) -> str:
    if resolved.number == resolved.newest.number:
        return "pressroom; hit"
    return f'pressroom; hit; detail="version {resolved.newest.number} is {resolved.newest.status}"'
