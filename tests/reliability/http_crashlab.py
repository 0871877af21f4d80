"""`./dev crash --http --cycles 300 --seed 7`: kill and pause real servers and workers under clients, then judge what is left.

The first line is the seed, which gives the same faults again; the last line is the verdict, and the exit code follows it.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.reliability import dump, http_checker, journal
from tests.reliability.crashlab import ENOUGH, LEAST_DONE, Progress
from tests.reliability.http_checker import HttpVerdict
from tests.reliability.http_lab import HttpLab
from tests.reliability.http_nemesis import POINTS
from tests.reliability.slot import Toll


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("./dev crash --http", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cycles", type=int, default=300, metavar="N", help="how many faults to inject (300)")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), metavar="S", help="replay these faults")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep database, artifacts, journal and log in this new folder"
    )
    args = parser.parse_args(argv)
    print(f"seed: {args.seed}", flush=True)
    folder = args.keep or Path(tempfile.mkdtemp(prefix="pressroom-lab-"))
    folder.mkdir(exist_ok=True)
    began = time.monotonic()
    progress = Progress(args.cycles)
    lab = HttpLab(folder, args.seed, progress.show)
    lab.run(args.cycles)
    progress.end()
    verdict = http_checker.judge(journal.load(lab.journal.path), dump.read(lab.database))
    reasons = objections(verdict, lab.toll)
    for reason in reasons:
        print(reason, file=sys.stderr)
    if reasons:
        print(f"database, artifacts, journal and log are in {folder}", file=sys.stderr)
    elif args.keep is None:
        shutil.rmtree(folder)
    print(summary(verdict, lab.toll, time.monotonic() - began, passed=not reasons))
    return 1 if reasons else 0


def objections(verdict: HttpVerdict, toll: Toll) -> list[str]:
    reasons = [
        f"{offence}: {len(victims)}, such as {', '.join(victims[:3])}"
        for offence, victims in verdict.offences.items()
        if victims
    ]
    if toll.hung:
        reasons.append(f"hung: {toll.hung} processes did not stop when told to")
    if toll.broken:
        reasons.append(f"broken: {toll.broken} processes ended by an error of their own")
    if toll.cycles >= ENOUGH and verdict.done <= LEAST_DONE:
        reasons.append(f"too weak: only {verdict.done:.0%} of {verdict.acked} jobs ended while faults went on")
    if toll.cycles >= ENOUGH and not (verdict.recovered and verdict.saved and verdict.replayed):
        reasons.append("too weak: no reply was lost after its commit, or no duplicate was met")
    return reasons


def summary(verdict: HttpVerdict, toll: Toll, seconds: float, *, passed: bool) -> str:
    figures = {
        "cycles": toll.cycles,
        "acked": verdict.acked,
        "done": f"{verdict.done:.2f}",
        **{offence: len(victims) for offence, victims in verdict.offences.items()},
        "artifacts": verdict.artifacts,
        "saved": verdict.saved,
        "replayed": verdict.replayed,
        "unheard": verdict.unheard,
        "recovered": verdict.recovered,
        "parked": verdict.parked,
        "hung": toll.hung,
        "broken": toll.broken,
        **toll.faults,
        "points": f"{len(toll.points)}/{len(POINTS)}",
        "seconds": round(seconds),
    }
    return f"verdict: {'PASS' if passed else 'FAIL'} " + " ".join(f"{name}={value}" for name, value in figures.items())


if __name__ == "__main__":
    sys.exit(main())
