"""Many hands on few articles: they write over each other, read, dig in what is old, and have pages rendered again."""

import asyncio
import random
from collections.abc import Sequence

from tests.reliability import wiki_texts
from tests.reliability.journal import Journal
from tests.reliability.wiki_hand import Hand, Outcome, Tab, Text

HANDS = 14  # most of them wait for their page, or for a server that is paused, or starts
PAUSE = (0.02, 0.12)  # between two things that one hand does
TRIES = 5  # to save, by somebody who was not answered, or met a conflict
TAB_CLOSED_AFTER = (0.1, 1.0)  # by those who do not care to see their page, and write on
MIX = {"write": 40, "write a leaf": 4, "write in two tabs": 12, "read": 20, "dig": 16, "render again": 12}


class WikiDesk:
    def __init__(self, ports: Sequence[int], journal: Journal, seed: str) -> None:
        self._ports = ports
        self._journal = journal
        self._dice = random.Random(seed)
        self._leaves = 0  # articles that others refer to before they are written

    async def run(self, stopping: asyncio.Event) -> None:
        """When it is over everybody goes home, also whoever still waits for their page."""
        async with asyncio.TaskGroup() as together:
            hands = [together.create_task(self._hand()) for _ in range(HANDS)]
            await stopping.wait()
            for hand in hands:
                hand.cancel()

    async def _hand(self) -> None:
        hand = Hand(self._journal)
        while True:
            article = self._dice.choice(wiki_texts.ARTICLES)
            match self._dice.choices([*MIX], [*MIX.values()])[0]:
                case "write":
                    await self._write(hand, article)
                case "write a leaf":
                    self._leaves += 1
                    await self._write(hand, f"Leaf_{self._leaves}")
                case "write in two tabs":
                    await self._write_in_two_tabs(hand, article)
                case "dig":
                    await self._dig(hand, article)
                case "render again":
                    await hand.render_again(self._port, article)
                case _:
                    await hand.read(self._port, article)
            await asyncio.sleep(self._dice.uniform(*PAUSE))

    async def _write(self, hand: Hand, article: str) -> None:
        tab = await hand.open_editor(self._port, article)
        if tab is not None:
            await self._insist(hand, tab)

    async def _insist(self, hand: Hand, tab: Tab) -> None:
        """Whoever hears nothing presses the button again; after a conflict, the two texts become a new one."""
        text = self._text()
        for _ in range(TRIES):
            outcome, tab = await hand.save(self._port, tab, text, patience=self._patience())
            match outcome:
                case Outcome.KEPT:
                    await hand.read(self._port, tab.article, after=text.nonce)
                    return
                case Outcome.LEFT:
                    return
                case Outcome.CONFLICT:
                    text = self._text()
            await asyncio.sleep(self._dice.uniform(*PAUSE))

    async def _write_in_two_tabs(self, hand: Hand, article: str) -> None:
        """Both were opened before either was saved: of two that are answered, one met a conflict."""
        tab = await hand.open_editor(self._port, article)
        if tab is not None:
            await hand.save(self._port, tab, self._text())
            await hand.save(self._port, tab, self._text())

    async def _dig(self, hand: Hand, article: str) -> None:
        """An old revision is rendered when somebody opens it, if it never was."""
        seen = await hand.read(self._port, article)
        if seen is not None and seen.newest > 0:
            number = self._dice.randint(max(1, seen.newest - 5), seen.newest)
            await hand.read(self._port, article, number)
            await hand.read_source(self._port, article, number)

    def _text(self) -> Text:
        nonce = wiki_texts.new_nonce()
        refers_to = self._dice.choice([*wiki_texts.ARTICLES, f"Leaf_{self._leaves + 1}"])
        return Text(nonce, wiki_texts.text_of(nonce, refers_to))

    def _patience(self) -> float | None:
        return self._dice.uniform(*TAB_CLOSED_AFTER) if self._dice.random() < 0.35 else None

    @property
    def _port(self) -> int:
        return self._dice.choice(self._ports)
