"""Three hundred faults upon real processes, and the judge finds nothing."""

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from pressroom.failpoints import JOB_POINTS
from tests.reliability import nemesis

ROOT = Path(__file__).parents[2]
SEED = 20261115


@pytest.mark.timeout(240)
def test_three_hundred_faults_lose_nothing_and_do_nothing_twice() -> None:
    # I1, I3, I4, I6, I8, I9, I17, I19, I22, I24; D2, D12, D17
    argv = [sys.executable, "-m", "tests.reliability.crashlab", "--cycles", "300", "--seed", str(SEED)]

    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)

    first, *_, last = done.stdout.splitlines()
    assert first == f"seed: {SEED}"
    assert last.startswith("verdict: PASS "), f"{last}\n{done.stderr}"
    assert done.returncode == 0
    figures = dict(pair.split("=") for pair in last.removeprefix("verdict: PASS ").split())
    assert int(figures["cycles"]) >= 300
    assert int(figures["lost"]) == int(figures["duplicated"]) == int(figures["stuck"]) == int(figures["stale_accepted"]) == 0
    assert int(figures["stale_provoked"]) > 0
    assert int(figures["acked"]) > 1000


@pytest.mark.parametrize("role", nemesis.FATES)
def test_a_seed_gives_the_same_faults_again(role: str) -> None:
    fate = list(islice(nemesis.faults(7, role, 0), 100))

    assert fate == list(islice(nemesis.faults(7, role, 0), 100))
    assert fate != list(islice(nemesis.faults(8, role, 0), 100))


def test_the_nemesis_knows_every_failpoint() -> None:
    known = {*nemesis.WORKER_POINTS, *nemesis.DESK_POINTS, *nemesis.CLERK_POINTS, *nemesis.FOUNDER_POINTS}

    assert known == JOB_POINTS
