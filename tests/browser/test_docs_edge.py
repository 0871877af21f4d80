"""A site with scripts of its own, served at the edge: it works, and reaches nothing of the service that serves it."""

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests import looking
from tests.apps.docs.edge_stage import edge_stage
from tests.browser.served import Served, serving
from tests.browser.watched import Watched
from tests.servers import free_ports

SITE = {
    "index.html": b"""<!doctype html><html lang="en"><title>Guide</title><link rel="stylesheet" href="_static/site.css">
        <h1>Guide</h1><p id="said">nothing</p><a href="more/">More</a><script src="_static/site.js"></script></html>""",
    "more/index.html": b"""<!doctype html><html lang="en"><title>More</title><h1>More</h1><a href="../">Back</a></html>""",
    "_static/site.css": b"h1 { color: rgb(1, 2, 3) }",
    "_static/site.js": b"""localStorage.setItem("site", "its own");
        document.getElementById("said").textContent = "the script has run";""",
}
# What a hostile site would try, by name, with what came of it.
ATTEMPTS = """async (desk) => {
    const attempt = async (work) => { try { return await work() } catch (error) { return `refused: ${error.name}` } };
    const read = (path, options) => attempt(async () => (await fetch(desk + path, options)).text());
    const post = (path, body, type) => attempt(async () => {
        const headers = {"Content-Type": type};
        return (await fetch(desk + path, {method: "POST", mode: "no-cors", credentials: "include", body, headers})).type;
    });
    const framed = (path) => new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.onload = () => {
            try { resolve(frame.contentDocument ? frame.contentDocument.body.innerText : "refused: no document") }
            catch (error) { resolve(`refused: ${error.name}`) }
        };
        frame.src = desk + path;
        document.body.append(frame);
    });
    return {
        page: await read("/desk", {credentials: "include"}),
        jobs: await read("/jobs"),
        simple: await read("/jobs", {mode: "no-cors"}),
        metrics: await read("/metrics"),
        frame: await framed("/desk"),
        submitted: await post("/render?format=dot&outputType=svg", "digraph { a }", "text/plain"),
        form: await post("/desk/logout", "a=b", "application/x-www-form-urlencoded"),
        cookies: document.cookie,
        worker: await attempt(async () => (await navigator.serviceWorker.register("/_sw.js", {scope: "/"})).scope),
    };
}"""


@dataclass
class ServedSite:
    served: Served
    edge: str  # host and port


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedSite]:
    home = tmp_path_factory.mktemp("docs")
    filling = threading.Thread(target=lambda: asyncio.run(_fill(home)))  # Playwright has a loop in this one
    filling.start()
    filling.join()
    (port,) = free_ports(1)
    with serving(home, PRESSROOM_DOCS_LISTEN=f"127.0.0.1:{port}") as served:
        yield ServedSite(served, f"127.0.0.1:{port}")


async def _fill(home: Path) -> None:
    async with edge_stage(f"sqlite:///{home / 'pressroom.db'}", artifacts=str(home / "pressroom.artifacts")) as stage:
        await stage.add_project()
        types = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
        await stage.publish(SITE, types=types)


def addresses(site: ServedSite) -> list[str]:
    port = site.edge.rpartition(":")[2]
    return [f"http://guide.localhost:{port}/", f"http://guide.acme.localhost:{port}/", f"http://{site.edge}/acme/guide/"]


@pytest.mark.parametrize("number", range(3))
def test_a_site_works_with_its_scripts_and_styles(page: Page, site: ServedSite, number: int) -> None:
    page.goto(addresses(site)[number])

    expect(page.locator("#said")).to_have_text("the script has run")
    expect(page.locator("h1")).to_have_css("color", "rgb(1, 2, 3)")
    assert page.evaluate("localStorage.getItem('site')") == "its own"
    page.get_by_role("link", name="More").click()
    expect(page.get_by_role("heading", name="More")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("heading", name="Guide")).to_be_visible()
    page.goto(f"{addresses(site)[number]}v/")
    page.get_by_role("link", name="Main").click()
    expect(page.get_by_role("heading", name="Guide")).to_be_visible()


@pytest.mark.parametrize("number", [0, 2])
def test_a_site_reaches_nothing_of_the_service(watched: Watched, site: ServedSite, number: int) -> None:
    """Also from the same host name: cookies do not know of ports, origins do."""
    page, desk = watched.page, site.served.url
    watched.forgive("")  # each refused attempt is an error of the console
    page.goto(f"{desk}/desk")
    assert page.context.cookies(desk)  # which the site's requests bring along where the browser lets them
    page.goto(addresses(site)[number])

    came = page.evaluate(ATTEMPTS, desk)

    refused = {name: text for name, text in came.items() if text.startswith("refused: ")}
    assert set(refused) >= {"page", "jobs", "metrics", "frame", "worker"}, json.dumps(came)
    assert came["simple"] == ""  # opaque
    assert came["cookies"] == ""
    assert looking.rows(f"sqlite:///{site.served.home / 'pressroom.db'}", "SELECT count(*) FROM job") == [(0,)]


def test_the_desk_does_not_show_a_site(site: ServedSite) -> None:
    answer = httpx.get(f"{site.served.url}/acme/guide/", timeout=60)

    assert answer.status_code == 404
