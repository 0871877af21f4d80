"""Copy mode with real processes that are killed, a real web server, and a reader that fetches all the time (Q22)."""

import asyncio
import http.client
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pressroom.apps.docs.model import MAIN
from tests.apps.docs.pubs_stage import pubs_stage
from tests.apps.docs.tree_stage import read_site, site

_USES = re.compile(rb'(?:href|src)="([^"]+)"')


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


class FetchingReader:
    """Fetches the home page and then all that it uses, over and over, in a thread."""

    def __init__(self, port: int) -> None:
        self.rounds = 0
        self.problems: list[str] = []
        self.versions: list[int] = []
        self._port = port
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            status, page = self._get("index.html")
            if status == 200:
                self.versions.append(int(page.split()[1]))
                self._check(page)
            self.rounds += 1

    def _check(self, page: bytes) -> None:
        for used in _USES.findall(page):
            status, _ = self._get(used.decode())
            if status != 200:
                self.problems.append(f"{page[:8]!r} uses {used!r}: {status}")

    def _get(self, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request("GET", f"/guide/{path}")
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


@contextmanager
def reading(root: Path) -> Iterator[FetchingReader]:
    root.mkdir(exist_ok=True)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(root))) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        reader = FetchingReader(server.server_address[1])
        reader.start()
        try:
            yield reader
        finally:
            reader.stop()
            server.shutdown()
            serving.join()


async def run_victim(database: str, root: Path, dies_at: int = 0) -> int:
    command = [sys.executable, "-m", "tests.apps.docs.tree_victim", database, str(root), str(dies_at)]
    process = await asyncio.create_subprocess_exec(*command)
    return await process.wait()


@pytest.mark.deep
async def test_a_reader_never_meets_a_page_without_its_assets_while_processes_are_killed(
    file: str, tmp_path: Path, eventually: Callable[..., Any]
) -> None:
    root = tmp_path / "sites"
    async with pubs_stage(file, workers=None) as stage:
        await stage.new_org()
        project = await stage.new_project()
        with reading(root) as reader:
            for version in range(1, 9):
                files = site(version, pages=2)
                await stage.move(project, MAIN, await stage.build(project, files))
                if version > 1:
                    assert await run_victim(file, root, dies_at=2 * version - 2) == -9
                assert await run_victim(file, root) == 0
                shown = read_site(root, "guide")
                assert {path: shown[path] for path in files} == files
            seen = reader.rounds
            await eventually(lambda: reader.rounds >= seen + 2)

    assert reader.problems == []
    assert reader.versions == sorted(reader.versions)  # never an older one after a newer one
    assert reader.versions[-1] == 8
