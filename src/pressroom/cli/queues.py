"""`pressroom queue`: stats, pause, resume."""

from argparse import Namespace

from pressroom.cli import exits
from pressroom.cli.output import Output, ago, span
from pressroom.queue import Queue


async def stats(queue: Queue, args: Namespace, output: Output) -> int:  # noqa: ARG001
    found = await queue.stats()
    if output.as_json:
        output.data(found)
        return exits.OK
    output.line(f"{found.queued:,} queued, {sum(line.running for line in found.running):,} running")
    if found.backlog:
        output.line()
        output.table(
            ("KIND", "TIER", "QUEUED", "READY", "OLDEST"),
            (
                (line.kind, line.tier.name.lower(), f"{line.queued:,}", f"{line.ready:,}", ago(line.oldest, found.at))
                for line in found.backlog
            ),
        )
    if found.running:
        output.line()
        rows = ((line.kind, f"{line.running:,}", ago(line.oldest, found.at)) for line in found.running)
        output.table(("KIND", "RUNNING", "LONGEST"), rows)
    if found.ended:
        output.line()
        output.line("the last hour")
        output.table(
            ("KIND", "ORG", "ENDED AS", "JOBS", "MEAN TIME"),
            (
                (line.kind, line.org_id, line.status, f"{line.count:,}", "" if line.mean is None else span(line.mean))
                for line in found.ended
            ),
        )
    if found.paused:
        output.line()
        output.line(f"paused: {', '.join(found.paused)}")
    return exits.OK


async def pause(queue: Queue, args: Namespace, output: Output) -> int:
    return await _switch(queue, args, output, paused=True)


async def resume(queue: Queue, args: Namespace, output: Output) -> int:
    return await _switch(queue, args, output, paused=False)


async def _switch(queue: Queue, args: Namespace, output: Output, *, paused: bool) -> int:
    for kind in args.kind:
        await (queue.pause(kind) if paused else queue.resume(kind))
        if output.as_json:
            output.data({"kind": kind, "paused": paused})
        else:
            output.line(f"{kind} is {'paused: no worker claims its jobs' if paused else 'resumed'}")
    return exits.OK
