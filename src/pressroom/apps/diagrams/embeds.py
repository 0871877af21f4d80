"""`/a/{name}.svg`: the picture that a README shows. It follows the name, it never breaks, and it is never out of date."""

import re
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from pressroom.api import examples
from pressroom.api.access import Scope, cache_visibility
from pressroom.api.artifacts import FOREVER, send
from pressroom.api.problems import MEDIA_TYPE, HttpError, Problem
from pressroom.api.routes import Routes
from pressroom.api.schema import header, path, query, says, sends
from pressroom.api.service import Service
from pressroom.api.waiting import settled
from pressroom.apps.diagrams import trouble
from pressroom.apps.diagrams.answers import RenderFailed
from pressroom.apps.diagrams.named import OUTPUTS, THEMES, Names, Shown
from pressroom.errors import JobFailed, NotFound, PressroomError, Unavailable, WaitTimeout
from pressroom.model import Status

PATIENCE = 10.0  # seconds; image proxies wait no longer than that either

_FILE = re.compile(r"(?P<name>[A-Za-z0-9_-]{1,100})(?:@(?P<number>[1-9]\d{0,8}))?\.(?P<output>[a-z]{3})")


class Wish(NamedTuple):
    name: str
    number: int | None
    output: str
    theme: str | None


def router(service: Service, names: Names) -> Routes:
    routes = Routes()
    kinds = ("image/*", "application/pdf")

    @routes.get(
        "/a/{file}",
        operation_id="show_diagram",
        responses=trouble.or_picture(
            {
                200: sends("The latest good picture, or a placeholder before there is one", *kinds, example=examples.SVG),
                206: sends("Some of its bytes", *kinds, example=examples.SVG[:4]),
                304: {"description": "You have it"},
                410: says(Problem, "This version is no longer kept", media_type=MEDIA_TYPE),
            },
            *(400, 401, 404, 409, 413, 416, 422, 429, 500, 501, 503, 504),
        ),
        asks={
            "parameters": [
                path("file", "team-map.svg", "The name and what it is wanted as; with a version as in `team-map@3.png`"),
                query("theme", {"enum": list(THEMES)}, "Another theme than the diagram's own"),
                query("key", {"type": "string"}, "As `embed` of the diagram has it; takes the place of a token"),
                query("download", {"enum": ["", "1", "true", "0", "false"]}, "As a file to keep"),
                header("Range", "One range of bytes"),
                header("If-None-Match", "The tag of what you have"),
            ]
        },
    )
    @routes.head("/a/{file}")
    async def show_diagram(request: Request, file: str) -> Response:
        """`name.svg`, `name.png` or `name.pdf` follow the name; `name@3.svg` is version 3 for ever.

        What goes wrong is told as a picture, unless JSON is asked for.
        """
        try:
            return await _show(service, names, request, file)
        except PressroomError as error:
            if not trouble.wants_picture(request, otherwise=True):
                raise
            return trouble.answer(request, error)

    return routes


async def _show(service: Service, names: Names, request: Request, file: str) -> Response:
    link = request.query_params.get("key")
    caller = None if link else await service.gate.caller(request, Scope.VIEWER)
    org_id = None if caller is None else caller.org_id
    wish = _wish(request, file)
    named = await names.find(org_id, wish.name, link)
    shown = await names.show(named, wish.output, wish.theme, wish.number)
    if _is_missing(shown) and await _drawn(service, names, shown, wish.output):
        shown = await names.show(named, wish.output, wish.theme, wish.number)
    if shown.picture is None:
        return _nothing_yet(shown)
    return await _sent(
        service, request, shown, wish, is_public=caller is None or cache_visibility(caller, named.org_id) == "public"
    )


def _wish(request: Request, file: str) -> Wish:
    found = _FILE.fullmatch(file)
    if found is None or found["output"] not in OUTPUTS:
        raise NotFound(f"ask for a diagram by its name and one of: {', '.join(OUTPUTS)}; such as arrows.svg or arrows@3.svg")
    theme = request.query_params.get("theme")
    if theme is not None and theme not in THEMES:
        raise HttpError(400, "invalid_argument", f"theme is one of: {', '.join(THEMES)}")
    return Wish(found["name"], int(found["number"]) if found["number"] else None, found["output"], theme)


def _is_missing(shown: Shown) -> bool:
    """Whether the wanted version has no picture of this kind and one can be made. One that failed would fail again."""
    wanted = shown.wanted
    return wanted is not None and shown.number != wanted.number and wanted.status in ("completed", "superseded")


async def _drawn(service: Service, names: Names, shown: Shown, output: str) -> bool:
    """Make the picture that is missing. False if it takes too long, or if there is an older one to show instead."""
    try:
        ended = await settled(service, await names.draw(shown, output), PATIENCE)
    except WaitTimeout:
        return False
    except Unavailable:
        if shown.picture is None:
            raise
        return False
    if ended.status is Status.FAILED and shown.picture is None:
        raise RenderFailed(ended)
    return True


def _nothing_yet(shown: Shown) -> Response:
    version = shown.wanted or shown.newest
    if version.status == "failed":
        failed = JobFailed(version.job_uid or "", version.error)
        failed.status = 422  # type: ignore[misc]
        raise failed
    return trouble.placeholder(shown.named.name)


async def _sent(service: Service, request: Request, shown: Shown, wish: Wish, *, is_public: bool) -> Response:
    assert shown.picture is not None
    visibility = "public" if is_public else "private"
    if wish.number is not None:
        return await send(service, request, shown.picture, cache=f"{visibility}, {FOREVER}")
    cache = "no-cache, must-revalidate" if is_public else "private, no-cache, must-revalidate"
    response = await send(service, request, shown.picture, cache=cache)
    themed = f"?theme={wish.theme}" if wish.theme else ""
    response.headers["Content-Location"] = f"{service.base_url}/a/{wish.name}@{shown.number}.{wish.output}{themed}"
    response.headers["Cache-Status"] = _cache_status(shown)
    return response


def _cache_status(shown: Shown) -> str:
    if shown.number == shown.newest.number:
        return "pressroom; hit"
    return f'pressroom; hit; detail="version {shown.newest.number} is {shown.newest.status}"'
