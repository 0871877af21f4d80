"""`pressroom work`: a process that does nothing but jobs."""

import asyncio
import logging
import signal
import sys
from argparse import Namespace

from pressroom import registry
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.cli.wires import Wires
from pressroom.config import Settings, masked

log = logging.getLogger("pressroom")

# This process is ours: let the writer thread have the interpreter back sooner than the usual 5 ms.
SWITCH_INTERVAL = 0.0005


async def work(wires: Wires, settings: Settings, args: Namespace, output: Output) -> int:
    sys.setswitchinterval(SWITCH_INTERVAL)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    async with wires.work(settings, kinds=args.kinds, pools=args.pools, all_but=args.all_but) as (queue, metrics):
        kinds = sorted(registry.select_kinds(queue.kinds, only=args.kinds, pools=args.pools, all_but=args.all_but))
        artifacts = settings.artifact_location
        if output.as_json:
            told = {"working": masked(settings.database), "slots": settings.slots, "kinds": kinds, "artifacts": artifacts}
            told |= {"pools": args.pools} if args.pools else {}
            output.data(told if metrics is None else told | {"metrics": metrics}, event="working")
        else:
            named = ", ".join(kinds) or "none"
            pools = f"pools: {', '.join(args.pools)}; " if args.pools else ""
            output.line(f"working on {masked(settings.database)} in {settings.slots} slots; {pools}kinds: {named}; {artifacts}")
            if metrics is not None:
                output.line(f"metrics at {metrics}")
        await stopping.wait()
        log.info("stopping; jobs that run have %g s to finish", settings.grace)
        for number in (signal.SIGTERM, signal.SIGINT):  # the second one ends it the hard way; leases take care of the rest
            loop.remove_signal_handler(number)
    return exits.OK
