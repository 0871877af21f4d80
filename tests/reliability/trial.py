"""A lab from the command line: a seed, a run, a judge, and a last line that says it all."""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.reliability import journal
from tests.reliability.floor import Floor
from tests.reliability.journal import Line
from tests.reliability.slot import Toll
from tests.reliability.verdict import Findings

# Fewer faults than this may by chance provoke nothing that is hard to survive. More that provoke none have tested nothing,
# and neither has a run in which kills came so thick that hardly a job ended.
ENOUGH = 100
LEAST_DONE = 0.8
TOO_WEAK = 3  # exit code


@dataclass(frozen=True)
class Trial[V: Findings]:
    """`judge` is given the journal and what the lab's `dump` says. `objections` are those that only this lab has: to what
    happened, or to what a long run did not provoke."""

    command: str
    description: str
    lab: Callable[[Path, int, Callable[[Toll, int], None]], Floor]
    judge: Callable[[Sequence[Line], Any], V]
    objections: Callable[[V, Toll], list[str]]
    points: Collection[str]

    def conduct(self, argv: Sequence[str] | None) -> int:
        args = self._parser().parse_args(argv)
        print(f"seed: {args.seed}", flush=True)
        folder = args.keep or Path(tempfile.mkdtemp(prefix="pressroom-lab-"))
        folder.mkdir(exist_ok=True)
        began = time.monotonic()
        progress = Progress(args.cycles)
        lab = self.lab(folder, args.seed, progress.show)
        with closing(lab):
            lab.run(args.cycles)
            progress.end()
            verdict = self.judge(journal.load(lab.journal.path), lab.dump())
        reasons = self._reasons(verdict, lab.toll)
        for reason in reasons:
            print(reason, file=sys.stderr)
        if reasons:
            print(f"database, journal, log and whatever was made are in {folder}", file=sys.stderr)
        elif args.keep is None:
            shutil.rmtree(folder)
        print(self._summary(verdict, lab.toll, time.monotonic() - began, passed=not reasons))
        return exit_code(reasons)

    def _parser(self) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(self.command, description=self.description)
        parser.add_argument("--cycles", type=int, default=300, metavar="N", help="how many faults to inject (300)")
        parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), metavar="S", help="replay these faults")
        parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep database, journal and log in this new folder")
        return parser

    def _reasons(self, verdict: V, toll: Toll) -> list[str]:
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
        return reasons + self.objections(verdict, toll)

    def _summary(self, verdict: V, toll: Toll, seconds: float, *, passed: bool) -> str:
        figures = {
            "cycles": toll.cycles,
            **{name: round(value, 2) for name, value in verdict.figures.items()},
            **{offence: len(victims) for offence, victims in verdict.offences.items()},
            "hung": toll.hung,
            "broken": toll.broken,
            **toll.faults,
            "points": f"{len(toll.points)}/{len(self.points)}",
            "seconds": round(seconds),
        }
        return f"verdict: {'PASS' if passed else 'FAIL'} " + " ".join(f"{name}={value}" for name, value in figures.items())


def exit_code(reasons: Sequence[str]) -> int:
    """A run that was only too weak to break a promise says nothing either way."""
    if not reasons:
        return 0
    return TOO_WEAK if all(reason.startswith("too weak: ") for reason in reasons) else 1


def misgivings(toll: Toll, wanted: Mapping[str, int]) -> list[str]:
    """What speaks against a run, but for broken promises. `wanted` says how often each thing happened that had to, if it is
    long, and in which words it is missed."""
    reasons = [f"broken: {toll.broken} processes ended by an error of their own"] if toll.broken else []
    if toll.cycles >= ENOUGH:
        reasons += [f"too weak: {weakness}" for weakness, seen in wanted.items() if not seen]
    return reasons


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
