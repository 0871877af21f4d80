"""`./dev crash --on postgres --delivery redis --cycles 1000 --seed 7`: the crash lab on a server, with one of the deliveries.

The first line is the seed, which gives the same faults again; the last line is the verdict, and the exit code follows it.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from pressroom.config import DELIVERIES
from pressroom.failpoints import JOB_POINTS
from tests.chaos.lab import ServerLab
from tests.reliability import checker
from tests.reliability.crashlab import objections
from tests.reliability.trial import Trial


def conduct(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("./dev crash --on postgres", add_help=False)
    parser.add_argument("--on", choices=["postgres"], default="postgres")
    parser.add_argument("--delivery", choices=DELIVERIES, default="embedded")
    where, rest = parser.parse_known_args(argv)
    command = f"./dev crash --on postgres --delivery {where.delivery}"
    lab = partial(ServerLab, delivery=where.delivery)
    return Trial(command, "Kill and pause real processes on a server.", lab, checker.judge, objections, JOB_POINTS).conduct(
        rest
    )


if __name__ == "__main__":
    sys.exit(conduct(sys.argv[1:]))
