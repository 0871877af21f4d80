"""Run a crash lab in a process of its own, as `./dev crash` does, and read its verdict."""

import subprocess
import sys
from pathlib import Path

from tests.reliability.trial import TOO_WEAK

ROOT = Path(__file__).parents[2]


RUNS = 3


def run_lab(module: str, cycles: int, seed: int, *options: str) -> dict[str, str]:
    """The figures of a run that passes. A run that does not fails the test with what it printed.

    On a busy machine faults may come before anybody has work to be disturbed in. A run that was too weak is made again with the
    next seed.
    """
    for run in range(RUNS):
        argv = [sys.executable, "-m", module, *options, "--cycles", str(cycles), "--seed", str(seed + run)]
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != TOO_WEAK:
            break

    lines = done.stdout.splitlines() or [""]
    assert f"seed: {seed + run}" in lines, done.stderr
    assert lines[-1].startswith("verdict: PASS "), f"{lines[-1]}\n{done.stderr}"
    assert done.returncode == 0
    figures = dict(pair.split("=") for pair in lines[-1].removeprefix("verdict: PASS ").split())
    assert int(figures["cycles"]) >= cycles
    return figures
