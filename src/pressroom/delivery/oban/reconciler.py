"""Repairs what oban forgot, what a node left behind, and what was done to oban's rows behind our back."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from psycopg_pool import AsyncConnectionPool

from pressroom.base.outages import Outage
from pressroom.delivery.oban import hooks
from pressroom.errors import ObanSchemaMismatch, PressroomError

log = logging.getLogger("pressroom.delivery")

TIDY_EVERY = 5.0  # seconds
PRUNE_EVERY = 60.0
KEEP = 3600  # seconds that oban's own rows are kept; ours have the history
PAGE = 1000
A_DAY = 24 * 3600.0
COMMIT_WITHIN = 60.0  # seconds; a cancel is dated when its transaction begins


class Reconciler:
    """`cancel` ends a job of ours whose oban job was cancelled; `schema` is where oban's tables are; `count_error` is called
    with the error of a failed round."""

    def __init__(
        self,
        pool: AsyncConnectionPool[Any],
        cancel: Callable[[str], Awaitable[object]],
        schema: str,
        count_error: Callable[[BaseException], object] = lambda _reason: None,
    ) -> None:
        self._pool = pool
        self._cancel = cancel
        self._schema = schema
        self._count_error = count_error
        self._mismatch = Outage("looking for jobs that oban forgot", log)
        self._looked_at: float | None = None
        self._pruned_at = time.monotonic()

    async def run(self, node: str, held: Callable[[], list[int]], leads: Callable[[], bool]) -> None:
        while True:
            await asyncio.sleep(TIDY_EVERY)
            try:
                await self.return_lost_jobs(node, held())
                if leads():
                    await self.reconcile()
            except Exception as reason:  # the database may be away; the next round comes
                self._count_error(reason)
                log.warning("oban's rows were not looked after: %s", reason)

    async def reconcile(self) -> None:
        """What one node does for all."""
        await self.end_cancelled_jobs()
        await self.close_abandoned_jobs()
        if time.monotonic() - self._pruned_at > PRUNE_EVERY:
            self._pruned_at = time.monotonic()
            await self.prune_oban_jobs()

    async def enqueue_unannounced_jobs(self, kinds: Iterable[str]) -> int:
        """Page after page for as long as something is found, so that a table that was emptied is soon full again.

        Does nothing if our triggers use another schema by now: its workers and we would take every job from each other.
        """
        try:
            compare_schemas(await self._run("find_schema"), self._schema)
        except ObanSchemaMismatch as mismatch:
            self._mismatch.record_failure(mismatch)
            return 0
        self._mismatch.record_success()
        after = dict.fromkeys(kinds, (-1, -1))
        enlisted = 0
        while after:
            found = await self._run("enlist_forgotten", _as_columns(after) | {"limit": PAGE})
            enlisted += sum(count for *_, count in found)
            after = {kind: (tier, seq) for kind, tier, seq, count in found if tier is not None and count}
        if enlisted:
            log.warning("%d jobs were unknown to oban and are enlisted again", enlisted)
        return enlisted

    async def end_cancelled_jobs(self) -> None:
        """Looks no further back than to its last look, for those that it has seen to stay in the table for a while."""
        begun = time.monotonic()
        age = A_DAY if self._looked_at is None else begun - self._looked_at + COMMIT_WITHIN
        cancelled = await self._run("find_cancelled", {"age": age, "limit": PAGE})
        for (uid,) in cancelled:
            try:
                await self._cancel(uid)
            except PressroomError as reason:
                log.warning("job_%s was cancelled in oban, but not here: %s", uid, reason)
        if len(cancelled) < PAGE:
            self._looked_at = begun

    async def close_abandoned_jobs(self) -> None:
        await self._run("close_abandoned")

    async def return_lost_jobs(self, node: str, held: list[int]) -> None:
        given_back = await self._run("give_back", {"node": node, "held": held})
        if given_back:
            log.warning("%d oban jobs were handed to this worker and never came; oban has them back", len(given_back))

    async def prune_oban_jobs(self) -> None:
        await self._run("prune", {"age": KEEP, "limit": 20 * PAGE})

    async def _run(self, name: str, parameters: dict[str, Any] | None = None) -> list[Any]:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(hooks.load_statement(name, self._schema), parameters)
            return await cursor.fetchall() if cursor.description is not None else []


def compare_schemas(found: Sequence[tuple[str | None]], schema: str) -> None:
    """Raises ObanSchemaMismatch. `found` are the rows of `find_schema`: none if there are no triggers yet."""
    for (of_triggers,) in found:
        if of_triggers is not None and of_triggers != schema:
            raise ObanSchemaMismatch(of_triggers, schema)


def _as_columns(after: dict[str, tuple[int, int]]) -> dict[str, list[Any]]:
    tiers, seqs = zip(*after.values(), strict=True)
    return {"kinds": list(after), "tiers": list(tiers), "seqs": list(seqs)}
