"""`pressroom work`: a process that does nothing but jobs."""

import logging
import signal
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING

from pressroom.cli import exits
from pressroom.cli.commands import Commands, requires_packages
from pressroom.cli.output import Output
from pressroom.config import Settings, mask_password
from pressroom.definitions import POOLS
from pressroom.errors import InvalidSettings, Unusable

if TYPE_CHECKING:
    from pressroom.pressroom import Pressroom

log = logging.getLogger("pressroom")

# This process is ours: let the writer thread have the interpreter back sooner than the usual 5 ms.
SWITCH_INTERVAL = 0.0005


def add_commands(commands: Commands) -> None:
    parser = commands.add("work", work, "work on jobs until stopped", makes_database=True)
    add_slots_option(parser)
    parser.add_argument(
        "--metrics",
        dest="metrics_listen",
        metavar="HOST:PORT",
        help="answer /metrics, /livez and /readyz there (default: nowhere)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--kinds", metavar="NAME,…", type=_split_names, help="only these of all kinds")
    which.add_argument(
        "--pool",
        dest="pools",
        metavar="POOL,…",
        type=_parse_pools,
        help=f"only kinds of these pools: {', '.join(POOLS)} (see `pool` of a kind)",
    )
    parser.add_argument("--except", dest="all_but", metavar="NAME,…", type=_split_names, default=[], help="none of these kinds")
    add_grace_option(parser)


def add_slots_option(parser: ArgumentParser) -> None:
    text = "jobs in progress at once; 0 is eight for each press, at least 16"
    parser.add_argument("--slots", dest="workers", metavar="N", help=text)


def add_grace_option(parser: ArgumentParser) -> None:
    parser.add_argument("--grace", metavar="SECONDS", help="how long running jobs may take to finish when stopped")


async def work(settings: Settings, args: Namespace, output: Output) -> int:
    sys.setswitchinterval(SWITCH_INTERVAL)
    import asyncio

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    press = _make_press(settings, args)
    # Its metrics are served before it starts and until it has stopped: a worker that starts or stops slowly can be watched.
    async with _serve_metrics(press) as metrics, press:
        kinds = sorted(press.registry.taken)
        artifacts = settings.artifact_location
        if output.as_json:
            started = {
                "working": mask_password(settings.database),
                "slots": settings.slots,
                "kinds": kinds,
                "artifacts": artifacts,
            }
            started |= {"pools": args.pools} if args.pools else {}
            output.data(started if metrics is None else started | {"metrics": metrics}, event="working")
        else:
            named = ", ".join(kinds) or "none"
            pools = f"pools: {', '.join(args.pools)}; " if args.pools else ""
            output.line(
                f"working on {mask_password(settings.database)} in {settings.slots} slots; {pools}kinds: {named}; {artifacts}"
            )
            if metrics is not None:
                output.line(f"metrics at {metrics}")
        await stopping.wait()
        log.info("stopping; jobs that run have %g s to finish", settings.grace)
        for number in (signal.SIGTERM, signal.SIGINT):  # the second one ends it the hard way; leases take care of the rest
            loop.remove_signal_handler(number)
    return exits.OK


def _make_press(settings: Settings, args: Namespace) -> "Pressroom":
    from pressroom.pressroom import Pressroom
    from pressroom.registry import import_kinds

    kinds, schedules = import_kinds(settings.imports)
    return Pressroom(
        settings=settings,
        kinds=kinds,
        schedules=[one for one in schedules if (args.kinds is None or one.kind in args.kinds) and one.kind not in args.all_but],
        workers=settings.workers,
        only=args.kinds,
        pools=args.pools,
        all_but=args.all_but,
    )


@asynccontextmanager
async def _serve_metrics(press: "Pressroom") -> AsyncIterator[str | None]:
    """Yields the address, or None if the settings name none. Raises InvalidSettings if it cannot be listened on."""
    if press.settings.metrics_address is None:
        yield None
        return
    with requires_packages("service"):
        from pressroom.api import serve as server
        from pressroom.api.worker_endpoint import serve_worker_endpoint
    try:
        listener = server.listen(*press.settings.metrics_address, setting="PRESSROOM_METRICS_LISTEN")
    except Unusable as reason:
        raise InvalidSettings([f"metrics_listen: {reason}"]) from None
    with closing(listener):
        async with serve_worker_endpoint(press.local_workers, press.settings, lambda: press.rendering.presses, listener):
            yield f"{server.url_of(listener)}/metrics"


def _parse_pools(text: str) -> list[str]:
    pools = _split_names(text)
    if not pools or {*pools} - {*POOLS}:
        raise ArgumentTypeError(f"{text!r} names no pool; the pools are {', '.join(POOLS)}")
    return pools


def _split_names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
