"""A small stage for stories of the wiki whose order is forced: servers that are spoiled or killed, and then a sound one."""

import asyncio
from collections.abc import Callable

from tests.reliability import journal, wiki_checker, wiki_dump, wiki_inspector
from tests.reliability.http_stage import WITHIN, ServerStage
from tests.reliability.wiki_checker import WikiVerdict
from tests.reliability.wiki_hand import Hand, Outcome, Tab, Text
from tests.reliability.wiki_texts import text_of

ARTICLE = "Home"


class WikiStage(ServerStage):
    """Everybody here writes in one article."""

    def hand(self) -> Hand:
        return Hand(self.journal)

    async def write(self, port: int, *nonces: str) -> list[Outcome]:
        """One text after the other, by somebody who waits for each page."""
        hand, outcomes = self.hand(), []
        for nonce in nonces:
            tab = await self.editor(hand, port)
            outcomes.append(await self.press_save(hand, port, tab, nonce))
        return outcomes

    async def editor(self, hand: Hand, port: int) -> Tab:
        tab = await hand.open_editor(port, ARTICLE)
        assert tab is not None
        return tab

    async def press_save(self, hand: Hand, port: int, tab: Tab, nonce: str) -> Outcome:
        outcome, _ = await hand.save(port, tab, Text(nonce, text_of(nonce)))
        return outcome

    def head(self) -> int:
        return max((row.number for row in wiki_dump.heads(self.folder / "pressroom.db")), default=0)

    def has_rendered(self, number: int) -> bool:
        return any(row.number == number and row.status == "rendered" for row in wiki_dump.heads(self.folder / "pressroom.db"))

    async def judge(self, naive: Callable[[], None] | None = None) -> WikiVerdict:
        """By what a sound server makes of what is left."""
        port, database = self.ports[1], self.database()
        with self.server(port, naive=naive):
            await self.listens(port)
            await wiki_inspector.run(port, self.journal, database, WITHIN, asyncio.Event())
        return wiki_checker.judge(journal.load(self.journal.path), wiki_dump.read(database))
