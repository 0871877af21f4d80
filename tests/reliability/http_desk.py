"""Submitters over HTTP. What they ask for counts as accepted only when they have read the whole of the answer that says so."""

import asyncio
import os
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from tests.reliability import http_inspector, http_wants
from tests.reliability.http_exchange import LIMIT, Answer, Unheard, Unreachable, exchange
from tests.reliability.http_inspector import Link
from tests.reliability.http_wants import Want
from tests.reliability.journal import Journal

HANDS = 36  # most of them wait for a picture, or for a server that is paused, or starts
PAUSE = (0.02, 0.12)  # between two submits of one hand
TWINS = 4  # sources that everybody submits at the same time, and for so many seconds
TWIN_SECONDS = 4
TRIES = 6  # by a client that was not answered, and has a key or wants a picture
SYNC_LIMIT = 3.0  # a client that waits for a picture gives up sooner than the server does
REMEMBERED = 200  # receipts, some of which are shown to a server that comes back

# dot is rare because its press takes a second to start
MIX = {
    "note": 20,
    "render": 16,
    "render twin": 12,
    "render dot": 1,
    "diagram plain": 14,
    "diagram async": 10,
    "diagram keyed": 12,
    "diagram sync": 6,
    "diagram twin": 18,
    "diagram dot": 1,
}
MANNERS = {"plain": 3, "async": 2, "sync": 1}  # those in which a twin may be asked for


@dataclass(frozen=True)
class Receipt:
    """What a client was told."""

    want: Want
    uid: str
    link: Link | None


class HttpDesk:
    def __init__(self, ports: Sequence[int], journal: Journal, seed: str) -> None:
        self._ports = ports
        self._journal = journal
        self._dice = random.Random(seed)
        self._receipts: list[Receipt] = []
        self._down: set[int] = set()
        self._back: set[int] = set()  # ports where somebody answers again, to whom nobody has shown a receipt yet

    async def run(self, stopping: asyncio.Event) -> None:
        await asyncio.gather(*(self._hand(stopping) for _ in range(HANDS)))

    async def _hand(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            receipt = await self._insist(self._next(), stopping)
            if receipt is not None and self._dice.random() < 0.15:
                await self._follow(receipt, self._dice.choice(self._ports), wait=1)
            while self._back:
                await self._come_back(self._back.pop())
            await asyncio.sleep(self._dice.uniform(*PAUSE))

    def _next(self) -> Want:
        door, _, sort = self._dice.choices([*MIX], [*MIX.values()])[0].partition(" ")
        nonce = self._nonce_of_a_twin(door) if sort == "twin" else os.urandom(8).hex()
        language = "dot" if sort == "dot" else "markdown"
        match door:
            case "note":
                return http_wants.note(nonce)
            case "render":
                return http_wants.render(nonce, language)
            case _:
                manner = self._dice.choices([*MANNERS], [*MANNERS.values()])[0] if sort in ("twin", "dot") else sort
                return http_wants.diagram(nonce, language, manner=manner)

    async def _insist(self, want: Want, stopping: asyncio.Event) -> Receipt | None:
        """Ask until somebody answers. However often it was heard, it is one job, by its key or by its source."""
        for _ in range(TRIES if want.key or want.waits else 1):
            receipt = await self.ask(want, self._dice.choice(self._ports), limit=SYNC_LIMIT if want.waits else LIMIT)
            if receipt is not None or stopping.is_set():
                return receipt
            await asyncio.sleep(self._dice.uniform(*PAUSE))
        return None

    async def ask(self, want: Want, port: int, *, limit: float = LIMIT) -> Receipt | None:
        """Ask once, and tell the journal what was heard."""
        self._journal.write("invoke", "submit", nonce=want.nonce, language=want.language)
        body, headers = want.sent()
        try:
            answer = await exchange(port, "POST", want.path, body, headers, limit=limit)
        except Unheard as reason:
            self._down.add(port)
            if not isinstance(reason, Unreachable):
                self._journal.write("info", "unheard", nonce=want.nonce, reason=str(reason))
            return None
        if port in self._down:
            self._down.discard(port)
            self._back.add(port)
        return self._noted(want, answer)

    def _noted(self, want: Want, answer: Answer) -> Receipt | None:
        if answer.status not in (200, 202):
            said = answer.body.decode()[:300]
            self._journal.write("fail", "submit", nonce=want.nonce, http=answer.status, code=_code_of(answer), said=said)
            return None
        told = answer.json()
        uid = str(told.get("jobId") or told["id"]).removeprefix("job_")
        link = Link.of(told, uid)
        self._journal.write(
            "ok",
            "submit",
            nonce=want.nonce,
            uid=uid,
            key=want.key,
            waited=want.waits,
            link=link,
            answer=_answer_of(answer),
            replayed="idempotency-replayed" in answer.headers,
        )
        receipt = Receipt(want, uid, link)
        self._receipts = [*self._receipts[1 - REMEMBERED :], receipt]
        return receipt

    async def _follow(self, receipt: Receipt, port: int, wait: int = 0) -> None:
        with suppress(Unheard):  # it can be looked at again, and will be
            await http_inspector.look(port, self._journal, receipt.uid, wait)
            if receipt.link is not None:
                await http_inspector.visit(port, self._journal, receipt.link)

    async def _come_back(self, port: int) -> None:
        """A server that was started again knows what the one before it acknowledged: the last of it, and any of it."""
        if not self._receipts:
            return
        for receipt in (self._receipts[-1], self._dice.choice(self._receipts)):
            await self._follow(receipt, port)
        if keyed := [receipt.want for receipt in self._receipts if receipt.want.key]:
            await self.ask(self._dice.choice(keyed), port)

    def _nonce_of_a_twin(self, door: str) -> str:
        """The doors have kinds of their own, and share nothing."""
        return f"{int(time.time()) // TWIN_SECONDS:010x}{len(door):02x}{self._dice.randrange(TWINS):04x}"


def _answer_of(answer: Answer) -> str:
    told = answer.json()
    if "answer" in told:
        return str(told["answer"])
    if told["cache"]["hit"]:
        return "hit"
    return "joined" if "collapsed" in answer.headers["cache-status"] else "new"


def _code_of(answer: Answer) -> str | None:
    """None if whatever refused us does not speak our language."""
    try:
        return str(answer.json()["code"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return None
