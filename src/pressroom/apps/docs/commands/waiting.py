"""Jobs that a command submits: named, or waited for with `--wait`."""

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from pressroom.apps.docs.commands.job_progress import EndedJob, JobEvent, ProgressPrinter, ended_job
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.errors import WaitTimeout

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.model import Submitted


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
        output.data({"jobs": [{"id": job.id, "kind": job.kind, "status": job.status, "error": job.error} for job in ended]})
    return max((job.exit_code for job in ended), default=exits.OK)


async def wait_for_job(app: "DocsApp", job: str, output: Output) -> EndedJob:
    await show_events(app.core.queue.watch(job), job, None, output)
    ended = ended_job(await app.core.queue.wait_until_ended(job))
    if not output.as_json:
        output.line(f"{ended.kind}: {ended.status.value.replace('_', ' ')}")
        if error := ended.describe_error():
            output.note(error)
    return ended


async def show_events(events: AsyncGenerator[JobEvent], job: str, timeout: float | None, output: Output) -> None:
    """To the last one. Raises WaitTimeout."""
    printer = ProgressPrinter(output)
    try:
        async with asyncio.timeout(timeout), aclosing(events) as stream:
            async for event in stream:
                printer.show(event)
    except TimeoutError:
        raise WaitTimeout(job, timeout or 0.0) from None
    finally:
        printer.end()
