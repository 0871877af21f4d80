"""Clients over HTTP who hand in jobs at a steady pace, and insist: what was not answered is asked again, with the same key.

Among them is one that makes mistakes: requests that are refused, each followed by a good submit to the same service.
"""

import asyncio
import itertools
import os
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from tests.reliability.http_exchange import Answer, Unheard, exchange
from tests.reliability.http_wants import source_of
from tests.reliability.journal import Journal

HANDS = 12
LIMIT = 120.0  # seconds. More than any time limit of ours: a connection to the server, a lock, a dead peer
AGAIN = (0.1, 0.3)  # seconds; sooner than Retry-After asks for, so that nobody waits for the clients when all is well again
LONG = 0.04  # the part of the notes that run for longer than a lease
MISTAKE_EVERY = 0.2  # seconds
JSON = {"Content-Type": "application/json"}
USED_KEY = "used before"


class Mistake(NamedTuple):
    """A request that is refused with the status `expects`, in each way in which a transaction can end without a commit."""

    expects: int
    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = {}


MISTAKES = (
    Mistake(404, "POST", "/queue/unknown/pause"),
    Mistake(422, "POST", "/jobs", {"kind": "unknown"}),
    Mistake(412, "PUT", "/diagrams/chaos", {"source": "digraph { a }", "format": "dot"}, {"If-Match": '"another"'}),
    Mistake(422, "POST", "/jobs", {"kind": "note", "payload": "another body"}, {"Idempotency-Key": USED_KEY}),
    Mistake(404, "GET", "/jobs/job_00000000000000000000000000"),
)


class Clients:
    """`keyed` clients name their request, so that asking again is safe. `renders` makes them ask for documents; else some jobs
    are longer than a lease, and some fail once, if they may."""

    def __init__(
        self,
        ports: Sequence[int],
        journal: Journal,
        *,
        rate: float,
        lease: float,
        keyed: bool = True,
        may_fail: bool = True,
        renders: bool = False,
    ) -> None:
        self._ports = ports
        self._journal = journal
        self._pace = HANDS / rate
        self._lease = lease
        self._keyed = keyed
        self._may_fail = may_fail
        self._renders = renders
        self._stopping = asyncio.Event()
        self._hands: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._hands = [asyncio.create_task(self._hand(number)) for number in range(HANDS)]
        self._hands.append(asyncio.create_task(self._look()))
        self._hands.append(asyncio.create_task(self._make_mistakes()))

    async def stop(self) -> None:
        """Each finishes what it has begun to ask for, unless it is refused again."""
        self._stopping.set()
        await asyncio.gather(*self._hands)

    async def _hand(self, number: int) -> None:
        await asyncio.sleep(self._pace * number / HANDS)
        while not self._stopping.is_set():
            due = time.monotonic() + self._pace
            await self.insist()
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _look(self) -> None:
        """Somebody who only reads."""
        while not self._stopping.is_set():
            await self._exchange("look", "GET", "/jobs?limit=5")
            await asyncio.sleep(0.5)

    async def _make_mistakes(self) -> None:
        for mistake in itertools.cycle(MISTAKES):
            if self._stopping.is_set():
                return
            await self._make_mistake(mistake, random.choice(self._ports))
            await asyncio.sleep(MISTAKE_EVERY)

    async def make_every_mistake(self) -> None:
        """When all is well again: each, at every service, until it is refused as one."""
        for port, mistake in itertools.product(self._ports, MISTAKES):
            while True:
                if await self._make_mistake(mistake, port):
                    break
                await asyncio.sleep(random.uniform(*AGAIN))

    async def _make_mistake(self, mistake: Mistake, port: int) -> bool:
        """Then one good submit to the same service, without a key: it goes the shortest way, and is not sent twice.

        False if the mistake was not answered, or with a 503.
        """
        if mistake.headers.get("Idempotency-Key") == USED_KEY and not await self._use_key(port):
            return False
        body = b"" if mistake.body is None else msgspec.json.encode(mistake.body)
        headers = JSON | dict(mistake.headers)
        answer = await self._exchange(
            "mistake", mistake.method, mistake.path, body, headers, port=port, expects=mistake.expects
        )
        nonce = os.urandom(8).hex()
        self._journal.write("invoke", "submit", nonce=nonce)
        await self._ask(nonce, self._good_body(nonce), keyed=False, port=port, follows=mistake.expects)
        return answer is not None and answer.status != 503

    async def _use_key(self, port: int) -> bool:
        body = msgspec.json.encode(
            {"kind": "note", "payload": {"kind": "note", "nonce": "-", "revision": 0, "seconds": 0, "fails": 0}}
        )
        answer = await self._exchange("key", "POST", "/jobs", body, JSON | {"Idempotency-Key": USED_KEY}, port=port)
        return answer is not None and answer.status != 503

    async def insist(self) -> str | None:
        """Ask until somebody accepts, or it is time to go home. The uid of the job."""
        nonce = os.urandom(8).hex()
        body = self._good_body(nonce)
        self._journal.write("invoke", "submit", nonce=nonce)
        while (uid := await self._ask(nonce, body, keyed=self._keyed)) is None:
            if self._stopping.is_set():
                return None
            await asyncio.sleep(random.uniform(*AGAIN))
        return uid

    async def _ask(self, nonce: str, body: bytes, *, keyed: bool, **how: Any) -> str | None:
        headers = JSON | ({"Idempotency-Key": nonce} if keyed else {})
        answer = await self._exchange(nonce, "POST", "/jobs", body, headers, **how)
        if answer is None or answer.status not in (200, 202):
            return None
        uid = str(answer.json()["id"]).removeprefix("job_")
        told = {"kind": answer.json()["kind"], "revision": 0, "replayed": "idempotency-replayed" in answer.headers}
        self._journal.write("ok", "submit", nonce=nonce, uid=uid, **told)
        return uid

    async def _exchange(
        self,
        nonce: str,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        port: int | None = None,
        expects: int | None = None,
        follows: int | None = None,
    ) -> Answer | None:
        """What was answered, and how soon, is for the judge. None if nothing was.

        `expects` is the status of a mistake, and `follows` the mistake that was made before a good submit.
        """
        port = port or random.choice(self._ports)
        asked = time.monotonic()
        answer: Answer | None = None
        told: dict[str, Any] = {"http": None}
        try:
            answer = await exchange(port, method, path, body, headers, limit=LIMIT)
            told = {"http": answer.status, "again": answer.headers.get("retry-after"), "reason": _reason(answer)}
        except Unheard as reason:
            told["reason"] = str(reason)
        told |= {"expects": expects, "follows": follows}
        self._journal.write("info", "answer", nonce=nonce, seconds=round(time.monotonic() - asked, 3), **told)
        return answer

    def _good_body(self, nonce: str) -> bytes:
        return msgspec.json.encode(self._render(nonce) if self._renders else self._note(nonce))

    def _note(self, nonce: str) -> dict[str, Any]:
        seconds = 1.5 * self._lease if random.random() < LONG else random.uniform(0.0, 0.02)
        fails = int(self._may_fail and random.random() < 0.05)
        payload = {"kind": "note", "nonce": nonce, "revision": 0, "seconds": round(seconds, 3), "fails": fails}
        return {"kind": "note", "payload": payload}

    def _render(self, nonce: str) -> dict[str, Any]:
        payload = {"language": "markdown", "output": "html", "source": source_of(nonce, "markdown")}
        return {"kind": "render", "payload": payload}


def _reason(answer: Answer) -> str | None:
    return None if answer.status < 300 else answer.body.decode(errors="replace")[:300]
