"""The listener for sites beside `pressroom serve`, and `pressroom docs edge`: processes as a person starts them."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.app import Core
from pressroom.apps.docs.edge import listening
from pressroom.apps.docs.settings import DocsSettings
from pressroom.errors import Unusable
from pressroom.parts import app_listeners
from pressroom.parts.app_listeners import AppListeners
from tests.apps.docs.edge_stage import an_org, edge_stage, page
from tests.servers import free_ports

KEY = "a key of tests that is long enough"
ROOT = Path(__file__).parents[3]


@contextmanager
def pressroom(folder: Path, *words: str, **settings: str) -> Iterator["subprocess.Popen[str]"]:
    plain = {name: value for name, value in os.environ.items() if not re.match("PRESSROOM_(?!ENGINES)", name)}
    environ = plain | {"PYTHONPATH": str(ROOT), "PRESSROOM_HOME": str(folder), "PRESSROOM_SECRET_KEY": KEY} | settings
    environ |= {"PRESSROOM_IMPORTS": "tests.patient_service"} if words[0] == "serve" else {}
    command = [sys.executable, "-m", "pressroom", *words]
    with subprocess.Popen(
        command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.kill()


def first_line(process: "subprocess.Popen[str]") -> dict[str, Any]:
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    if not line:
        raise AssertionError(process.stderr.read()[-4000:])
    told: dict[str, Any] = json.loads(line)
    return told


async def fill(folder: Path, org: Any = None) -> None:
    async with edge_stage(f"sqlite:///{folder / 'pressroom.db'}", artifacts=str(folder / "pressroom.artifacts")) as stage:
        await stage.add_project("guide", org)
        await stage.publish({"index.html": page("home")})


def test_serve_serves_sites_beside_its_pages_each_on_its_own_origin(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path))
    settings = {"PRESSROOM_DOCS_LISTEN": "127.0.0.1:0", "PRESSROOM_LISTEN": "127.0.0.1:0"}
    with pressroom(tmp_path, "serve", "--no-workers", "--json", **settings) as process:
        told = first_line(process)
        sites, pages = told["sites"], told["listening"]
        site = httpx.get(f"{sites}/acme/guide/", timeout=120)
        of_pages = [httpx.get(f"{sites}/{path}", timeout=120).status_code for path in ("desk", "jobs", "livez", "openapi.json")]
        of_sites = [httpx.get(f"{pages}/acme/guide/{path}", timeout=120).status_code for path in ("", "v/", "_docverse.json")]
        process.send_signal(signal.SIGTERM)

        assert process.wait(120) == 0
    assert site.text == page("home").decode()
    assert of_pages == [*of_sites, 404]
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{sites}/acme/guide/")


def test_the_start_line_says_where_sites_are(tmp_path: Path) -> None:
    settings = {"PRESSROOM_DOCS_LISTEN": "127.0.0.1:0", "PRESSROOM_LISTEN": "127.0.0.1:0"}
    with pressroom(tmp_path, "serve", "--no-workers", **settings) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGTERM)
        process.wait(120)

    assert any(re.fullmatch(r"  sites      http://127\.0\.0\.1:\d+\n", line) for line in lines), lines


def test_an_address_that_was_chosen_and_is_taken_is_an_error(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = {"PRESSROOM_DOCS_LISTEN": address, "PRESSROOM_LISTEN": "127.0.0.1:0"}
        with pressroom(tmp_path, "serve", "--no-workers", "--json", **settings) as process:
            _, error = process.communicate(timeout=300)
        with pressroom(tmp_path, "docs", "edge", "--listen", address) as edge:
            _, edge_error = edge.communicate(timeout=300)

    for code, text in ((process.returncode, error), (edge.returncode, edge_error)):
        assert code == 1
        assert f"cannot listen on {address}: Address already in use" in text
        assert "Traceback" not in text
    assert "PRESSROOM_DOCS_LISTEN" in error


def test_docs_edge_serves_sites_and_nothing_else(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path))
    with pressroom(tmp_path, "docs", "edge", "--listen", "127.0.0.1:0", "--json") as process:
        sites = first_line(process)["sites"]
        site = httpx.get(f"{sites}/acme/guide/", timeout=120)
        others = [httpx.get(f"{sites}/{path}", timeout=120).status_code for path in ("desk", "jobs", "orgs/acme")]
        process.send_signal(signal.SIGTERM)

        assert process.wait(120) == 0
    assert site.text == page("home").decode()
    assert others == [404] * 3


def test_a_reader_link_from_the_command_line(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path, an_org("closed", is_private=True)))
    with pressroom(tmp_path, "docs", "reader-link", "closed/guide", "--days", "2", "--json") as process:
        told, error = process.communicate(timeout=300)
    with pressroom(tmp_path, "docs", "reader-link", "closed/nothing") as missing:
        missing.communicate(timeout=300)
    path = json.loads(told)["url"].removeprefix("http://127.0.0.1:8001")
    with (
        pressroom(tmp_path, "docs", "edge", "--listen", "127.0.0.1:0", "--json") as process,
        httpx.Client(base_url=first_line(process)["sites"], timeout=120, follow_redirects=True) as reader,
    ):
        entered, again, other = (
            reader.get(path),
            reader.get("/closed/guide/"),
            httpx.get(f"{reader.base_url}/closed/guide/"),
        )

    assert error == ""
    assert json.loads(told)["expires_in"] == 2 * 24 * 3600
    assert entered.text == again.text == page("home").decode()
    assert str(entered.url).endswith("/closed/guide/")
    assert other.status_code == 404
    assert missing.returncode == 6


@pytest.fixture
def default_port(monkeypatch: pytest.MonkeyPatch) -> int:
    """In place of 8001, which may be anybody's."""
    (port,) = free_ports(1)
    monkeypatch.setattr(listening, "DEFAULT_LISTEN", f"127.0.0.1:{port}")
    monkeypatch.setattr(app_listeners, "CHECK_INTERVAL", 0.01)
    return port


