"""Jobs that a command submits: named, or waited for with `--wait`."""

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from pressroom.apps.docs.commands.job_progress import JobState, ProgressPrinter, state_of_job
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.errors import WaitTimeout

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.model import Submitted

LOOK_EVERY = 0.2  # seconds, if nothing is heard of the job


def add_wait_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--wait", dest="works", action="store_true", help="work on it here too, and end when it has ended")


async def finish_jobs(app: "DocsApp", jobs: "Sequence[Submitted]", args: Namespace, output: Output) -> int:
    """Name them, or wait for them and say how they ended. The exit code is that of the worst."""
    if not args.works:
        if output.as_json:
            output.data({"jobs": [{"id": job.uid, "kind": job.kind.removeprefix("docs.")} for job in jobs]})
        for job in () if output.as_json else jobs:
            output.line(f"{job.kind.removeprefix('docs.')} is queued as job_{job.uid}")
        return exits.OK
    ended = [await wait_for_job(app, job.uid, output) for job in jobs]
    if output.as_json:
        output.data({"jobs": [{"id": state.id, "kind": state.kind, "status": state.status} for state in ended]})
    return max((state.exit_code for state in ended), default=exits.OK)


async def wait_for_job(app: "DocsApp", job: str, output: Output) -> JobState:
    printer, state = ProgressPrinter(output), None
    async for state in follow_job(app, job):
        printer.show(state)
    printer.end()
    assert state is not None
    if not output.as_json:
        output.line(f"{state.kind}: {state.status.value.replace('_', ' ')}")
        if state.error is not None and state.exit_code != exits.OK:
            output.note(f"{state.error.get('message', 'it failed')} [{state.error.get('code')}]")
    return state


async def follow_job(app: "DocsApp", job: str, timeout: float | None = None) -> AsyncIterator[JobState]:
    """The states of a job of the database, until it has ended. Raises WaitTimeout."""
    clock = asyncio.get_running_loop().time
    deadline, last = None if timeout is None else clock() + timeout, None
    while True:
        state = state_of_job(await app.core.queue.get(job))
        if state != last:
            yield state
        if state.status.ended:
            return
        if deadline is not None and clock() > deadline:
            raise WaitTimeout(job, timeout or 0.0)
        last = state
        try:
            await app.core.queue.wait_until_ended(job, timeout=LOOK_EVERY)
        except WaitTimeout:
            continue
