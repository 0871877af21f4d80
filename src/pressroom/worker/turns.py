"""A turn settles the attempts that ended and claims the next jobs, both in one transaction."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial

from pressroom.base.outages import Outage
from pressroom.definitions import Kind
from pressroom.delivery import Offer
from pressroom.errors import StoreUnavailable
from pressroom.model import Work
from pressroom.store import Database
from pressroom.store.jobs import claiming, endings, fairness, transitions
from pressroom.store.jobs.claiming import REFUSED_FOR, FreeSlots, Turn
from pressroom.store.jobs.endings import Settled, Settlement
from pressroom.worker.attempts import Attempts
from pressroom.worker.counters import WorkerCounters
from pressroom.worker.judge import judge
from pressroom.worker.offers import Offers

log = logging.getLogger("pressroom.worker")

WAKE_INTERVAL = 0.5  # seconds between two turns that wake jobs whose time has come, for a worker that is never idle


class Turns:
    """Runs turns, and finds out what became of one whose commit may or may not have happened."""

    def __init__(
        self,
        database: Database,
        kinds: dict[str, Kind],
        attempts: Attempts,
        offers: Offers,
        counters: WorkerCounters,
        random: Callable[[], float],
        *,
        worker: str,
        lease: float,
        retry_delay: float,
    ) -> None:
        self.claims_unknown = False  # a turn failed and may be committed: jobs may be claimed in our name that do not run here
        self.several_orgs_wait = False  # when the database was last surveyed
        self.outage = Outage("settling and claiming", log, counters.count_database_error)
        self.release_outage = Outage("asking what the last turn claimed", log, counters.count_database_error)
        self._survey_outage = Outage("looking for work", log, counters.count_database_error)
        self._database = database
        self._kinds = kinds
        self._attempts = attempts
        self._offers = offers
        self._counters = counters
        self._random = random
        self._worker = worker
        self._lease = int(lease * 1000)
        self._retry_delay = retry_delay
        self._last_served_org = ""  # the other organisations are next
        self._limited_kinds: frozenset[str] = frozenset()
        self._must_wake = False
        self._woke_at = 0.0

    async def run(self, settlements: Sequence[Settlement], offers: Sequence[Offer], slots: FreeSlots) -> Turn | None:
        """None while the store is unavailable: then settlements and offers wait for the next turn."""
        turn = None
        try:
            turn = await self._settle_and_claim(settlements, offers, slots)
            self.outage.record_success()
            return turn
        except StoreUnavailable as reason:
            self._attempts.put_back_settlements(settlements)
            self._offers.put_back(offers)
            await asyncio.sleep(self.outage.record_failure(reason))
        except Exception:
            log.exception("a turn failed")
            settled = await self._settle_one_by_one(settlements)
            turn = Turn(settled, [], {offer.uid: REFUSED_FOR for offer in offers})
            await asyncio.sleep(self._retry_delay)
        self.claims_unknown = True
        return turn

    async def release_unknown_claims(self) -> float:
        """Release the jobs that are claimed in this worker's name and do not run here: the answer to their claim was lost.

        Returns the seconds to wait before the next try, or 0 if it succeeded.
        """
        unit = partial(claiming.release_unknown_claims, self._worker, self._attempts.known_claims, self._kinds)
        try:
            released = await self._database.run(unit, name="turn")
        except Exception as reason:
            return self.release_outage.record_failure(reason)
        self.release_outage.record_success()
        self.claims_unknown = False
        for one in released:
            log.warning("job_%s was claimed, but the answer was lost; it goes back to the queue", one.claim.uid)
        return 0.0

    async def survey(self, *, look_for_work: bool, by_name: bool) -> bool:
        """Stop the running jobs that were cancelled or preempted. True if a claim would find jobs.

        `by_name`: a delivery offers jobs by name, so it is also asked whether several organisations wait.
        """
        preemptible = self._attempts.preemptible_ids()
        unit = partial(claiming.survey, self._kinds, look_for_work=look_for_work, by_name=by_name, preemptible=preemptible)
        try:
            found = await self._database.read(unit)
        except Exception as reason:
            await asyncio.sleep(self._survey_outage.record_failure(reason))
            return False
        self._survey_outage.record_success()
        self.several_orgs_wait = found.shared
        self._attempts.cancel_claims(found.cancelling)
        self._attempts.preempt(found.preempted)
        if look_for_work:
            self._limited_kinds = found.limited
        self._must_wake = self._must_wake or (found.ready and found.needs_exclusive_lock)
        return found.ready

    async def _settle_and_claim(self, settlements: Sequence[Settlement], offers: Sequence[Offer], slots: FreeSlots) -> Turn:
        shared_lock = self._may_share_lock(settlements)
        self._counters.claim_statements += slots.total > 0
        unit = partial(self._turn_unit, settlements, [offer.uid for offer in offers], slots, shared_lock)
        turn = await self._database.run(unit, name="turn", durable=bool(settlements), shared_lock=shared_lock)
        self._last_served_org = fairness.last_org_served(turn.claims, self._last_served_org)
        return turn

    def _turn_unit(
        self, settlements: Sequence[Settlement], uids: Sequence[str], slots: FreeSlots, shared_lock: bool
    ) -> Work[Turn]:
        """Called when the transaction begins: by then the turn before this one may have served an organisation."""
        return claiming.settle_and_claim(
            settlements,
            self._worker,
            self._kinds,
            slots,
            self._lease,
            self._kinds,
            named=uids,
            in_turn=self.several_orgs_wait,
            shared_lock=shared_lock,
            last_served_org=self._last_served_org,
        )

    def _may_share_lock(self, settlements: Sequence[Settlement]) -> bool:
        """Not if the turn is to wake jobs whose time has come, which a worker that is never idle does now and then.

        Nor if it settles a job of a limited kind: the next of that kind is counted in by a turn that runs alone.
        """
        now = time.monotonic()
        if any(one.claim.kind in self._limited_kinds for one in settlements):
            return False
        if self._must_wake or now - self._woke_at > WAKE_INTERVAL:
            self._must_wake, self._woke_at = False, now
            return False
        return self._database.has_concurrent_writers and all(
            endings.changes_only_own_row(one.claim, self._kinds) and not endings.may_raise_alert(one, self._kinds)
            for one in settlements
        )

    async def _settle_one_by_one(self, settlements: Sequence[Settlement]) -> list[Settled]:
        """After a settling hook raised: its own job is settled with that error, the others as they ended."""
        settled: list[Settled] = []
        for settlement in settlements:
            claim, kind = settlement.claim, self._kinds[settlement.claim.kind]
            for kinds in (self._kinds, self._kinds, endings.without_hook(self._kinds, claim.kind)):
                try:
                    settled += await self._settle_alone(settlement, kinds)
                    break
                except StoreUnavailable as reason:  # not the hook's fault: settled when the store is available again
                    self.outage.record_failure(reason)
                    self._attempts.ended.append(settlement)
                    break
                except Exception as error:
                    log.exception("settling job_%s failed", claim.uid)
                    settlement = Settlement(claim, judge(claim, kind, error, self._random()))
        return settled

    async def _settle_alone(self, settlement: Settlement, kinds: transitions.Kinds) -> list[Settled]:
        return await self._database.run(partial(endings.settle, [settlement], kinds), name="turn")
