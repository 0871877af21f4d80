"""`./dev crash --docs --cycles 200 --seed 7`: kill and pause servers, workers and the edge while builds are published.

The first line is the seed, which gives the same faults again; the last line is the verdict, and the exit code follows it.
"""

import sys

from tests.reliability import docs_checker
from tests.reliability.docs_checker import DocsVerdict
from tests.reliability.docs_lab import DocsLab
from tests.reliability.docs_nemesis import POINTS
from tests.reliability.slot import Toll
from tests.reliability.trial import Trial, misgivings


def objections(verdict: DocsVerdict, toll: Toll) -> list[str]:
    wanted = {
        "no build was completed": verdict.completed,
        "no broken archive failed": verdict.failed,
        "no job was taken from a dead worker": verdict.rescued,
        "no reader saw an edition move": verdict.reads,
    }
    return misgivings(toll, wanted)


TRIAL = Trial(
    "./dev crash --docs",
    "Kill and pause servers, workers and the edge of documentation sites.",
    DocsLab,
    docs_checker.judge,
    objections,
    POINTS,
)

if __name__ == "__main__":
    sys.exit(TRIAL.conduct(sys.argv[1:]))
