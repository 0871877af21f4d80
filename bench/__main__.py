"""`python -m bench queue [--json] [--quick] [--only NAME ...]`: measure, and print the figures."""

import argparse
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import against_peers, claims, flood, memory, pickup, place, throughput
from bench.figure import Figure, as_json, as_table, say
from bench.sizes import FULL, QUICK, Sizes

QUEUE: dict[str, Callable[[Path, Sizes], Iterator[Figure]]] = {
    "submits": throughput.submits,
    "drain": throughput.drain,
    "peers": against_peers.drain,
    "pickup": pickup.idle,
    "flood": flood.interactive,
    "claims": claims.cost,
    "memory": memory.of_a_worker,
}


def main() -> None:
    arguments = _arguments()
    logging.getLogger("pressroom").setLevel(logging.ERROR)  # that a flood was left behind is no news here
    figures: list[Figure] = []
    with place.scratch() as folder:
        for name in arguments.only:
            figures += _measure(name, folder, QUICK if arguments.quick else FULL)
    print(as_json(figures) if arguments.json else as_table(figures))


def _measure(name: str, folder: Path, sizes: Sizes) -> list[Figure]:
    say(f"measuring {name} ...")
    started = time.monotonic()
    figures = list(QUEUE[name](folder, sizes))
    say(f"  took {time.monotonic() - started:.0f} s")
    return figures


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Measure Pressroom beside its limits and its peers.")
    parser.add_argument("what", choices=["queue"])
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, in under a minute: for trying, not for quoting")
    parser.add_argument("--only", nargs="+", choices=QUEUE, default=list(QUEUE), metavar="NAME", help=", ".join(QUEUE))
    return parser.parse_args()


if __name__ == "__main__":
    main()
