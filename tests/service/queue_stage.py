"""A queue that a test fills by hand, on either database: jobs are claimed, tell of their progress and end when it says so."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pressroom import Pressroom, kind
from pressroom.app import BUILT_IN
from pressroom.definitions import Kind
from pressroom.model import Claim, GaveUp, Outcome, PartlySucceeded, Released, Stopped, Submitted, Succeeded, Work
from pressroom.serving import make_service
from pressroom.store.jobs import claiming, progress
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement, settle
from pressroom.testing import ManualClock
from tests.service.access_stage import Stage

LEASE = 86_400_000  # a day: no lease runs out while a test moves the clock

GOOD = Succeeded("null")
BAD = GaveUp({"code": "handler_error", "message": "no", "attempt": 1})
HALF = PartlySucceeded("null", {"code": "partial", "message": "half", "attempt": 1})
STOPPED = Stopped("never mind")


@kind("build")
def build(job: object, payload: Any) -> None: ...


@kind("page", tier=0)
def page(job: object, payload: Any) -> None: ...


@kind("tidy")
def tidy(job: object, payload: Any) -> None: ...


KINDS = {one.name: one for one in (build, page, tidy)}


@dataclass
class Floor(Stage):
    clock: ManualClock = field(default_factory=ManualClock)

    @property
    def overview(self) -> Any:
        return self.press.overview

    async def run[T](self, work: Work[T]) -> T:
        return await self.press._database.run(lambda: work, name="test")

    async def start(self, name: str = "build", *, worker: str = "press-1.1.A", **how: Any) -> Claim:
        """Submit a job and claim it. The clock goes on by a second, so that the order of starts is known."""
        submitted = await self.press.submit(name, **how)
        (claim,) = await self.run(claiming.claim(worker, [name], FreeSlots(1, 1), LEASE))
        assert claim.uid == submitted.uid
        self.clock.advance(seconds=1)
        return claim

    async def release(self, claim: Claim) -> Claim:
        """Give the job back to the queue, and take it again."""
        await self.run(settle([Settlement(claim, Released())], KINDS))
        (again,) = await self.run(claiming.claim("press-1.1.A", [claim.kind], FreeSlots(1, 1), LEASE))
        return again

    async def editions(self, claim: Claim, *names: str, phase: str = "editions") -> None:
        await self.run(progress.begin_items(claim.id, claim.token, phase, "editions", list(names), None))

    async def move(self, claim: Claim, name: str, state: str = "completed", error: str | None = None) -> None:
        await self.run(progress.move_item(claim.id, claim.token, "editions", name, state, error))

    async def end(self, outcome: Outcome, name: str = "build", **how: Any) -> Claim:
        claim = await self.start(name, **how)
        await self.run(settle([Settlement(claim, outcome)], KINDS))
        return claim


@asynccontextmanager
async def floor(
    database: str, clock: ManualClock | None = None, kinds: Mapping[str, Kind] = KINDS, **options: Any
) -> AsyncIterator[Floor]:
    clock = clock or ManualClock()
    options = {"rate_limit": 0, "rate_limit_address": 0, "login_limit": 0, "listen": "0.0.0.0:8000"} | options
    async with Pressroom(database, kinds=[*kinds.values()], apps=BUILT_IN, workers=None, clock=clock, **options) as press:
        service, app = make_service(press)
        yield Floor(press, service, app, clock)


def job(one: Claim | Submitted) -> str:
    return f"job_{one.uid}"
