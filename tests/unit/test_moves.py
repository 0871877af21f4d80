"""The database refuses every move that model.MOVES does not allow, whoever tries it."""

import apsw
import pytest

from pressroom.model import MOVES, Status
from pressroom.testing import SteppedStore

AN_OPEN_JOB = """
INSERT INTO job (id, uid, kind, tier, seq, run_at, status, max_attempts, max_crashes, on_key, retention, date_created)
VALUES (1, '00000000000000000000000001', 'k', 1, 1, 0, 'queued', 3, 3, 'skip', 0, 0)
"""

# A row of each status that the CHECK constraints are content with, so that only the move itself is on trial.
SHAPES = {
    Status.QUEUED: "lease_until = NULL, date_completed = NULL, prune_after = NULL",
    Status.IN_PROGRESS: "worker = 'w', lease = 1, lease_until = 1, date_started = 1, date_completed = NULL, prune_after = NULL",
    Status.COMPLETED: "result = '1', lease_until = NULL, date_completed = 1, prune_after = 1",
    Status.COMPLETED_WITH_ERRORS: "result = '1', lease_until = NULL, date_completed = 1, prune_after = 1",
    Status.FAILED: "lease_until = NULL, date_completed = 1, prune_after = 1",
    Status.CANCELLED: "lease_until = NULL, date_completed = 1, prune_after = 1",
}


def move(store: SteppedStore, to: Status) -> None:
    store.raw.execute(f"UPDATE job SET status = '{to}', {SHAPES[to]} WHERE id = 1")


def a_store_with_a_job_that_is(status: Status) -> SteppedStore:
    store = SteppedStore()
    store.raw.execute(AN_OPEN_JOB)
    if status is not Status.QUEUED:
        move(store, Status.IN_PROGRESS)
        move(store, status)
    return store


@pytest.mark.parametrize("to", Status)
@pytest.mark.parametrize("status", Status)
def test_a_move_is_possible_exactly_if_the_table_has_it(status: Status, to: Status) -> None:  # Q5, I3
    store = a_store_with_a_job_that_is(status)
    allowed = to in MOVES[status] or (to is status and not status.ended)

    if allowed:
        move(store, to)
    else:
        with pytest.raises(apsw.ConstraintError, match="illegal move"):
            move(store, to)

    assert store.raw.execute("SELECT status FROM job").fetchall() == [(to if allowed else status,)]


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.QUEUED])
def test_a_job_is_born_queued(status: Status) -> None:
    with pytest.raises(apsw.ConstraintError, match="born queued"):
        SteppedStore().raw.execute(AN_OPEN_JOB.replace("'queued'", f"'{status}'"))


@pytest.mark.parametrize("status", Status)
def test_only_an_ended_job_can_be_deleted(status: Status) -> None:  # I20
    store = a_store_with_a_job_that_is(status)

    if status.ended:
        store.raw.execute("DELETE FROM job")
    else:
        with pytest.raises(apsw.ConstraintError, match="only an ended job"):
            store.raw.execute("DELETE FROM job")


@pytest.mark.parametrize(
    "change",
    [
        "status = 'in_progress'",
        "lease_until = 5",
        "waits_for = 'key'",
        "waits_for = 'weather'",
        "tier = 2",
        "failures = -1",
        "status = 'failed'",
        "progress = '{'",
        "claim = -1",
        "date_completed = 5",
    ],
)
def test_a_row_that_makes_no_sense_is_refused(change: str) -> None:
    store = a_store_with_a_job_that_is(Status.QUEUED)

    with pytest.raises(apsw.ConstraintError):
        store.raw.execute(f"UPDATE job SET {change}")


def test_history_cannot_be_rewritten_and_has_one_ending() -> None:  # I3
    store = a_store_with_a_job_that_is(Status.FAILED)
    store.raw.execute("INSERT INTO job_event (job_id, at, type) VALUES (1, 0, 'failed')")

    with pytest.raises(apsw.ConstraintError, match="append-only"):
        store.raw.execute("UPDATE job_event SET type = 'completed'")
    with pytest.raises(apsw.ConstraintError):
        store.raw.execute("INSERT INTO job_event (job_id, at, type) VALUES (1, 0, 'completed')")
