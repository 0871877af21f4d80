"""What the journeys are staged with: a gate for handlers, a store moved by hand, and a second process."""

import asyncio
import subprocess
import sys
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from pressroom.base.fingerprint import fingerprint
from pressroom.base.json_text import encode
from pressroom.definitions import Kind
from pressroom.ids import new_uid
from pressroom.model import Claim, Job, Outcome, Status, Submitted, Work
from pressroom.store.jobs import claiming, queries, rescue, submitting
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement, cancel, settle
from pressroom.store.jobs.submitting import CheckedJob
from pressroom.testing import ManualClock, SteppedStore


class Gate:
    """A place in a handler where the test says when it may go on. Who came is remembered, in order."""

    def __init__(self) -> None:
        self.came: list[Any] = []
        self._open = asyncio.Event()

    async def hold(self, who: Any = None) -> None:
        self.came.append(who)
        await self._open.wait()

    def open(self) -> None:
        self._open.set()


class Steps:
    """The queue's own units of work on a store that a test moves by hand: nothing happens but what it does."""

    def __init__(self, *kinds: Kind) -> None:
        self.kinds = {kind.name: kind for kind in kinds}
        self.clock = ManualClock()
        self.store = SteppedStore(self.clock)
        self.run(kind_rows.register(self.kinds))

    def run[T](self, work: Work[T]) -> T:
        return self.store.run(work)

    def submit(
        self,
        name: str,
        payload: Any = None,
        *,
        key: str | None = None,
        tier: int | None = None,
        input: str | None = None,
        delay: timedelta = timedelta(0),
    ) -> Submitted:
        kind = self.kinds[name]
        new = CheckedJob(
            uid=new_uid(),
            kind=name,
            tier=kind.tier if tier is None else tier,
            payload=encode(payload, limit=1_000_000),
            on_key=kind.on_key,
            max_attempts=kind.max_attempts,
            max_crashes=kind.max_crashes,
            retention=int(kind.retention.total_seconds() * 1000),
            delay=int(delay.total_seconds() * 1000),
            key=key,
            fingerprint=None if input is None else fingerprint({"input": input}),
            cache_for=0 if kind.cache_for is None else int(kind.cache_for.total_seconds() * 1000),
        )
        return self.run(submitting.submit(new))

    def claim(self, room: int = 1, *, worker: str = "anybody", lease: float = 15.0) -> list[Claim]:
        return self.run(claiming.claim(worker, self.kinds, FreeSlots(room, room), int(lease * 1000)))

    def claim_one(self, *, worker: str = "anybody", lease: float = 15.0) -> Claim:
        (claim,) = self.claim(worker=worker, lease=lease)
        return claim

    def settle(self, claim: Claim, outcome: Outcome) -> Status | None:
        """The status that the job now has; None if the claim was lost."""
        (settled,) = self.run(settle([Settlement(claim, outcome)], self.kinds))
        return settled.status

    def cancel(self, job: Submitted, *, knowing: Iterable[Kind] | None = None) -> Job:
        kinds = self.kinds if knowing is None else {kind.name: kind for kind in knowing}
        self.run(cancel(job.uid, kinds, "cancelled"))
        return self.get(job)

    def rescue(self, *, dead: Iterable[str] = (), wait: float = 0.0) -> list[Status | None]:
        lost = self.run(rescue.find_lost(list(dead)))
        return [self.run(rescue.rescue(one, self.kinds, wait)) for one in lost]

    def prune(self) -> int:
        return self.run(rescue.prune(1_000))

    def get(self, job: Submitted) -> Job:
        return self.run(queries.get(job.uid))

    def history(self, job: Submitted) -> list[str]:
        return [event.type for event in self.run(queries.events_of(job.id, 0))]

    def close(self) -> None:
        self.store.close()


ENDINGS = {status.value for status in Status if status.ended}


def endings(types: Iterable[str]) -> list[str]:
    return [type for type in types if type in ENDINGS]


class OtherProcess(AbstractAsyncContextManager["OtherProcess"]):
    """A real worker process on the same file (see other_process.py), for as long as the block lasts."""

    def __init__(self, database: str, *, slots: int = 4) -> None:
        self._command = [sys.executable, str(Path(__file__).with_name("other_process.py")), database, str(slots)]

    async def __aenter__(self) -> Self:
        self._process = await asyncio.to_thread(subprocess.Popen, self._command, stdout=subprocess.PIPE, text=True)
        await self.says("ready")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.kill()
        await asyncio.to_thread(self._process.wait)
        self._process.stdout.close()

    async def says(self, word: str) -> str:
        """Wait for the line that begins with this word, and return the rest of it."""
        while line := await asyncio.to_thread(self._process.stdout.readline):
            first, _, rest = line.strip().partition(" ")
            if first == word:
                return rest
        raise AssertionError(f"the other process ended without saying {word!r}")

    async def kill(self) -> None:
        """As kill -9 does: it gets no time to tidy up."""
        self._process.kill()
        await asyncio.to_thread(self._process.wait)

    async def terminate(self) -> int:
        """Ask it to stop, as a service manager does, and wait until it has. Returns its exit code."""
        self._process.terminate()
        await self.says("stopped")
        return await asyncio.to_thread(self._process.wait)
