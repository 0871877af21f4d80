"""Jobs that a delivery names while several organisations wait: the turn decides who starts, and names what comes next."""

from pressroom.ids import new_uid
from pressroom.model import Claim, OnKey
from pressroom.store.jobs import claiming, submitting
from pressroom.store.jobs.claiming import REFUSED_FOR, Again, FreeSlots
from pressroom.store.jobs.submitting import CheckedJob
from pressroom.testing import ManualClock, SteppedStore

KINDS = ["k", "paused"]


class Store:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = SteppedStore(self.clock)
        self.store.raw.execute("INSERT INTO kind (name, paused) VALUES ('k', 0), ('paused', 1)")

    def submit(self, org_id: str, *, kind: str = "k", delay: int = 0) -> str:
        new = CheckedJob(new_uid(), kind, 0, "{}", OnKey.SKIP, 3, 3, 0, delay=delay, org_id=org_id)
        return self.store.run(submitting.submit(new)).uid

    def claim_in_turn(self, *uids: str) -> tuple[list[str], Again]:
        room = FreeSlots(len(uids), len(uids))
        claims, again = self.store.run(claiming.claim_in_turn("w", uids, KINDS, room, 1_000, "", shared_lock=False))
        return _uids(claims), again


def _uids(claims: list[Claim]) -> list[str]:
    return [claim.uid for claim in claims]


def test_another_organisation_is_served_first_and_what_was_named_is_offered_again_at_once() -> None:
    store = Store()
    first, second = store.submit("acme"), store.submit("acme")
    assert store.claim_in_turn(first) == ([first], {})
    tiny = store.submit("globex")

    assert store.claim_in_turn(second) == ([tiny], {second: 0.0})
    assert store.claim_in_turn(tiny) == ([second], {tiny: None})  # its message is spent, and its slot is used all the same
    assert store.claim_in_turn(tiny, second) == ([], {tiny: None, second: None})


def test_with_room_for_all_that_wait_names_make_no_difference() -> None:
    store = Store()
    named = [store.submit("acme"), store.submit("globex"), store.submit("acme")]

    assert store.claim_in_turn(*reversed(named)) == (named, {})


def test_what_cannot_start_is_not_offered_again_at_once() -> None:
    """It would be offered for ever."""
    store = Store()
    paused, later = store.submit("acme", kind="paused"), store.submit("acme", delay=5_000)

    assert store.claim_in_turn(paused, later) == ([], {paused: REFUSED_FOR, later: 5.0})
    mine = store.submit("globex")
    assert store.claim_in_turn(later) == ([mine], {later: 5.0})


def test_a_named_job_that_is_being_cancelled_is_not_asked_for_again() -> None:
    """No worker will ever start it."""
    store = Store()
    uid = store.submit("a")
    store.store.raw.execute("UPDATE job SET cancel_requested = 1, waits_for = 'cancel'")

    assert store.claim_in_turn(uid) == ([], {uid: None})
