"""`./dev bench scale`: ours on PostgreSQL, by each delivery and by several processes, beside its peers and the raw limit.

All run the same course (`bench/peers/course.py`) on the same servers. `--drain` only fills and drains, and only ours and the
limit: ten seconds, for looking while something is tuned.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from bench import place, scale_measure, scale_report, scale_servers
from bench.figure import say
from bench.scale_rows import EMBEDDED, LIMIT, ROWS, chosen

PROCESSES = "processes"
NAMES = [*(row.name for row in ROWS), PROCESSES]


def main(argv: Sequence[str]) -> None:
    arguments = _arguments(argv)
    if len(os.sched_getaffinity(0)) < 4:
        say("few cores: the clients share them with the servers, so read the CPU of a job beside the rates")
    rows = chosen([name for name in arguments.only if name != PROCESSES] or _default(arguments), peers=not arguments.skip_peers)
    if arguments.only == [PROCESSES]:
        rows = []
    with place.scratch() as folder, scale_servers.started(folder) as servers:
        measured = scale_measure.measure(servers, rows, arguments.jobs, arguments.rounds, drain_only=arguments.drain)
        if PROCESSES in arguments.only or not (arguments.only or arguments.drain):
            measured += scale_measure.processes(servers, arguments.jobs, arguments.rounds)
    print(scale_report.as_json(measured) if arguments.json else scale_report.as_text(measured))


def _default(arguments: argparse.Namespace) -> list[str]:
    return [EMBEDDED, LIMIT] if arguments.drain else []


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench scale", description="Measure Pressroom on PostgreSQL beside its peers.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--jobs", type=int, default=10_000, metavar="N", help="drained in one round; slow peers get a share")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="medians of so many")
    parser.add_argument("--only", type=_names, default=[], metavar="NAME,NAME", help=", ".join(NAMES))
    parser.add_argument("--skip-peers", action="store_true", help="ours and the raw limit alone")
    parser.add_argument(
        "--drain", action="store_true", help="fill and drain only; of embedded and limit, unless --only says else"
    )
    return parser.parse_args(argv)


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(NAMES):
        raise argparse.ArgumentTypeError(f"there is no {min(unknown)!r}; there are {', '.join(NAMES)}")
    return names


if __name__ == "__main__":
    main(sys.argv[1:])
