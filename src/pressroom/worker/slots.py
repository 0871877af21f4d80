"""How many slots of a worker are free. Arithmetic only: no clock, no I/O."""

from pressroom.store.jobs.claiming import FreeSlots

SHORT_ATTEMPT = 0.05  # seconds that an offered job may wait for a slot here while another worker may have a free one


class WorkerSlots:
    """Background jobs leave one slot free, so that an interactive job does not wait for them.

    A slot is taken by an attempt that runs, unless its handler has released it while it waits for another job, and by a turn
    under way that may claim a job for it.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.running = 0  # attempts, those with a released slot included
        self.released = 0
        self.average_seconds = SHORT_ATTEMPT  # of an attempt, recent ones weighted most
        self._background = 0  # slots that background attempts hold
        self._background_limit = total - 1 if total > 1 else total
        self._requested = FreeSlots(0, 0)
        self._batch = max(1, (total + 1) // 2)

    @property
    def busy(self) -> int:
        return self.running - self.released

    def begin_attempt(self, tier: int) -> None:
        self.running += 1
        self._background += tier > 0

    def end_attempt(self, tier: int, seconds: float) -> None:
        self.running -= 1
        self._background -= tier > 0
        self.average_seconds += (seconds - self.average_seconds) / 16

    def release(self, tier: int) -> bool:
        """False if as many are released as there are slots: a handler that waits costs memory, so their number is bounded."""
        if self.released >= self.total:
            return False
        self.released += 1
        self._background -= tier > 0
        return True

    def take_back(self, tier: int) -> None:
        self.released -= 1
        self._background += tier > 0

    @property
    def has_requests(self) -> bool:
        return self._requested.total > 0

    def request(self, slots: FreeSlots) -> None:
        """A turn begins that may claim jobs for these slots."""
        self._requested = FreeSlots(self._requested.total + slots.total, self._requested.background + slots.background)

    def end_request(self, slots: FreeSlots) -> None:
        self._requested = FreeSlots(self._requested.total - slots.total, self._requested.background - slots.background)

    def free_for_claims(self) -> FreeSlots:
        """At most half of all: the next turn then claims while the handlers of this one run."""
        total = min(self._free(), self._batch)
        return FreeSlots(max(0, total), max(0, min(total, self._free_background())))

    def free_for_offers(self, interactive: int, background: int) -> FreeSlots:
        """Less the offers that already wait for a slot.

        While attempts are short, jobs are offered ahead of the slots that they need, so that a turn that settles also claims.
        """
        ahead = self.total if self.average_seconds < SHORT_ATTEMPT else 0
        total = self._free() + ahead - interactive - background
        return FreeSlots(max(0, total), max(0, min(total, self._free_background() + ahead - background)))

    def _free(self) -> int:
        return self.total - self.busy - self._requested.total

    def _free_background(self) -> int:
        return self._background_limit - self._background - self._requested.background
