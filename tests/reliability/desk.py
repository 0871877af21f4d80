"""A submitter: hands in work of every sort, waits for some of it, cancels some of it. Its journal is the client's truth."""

import asyncio
import random
import time
from typing import Any

from pressroom import JobCancelled, JobFailed, Pressroom, QueueClosed, Submitted, Tier, WaitTimeout
from pressroom.errors import Unavailable
from tests.reliability.journal import Journal
from tests.reliability.workload import LEASE, POLL, Handlers

# How often each kind is submitted, and how long its jobs run: far shorter than a worker lives, or nothing would ever
# complete and nothing would be tested. Books are longer than the lease, and have workers of their own.
MIX = {"note": 30, "page": 30, "line": 12, "poster": 12, "leaflet": 8, "book": 2}
SECONDS = {"note": (0.0, 0.02), "page": (0.0, 0.06), "line": (0.0, 0.03), "poster": (0.0, 0.08), "leaflet": (0.0, 0.01)}
BOOK_SECONDS = (1.2 * LEASE, 2.0 * LEASE)
PAUSE = (0.0, 0.12)  # between two submits of one hand
CROWD = 60  # with so many jobs queued, a desk waits for the workers


class Desk:
    def __init__(self, url: str, journal: Journal, name: str, seed: str) -> None:
        self._journal = journal
        self._name = name
        self._dice = random.Random(seed)
        self._waiters: set[asyncio.Task[None]] = set()
        self._press = Pressroom(
            url, kinds=Handlers(journal).kinds(), workers=None, lease=LEASE, poll_interval=POLL, max_queued=1000
        )

    async def run(self, stopping: asyncio.Event) -> None:
        async with self._press:
            await asyncio.gather(*(self._hand(number, stopping) for number in range(2)))
            # Waiters are told to come again when a queue closes; these have nowhere to come back to.
            for waiter in self._waiters:
                waiter.cancel()
            await asyncio.gather(*self._waiters, return_exceptions=True)

    async def _hand(self, number: int, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            while (await self._press.stats()).queued > CROWD and not stopping.is_set():
                await asyncio.sleep(0.1)
            kind = self._dice.choices([*MIX], [*MIX.values()])[0]
            await self._submit(kind, f"{self._name}.{number}")
            await asyncio.sleep(self._dice.uniform(*PAUSE))

    async def _submit(self, kind: str, owner: str) -> None:
        payload = self._payload(kind)
        options: dict[str, Any] = {"tier": self._dice.choice([*Tier])}
        if kind in ("page", "line"):
            # A key belongs to one hand, which submits one after the other: so it is known which revision is the newest.
            options["key"] = f"{kind}:{owner}:{self._dice.randrange(3)}"
        if kind == "poster":
            options["fingerprint"] = {"text": self._dice.randrange(6)}
        nonce = payload["nonce"]
        self._journal.write("invoke", "submit", nonce=nonce)
        try:
            submitted = await self._hand_in(kind, payload, options)
        except Unavailable as refused:
            self._journal.write("fail", "submit", nonce=nonce, code=refused.code)
            return
        self._journal.write(
            "ok", "submit", nonce=nonce, uid=submitted.uid, kind=kind, answer=submitted.answer, revision=payload["revision"]
        )
        await self._follow(submitted, payload)

    async def _hand_in(self, kind: str, payload: dict[str, Any], options: dict[str, Any]) -> Submitted:
        if kind != "note" or self._dice.random() > 0.2:
            return await self._press.submit(kind, payload, **options)
        async with self._press.transaction() as transaction:
            await transaction.execute("INSERT INTO letter (nonce) VALUES (:nonce)", {"nonce": payload["nonce"]})
            return await self._press.submit(kind, payload | {"letter": True}, within=transaction, **options)

    async def _follow(self, submitted: Submitted, payload: dict[str, Any]) -> None:
        luck = self._dice.random()
        if luck < 0.06:
            await asyncio.sleep(self._dice.uniform(0, 0.05))
            await cancel(self._press, self._journal, submitted.uid)
        elif luck < 0.3:
            waiter = asyncio.create_task(self._wait(submitted, payload))
            self._waiters.add(waiter)
            waiter.add_done_callback(self._waiters.discard)

    async def _wait(self, submitted: Submitted, payload: dict[str, Any]) -> None:
        nonce = payload["nonce"]
        self._journal.write("invoke", "wait", nonce=nonce, uid=submitted.uid, revision=payload["revision"])
        try:
            result = await self._press.wait(submitted, timeout=10)
            self._journal.write("ok", "wait", nonce=nonce, revision=result["revision"])
        except (JobFailed, JobCancelled, QueueClosed, WaitTimeout, asyncio.CancelledError) as ended:
            self._journal.write("fail", "wait", nonce=nonce, code=getattr(ended, "code", "left"))

    def _payload(self, kind: str) -> dict[str, Any]:
        seconds = BOOK_SECONDS if kind == "book" else SECONDS[kind]
        return {
            "kind": kind,
            "nonce": f"{self._dice.getrandbits(64):016x}",
            "revision": time.monotonic_ns(),
            "seconds": round(self._dice.uniform(*seconds), 4),
            "fails": self._dice.choices([0, 1, 2], [85, 10, 5])[0],
        }


async def cancel(press: Pressroom, journal: Journal, uid: str) -> None:
    journal.write("invoke", "cancel", uid=uid)
    try:
        job = await press.cancel(uid)
        journal.write("ok", "cancel", uid=uid, status=job.status, asked=job.cancel_requested)
    except Unavailable as refused:
        journal.write("fail", "cancel", uid=uid, code=refused.code)
