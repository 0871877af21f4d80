"""Workers on machines that are not there: they claim, run and settle as a worker does, at the moments of a timeline."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

from pressroom.definitions import Kind
from pressroom.demo.sources import without_comments
from pressroom.demo.timeline import Timeline
from pressroom.errors import PressroomError
from pressroom.ids import new_uid
from pressroom.model import VERSION, Claim, Postponed, Retry, Work
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

LEASE_MS = 12 * 3600 * 1000  # milliseconds; what runs when the day is over can be looked at for so long
_LAST_NUMBER = re.compile(r"(\d+\.\d+\.)(\d+)")
RENDER_SECONDS = {"mermaid": 0.3, "dot": 0.2, "d2": 0.9, "vega-lite": 0.5, "markdown": 1.6, "html": 2.2}


@dataclass(eq=False)
class SimulatedWorker:
    """One worker."""

    name: str
    host: str
    pid: int
    kinds: Sequence[str]
    slots: int
    busy: int = 0

    def worker_record(self) -> WorkerRecord:
        process = simulated_identity(self.host, self.pid)
        return WorkerRecord(
            self.name, process, self.kinds, self.slots, self.busy, self.host, self.pid, VERSION, "embedded", LEASE_MS
        )


class _UnthrottledJob(RunningJob):
    """Progress is held back for real tenths of a second, of which there are none here."""

    async def _save_progress_if_due(self) -> None:
        await self._save_progress()


class SimulatedWorkers:
    def __init__(
        self, press: Pressroom, timeline: Timeline, seed: int, workers: Sequence[SimulatedWorker], *, upgraded_at: int
    ) -> None:
        self.workers = workers
        self._press = press
        self._database: Database = press.rendering.database
        self._timeline = timeline
        self._seed = seed
        self._upgraded_at = upgraded_at
        self._threads = HandlerThreads()
        self._rendered: dict[tuple[str, str, str], Mapping[str, Any]] = {}

    async def save_heartbeats(self) -> None:
        for worker in self.workers:
            await self._database.run(
                partial(worker_records.save_worker, worker.worker_record()), name="heartbeat", durable=False
            )

    async def claim_and_start(self, *settlements: Settlement) -> None:
        """Settle, and let every worker claim what it has free slots for."""
        unit = partial(self._settle_and_claim, settlements)
        for worker, claim in await self._database.run(unit, name="turn", durable=False):
            worker.busy += 1
            self._timeline.start_activity(self._run_attempt(worker, claim))

    def _settle_and_claim(self, settlements: Sequence[Settlement]) -> Work[list[tuple[SimulatedWorker, Claim]]]:
        if settlements:
            yield from endings.settle(settlements, self._press.kinds)
        taken = []
        for worker in self.workers:
            free = worker.slots - worker.busy
            if free > 0:
                claims = yield from claiming.claim(worker.name, worker.kinds, FreeSlots(free, max(0, free - 1)), LEASE_MS)
                taken += [(worker, claim) for claim in claims]
        return taken

    async def _run_attempt(self, worker: SimulatedWorker, claim: Claim) -> None:
        kind, rng = self._press.kinds[claim.kind], Random(f"{self._seed} {claim.id} {claim.attempt}")
        attempt = Attempt(
            claim,
            self._with_simulated_handler(kind, rng),
            _UnthrottledJob(claim, self._database, lambda _: None),
            self._threads,
        )
        result = await attempt.run()
        if self._timeline.over:
            return
        outcome = judge(claim, kind, result, rng.random())
        worker.busy -= 1
        await self.claim_and_start(Settlement(claim, outcome))
        if isinstance(outcome, Retry | Postponed):
            self._timeline.start_activity(self._claim_after(outcome.wait))

    async def _claim_after(self, seconds: float) -> None:
        await self._timeline.sleep(seconds + 0.01)
        await self.claim_and_start()

    def _with_simulated_handler(self, kind: Kind, rng: Random) -> Kind:
        """Renders take the time of their language, and those of the same picture share its bytes."""
        if kind.name in self._press.rendering.kinds:
            return replace(kind, handler=partial(self._render, kind, rng))
        if kind.name == self._press.webhooks.kind.name:
            return replace(kind, handler=partial(self._deliver, kind, rng))
        return kind

    async def _render(self, kind: Kind, rng: Random, job: Any, payload: Any) -> Any:
        await self._timeline.sleep(RENDER_SECONDS.get(payload["language"], 0.5) * rng.lognormvariate(0, 0.7))
        picture = (kind.name, payload["output"], without_comments(payload["source"]))
        if picture not in self._rendered:
            result = self._rendered[picture] = await self._render_now(kind, job, payload)
        else:
            result = {**self._rendered[picture], "artifact": new_uid(), "short_link": new_link()}
        return {**result, "engines": self._engine_versions_now(result["engines"])}

    async def _render_now(self, kind: Kind, job: Any, payload: Any) -> Any:
        try:
            return await kind.handler(job, payload)
        except PressroomError as error:
            if error.engines is not None:
                error.engines = self._engine_versions_now(error.engines)
            raise

    async def _deliver(self, kind: Kind, rng: Random, job: Any, payload: Any) -> Any:
        await self._timeline.sleep(rng.uniform(0.05, 0.6))
        return await kind.handler(job, payload)

    def _engine_versions_now(self, engines: Mapping[str, str]) -> Mapping[str, str]:
        """The engines were upgraded in the course of the day: before, the last number of each version was one less."""
        if self._timeline.clock.now_ms() >= self._upgraded_at:
            return engines
        return {name: _LAST_NUMBER.sub(_decrement, version) for name, version in engines.items()}


def _decrement(match: re.Match[str]) -> str:
    return f"{match[1]}{max(0, int(match[2]) - 1)}"
