"""`pressroom workers`, and `pressroom queue scale`: who works on this database, and on how much of a kind at once."""

from argparse import ArgumentParser, Namespace
from typing import Any

from pressroom.cli import exits
from pressroom.cli.output import Output, ago
from pressroom.cli.queues import show_coverage
from pressroom.queue import Queue
from pressroom.store.operators.worker_list import WorkerState


def add_workers(commands: Any, common: ArgumentParser) -> None:
    parser = commands.add_parser("workers", parents=[common], help="who works, where, on how much, and who was not seen lately")
    parser.set_defaults(act=list_workers)


def add_scale(actions: Any, common: ArgumentParser) -> None:
    parser = actions.add_parser(
        "scale", parents=[common], help="limit how many jobs of a kind run at once, in all processes together"
    )
    parser.add_argument("kind")
    limit = parser.add_mutually_exclusive_group(required=True)
    limit.add_argument("slots", nargs="?", type=int, metavar="N", help="at most so many")
    limit.add_argument("--no-limit", action="store_true", help="as many as there are slots")
    parser.set_defaults(act=scale)


async def list_workers(queue: Queue, args: Namespace, output: Output) -> int:  # noqa: ARG001
    found = await queue.members()
    if output.as_json:
        output.data(list(found))
        return exits.OK
    output.table(
        ("WORKER", "HOST", "PID", "VERSION", "DELIVERY", "STATE", "RUNNING", "STARTED", "SEEN", "KINDS"),
        (
            (
                worker.id,
                worker.host,
                worker.pid,
                worker.version,
                worker.delivery,
                _state(worker),
                f"{worker.running}/{worker.slots}",
                ago(worker.date_started),
                ago(worker.date_seen),
                ",".join(worker.kinds),
            )
            for worker in found
        ),
    )
    show_coverage(await queue.worker_coverage(), output)
    return exits.OK


async def scale(queue: Queue, args: Namespace, output: Output) -> int:
    await queue.scale(args.kind, args.slots)
    if output.as_json:
        output.data({"kind": args.kind, "slots": args.slots})
    elif args.slots is None:
        output.line(f"{args.kind} has no limit")
    else:
        output.line(f"{args.kind} is limited to {args.slots:,} at once, in all processes together")
    return exits.OK


def _state(worker: WorkerState) -> str:
    return (worker.state if worker.alive else "silent") + (", leads" if worker.leader else "")
