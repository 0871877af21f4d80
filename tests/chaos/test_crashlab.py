"""Faults upon processes that share a PostgreSQL, with each delivery, and the judge finds nothing."""

import pytest

from pressroom.config import DELIVERIES
from tests.reliability.run_lab import run_lab

SEED = 20261116


@pytest.mark.deep
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_faults_on_a_server_lose_nothing_and_do_nothing_twice(delivery: str) -> None:
    """I1, I3, I4, I6, I9, I17, I19, I22, I24; D2, D12, D17, on PostgreSQL that syncs."""
    figures = run_lab("tests.chaos.crashlab", 300, SEED, "--on", "postgres", "--delivery", delivery)

    assert int(figures["lost"]) == int(figures["duplicated"]) == int(figures["two_terminal"]) == int(figures["integrity"]) == 0
    assert int(figures["stale_accepted"]) == 0
    assert int(figures["stale_provoked"]) > 0
    assert float(figures["done"]) > 0.8


@pytest.mark.deep
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_faults_upon_builds_on_a_server_lose_none_and_show_readers_no_mixture(delivery: str) -> None:
    # Q1, Q9, Q20, Q22, Q24, Q33; D23, D26, D28, D29, with editions that are pointers and editions that are copied
    figures = run_lab("tests.chaos.crashlab", 200, SEED, "--docs", "--on", "postgres", "--delivery", delivery)

    assert int(figures["lost"]) == int(figures["stuck"]) == int(figures["behind"]) == int(figures["mixed"]) == 0
    assert int(figures["completed"]) > 0
