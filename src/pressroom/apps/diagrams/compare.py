"""Two versions of a picture, seen side by side, on top of each other, or as what differs; and their sources, line by line."""

from typing import Any

from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.apps.diagrams.compare_sides import Side, link_side, version_side
from pressroom.apps.diagrams.named import Names
from pressroom.apps.diagrams.playground_names import number_of
from pressroom.web.desk import Desk, Visit, refuse
from pressroom.web.lines import compare_lines


def router(desk: Desk) -> Routes:
    routes = Routes()
    names = Names(desk.service.queue, desk.service.rendering.database, desk.service.keyring)

    async def show(visit: Visit) -> Response:
        """`?name=&a=&b=` are two versions, by themselves the two newest; `?left=&right=` are two short links."""
        asked = visit.request.query_params
        if name := asked.get("name"):
            return await show_versions(visit, name, number_of(asked.get("a"), "a"), number_of(asked.get("b"), "b"))
        left, right = asked.get("left", ""), asked.get("right", "")
        if not left and not right:
            return await page(visit)
        if not left or not right:
            raise refuse("two short links are compared: give both, as ?left=LINK&right=LINK")
        return await page(visit, await link_side(visit, left), await link_side(visit, right), left=left, right=right)

    async def show_versions(visit: Visit, name: str, a: int | None, b: int | None) -> Response:
        named = await names.find(visit.caller.org_id, name)
        history = await names.history(named, None)
        newer = b or history.newest
        older = a or next((version.number for version in history.versions if version.number < newer), newer)
        sides = [await version_side(visit, names, named, number) for number in (older, newer)]
        numbers = [version.number for version in history.versions]
        return await page(
            visit, *sides, name=name, numbers=sorted({*numbers, older, newer}, reverse=True), chosen=(older, newer)
        )

    async def page(visit: Visit, before: Side | None = None, after: Side | None = None, **asked: Any) -> Response:
        lines = None
        if before and after and before.source is not None and after.source is not None:
            lines = await compare_lines(before.source, after.source)
        values: dict[str, Any] = {"name": "", "left": "", "right": "", "numbers": [], "chosen": None} | asked
        return visit.page("diagrams/compare.html", before=before, after=after, lines=lines, **values)

    desk.get(routes, "/playground/compare", show)
    return routes
