"""Run the machine for as long as you like: `python -m tests.machine --examples 50000 --steps 100`."""

import argparse
import sys
import time

import apsw

from tests.machine.broken import MISTAKES
from tests.machine.law import Violation
from tests.machine.machine import QueueMachine
from tests.machine.run import ROUND, run


def main() -> int:
    options = _options()
    mistake = next((mistake for mistake in MISTAKES if mistake.name == options.mistake), None)
    played, started = 0, time.monotonic()

    def after(seed: int, count: int) -> None:
        nonlocal played
        played += count
        each = (time.monotonic() - started) / (played * options.steps)
        print(f"{played:,} stories of {options.steps} steps, {each * 1000:.2f} ms a step; seed {seed} done", flush=True)

    try:
        if mistake is None:
            run(examples=options.examples, steps=options.steps, seed=options.seed, after=after)
        else:
            with mistake.made():
                run(
                    mistake.machine(QueueMachine),
                    examples=options.examples,
                    steps=options.steps,
                    seed=options.seed,
                    after=after,
                )
    except (Violation, apsw.Error) as broken:
        print("\n".join([*getattr(broken, "__notes__", ()), f"{type(broken).__name__}: {broken}"]), file=sys.stderr)
        print(f"again: --seed {options.seed + played // ROUND} --examples {ROUND} --steps {options.steps}", file=sys.stderr)
        return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.machine", description=__doc__)
    parser.add_argument("--examples", type=int, default=2_000, help="how many stories (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=50, help="how long each (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help=f"the first seed; each {ROUND} stories take the next")
    parser.add_argument("--mistake", choices=[mistake.name for mistake in MISTAKES], help="break this first, to see it found")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
