"""When all is over: wait until nothing is open, then look at every pack and download every file."""

import asyncio
from contextlib import closing
from pathlib import Path

import apsw

from tests.reliability import http_inspector
from tests.reliability.journal import Journal
from tests.reliability.packs_client import PacksClient

AT_ONCE = 6


async def run(port: int, journal: Journal, database: Path, within: float, _: asyncio.Event) -> None:
    await http_inspector.drained(port, journal, within)
    journal.write("info", "inspecting")
    with closing(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(120_000)
        packs = iter([pack for (pack,) in connection.execute("SELECT id FROM packs_pack ORDER BY id").fetchall()])
    client = PacksClient(journal)

    async def look() -> None:
        for pack in packs:
            await client.look_at(port, pack)

    await asyncio.gather(*(look() for _ in range(AT_ONCE)))
    journal.write("info", "inspected")
