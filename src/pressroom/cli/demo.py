"""`pressroom demo`: a database to look at, and if wished a service that shows it."""

import sys
from argparse import Namespace
from dataclasses import replace

from pressroom.cli import exits
from pressroom.cli.output import Output, bar
from pressroom.cli.serve import serve
from pressroom.cli.wires import Wires
from pressroom.config import Settings
from pressroom.errors import InvalidArgument

HOME = "pressroom-demo"  # where it lies if nobody says where
KINDS = "pressroom.demo.kinds"
MOST = 100_000
A_LINE_EVERY = 240  # minutes of the day, where no bar can move


async def demo(wires: Wires, settings: Settings, args: Namespace, output: Output) -> int:
    if not 10 <= args.jobs <= MOST:
        raise InvalidArgument(f"--jobs is 10 to {MOST}, not {args.jobs}")
    filled = await wires.demo(settings, jobs=args.jobs, seed=args.seed, add=args.add, tell=_Progress(output).tell)
    if output.as_json:
        told = {"database": settings.place, "jobs": filled.jobs, "token": filled.secret}
        output.data(told, event="filled")
    else:
        total = sum(filled.jobs.values())
        counts = ", ".join(f"{count:,} {status.replace('_', ' ')}" for status, count in sorted(filled.jobs.items()))
        output.line(f"{settings.place} has {total:,} jobs: {counts}")
        output.line(f"a token that may do everything: {filled.secret}")
        if not args.serve:
            where = f"--home {settings.home}" if settings.home else "--database URL"
            output.line(f"look at it: pressroom serve {where} --no-workers")
    if not args.serve:
        return exits.OK
    args.no_workers = False
    return await serve(wires, replace(settings, imports=(*settings.imports, KINDS)), args, output)


class _Progress:
    """On standard error: a bar that moves in a terminal, and elsewhere a line now and then."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._live = sys.stderr.isatty()
        self._told = 0

    def tell(self, what: str, done: int, total: int) -> None:
        if done == self._told:
            return
        if self._live:
            sys.stderr.write(f"\r\x1b[K{bar({'done': done, 'total': total, 'message': what})}")
            if done == total:
                sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        elif done // A_LINE_EVERY > self._told // A_LINE_EVERY:
            self._output.note(f"{done:,} of {total:,} {what}")
        self._told = done
