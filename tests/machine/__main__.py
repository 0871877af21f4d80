"""Run the machine for as long as you like: `python -m tests.machine --examples 50000 --steps 100`.

`--on postgres` plays on a server, `--on both` on both databases side by side. `--mistakes` tries every mistake there is.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from shutil import rmtree

import apsw
import psycopg

from tests import postgres
from tests.machine.broken import MISTAKES, Mistake, mistakes_on, played_on
from tests.machine.law import Violation
from tests.machine.machine import QueueMachine
from tests.machine.on_postgres import stories_on
from tests.machine.on_sqlite import OnSqlite
from tests.machine.planted import PLANTED
from tests.machine.run import ROUND, run
from tests.machine.twins import TwinMachine

BROKEN = (Violation, apsw.Error, psycopg.Error)


def main() -> int:
    options = _options()
    with ExitStack() as open_until_the_end:
        server = "" if options.on == "sqlite" else open_until_the_end.enter_context(_server())
        if options.mistakes:
            return _try_all(options, server)
        mistake = next((mistake for mistake in (*MISTAKES, *PLANTED) if mistake.name == options.mistake), None)
        machine = open_until_the_end.enter_context(_machine(options.on, server, mistake))
        return _play(machine, options)


@contextmanager
def _server() -> Iterator[str]:
    folder = postgres.make_folder()
    try:
        with postgres.server(folder) as url:
            yield url
    finally:
        rmtree(folder, ignore_errors=True)


@contextmanager
def _machine(on: str, server: str, mistake: Mistake | None) -> Iterator[type[QueueMachine]]:
    with ExitStack() as until:
        if on == "sqlite":
            yield QueueMachine if mistake is None else until.enter_context(mistake.on_sqlite())
        elif on == "postgres":
            address = postgres.new_database(server)
            if mistake is None:
                yield played_on(until.enter_context(stories_on(address)))
            else:
                yield until.enter_context(mistake.on_server(address))
        else:
            if mistake is not None:
                until.enter_context(mistake.made("postgres"))
            guards = () if mistake is None else mistake.guards
            yield played_on(
                OnSqlite, until.enter_context(stories_on(postgres.new_database(server), guards)), machine=TwinMachine
            )


def _play(machine: type[QueueMachine], options: argparse.Namespace) -> int:
    played, started = 0, time.monotonic()

    def after(seed: int, count: int) -> None:
        nonlocal played
        played += count
        each = (time.monotonic() - started) / (played * options.steps)
        print(f"{played:,} stories of {options.steps} steps, {each * 1000:.2f} ms a step; seed {seed} done", flush=True)

    try:
        run(machine, examples=options.examples, steps=options.steps, seed=options.seed, after=after)
    except BROKEN as broken:
        print("\n".join([*getattr(broken, "__notes__", ()), f"{type(broken).__name__}: {broken}"]), file=sys.stderr)
        print(f"again: --seed {options.seed + played // ROUND} --examples {ROUND} --steps {options.steps}", file=sys.stderr)
        return 1
    return 0


def _try_all(options: argparse.Namespace, server: str) -> int:
    """Each mistake alone, until it is caught. Those that were not are told, and make the command fail."""
    tried = PLANTED if options.on == "both" else mistakes_on(options.on)
    missed = []
    for mistake in tried:
        started = time.monotonic()
        try:
            with _machine(options.on, server, mistake) as machine:
                run(machine, examples=options.examples, steps=options.steps, seed=options.seed, shrink=False)
        except BROKEN as broken:
            law = broken.law if isinstance(broken, Violation) else "guard"
            known = law in mistake.breaks.split()
            verdict = f"caught by {law}" if known else f"caught by {law}, which is not among {mistake.breaks}: {broken}"
        else:
            known, verdict = False, "NOT CAUGHT"
        if not known:
            missed.append(mistake.name)
        print(f"{mistake.name}: {verdict}, after {time.monotonic() - started:.1f} s", flush=True)
    print(f"{len(tried) - len(missed)} of {len(tried)} mistakes caught as they should be", *missed)
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.machine", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    named = [mistake.name for mistake in (*MISTAKES, *PLANTED)]
    parser.add_argument(
        "--on", choices=["sqlite", "postgres", "both"], default="sqlite", help="the database (default: %(default)s)"
    )
    parser.add_argument("--examples", type=int, default=2_000, help="how many stories (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=50, help="how long each (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help=f"the first seed; each {ROUND} stories take the next")
    parser.add_argument("--mistake", choices=named, metavar="NAME", help="break this first, to see it found")
    parser.add_argument("--mistakes", action="store_true", help="break everything, one thing at a time")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
