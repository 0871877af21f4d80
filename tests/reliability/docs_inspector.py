"""When all is over: wait until nothing is open, then read every project once at an edge that nothing troubles."""

import asyncio
import time

from tests.reliability import http_inspector
from tests.reliability.docs_sites import ASSET, COPIED, PAGE, PROJECTS, SITES, nonce_of
from tests.reliability.http_exchange import Unheard, exchange
from tests.reliability.journal import Journal

POINTER_AGE = 1.5  # seconds: for one of them an edge shows what it last read


async def run(port: int, edge: int, journal: Journal, within: float, _: asyncio.Event) -> None:
    await http_inspector.drained(port, journal, within)
    await asyncio.sleep(POINTER_AGE)
    journal.write("info", "inspecting")
    for project, org in PROJECTS.items():
        for path in (PAGE, ASSET):
            answer = await _read(edge, f"/{org}/{project}/{path}", within)
            nonce = nonce_of(answer[1]) if answer[0] == 200 else None
            journal.write("ok", "last", place="edge", project=project, path=path, nonce=nonce)
            if org == COPIED:
                file = journal.path.parent / SITES / project / path
                nonce = nonce_of(file.read_bytes()) if file.exists() else None
                journal.write("ok", "last", place="folder", project=project, path=path, nonce=nonce)
    journal.write("info", "inspected")


async def _read(edge: int, path: str, within: float) -> tuple[int, bytes]:
    deadline = time.monotonic() + within
    while True:
        try:
            answer = await exchange(edge, "GET", path)
        except Unheard:  # it is still starting
            if time.monotonic() > deadline:
                return 0, b""
            await asyncio.sleep(0.1)
        else:
            return answer.status, answer.body
