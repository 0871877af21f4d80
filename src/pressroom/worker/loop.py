"""When a worker claims jobs: `ClaimLoop._should_claim`. How many is in `slots`, how in `turns`; `attempts` runs them."""

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Callable, Collection, Sequence

from pressroom.delivery import Delivery, Offer
from pressroom.model import Claim
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement
from pressroom.worker.attempts import Attempts
from pressroom.worker.offers import Offers
from pressroom.worker.slots import WorkerSlots
from pressroom.worker.turns import Turns

log = logging.getLogger("pressroom.worker")

SETTLE_BATCH = 50  # attempts that ended, enough to be worth a commit of their own
SETTLE_DELAY = 0.005  # seconds that a background attempt that has ended may wait for others, to share a commit with them
TURNS_IN_FLIGHT = 2  # one is being written while the handlers of the other run
DELIVERY_RETRY_DELAY = 1.0  # seconds


class ClaimLoop:
    """Claims jobs for the free slots, and settles attempts together with the next claim. A delivery sees it as a `Taker`."""

    def __init__(
        self,
        name: str,
        kinds: Collection[str],
        delivery: Delivery,
        worker_slots: WorkerSlots,
        offers: Offers,
        attempts: Attempts,
        turns: Turns,
        *,
        poll_interval: float,
        on_delivery_error: Callable[[BaseException], None],
    ) -> None:
        self.name = name
        self.kinds = kinds
        self.slots = worker_slots.total
        self.claiming = True
        self._delivery = delivery
        self._worker_slots = worker_slots
        self._offers = offers
        self._attempts = attempts
        self._turns = turns
        self._poll = poll_interval
        self._on_delivery_error = on_delivery_error
        self.turns_in_flight: set[asyncio.Task[None]] = set()
        self._polls = math.isfinite(delivery.min_poll_interval)  # else the delivery names every job
        self._polled_at = 0.0
        self._jobs_expected = self._polls  # False once a claim found fewer jobs than there were free slots
        self._announcements = 0
        self._answered = 0  # announcements when the last claim began
        self._has_backlog = False  # the last claim found a job for every slot
        self._has_news = False  # since the last claim jobs were announced, or a poll found some
        self._settle_timer: asyncio.TimerHandle | None = None
        self._settle_is_due = False
        self._wake, self._slot_freed, self._idle = asyncio.Event(), asyncio.Event(), asyncio.Event()
        attempts.on_end = self._on_attempt_ended
        attempts.on_slot_release = self._on_slot_released

    async def claim_and_settle_forever(self) -> None:
        self._wake.set()
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._turns.claims_unknown and not self.turns_in_flight:
                retry_delay = await self._turns.release_unknown_claims()
                if retry_delay:
                    asyncio.get_running_loop().call_later(retry_delay, self._wake.set)
            while self._may_begin_turn() and self._should_begin_turn():
                self._begin_turn()
            if self._is_idle():
                self._idle.set()

    def _may_begin_turn(self) -> bool:
        return len(self.turns_in_flight) < TURNS_IN_FLIGHT and not self._turns.claims_unknown

    def _should_begin_turn(self) -> bool:
        if not self._attempts.ended:
            return self._should_claim()
        if self._settle_is_due or not self._may_settle_later():
            return True
        if self._settle_timer is None:
            # A handler that is quick waits in proportion: its slot is free meanwhile, and takes no other job.
            delay = min(SETTLE_DELAY, self._worker_slots.average_seconds / 4)
            self._settle_timer = asyncio.get_running_loop().call_later(delay, self._settle_now)
        return False

    def _may_settle_later(self) -> bool:
        """While others run, a few background attempts may wait to be settled, and their slots to be filled, by one turn: most
        of what that costs does not depend on how many it settles. Jobs that were just announced are not kept waiting.
        """
        ended = self._attempts.ended
        if self._has_news or not self.claiming or len(ended) >= self.slots // 4 or self._worker_slots.busy == 0:
            return False
        return all(one.claim.tier > 0 for one in ended) and not self._offers.has_offer_for(self._worker_slots.free_for_claims())

    def _settle_now(self) -> None:
        self._settle_is_due = True
        self._wake.set()

    def _should_claim(self) -> bool:
        """If a slot is free and the worker is not stopping: when the delivery has offered a job, or when some may be ready.

        Beside a claim that is under way, another one is made only if jobs were announced since, or if there is a backlog.
        """
        free = self._worker_slots.free_for_claims()
        if not self.claiming or free.total == 0:
            return False
        if self._offers.has_offer_for(free):
            return True
        needs_claim = self._has_backlog or self._announcements > self._answered or not self._worker_slots.has_requests
        return self._jobs_expected and needs_claim

    def _is_idle(self) -> bool:
        busy = bool(self._attempts.running or self._attempts.ended or self.turns_in_flight)
        return not busy and not (self.claiming and self._jobs_expected)

    def _begin_turn(self) -> None:
        if self._settle_timer is not None:
            self._settle_timer.cancel()
        self._settle_timer, self._settle_is_due = None, False
        offers, slots = [], FreeSlots(0, 0)
        if self._should_claim():
            slots = self._worker_slots.free_for_claims()
            offers = self._offers.take_for_slots(slots)
            if offers:
                slots = FreeSlots(len(offers), sum(offer.tier > 0 for offer in offers))
            else:
                self._answered, self._has_news = self._announcements, False
        self._worker_slots.request(slots)
        turn = self._run_turn(self._attempts.take_settlements(), offers, slots)
        task = asyncio.Task(turn, loop=asyncio.get_running_loop(), eager_start=True)
        if not task.done():
            self.turns_in_flight.add(task)

    async def _run_turn(self, settlements: Sequence[Settlement], offers: Sequence[Offer], slots: FreeSlots) -> None:
        announcements = self._announcements
        turn = await self._turns.run(settlements, offers, slots)
        self._worker_slots.end_request(slots)
        self._slot_freed.set()  # it may have claimed fewer jobs than it asked for
        self.turns_in_flight.discard(asyncio.current_task())
        if turn is not None:
            self._offers.record_settled(turn.settled)
            self._attempts.record_settled(turn.settled)
            if offers:
                self._offers.answer_offers(offers, turn)
            elif slots.total:
                self._has_backlog = len(turn.claims) == slots.total
                if not self._has_backlog and announcements == self._announcements:
                    self._jobs_expected = False
            for claim in turn.claims:
                self._attempts.begin_attempt(claim)
                if len(self._attempts.ended) >= SETTLE_BATCH and self._may_begin_turn():
                    self._begin_turn()  # these are written while the handlers of the rest run
        self._wake.set()

    def _on_attempt_ended(self, claim: Claim) -> None:
        if self._delivery.min_poll_interval == 0 or claim.key is not None or not self._offers.has_taken(claim):
            self._look_for_jobs()  # a slot is free, and settling this one may make another ready
        self._slot_freed.set()
        self._wake.set()

    def _on_slot_released(self) -> None:
        self._slot_freed.set()
        self.expect_jobs()

    def expect_jobs(self) -> None:
        self._has_news = self._polls
        self._look_for_jobs()

    def _look_for_jobs(self) -> None:
        self._announcements += 1
        self._jobs_expected = self._polls
        self._wake.set()

    def offer(self, offer: Offer) -> None:
        if not self.claiming:
            offer.refuse(0.0)
            return
        self._offers.add(offer)
        self._wake.set()

    def free_slots(self) -> tuple[int, int]:
        if not self.claiming:
            return 0, 0
        free = self._worker_slots.free_for_offers(self._offers.interactive, self._offers.background)
        return free.total, free.background

    async def slot_freed(self) -> None:
        await self._slot_freed.wait()
        self._slot_freed.clear()

    async def consume_delivery(self) -> None:
        while True:
            try:
                await self._delivery.serve(self)
            except Exception as reason:
                self._on_delivery_error(reason)
                log.exception("delivery failed; trying again")
            await asyncio.sleep(DELIVERY_RETRY_DELAY)

    async def poll_database(self) -> None:
        """Finds ready jobs that no delivery announced, and running ones that another process cancelled."""
        while True:
            await asyncio.sleep(self._poll)
            look_for_work = self._should_poll()
            if look_for_work or self._attempts.running:
                found_work = await self._turns.survey(look_for_work=look_for_work, by_name=self._delivery.min_poll_interval > 0)
                if found_work:
                    self.expect_jobs()

    def _should_poll(self) -> bool:
        """As often as the delivery wants it, and only if a claim would follow."""
        if self._jobs_expected or not self._polls or not self.claiming or self._worker_slots.free_for_claims().total == 0:
            return False
        now = time.monotonic()
        if now - self._polled_at < self._delivery.min_poll_interval:
            return False
        self._polled_at = now
        return True

    async def wait_until_idle(self, deadline: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                self._idle.clear()
                self._wake.set()
                await self._idle.wait()
