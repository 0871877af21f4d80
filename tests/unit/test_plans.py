"""What is asked ten times a second reads no more than it needs, however long the queue is."""

import apsw
import pytest

from pressroom.store.engine.statements import load
from pressroom.testing import SteppedStore
from tests.vm_steps import counted


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("list_cancelling", "job_cancelling"),
        ("list_deferred_cancels", "job_cancelling"),
        ("next_due", "job_due"),
        ("survey_queue", "job_due"),
        ("survey_queue", "job_ready"),
        ("survey_queue", "job_running"),
    ],
)
def test_a_look_at_an_idle_queue_uses_its_own_index(statement: str, index: str) -> None:
    """Cancelled jobs were once looked for among all open ones: 107 ms, ten times a second, with a million queued."""
    plan = SteppedStore().raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite')[statement]}").fetchall()

    assert index in " ".join(str(row[3]) for row in plan)


def test_the_next_jobs_of_a_kind_are_read_through_what_is_ready() -> None:
    values = {"kinds": '["k"]', "tiers": "[0, 1]", "limit": 1}
    plan = SteppedStore().raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite')['find_ready']}", values).fetchall()

    steps = [str(row[3]) for row in plan]
    assert [step for step in steps if " next " in step] == ["SEARCH next USING INDEX job_ready (kind=? AND tier=?)"]
    assert steps.count("SEARCH job USING INDEX job_ready_of_org (kind=? AND tier=?)") == 2
    assert not [step for step in steps if step.startswith("SCAN job")]


def test_how_many_are_ahead_is_read_through_what_is_ready() -> None:
    plan = SteppedStore().raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite')['count_ahead']}", {"id": 1, "limit": 1}).fetchall()

    told = [str(row[3]) for row in plan if " other " in str(row[3])]
    assert len(told) == 2
    assert "job_ready (kind=? AND tier=? AND seq<?)" in told[1]


@pytest.mark.parametrize(
    ("statement", "indexes"),
    [
        ("demote_key_candidate", ["job_holder", "job_line"]),
        ("find_cached", ["job_line", "job_holder"]),
        ("any_open_key", ["job_line", "job_holder"]),
    ],
)
def test_a_submit_reads_what_is_open_through_its_own_indexes(statement: str, indexes: list[str]) -> None:
    """A submit into a line of ten thousand once read the whole line, and one with a key every job that the key ever had."""
    values = dict.fromkeys(("org_id", "key", "fingerprint", "now", "limit", "keys"))
    plan = SteppedStore().raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite')[statement]}", values).fetchall()

    told = " ".join(str(row[3]) for row in plan)
    for index in indexes:
        assert index in told
    assert "job_key" not in told
    assert "SORT" not in told
    assert "TEMP B-TREE" not in told


@pytest.mark.parametrize("statement", ["count_queued", "count_queued_of_org", "count_queued_orgs"])
def test_shares_of_a_full_queue_are_counted_without_reading_a_job(statement: str) -> None:
    values = {"org_id": "acme", "limit": 10}
    plan = SteppedStore().raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite')[statement]}", values).fetchall()

    told = [str(row[3]) for row in plan if " job " in str(row[3])]
    assert told
    assert all("USING COVERING INDEX job_line" in line for line in told), told


def test_organisations_in_the_queue_are_counted_one_look_each() -> None:
    """However many jobs each of them has."""
    steps = [_steps_to_count_orgs(jobs_each) for jobs_each in (1, 200)]

    assert steps[1] < 1.1 * steps[0]


def _steps_to_count_orgs(jobs_each: int) -> int:
    store = SteppedStore()
    store.raw.execute(
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20 * :each)
        INSERT INTO job (id, uid, kind, tier, seq, run_at, status, on_key, max_attempts, max_crashes, org_id, retention,
                         date_created)
        SELECT i, printf('%026d', i), 'k', 0, i, 0, 'queued', 'skip', 1, 1, 'org-' || (i % 20), 0, 0 FROM n
        """,
        {"each": jobs_each},
    )
    with counted(store.raw) as cost:
        assert store.raw.execute(load("sqlite")["count_queued_orgs"], {"limit": 1_000}).fetchall() == [(20,)]
    return cost.steps


def test_a_statement_is_not_planned_anew_for_other_values() -> None:
    """SQLite is built with STAT4 here, and then does so at every bind, unless told otherwise: most of what a claim cost."""
    raw = SteppedStore().raw
    planned: list[int] = []
    raw.authorizer = lambda operation, *_: planned.append(operation) or apsw.SQLITE_OK
    for kind in ("first", "first", "other"):
        seen = len(planned)
        raw.execute(load("sqlite")["find_ready"], {"kinds": f'["{kind}"]', "tiers": "[0, 1]", "limit": 4}).fetchall()

    assert seen > 0
    assert len(planned) == seen
