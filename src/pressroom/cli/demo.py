"""`pressroom demo`: a database to look at, and if wished a service that shows it."""

import os
import sys
from argparse import Namespace
from dataclasses import replace

from pressroom.cli import exits
from pressroom.cli.commands import Commands, add_home_option, requires_packages
from pressroom.cli.output import Output, format_progress_bar
from pressroom.cli.serve import serve
from pressroom.config import Settings
from pressroom.errors import InvalidArgument

HOME = "pressroom-demo"  # unless a flag names another place
KINDS = "pressroom.demo.kinds"
MOST = 100_000
A_LINE_EVERY = 240  # minutes of the day, where no bar can move


def add_commands(commands: Commands) -> None:
    parser = commands.add("demo", demo, "fill a database with a day of work, to be looked at", makes_database=True)
    parser.set_defaults(default_home=HOME)  # never by chance the database that the settings name
    add_home_option(parser, f"where the database and the artifacts lie (default: {HOME})")
    parser.add_argument("--jobs", type=int, default=1000, metavar="N", help="how much is asked for in the day, about")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another number makes another day")
    parser.add_argument("--add", action="store_true", help="into a database that has jobs already")
    parser.add_argument("--serve", action="store_true", help="then serve it, with workers that go on with what waits")
    parser.add_argument("--listen", metavar="HOST:PORT", help="where to listen (default 127.0.0.1:8000)")


async def demo(settings: Settings, args: Namespace, output: Output) -> int:
    if not 10 <= args.jobs <= MOST:
        raise InvalidArgument(f"--jobs is 10 to {MOST}, not {args.jobs}")
    with requires_packages("service,engines"):
        from pressroom.demo import fill

    if settings.home:
        os.makedirs(settings.home, exist_ok=True)
    filled = await fill.fill_database(settings, jobs=args.jobs, seed=args.seed, add=args.add, report=_DemoProgress(output).show)
    if output.as_json:
        filled_view = {"database": settings.database_label, "jobs": filled.jobs, "token": filled.secret}
        output.data(filled_view, event="filled")
    else:
        total = sum(filled.jobs.values())
        counts = ", ".join(f"{count:,} {status.replace('_', ' ')}" for status, count in sorted(filled.jobs.items()))
        output.line(f"{settings.database_label} has {total:,} jobs: {counts}")
        output.line(f"a token that may do everything: {filled.secret}")
        if not args.serve:
            where = f"--home {settings.home}" if settings.home else "--database URL"
            output.line(f"look at it: pressroom serve {where} --no-workers")
    if not args.serve:
        return exits.OK
    args.no_workers = False
    return await serve(replace(settings, imports=(*settings.imports, KINDS)), args, output)


class _DemoProgress:
    """On standard error: a bar that moves in a terminal, and elsewhere a line now and then."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._live = sys.stderr.isatty()
        self._noted = 0

    def show(self, what: str, done: int, total: int) -> None:
        if done == self._noted:
            return
        if self._live:
            sys.stderr.write(f"\r\x1b[K{format_progress_bar({'done': done, 'total': total, 'message': what})}")
            if done == total:
                sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        elif done // A_LINE_EVERY > self._noted // A_LINE_EVERY:
            self._output.note(f"{done:,} of {total:,} {what}")
        self._noted = done
