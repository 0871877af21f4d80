"""Somebody who comes when all is over, waits until nothing is open, and looks at every article."""

import asyncio
from pathlib import Path

from tests.reliability import http_inspector, wiki_dump
from tests.reliability.journal import Journal
from tests.reliability.wiki_hand import Hand


async def run(port: int, journal: Journal, database: Path, within: float, _: asyncio.Event) -> None:
    await http_inspector.drained(port, journal, within)
    heads = wiki_dump.heads(database)  # before anybody opens a page, which would have it rendered if it was forgotten
    told = [{"article": one.article, "number": one.number, "status": one.status, "error": one.error} for one in heads]
    journal.write("info", "heads", heads=told)
    hand = Hand(journal)
    for head in heads:
        seen = await hand.read(port, head.article)
        if seen is not None and seen.failed:
            await hand.render_again(port, head.article)
            await hand.read(port, head.article)
    await http_inspector.drained(port, journal, within)
    journal.write("info", "inspected")
