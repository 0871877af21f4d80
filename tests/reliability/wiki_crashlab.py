"""`./dev crash --wiki --cycles 300 --seed 7`: kill and pause real servers and workers under people who write articles.

The first line is the seed, which gives the same faults again; the last line is the verdict, and the exit code follows it.
"""

import sys

from tests.reliability import wiki_checker
from tests.reliability.slot import Toll
from tests.reliability.trial import Trial, misgivings
from tests.reliability.wiki_checker import WikiVerdict
from tests.reliability.wiki_lab import WikiLab
from tests.reliability.wiki_nemesis import POINTS


def objections(verdict: WikiVerdict, toll: Toll) -> list[str]:
    wanted = {
        "no reply was lost after its commit": verdict.recovered,
        "no two hands met in one article": verdict.conflicts,
        "no revision was overtaken before its turn": verdict.superseded,
    }
    return misgivings(toll, wanted)


TRIAL = Trial(
    "./dev crash --wiki", "Kill and pause servers and workers of the wiki.", WikiLab, wiki_checker.judge, objections, POINTS
)

if __name__ == "__main__":
    sys.exit(TRIAL.conduct(sys.argv[1:]))
