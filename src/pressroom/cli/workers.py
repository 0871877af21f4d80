"""`pressroom workers`: who works on this database."""

from argparse import Namespace
from typing import TYPE_CHECKING

from pressroom.cli import exits
from pressroom.cli.commands import Commands, command_on_queue
from pressroom.cli.output import Output, format_age
from pressroom.cli.queues import show_coverage

if TYPE_CHECKING:
    from pressroom.queue import Queue
    from pressroom.store.operators.worker_list import WorkerState


def add_commands(commands: Commands) -> None:
    commands.add("workers", command_on_queue(list_workers), "who works, where, on how much, and who was not seen lately")


async def list_workers(queue: "Queue", args: Namespace, output: Output) -> int:  # noqa: ARG001
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
                _describe_state(worker),
                f"{worker.running}/{worker.slots}",
                format_age(worker.date_started),
                format_age(worker.date_seen),
                ",".join(worker.kinds),
            )
            for worker in found
        ),
    )
    show_coverage(await queue.worker_coverage(), output)
    return exits.OK


def _describe_state(worker: "WorkerState") -> str:
    return (worker.state if worker.alive else "silent") + (", leads" if worker.leader else "")
