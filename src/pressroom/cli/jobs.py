"""`pressroom jobs`: list, show, cancel, retry, watch."""

from argparse import Namespace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from pressroom.cli import exits
from pressroom.cli.commands import Commands, command_on_queue
from pressroom.cli.output import EventPrinter, Output, describe_event, format_age
from pressroom.errors import InvalidArgument
from pressroom.model import Job, Status, Tier

if TYPE_CHECKING:
    from pressroom.queue import Queue

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def add_commands(commands: Commands) -> None:
    actions = commands.add_group("jobs", "list, show, cancel, retry, watch")

    listing = actions.add("list", command_on_queue(list_jobs), "jobs that match, newest first")
    listing.add_argument("--status", action="append", choices=[status.value for status in Status], help="may be repeated")
    listing.add_argument("--kind")
    listing.add_argument("--tier", choices=["interactive", "background"])
    listing.add_argument("--org")
    listing.add_argument("--subject")
    listing.add_argument("--key")
    listing.add_argument("--parent", metavar="JOB")
    listing.add_argument("--since", metavar="AGE", help="submitted within this time: 30s, 15m, 2h, 7d")
    listing.add_argument("--limit", type=int, default=50)
    listing.add_argument("--cursor", help="as the last page gave it")

    actions.add("show", command_on_queue(show_job), "one job with its history and errors").add_argument("job")

    cancelling = actions.add("cancel", command_on_queue(cancel_job), "cancel jobs, queued or running")
    cancelling.add_argument("job", nargs="+")
    cancelling.add_argument("--reason", default="cancelled")

    actions.add("retry", command_on_queue(retry_job), "run ended jobs again, as new jobs").add_argument("job", nargs="+")

    watching = actions.add("watch", command_on_queue(watch_jobs), "a job's events until it ends; the exit code tells how")
    watching.add_argument("job")
    watching.add_argument("--after", type=int, default=0, metavar="EVENT", help="resume after this event")


async def list_jobs(queue: "Queue", args: Namespace, output: Output) -> int:
    page = await queue.list(
        status=args.status or None,
        kind=args.kind,
        tier=None if args.tier is None else Tier[args.tier.upper()],
        org_id=args.org,
        subject=args.subject,
        key=args.key,
        parent=args.parent,
        created_after=None if args.since is None else datetime.now(UTC) - parse_age(args.since),
        limit=args.limit,
        cursor=args.cursor,
    )
    if output.as_json:
        output.data({"jobs": [job_view(job) for job in page.jobs], "cursor": page.cursor})
        return exits.OK
    header = ("JOB", "KIND", "TIER", "STATUS", "AGE", "ABOUT", "LAST ERROR")
    output.table(
        header,
        (
            (
                job,
                job.kind,
                job.tier.name.lower(),
                _describe_status(job),
                format_age(job.date_created),
                _subject(job),
                job.last_error,
            )
            for job in page.jobs
        ),
    )
    if page.cursor:
        output.line(f"more: --cursor {page.cursor}")
    return exits.OK


async def show_job(queue: "Queue", args: Namespace, output: Output) -> int:
    job = await queue.get(args.job)
    events = await queue.history(job)
    if output.as_json:
        output.data(job_view(job) | {"payload": job.payload, "events": [msgspec.to_builtins(event) for event in events]})
        return exits.OK
    for name, value in _details(job):
        output.line(f"{name:<12} {value}")
    output.line()
    for event in events:
        output.line(f"{event.at:%Y-%m-%d %H:%M:%S.%f}"[:-3] + f"  {event.type:<22}{describe_event(event)}".rstrip())
    for error in job.errors:
        if "detail" in error:
            output.line()
            output.line(f"attempt {error['attempt']}:")
            for line in error["detail"].splitlines():
                output.line(f"  {line}")
    return exits.OK


async def cancel_job(queue: "Queue", args: Namespace, output: Output) -> int:
    worst = exits.OK
    for name in args.job:
        job = await queue.cancel(name, reason=args.reason)
        won = job.status is Status.CANCELLED or job.cancel_requested
        if output.as_json:
            output.data(job_view(job))
        elif job.status is Status.CANCELLED:
            output.line(f"{job} is cancelled")
        elif won:
            output.line(f"{job} is being stopped")
        else:
            output.line(f"{job} had already ended: {job.status}")
        worst = worst if won else exits.FAILED
    return worst


async def retry_job(queue: "Queue", args: Namespace, output: Output) -> int:
    for name in args.job:
        again = await queue.retry(name)
        if output.as_json:
            output.data(again)
        else:
            output.line(f"{again} tries {name} again")
    return exits.OK


async def watch_jobs(queue: "Queue", args: Namespace, output: Output) -> int:
    watcher = EventPrinter(output)
    async for event in queue.watch(args.job, after=args.after):
        watcher.show(event)
    job = await queue.get(args.job)
    match job.status:
        case Status.COMPLETED:
            return exits.OK
        case Status.COMPLETED_WITH_ERRORS:
            return exits.PARTIAL
        case Status.FAILED if job.errors and job.errors[-1].get("code") == "source_invalid":
            return exits.SOURCE_INVALID
        case _:
            return exits.FAILED


def job_view(job: Job) -> dict[str, Any]:
    """A job as JSON. Ids are text: a number above 2^53 would be spoilt by many a reader."""
    values: dict[str, Any] = msgspec.to_builtins(job)
    return values | {"id": str(job), "tier": job.tier.name.lower(), "seq": str(job.seq)}


def _details(job: Job) -> list[tuple[str, Any]]:
    rows = [
        ("job", job),
        ("kind", job.kind),
        ("status", _describe_status(job)),
        ("tier", job.tier.name.lower()),
        ("phase", job.phase),
        ("progress", job.progress),
        ("about", job.subject),
        ("key", job.key),
        ("version", job.version if job.version > 1 else None),
        ("attempts", f"{job.attempts} of {job.max_attempts}, {job.failures} failed; {job.crashes} crashes"),
        ("worker", job.worker if job.status is Status.IN_PROGRESS else None),
        ("submitted", f"{job.date_created:%Y-%m-%d %H:%M:%S} UTC, {format_age(job.date_created)} ago"),
        ("runs at", f"{job.run_at:%Y-%m-%d %H:%M:%S} UTC" if job.waits_for == "time" else None),
        ("retry of", job.retry_of and f"job_{job.retry_of}"),
        ("superseded", job.superseded_by and f"by job_{job.superseded_by}"),
        ("last error", job.last_error),
        ("payload", _shorten_json(job.payload)),
        ("result", _shorten_json(job.result)),
    ]
    return [(name, value) for name, value in rows if value is not None]


def _describe_status(job: Job) -> str:
    if job.cancel_requested and not job.status.ended:
        return f"{job.status} (cancelling)"
    if job.waits_for is not None:
        return f"{job.status} (waits for its {job.waits_for})"
    return job.status


def _subject(job: Job) -> str:
    return job.subject or job.key or ""


def _shorten_json(value: Any) -> str | None:
    if value is None:
        return None
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 400 else f"{text[:400]}… ({len(text):,} characters; --json shows all)"


def parse_age(text: str) -> timedelta:
    if text[-1:] in _UNITS and text[:-1].isdigit():
        return timedelta(seconds=int(text[:-1]) * _UNITS[text[-1]])
    raise InvalidArgument(f"{text!r} is not an age; write 30s, 15m, 2h or 7d")
