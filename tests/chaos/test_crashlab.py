"""Fifty faults upon processes that share a PostgreSQL, with each delivery, and the judge finds nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from pressroom.config import DELIVERIES

ROOT = Path(__file__).parents[2]
SEED = 20261116


@pytest.mark.timeout(300)
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_fifty_faults_on_a_server_lose_nothing_and_do_nothing_twice(delivery: str) -> None:
    """I1, I3, I4, I6, I9, I17, I19, I22, I24; D2, D12, D17, on PostgreSQL that syncs."""
    lab = [sys.executable, "-m", "tests.chaos.crashlab", "--on", "postgres", "--delivery", delivery]

    done = subprocess.run([*lab, "--cycles", "50", "--seed", str(SEED)], cwd=ROOT, capture_output=True, text=True)

    last = done.stdout.splitlines()[-1]
    assert last.startswith("verdict: PASS "), f"{last}\n{done.stderr}"
    assert done.returncode == 0
    figures = dict(pair.split("=") for pair in last.removeprefix("verdict: PASS ").split())
    assert int(figures["cycles"]) >= 50
    assert int(figures["lost"]) == int(figures["duplicated"]) == int(figures["two_terminal"]) == int(figures["integrity"]) == 0
    assert int(figures["stale_accepted"]) == 0 < int(figures["stale_provoked"])
    assert float(figures["done"]) > 0.8
