"""The route table: order, parameters, methods, and paths that are almost those of a route."""

from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.api.routing import RouteTable


def table(*patterns: str, methods: tuple[str, ...] = ("GET",)) -> RouteTable:
    routes = Routes()
    for pattern in patterns:
        routes.add(pattern, echo(pattern), *methods)
    return RouteTable(routes)


def echo(pattern: str) -> Any:
    async def handler(_: Request, **parameters: str) -> Response:
        return Response(f"{pattern} {parameters}")

    return handler


async def ask(app: Any, method: str, path: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        return await client.request(method, path)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/jobs", "/jobs {}"),
        ("/jobs/7", "/jobs/{id} {'id': '7'}"),
        ("/acme/pages", "/{org}/pages {'org': 'acme'}"),
        ("/jobs/pages", "/jobs/{id} {'id': 'pages'}"),
        ("/~ada", "/~{user} {'user': 'ada'}"),
        ("/", "/ {}"),
        ("/files/a/b/c", "/files/{rest:path} {'rest': 'a/b/c'}"),
        ("/jobs/a%20b", "/jobs/{id} {'id': 'a b'}"),
    ],
)
async def test_the_first_declared_pattern_that_matches_answers(path: str, found: str) -> None:
    app = table("/", "/jobs", "/jobs/{id}", "/{org}/pages", "/~{user}", "/files/{rest:path}")
    answer = await ask(app, "GET", path)
    assert (answer.status_code, answer.text) == (200, found)


async def test_a_pattern_that_begins_with_a_parameter_keeps_its_place() -> None:
    """The table looks routes up by the first part of the path, under which such a pattern was never found."""
    app = table("/{org}/pages", "/jobs/{id}")
    assert (await ask(app, "GET", "/jobs/pages")).text == "/{org}/pages {'org': 'jobs'}"
    assert (await ask(app, "GET", "/jobs/7")).text == "/jobs/{id} {'id': '7'}"


@pytest.mark.parametrize("path", ["/jobs/a%2Fb", "/jobs%0A", "/jobs//", "//jobs", "/Jobs", "/jobs/7/8"])
async def test_a_path_that_is_almost_a_route_is_not_found(path: str) -> None:
    assert (await ask(table("/jobs", "/jobs/{id}"), "GET", path)).status_code == 404


async def test_a_path_without_a_slash_is_not_found() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "OPTIONS", "path": "*", "headers": [], "query_string": b"", "state": {}}
    await table("/jobs")(scope, lambda: None, send)  # type: ignore[arg-type]
    assert sent[0]["status"] == 404


async def test_405_names_the_methods_of_every_route_with_this_path() -> None:
    routes = Routes()
    for method in ("GET", "POST"):
        routes.add("/jobs", echo(method), method)
    routes.add("/{anything}", echo("any"), "DELETE")
    answer = await ask(RouteTable(routes), "PUT", "/jobs")
    assert (answer.status_code, answer.headers["allow"]) == (405, "DELETE, GET, POST")


async def test_head_is_answered_only_where_it_is_declared() -> None:
    assert (await ask(table("/jobs"), "HEAD", "/jobs")).status_code == 405
    assert (await ask(table("/jobs", methods=("GET", "HEAD")), "HEAD", "/jobs")).status_code == 200


@pytest.mark.parametrize(
    ("path", "location"),
    [("/jobs/", "../jobs"), ("/pages", "./pages/"), ("/jobs/?a=b", "../jobs?a=b"), ("/pages?a=b", "./pages/?a=b")],
)
async def test_the_other_spelling_of_a_slash_redirects(path: str, location: str) -> None:
    answer = await ask(table("/jobs", "/pages/"), "GET", path)
    assert (answer.status_code, answer.headers["location"]) == (307, location)


async def test_a_documented_path_hides_the_later_ones_that_would_match_it_too() -> None:
    """As in OpenAPI: DELETE /packs/batches is not the deletion of a pack called `batches`."""
    routes = Routes()
    said = {"responses": {200: {}}}
    routes.add("/packs/batches", echo("batches"), "GET", **said)
    routes.add("/packs/batches", echo("new batch"), "POST", **said)
    routes.add("/packs/{id}", echo("pack"), "DELETE", **said)
    answer = await ask(RouteTable(routes), "DELETE", "/packs/batches")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert (await ask(RouteTable(routes), "POST", "/packs/batches")).text == "new batch {}"
    assert (await ask(RouteTable(routes), "DELETE", "/packs/7")).text == "pack {'id': '7'}"
