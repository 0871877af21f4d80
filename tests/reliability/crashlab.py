"""`./dev crash --cycles 300 --seed 7`: kill and pause real processes at work, then judge what is left.

The first line is the seed, which gives the same faults again; the last line is the verdict, and the exit code follows it.
"""

import sys

from pressroom.failpoints import JOB_POINTS
from tests.reliability import checker
from tests.reliability.checker import Verdict
from tests.reliability.lab import Lab
from tests.reliability.slot import Toll
from tests.reliability.trial import ENOUGH, Trial


def objections(verdict: Verdict, toll: Toll) -> list[str]:
    weak = toll.cycles >= ENOUGH and verdict.stale_provoked == 0
    return ["too weak: no late write was provoked"] if weak else []


TRIAL = Trial("./dev crash", "Kill and pause real processes at work.", Lab, checker.judge, objections, JOB_POINTS)

if __name__ == "__main__":
    sys.exit(TRIAL.conduct(sys.argv[1:]))
