"""Two versions of a picture, seen side by side, on top of each other, or as what differs; and their sources, line by line."""

from typing import Any

from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.api.service import Service
from pressroom.apps.diagrams.named.diagrams import NamedDiagrams
from pressroom.apps.diagrams.playground.comparison_sides import ComparisonSide, side_of_link, side_of_version
from pressroom.apps.diagrams.playground.named_pages import parse_version
from pressroom.web.line_diff import diff_lines_in_thread
from pressroom.web.site import PageRequest, Site, page_error


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/playground/compare", ComparisonPage(site.service).show)
    return routes


class ComparisonPage:
    def __init__(self, service: Service) -> None:
        self._names = NamedDiagrams(service.queue, service.rendering.database, service.keyring)

    async def show(self, request: PageRequest) -> Response:
        """`?name=&a=&b=` are two versions, by themselves the two newest; `?left=&right=` are two short links."""
        asked = request.http.query_params
        if name := asked.get("name"):
            a, b = (parse_version(asked.get(field), field) for field in "ab")
            return await self._show_versions(request, name, a, b)
        left, right = asked.get("left", ""), asked.get("right", "")
        if not left and not right:
            return await _render_sides(request)
        if not left or not right:
            raise page_error("two short links are compared: give both, as ?left=LINK&right=LINK")
        sides = [await side_of_link(request, link) for link in (left, right)]
        return await _render_sides(request, *sides, left=left, right=right)

    async def _show_versions(self, request: PageRequest, name: str, a: int | None, b: int | None) -> Response:
        named = await self._names.find(request.caller.org_id, name)
        history = await self._names.history(named, None)
        newer = b or history.newest
        older = a or next((version.number for version in history.versions if version.number < newer), newer)
        sides = [await side_of_version(request, self._names, named, number) for number in (older, newer)]
        numbers = [version.number for version in history.versions]
        return await _render_sides(
            request, *sides, name=name, numbers=sorted({*numbers, older, newer}, reverse=True), chosen=(older, newer)
        )


async def _render_sides(
    request: PageRequest, before: ComparisonSide | None = None, after: ComparisonSide | None = None, **asked: Any
) -> Response:
    lines = None
    if before and after and before.source is not None and after.source is not None:
        lines = await diff_lines_in_thread(before.source, after.source)
    values: dict[str, Any] = {"name": "", "left": "", "right": "", "numbers": [], "chosen": None} | asked
    return request.page("diagrams/compare.html", before=before, after=after, lines=lines, **values)
