"""`./dev crash --packs --cycles 300 --seed 7`: kill and pause servers, workers and the render service while packs are rendered.

The first line is the seed, which gives the same faults again; the last line is the verdict, and the exit code follows it.
"""

import sys

from tests.reliability import packs_checker
from tests.reliability.packs_checker import PacksVerdict
from tests.reliability.packs_lab import PacksLab
from tests.reliability.packs_nemesis import POINTS
from tests.reliability.slot import Toll
from tests.reliability.trial import Trial, misgivings


def objections(verdict: PacksVerdict, toll: Toll) -> list[str]:
    wanted = {
        "no answer was lost after its commit": verdict.recovered,
        "no document was ready": verdict.ready,
        "no render was tried again": verdict.retried,
        "no job was taken from a dead worker": verdict.rescued,
    }
    return misgivings(toll, wanted)


TRIAL = Trial(
    "./dev crash --packs",
    "Kill and pause servers, workers and the render service of packs.",
    PacksLab,
    packs_checker.judge,
    objections,
    POINTS,
)

if __name__ == "__main__":
    sys.exit(TRIAL.conduct(sys.argv[1:]))
