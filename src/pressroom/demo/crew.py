"""Workers on machines that are not there: they claim, run and settle as a worker does, at the moments of a timeline."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

from pressroom.demo.sources import essence
from pressroom.demo.timeline import Timeline
from pressroom.errors import PressroomError
from pressroom.ids import new_uid
from pressroom.model import VERSION, Claim, Kind, Postponed, Retry, Work
from pressroom.pressroom import Pressroom
from pressroom.store import Database
from pressroom.store.artifacts.artifacts import new_link
from pressroom.store.jobs import claiming, endings, worker_records
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement
from pressroom.store.jobs.worker_records import WorkerRecord
from pressroom.worker.context import RunningJob
from pressroom.worker.judge import judge
from pressroom.worker.process import simulated_identity
from pressroom.worker.run import Attempt
from pressroom.worker.threads import HandlerThreads

HELD = 12 * 3600 * 1000  # milliseconds; what runs when the day is over can be looked at for so long
_LAST_NUMBER = re.compile(r"(\d+\.\d+\.)(\d+)")
SECONDS = {"mermaid": 0.3, "dot": 0.2, "d2": 0.9, "vega-lite": 0.5, "markdown": 1.6, "html": 2.2}


@dataclass(eq=False)
class Hand:
    """One worker."""

    name: str
    host: str
    pid: int
    kinds: Sequence[str]
    slots: int
    busy: int = 0

    def card(self) -> WorkerRecord:
        process = simulated_identity(self.host, self.pid)
        return WorkerRecord(
            self.name, process, self.kinds, self.slots, self.busy, self.host, self.pid, VERSION, "embedded", HELD
        )


class _ToldAtOnce(RunningJob):
    """Progress is held back for real tenths of a second, of which there are none here."""

    async def _save_progress_if_due(self) -> None:
        await self._save_progress()


class Crew:
    def __init__(self, press: Pressroom, timeline: Timeline, seed: int, hands: Sequence[Hand], *, upgraded_at: int) -> None:
        self.hands = hands
        self._press = press
        self._database: Database = press.rendering.database
        self._timeline = timeline
        self._seed = seed
        self._upgraded_at = upgraded_at
        self._threads = HandlerThreads()
        self._made: dict[tuple[str, str, str], Mapping[str, Any]] = {}

    async def show_up(self) -> None:
        for hand in self.hands:
            await self._database.run(partial(worker_records.save_worker, hand.card()), name="heartbeat", durable=False)

    async def look(self, *settlements: Settlement) -> None:
        """Settle, and let everybody take what they have room for."""
        unit = partial(self._turn, settlements)
        for hand, claim in await self._database.run(unit, name="turn", durable=False):
            hand.busy += 1
            self._timeline.begin(self._work(hand, claim))

    def _turn(self, settlements: Sequence[Settlement]) -> Work[list[tuple[Hand, Claim]]]:
        if settlements:
            yield from endings.settle(settlements, self._press.kinds)
        taken = []
        for hand in self.hands:
            free = hand.slots - hand.busy
            if free > 0:
                claims = yield from claiming.claim(hand.name, hand.kinds, FreeSlots(free, max(0, free - 1)), HELD)
                taken += [(hand, claim) for claim in claims]
        return taken

    async def _work(self, hand: Hand, claim: Claim) -> None:
        kind, luck = self._press.kinds[claim.kind], Random(f"{self._seed} {claim.id} {claim.attempt}")
        attempt = Attempt(claim, self._run_by(kind, luck), _ToldAtOnce(claim, self._database, lambda _: None), self._threads)
        result = await attempt.run()
        if self._timeline.over:
            return
        outcome = judge(claim, kind, result, luck.random())
        hand.busy -= 1
        await self.look(Settlement(claim, outcome))
        if isinstance(outcome, Retry | Postponed):
            self._timeline.begin(self._look_after(outcome.wait))

    async def _look_after(self, seconds: float) -> None:
        await self._timeline.sleep(seconds + 0.01)
        await self.look()

    def _run_by(self, kind: Kind, luck: Random) -> Kind:
        """Renders take the time of their language, and those of the same picture share its bytes."""
        if kind.name in self._press.rendering.kinds:
            return replace(kind, handler=partial(self._render, kind, luck))
        if kind.name == self._press.webhooks.kind.name:
            return replace(kind, handler=partial(self._deliver, kind, luck))
        return kind

    async def _render(self, kind: Kind, luck: Random, job: Any, payload: Any) -> Any:
        await self._timeline.sleep(SECONDS.get(payload["language"], 0.5) * luck.lognormvariate(0, 0.7))
        picture = (kind.name, payload["output"], essence(payload["source"]))
        if picture not in self._made:
            result = self._made[picture] = await kind.handler(job, payload)
        else:
            result = {**self._made[picture], "artifact": new_uid(), "short_link": new_link()}
        return {**result, "engines": self._as_of_now(result["engines"])}

    async def _really_render(self, kind: Kind, job: Any, payload: Any) -> Any:
        try:
            return await kind.handler(job, payload)
        except PressroomError as error:
            if error.engines is not None:
                error.engines = self._as_of_now(error.engines)
            raise

    async def _deliver(self, kind: Kind, luck: Random, job: Any, payload: Any) -> Any:
        await self._timeline.sleep(luck.uniform(0.05, 0.6))
        return await kind.handler(job, payload)

    def _as_of_now(self, engines: Mapping[str, str]) -> Mapping[str, str]:
        """The engines were upgraded in the course of the day: before, the last number of each version was one less."""
        if self._timeline.clock.now_ms() >= self._upgraded_at:
            return engines
        return {name: _LAST_NUMBER.sub(_one_less, version) for name, version in engines.items()}


def _one_less(found: re.Match[str]) -> str:
    return f"{found[1]}{max(0, int(found[2]) - 1)}"
