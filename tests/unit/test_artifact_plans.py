"""A round of the collector reads what there is to collect, however much there is to keep."""

import re

import pytest

from pressroom.store.engine.statements import load
from pressroom.testing import SteppedStore


def plan_of(sql: str) -> str:
    values = dict.fromkeys(re.findall(r":(\w+)", sql), 0)
    return " ".join(str(row[3]) for row in SteppedStore().raw.execute(f"EXPLAIN QUERY PLAN {sql}", values))


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("list_dead_artifacts", "artifact_without_job"),
        ("condemn_blobs", "blob_marked"),
        ("list_condemned", "blob_deleting"),
        ("forget_blobs", "blob_deleted"),
        ("point_cache", "render_cache_job"),
    ],
)
def test_a_statement_of_the_collector_uses_its_own_index(statement: str, index: str) -> None:
    assert index in plan_of(load("sqlite")[statement])


def test_pruning_a_job_looks_for_its_artifacts_through_their_index() -> None:
    assert "artifact_of_job" in plan_of("DELETE FROM job WHERE id = 1")
