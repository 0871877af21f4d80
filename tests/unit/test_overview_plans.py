"""What an operator asks reads what is open, or what ended lately: however many jobs have ended, they are not looked at."""

import pytest

from pressroom.store.engine.statements import load
from pressroom.testing import SteppedStore


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("count_waiting", "job_open"),  # Q13
        ("count_ready", "(kind=? AND tier=?)"),  # of job_ready, or of job_ready_of_org
        ("list_running", "job_running"),  # Q14, Q15, Q18
        ("find_conflicts", "job_running"),  # Q15
        ("count_endings_by_kind", "job_ended (date_completed>?)"),  # Q16
        ("count_endings_by_org", "job_ended (date_completed>?)"),  # Q17
    ],
)
def test_a_question_is_answered_through_its_index(statement: str, index: str) -> None:
    told = _plan(statement)

    reads = [line for line in told if line.split()[1] == "job"]
    assert reads
    assert all(index in line for line in reads), told


@pytest.mark.parametrize("statement", ["find_conflicts", "list_items", "list_running"])
def test_items_are_found_by_their_job(statement: str) -> None:
    """Items of ended jobs are kept. SQLite once began with all of them: 200 ms instead of one."""
    (items,) = [line for line in _plan(statement) if line.split()[1] == "item"]

    assert items.startswith("SEARCH item USING PRIMARY KEY (job_id=? AND claim=?")


def _plan(statement: str) -> list[str]:
    store = SteppedStore()
    values = dict.fromkeys(("org_id", "kind", "project_id", "phase", "item", "ids"), "x")
    values |= dict.fromkeys(("since", "most", "limit", "started_before", "after_start", "after_id", "names", "has_items"), 1)
    rows = store.raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite')[statement]}", values).fetchall()
    store.close()
    return [str(row[3]) for row in rows]