async def test_the_default_address_is_used_once_there_is_an_organisation(
    file: str, default_port: int, eventually: Callable[..., Any]
) -> None:
    async with edge_stage(file, settings=DocsSettings(listen=f"127.0.0.1:{default_port}")) as stage:
        service = SmallService(stage.app.core)
        beside = AppListeners(service, [*listening.edge_listeners(stage.app)])
        await beside.bind()
        assert beside.urls == {}
        serving = asyncio.create_task(beside.serve())
        await stage.add_project()
        await stage.publish({"index.html": page("home")})
        await eventually(lambda: beside.urls)
        async with httpx.AsyncClient(base_url=beside.urls["sites"], timeout=120) as http:
            found = await http.get("/acme/guide/")
        service.closing.set()
        await serving
        beside.close()

    assert found.content == page("home")


async def test_a_default_address_that_is_taken_does_not_stop_the_service(
    file: str, default_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(socket.create_server(("127.0.0.1", default_port))):
        async with edge_stage(file, settings=DocsSettings(listen=f"127.0.0.1:{default_port}")) as stage:
            await stage.add_project()
            service = SmallService(stage.app.core)
            beside = AppListeners(service, [*listening.edge_listeners(stage.app)])
            await beside.bind()
            service.closing.set()
            await beside.serve()

    assert beside.urls == {}
    assert "sites are not served: cannot listen on" in caplog.text
    assert "PRESSROOM_DOCS_LISTEN" in caplog.text


async def test_a_chosen_address_that_is_taken_is_refused(file: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        settings = DocsSettings(listen=f"127.0.0.1:{taken.getsockname()[1]}")
        async with edge_stage(file, settings=settings) as stage:
            beside = AppListeners(SmallService(stage.app.core), [*listening.edge_listeners(stage.app)])
            with pytest.raises(Unusable, match="PRESSROOM_DOCS_LISTEN"):
                await beside.bind()


async def test_without_an_address_sites_are_not_served(file: str) -> None:
    async with edge_stage(file, settings=DocsSettings(listen="")) as stage:
        assert [*listening.edge_listeners(stage.app)] == []


def test_an_address_that_is_none_is_a_wrong_setting() -> None:
    assert [*DocsSettings(listen="everywhere").problems()] == ["listen: 'everywhere' is not HOST:PORT"]


class SmallService:
    """As much of a service as listeners ask for."""

    def __init__(self, core: Core) -> None:
        self.settings = core.settings
        self.metrics: Any = None
        self.closing = asyncio.Event()
