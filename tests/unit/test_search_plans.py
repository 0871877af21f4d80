"""A list of jobs reads them in their order through an index, so that it can stop early however many there are."""

import pytest

from pressroom.model import Status
from pressroom.store.engine.statements import load
from pressroom.store.operators import search
from pressroom.store.operators.search import SearchFilter
from pressroom.testing import SteppedStore


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (SearchFilter(), "INTEGER PRIMARY KEY"),
        (SearchFilter(kind="a", subject="b", worker="c"), "INTEGER PRIMARY KEY"),
        (SearchFilter(status=(Status.COMPLETED,)), "INTEGER PRIMARY KEY"),
        (SearchFilter(org_id=""), "INTEGER PRIMARY KEY"),
        (SearchFilter(org_id="acme"), "job_org"),
        (SearchFilter(key="k", org_id="acme"), "job_key"),
        (SearchFilter(parent="p"), "job_parent"),
        (SearchFilter(status=(Status.QUEUED,)), "job_open"),
        (SearchFilter(status=(Status.IN_PROGRESS,)), "job_running"),
        (SearchFilter(status=(Status.FAILED,), org_id="acme"), "job_trouble"),
        (SearchFilter(status=(Status.CANCELLED,), kind="a"), "job_trouble"),
    ],
)
def test_jobs_are_read_in_order_and_through_one_index(wanted: SearchFilter, index: str) -> None:
    told = plan_of(wanted)

    reads = [line for line in told if line.startswith(("SEARCH job ", "SCAN job "))]
    assert len(reads) == 2
    assert all(index in line for line in reads), told
    assert not any("TEMP B-TREE" in line for line in told), told


def test_a_group_of_failures_is_read_by_its_print() -> None:
    told = plan_of(SearchFilter(failure="0" * 16))

    assert any("job_failure_print" in line for line in told)
    assert [line for line in told if " job " in line] == ["SEARCH job USING INTEGER PRIMARY KEY (rowid=?)"]


def test_jobs_that_were_named_are_read_by_their_names() -> None:
    told = plan_of(SearchFilter(uids=("x",)))

    assert any("job_uid" in line for line in told)
    assert not any(line.startswith("SCAN job") for line in told)


def test_whether_a_job_was_tried_again_is_read_through_its_own_index() -> None:
    store = SteppedStore()
    told = explained(store, "list_jobs_for_bulk", {"ids": "[1]"})

    assert any("job_retry_of" in line for line in told), told


def plan_of(wanted: SearchFilter) -> list[str]:
    store = SteppedStore()
    work = search.search_job_ids(wanted)
    name, params = next(work)
    return explained(store, name, params)


def explained(store: SteppedStore, name: str, params: object) -> list[str]:
    rows = store.raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite')[name]}", params).fetchall()  # type: ignore[arg-type]
    store.close()
    return [str(row[3]) for row in rows]
