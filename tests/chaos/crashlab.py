"""`./dev crash [--docs] --on postgres --delivery redis --cycles 1000 --seed 7`: a crash lab on a server, with any delivery.

The first line is the seed, which gives the same faults again; the last line is the verdict, and the exit code follows it.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pressroom.config import DELIVERIES
from tests.chaos.lab import DocsServerLab, ServerLab
from tests.reliability import crashlab, docs_crashlab


def conduct(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("./dev crash --on postgres", add_help=False)
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--on", choices=["postgres"], default="postgres")
    parser.add_argument("--delivery", choices=DELIVERIES, default="embedded")
    where, rest = parser.parse_known_args(argv)
    if where.docs:
        trial, lab = docs_crashlab.TRIAL, partial(DocsServerLab, delivery=where.delivery)
    else:
        trial, lab = crashlab.TRIAL, partial(ServerLab, delivery=where.delivery)
    command = f"{trial.command} --on postgres --delivery {where.delivery}"
    return replace(trial, command=command, lab=lab).conduct(rest)


if __name__ == "__main__":
    sys.exit(conduct(sys.argv[1:]))
