"""The service as people run it: `pressroom serve`, real sockets, real engines."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("home")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    environment |= {"PRESSROOM_HOME": str(home), "PRESSROOM_LISTEN": "127.0.0.1:0", "PYTHONUNBUFFERED": "1"}
    environment |= {"PYTHONPATH": str(Path(__file__).parents[3]), "PRESSROOM_IMPORTS": "tests.patient_service"}
    command = [sys.executable, "-m", "pressroom", "serve", "--json"]
    with subprocess.Popen(command, env=environment, cwd=home, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["listening"]
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(300)
    assert (Path(home) / "pressroom.db").exists()
    assert server.returncode == 0


async def test_the_line_to_paste_works(address: str) -> None:
    """What `serve` prints, with what `curl -d` sends."""
    async with httpx.AsyncClient(base_url=address, timeout=300) as http:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = await http.post(
            "/render?format=dot&outputType=svg&mode=sync", content="digraph { source -> press -> document }", headers=headers
        )
        assert answer.status_code == 200, answer.text
        assert "<svg" in (await http.get(answer.json()["url"])).text


async def test_a_client_that_goes_away_changes_nothing_and_the_stream_tells_the_rest(
    address: str, eventually: Callable[..., Any]
) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=300) as http:
        before = await jobs_since(http, set())
        with pytest.raises(httpx.ReadTimeout):
            await http.post("/render?format=d2&mode=sync", content="gone -> away", timeout=httpx.Timeout(300, read=0.001))

        (id,) = await eventually(partial(jobs_since, http, before))
        async with http.stream("GET", f"/jobs/{id}/events") as stream:
            lines = [line async for line in stream.aiter_lines() if line.startswith("event: ")]

        assert lines[0] == "event: queued"
        assert lines[-1] == "event: completed"
        assert (await http.post("/render?format=d2&mode=sync", content="gone -> away")).json()["cached"] is True


async def jobs_since(http: httpx.AsyncClient, before: set[str]) -> set[str]:
    return {job["id"] for job in (await http.get("/jobs?kind=diagram")).json()["items"]} - before


async def test_real_engines_tell_the_place_of_a_mistake(address: str) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=300) as http:
        answers = await asyncio.gather(
            http.post("/render?format=dot&mode=sync", content="digraph {\n  a -> \n}"),
            http.post("/render?format=mermaid&mode=sync", content="flowchart LR\n  a --> \n"),
        )
        for answer in answers:
            assert (answer.status_code, answer.json()["code"]) == (400, "source_invalid"), answer.text
            assert answer.json()["line"] >= 2


async def test_a_named_diagram_is_shown_in_three_outputs_and_themes(address: str) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=300) as http:
        text = {"source": "digraph { a -> b }", "format": "dot", "options": {"theme": "auto"}}
        assert (await http.put("/diagrams/arrows?mode=sync", json=text)).status_code == 200

        svg, png, pdf = [await http.get(f"/a/arrows.{output}") for output in ("svg", "png", "pdf")]
        assert "prefers-color-scheme" in svg.text
        assert png.content.startswith(b"\x89PNG")
        assert pdf.content.startswith(b"%PDF")
        assert "prefers-color-scheme" not in (await http.get("/a/arrows.svg?theme=dark")).text
