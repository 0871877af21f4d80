"""`./dev crash --http --cycles 300 --seed 7`: kill and pause real servers and workers under clients, then judge what is left.

The first line is the seed, which gives the same faults again; the last line is the verdict, and the exit code follows it.
"""

import sys

from tests.reliability import http_checker
from tests.reliability.http_checker import HttpVerdict
from tests.reliability.http_lab import HttpLab
from tests.reliability.http_nemesis import POINTS
from tests.reliability.slot import Toll
from tests.reliability.trial import Trial, misgivings


def objections(verdict: HttpVerdict, toll: Toll) -> list[str]:
    wanted = {
        "no reply was lost after its commit": verdict.recovered,
        "no duplicate was met": verdict.saved and verdict.replayed,
        "nobody waited for a picture and got it": verdict.waited,
        "no short link was read": verdict.links,
    }
    return misgivings(toll, wanted)


TRIAL = Trial("./dev crash --http", "Kill and pause real servers and workers.", HttpLab, http_checker.judge, objections, POINTS)

if __name__ == "__main__":
    sys.exit(TRIAL.conduct(sys.argv[1:]))
