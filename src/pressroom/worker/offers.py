"""Jobs that a delivery offered by name: those that wait for a slot here, and those claimed that are not settled yet."""

import logging
from collections import deque
from collections.abc import Sequence

from pressroom.delivery import Offer
from pressroom.model import Claim, Postponed, Retry, Status
from pressroom.store.jobs.claiming import FreeSlots, Turn
from pressroom.store.jobs.endings import Settled

log = logging.getLogger("pressroom.worker")


class Offers:
    def __init__(self) -> None:
        self._interactive: deque[Offer] = deque()
        self._background: deque[Offer] = deque()
        self._taken: dict[tuple[int, int], Offer] = {}

    @property
    def interactive(self) -> int:
        return len(self._interactive)

    @property
    def background(self) -> int:
        return len(self._background)

    def add(self, offer: Offer) -> None:
        self._queue_of(offer).append(offer)

    def has_offer_for(self, slots: FreeSlots) -> bool:
        return bool(self._interactive) or (bool(self._background) and slots.background > 0)

    def take_for_slots(self, slots: FreeSlots) -> list[Offer]:
        chosen = [self._interactive.popleft() for _ in range(min(slots.total, self.interactive))]
        left = min(slots.total - len(chosen), slots.background)
        return chosen + [self._background.popleft() for _ in range(min(left, self.background))]

    def put_back(self, offers: Sequence[Offer]) -> None:
        for offer in reversed(offers):
            self._queue_of(offer).appendleft(offer)

    def answer_offers(self, offers: Sequence[Offer], turn: Turn) -> None:
        """After the turn that was to claim them."""
        claims = {claim.uid: claim for claim in turn.claims}
        known = frozenset(claims)
        for offer in offers:
            claim = claims.pop(offer.uid, None)  # popped, for the same job may be offered twice
            if claim is None:
                if offer.uid not in turn.again and offer.uid not in known:
                    log.warning("job_%s was announced, but there is no such job; it is left alone", offer.uid)
                offer.refuse(turn.again.get(offer.uid))
            else:
                self._taken[claim.id, claim.token] = offer
                offer.accept()

    def refuse_all(self) -> None:
        """This worker stops: the delivery may offer them to another one at once."""
        for offers in (self._interactive, self._background):
            while offers:
                offers.popleft().refuse(0.0)

    def has_taken(self, claim: Claim) -> bool:
        return (claim.id, claim.token) in self._taken

    def record_settled(self, settled: Sequence[Settled]) -> None:
        for one in settled:
            offer = self._taken.pop((one.claim.id, one.claim.token), None)
            if offer is not None:
                offer.settle(_retry_delay(one))

    def _queue_of(self, offer: Offer) -> deque[Offer]:
        return self._background if offer.tier > 0 else self._interactive


def _retry_delay(settled: Settled) -> float | None:
    """After how many seconds a settled job is to be tried again, if it is."""
    if settled.status is not Status.QUEUED:
        return None
    return settled.outcome.wait if isinstance(settled.outcome, Retry | Postponed) else 0.0
