"""Which slots of a worker are free: for claims, for offers, and for background jobs among them."""

import asyncio
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from pressroom.delivery import Offer
from pressroom.model import Tier
from pressroom.store.jobs.claiming import FreeSlots, Turn
from pressroom.worker.attempts import Attempts
from pressroom.worker.counters import WorkerCounters
from pressroom.worker.loop import ClaimLoop
from pressroom.worker.offers import Offers
from pressroom.worker.slots import SHORT_ATTEMPT, WorkerSlots

INTERACTIVE, BACKGROUND = Tier.INTERACTIVE, Tier.BACKGROUND


@pytest.mark.parametrize(
    ("total", "free"),
    [(0, (0, 0)), (1, (1, 1)), (2, (1, 1)), (3, (2, 2)), (4, (2, 2)), (16, (8, 8))],
)
def test_a_claim_takes_at_most_half_of_the_slots(total: int, free: tuple[int, int]) -> None:
    assert WorkerSlots(total).free_for_claims() == FreeSlots(*free)


def test_background_jobs_leave_one_slot_free() -> None:
    slots = slow(WorkerSlots(3))
    assert slots.free_for_offers(0, 0) == FreeSlots(3, 2)

    for _ in range(2):
        slots.begin_attempt(BACKGROUND)

    assert slots.free_for_claims() == slots.free_for_offers(0, 0) == FreeSlots(1, 0)


def test_background_jobs_that_were_offered_leave_one_slot_free() -> None:
    offers = Offers()
    for number in range(3):
        offers.add(Offer(str(number), BACKGROUND))

    assert [offer.uid for offer in offers.take_for_slots(FreeSlots(3, 2))] == ["0", "1"]
    assert offers.background == 1


def test_a_worker_of_one_slot_gives_it_to_a_background_job() -> None:
    slots = WorkerSlots(1)
    slots.begin_attempt(BACKGROUND)

    assert slots.free_for_claims() == FreeSlots(0, 0)


@pytest.mark.parametrize("tier", [INTERACTIVE, BACKGROUND])
def test_an_attempt_takes_a_slot_until_it_ends(tier: Tier) -> None:
    slots = WorkerSlots(2)
    slots.begin_attempt(tier)
    assert (slots.running, slots.busy) == (1, 1)
    assert slots.free_for_claims() == FreeSlots(1, 0 if tier is BACKGROUND else 1)

    slots.end_attempt(tier, 1.0)

    assert (slots.running, slots.busy, slots.free_for_claims()) == (0, 0, FreeSlots(1, 1))


@pytest.mark.parametrize("tier", [INTERACTIVE, BACKGROUND])
def test_a_released_slot_is_free_for_its_tier_until_it_is_taken_back(tier: Tier) -> None:
    slots = slow(WorkerSlots(2))
    slots.begin_attempt(tier)
    before = slots.free_for_offers(0, 0)

    assert slots.release(tier)
    assert (slots.running, slots.busy, slots.free_for_offers(0, 0)) == (1, 0, FreeSlots(2, 1))

    slots.take_back(tier)
    assert (slots.busy, slots.free_for_offers(0, 0)) == (1, before)


def test_as_many_slots_are_released_as_there_are_and_no_more() -> None:
    slots = WorkerSlots(1)
    slots.begin_attempt(INTERACTIVE)
    assert slots.release(INTERACTIVE)
    slots.begin_attempt(INTERACTIVE)

    assert not slots.release(INTERACTIVE)
    assert slots.free_for_claims() == FreeSlots(0, 0)


def test_after_slots_were_taken_back_more_may_run_than_there_are_and_none_is_free() -> None:
    slots = slow(WorkerSlots(1))
    slots.begin_attempt(BACKGROUND)
    slots.release(BACKGROUND)
    slots.begin_attempt(BACKGROUND)

    slots.take_back(BACKGROUND)

    assert slots.busy == 2
    assert slots.free_for_claims() == slots.free_for_offers(0, 0) == FreeSlots(0, 0)


