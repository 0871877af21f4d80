"""`./dev crash --cycles 300 --seed 7`: kill and pause real processes at work, then judge what is left.

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

from pressroom.failpoints import JOB_POINTS
from tests.reliability import checker, dump, journal
from tests.reliability.checker import Verdict
from tests.reliability.lab import Lab
from tests.reliability.slot import Toll

# Fewer faults than this may by chance provoke no late write. More that provoke none have tested nothing, and neither has
# a run in which kills came so thick that hardly a job ended.
ENOUGH = 100
LEAST_DONE = 0.8


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("./dev crash", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cycles", type=int, default=300, metavar="N", help="how many faults to inject (300)")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), metavar="S", help="replay these faults")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep database, journal and log in this new folder")
    args = parser.parse_args(argv)
    print(f"seed: {args.seed}", flush=True)
    folder = args.keep or Path(tempfile.mkdtemp(prefix="pressroom-lab-"))
    folder.mkdir(exist_ok=True)
    began = time.monotonic()
    progress = Progress(args.cycles)
    lab = Lab(folder, args.seed, progress.show)
    lab.run(args.cycles)
    progress.end()
    verdict = checker.judge(journal.load(lab.journal.path), dump.read(lab.database))
    reasons = objections(verdict, lab.toll)
    for reason in reasons:
        print(reason, file=sys.stderr)
    if reasons:
        print(f"database, journal and log are in {folder}", file=sys.stderr)
    elif args.keep is None:
        shutil.rmtree(folder)
    print(summary(verdict, lab.toll, time.monotonic() - began, passed=not reasons))
    return 1 if reasons else 0


def objections(verdict: Verdict, toll: Toll) -> list[str]:
    """Why the run does not pass: a promise was broken, or it was too weak to break one."""
    reasons = [
        f"{offence}: {len(victims)}, such as {', '.join(victims[:3])}"
        for offence, victims in verdict.offences.items()
        if victims
    ]
    if toll.hung:
        reasons.append(f"hung: {toll.hung} processes did not stop when told to")
    if toll.cycles >= ENOUGH and verdict.done <= LEAST_DONE:
        reasons.append(f"too weak: only {verdict.done:.0%} of {verdict.acked} jobs ended while faults went on")
    if toll.cycles >= ENOUGH and verdict.stale_provoked == 0:
        reasons.append("too weak: no late write was provoked")
    return reasons


def summary(verdict: Verdict, toll: Toll, seconds: float, *, passed: bool) -> str:
    figures = {
        "cycles": toll.cycles,
        "acked": verdict.acked,
        "done": f"{verdict.done:.2f}",
        **{offence: len(victims) for offence, victims in verdict.offences.items()},
        "stale_provoked": verdict.stale_provoked,
        "recovered": verdict.recovered,
        "runs": verdict.runs,
        "hung": toll.hung,
        "broken": toll.broken,
        **toll.faults,
        "points": f"{len(toll.points)}/{len(JOB_POINTS)}",
        "seconds": round(seconds),
    }
    return f"verdict: {'PASS' if passed else 'FAIL'} " + " ".join(f"{name}={value}" for name, value in figures.items())


class Progress:
    """A bar for people, a line every few seconds for logs."""

    def __init__(self, cycles: int) -> None:
        self._cycles = cycles
        self._began = time.monotonic()
        self._shown = 0.0
        self._live = sys.stderr.isatty()

    def show(self, toll: Toll, acked: int) -> None:
        now = time.monotonic()
        if now - self._shown < (0.2 if self._live else 5.0):
            return
        self._shown = now
        part = min(1.0, toll.cycles / self._cycles)
        text = f"{toll.cycles}/{self._cycles} faults, {acked} jobs acknowledged, {now - self._began:.0f} s"
        if self._live:
            print(f"\r[{'█' * int(30 * part):·<30}] {text} ", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._live:
            print(file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
