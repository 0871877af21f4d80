"""Submitters over HTTP. A job counts as accepted only when they have read the whole of the answer that says so."""

import asyncio
import os
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from tests.reliability import http_inspector
from tests.reliability.http_exchange import Answer, Unheard, Unreachable, exchange
from tests.reliability.journal import Journal

HANDS = 24  # most of them wait for a server that is paused, or starts
PAUSE = (0.02, 0.12)  # between two submits of one hand
MIX = {"markdown": 44, "twin": 30, "dot": 1, "note": 25}  # dot is rare because its press takes a second to start
TWINS = 4  # sources that everybody submits at the same time, and for so many seconds
TWIN_SECONDS = 4
TRIES = 6  # with one Idempotency-Key, by a client that was not answered
JSON = {"Content-Type": "application/json"}


class HttpDesk:
    def __init__(self, ports: Sequence[int], journal: Journal, seed: str) -> None:
        self._ports = ports
        self._journal = journal
        self._dice = random.Random(seed)

    async def run(self, stopping: asyncio.Event) -> None:
        await asyncio.gather(*(self._hand(stopping) for _ in range(HANDS)))

    async def _hand(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            uid = await self._submit(self._dice.choices([*MIX], [*MIX.values()])[0])
            if uid is not None and self._dice.random() < 0.15:
                await self._follow(uid)
            await asyncio.sleep(self._dice.uniform(*PAUSE))

    async def _submit(self, sort: str) -> str | None:
        if sort == "note":
            return await self._insist()
        nonce = self._nonce_of_a_twin() if sort == "twin" else os.urandom(8).hex()
        return await self._ask(nonce, render("dot" if sort == "dot" else "markdown", nonce))

    async def _insist(self) -> str | None:
        """Ask again with the same key until somebody answers. However often it was heard, it is one job."""
        nonce = os.urandom(8).hex()
        for _ in range(TRIES):
            uid = await self._ask(nonce, {"kind": "note", "payload": {"nonce": nonce}}, {"Idempotency-Key": nonce})
            if uid is not None:
                return uid
            await asyncio.sleep(0.2)
        return None

    async def _ask(self, nonce: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> str | None:
        self._journal.write("invoke", "submit", nonce=nonce)
        try:
            port = self._dice.choice(self._ports)
            answer = await exchange(port, "POST", "/jobs", msgspec.json.encode(body), JSON | (headers or {}))
        except Unreachable:
            return None
        except Unheard as reason:
            self._journal.write("info", "unheard", nonce=nonce, reason=str(reason))
            return None
        return self._noted(nonce, answer)

    def _noted(self, nonce: str, answer: Answer) -> str | None:
        if answer.status != 202:
            self._journal.write("fail", "submit", nonce=nonce, http=answer.status, said=answer.body.decode()[:300])
            return None
        told = answer.json()
        uid = str(told["id"]).removeprefix("job_")
        replayed = "idempotency-replayed" in answer.headers
        self._journal.write("ok", "submit", nonce=nonce, uid=uid, answer=told["answer"], replayed=replayed)
        return uid

    async def _follow(self, uid: str) -> None:
        with suppress(Unheard):  # it can be looked at again, and will be
            await http_inspector.look(self._dice.choice(self._ports), self._journal, uid, wait=1)

    def _nonce_of_a_twin(self) -> str:
        return f"{int(time.time()) // TWIN_SECONDS:012x}{self._dice.randrange(TWINS):04x}"


def render(language: str, nonce: str) -> dict[str, Any]:
    mark = f"nonce-{nonce}"
    source, output = (f'digraph {{ a [label="{mark}"] }}', "svg") if language == "dot" else (f"# {mark}\n\nText.\n", "html")
    return {"kind": "render", "payload": {"language": language, "output": output, "source": source}}