def test_slots_that_a_turn_asked_for_are_not_free_until_it_is_over() -> None:
    slots = WorkerSlots(4)
    requested = slots.free_for_claims()
    slots.request(requested)
    assert slots.free_for_claims() == FreeSlots(2, 1)

    slots.request(FreeSlots(2, 1))
    assert slots.free_for_claims() == FreeSlots(0, 0)

    slots.end_request(requested)
    assert slots.free_for_claims() == FreeSlots(2, 2)


def test_offers_that_wait_take_slots() -> None:
    slots = slow(WorkerSlots(4))

    assert slots.free_for_offers(1, 0) == FreeSlots(3, 3)
    assert slots.free_for_offers(0, 1) == FreeSlots(3, 2)
    assert slots.free_for_offers(2, 3) == FreeSlots(0, 0)


def test_while_attempts_are_short_jobs_are_offered_ahead_of_their_slots() -> None:
    slots = WorkerSlots(4)
    assert slots.free_for_offers(0, 0) == FreeSlots(4, 3), "nothing is known yet"

    slots.begin_attempt(INTERACTIVE)
    slots.end_attempt(INTERACTIVE, SHORT_ATTEMPT / 2)
    assert slots.free_for_offers(0, 0) == FreeSlots(8, 7)
    assert slots.free_for_claims() == FreeSlots(2, 2)

    slots.begin_attempt(INTERACTIVE)
    slots.end_attempt(INTERACTIVE, 10.0)
    assert slots.free_for_offers(0, 0) == FreeSlots(4, 3)


def slow(slots: WorkerSlots) -> WorkerSlots:
    slots.average_seconds = 1.0
    return slots


class NotedOffer(Offer):
    refusals: ClassVar[list[float | None]] = []

    def refuse(self, retry_after: float | None) -> None:
        self.refusals.append(retry_after)


def claim_loop(offers: Offers, turns: Any = None, *, sweep: float = 0.0) -> ClaimLoop:
    attempts: Any = SimpleNamespace(running={}, ended=[], take_settlements=list, record_settled=list)
    delivery: Any = SimpleNamespace(min_poll_interval=sweep)
    return ClaimLoop("w", (), delivery, WorkerSlots(1), offers, attempts, turns, poll_interval=1.0, on_delivery_error=print)


async def test_an_offer_to_a_worker_that_claims_no_more_is_refused_at_once() -> None:
    offers = Offers()
    loop = claim_loop(offers)
    loop.claiming = False

    loop.offer(NotedOffer("job", 0))

    assert (NotedOffer.refusals, offers.interactive) == ([0.0], 0)


async def test_a_job_that_is_announced_while_a_claim_finds_nothing_is_claimed_next() -> None:
    """Else it would wait for the next poll."""

    async def run(*_: object) -> Turn:
        loop.expect_jobs()
        return Turn([], [])

    loop = claim_loop(Offers(), SimpleNamespace(run=run, claims_unknown=False))
    loop._begin_turn()

    assert loop._should_claim()


async def test_a_renewal_that_finds_a_job_cancelled_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """So does a look at the database, but not while that is slow."""
    nothing: Any = None
    stopped: list[int] = []
    attempts = Attempts(nothing, {}, WorkerSlots(1), print, WorkerCounters(), lambda: 0.5)
    monkeypatch.setattr(attempts, "cancel_job", stopped.append)

    attempts.handle_renewal({(1, 1): True, (2, 1): False}, [(1, 1), (2, 1)])
    await asyncio.sleep(0)
    attempts.close()

    assert stopped == [1]


def test_of_two_offers_of_one_job_one_is_taken_and_the_other_refused_for_good() -> None:
    said: list[object] = []

    class SayingOffer(Offer):
        def accept(self) -> None:
            said.append("taken")

        def refuse(self, retry_after: float | None) -> None:
            said.append(retry_after)

    claim: Any = SimpleNamespace(uid="job", id=1, token=1)
    Offers().answer_offers([SayingOffer("job", 0), SayingOffer("job", 0)], Turn([], [claim]))

    assert said == ["taken", None]
