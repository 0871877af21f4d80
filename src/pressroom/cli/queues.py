"""`pressroom queue`: stats, backlog, active, slow, conflicts, errors, throughput, pause, resume, scale."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pressroom.cli import exits
from pressroom.cli.commands import Act, Commands, command_on_queue
from pressroom.cli.jobs import parse_age
from pressroom.cli.output import Output, format_age, format_duration

if TYPE_CHECKING:
    from pressroom.queue import Queue
    from pressroom.store.operators.overview import Active, ActiveList, Conflicts, EndingCounts
    from pressroom.store.operators.worker_coverage import WorkerCoverage


def add_commands(commands: Commands) -> None:
    actions = commands.add_group("queue", "what waits, runs, fails, conflicts; pause, resume")
    actions.add("stats", command_on_queue(show_stats), "backlog, running, and the last hour")
    _add_overview_commands(actions)
    actions.add("pause", command_on_queue(pause_kind), "let no worker claim jobs of these kinds").add_argument(
        "kind", nargs="+"
    )
    actions.add("resume", command_on_queue(resume_kind), "let them be claimed again").add_argument("kind", nargs="+")
    scaling = actions.add(
        "scale", command_on_queue(scale_kind), "limit how many jobs of a kind run at once, in all processes together"
    )
    scaling.add_argument("kind")
    limit = scaling.add_mutually_exclusive_group(required=True)
    limit.add_argument("slots", nargs="?", type=int, metavar="N", help="at most so many")
    limit.add_argument("--no-limit", action="store_true", help="as many as there are slots")


def _add_overview_commands(actions: Commands) -> None:
    """The commands that ask. Their flags have the names of the service's parameters."""
    _add_overview_command(actions, "backlog", show_backlog, "what waits, by kind and tier")
    _add_overview_command(
        actions, "active", list_active, "what every running job does, the longest first", paged=True, kind=True
    )
    late = _add_overview_command(actions, "slow", list_slow, "what has been running for too long", paged=True, kind=True)
    late.add_argument("--over", metavar="AGE", default="10m", help="for longer than this: 30s, 10m, 2h (default 10m)")
    text = "who updates items of a project, such as editions, and which of them are the same"
    edited = _add_overview_command(actions, "conflicts", list_conflicts, text, paged=True)
    edited.add_argument("project")
    edited.add_argument("--noun", help="only items that are called this, such as editions")
    edited.add_argument("--item", help="only who updates this item now")
    _add_overview_command(actions, "errors", show_error_rate, "what went wrong within the last hour, by kind")
    ended = _add_overview_command(actions, "throughput", show_throughput, "whose jobs ended within the last hour")
    ended.add_argument("--limit", type=int, default=50)


def _add_overview_command(
    actions: Commands, name: str, act: "Act[Queue]", text: str, *, paged: bool = False, kind: bool = False
) -> ArgumentParser:
    parser = actions.add(name, command_on_queue(act), text)
    parser.add_argument("--org", help="only this organisation")
    if kind:
        parser.add_argument("--kind", help="only this kind")
    if paged:
        parser.add_argument("--limit", type=int, default=50)
        parser.add_argument("--cursor", help="as the last page gave it")
    return parser


async def show_stats(queue: "Queue", args: Namespace, output: Output) -> int:  # noqa: ARG001
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
                (line.kind, line.tier.name.lower(), f"{line.queued:,}", f"{line.ready:,}", format_age(line.oldest, found.at))
                for line in found.backlog
            ),
        )
    if found.running:
        output.line()
        rows = ((line.kind, f"{line.running:,}", format_age(line.oldest, found.at)) for line in found.running)
        output.table(("KIND", "RUNNING", "LONGEST"), rows)
    if found.ended:
        output.line()
        output.line("the last hour")
        output.table(
            ("KIND", "ORG", "ENDED AS", "JOBS", "MEAN TIME"),
            (
                (
                    line.kind,
                    line.org_id,
                    line.status,
                    f"{line.count:,}",
                    "" if line.mean is None else format_duration(line.mean),
                )
                for line in found.ended
            ),
        )
    if found.paused:
        output.line()
        output.line(f"paused: {', '.join(found.paused)}")
    if found.limits:
        output.line()
        output.line(f"limited: {', '.join(f'{kind} to {slots:,} at once' for kind, slots in found.limits.items())}")
    show_coverage(found.coverage, output)
    return exits.OK


def show_coverage(coverage: "WorkerCoverage", output: Output) -> None:
    """Kinds that no running worker takes, after an empty line."""
    from pressroom.store.operators import worker_coverage

    if sentences := worker_coverage.describe_coverage(coverage):
        output.line()
        for sentence in sentences:
            output.line(f"warning: {sentence}")


async def show_backlog(queue: "Queue", args: Namespace, output: Output) -> int:
    found = await queue.overview.backlog(org_id=args.org)
    if output.as_json:
        output.data(found)
        return exits.OK
    output.line(f"{found.queued:,}{' or more' if found.capped else ''} queued")
    _print_table(
        output,
        ("KIND", "TIER", "QUEUED", "READY", "OLDEST", "READY FOR"),
        (
            (
                line.kind,
                line.tier,
                f"{line.queued:,}",
                f"{line.ready:,}",
                _span(line.age),
                format_age(line.ready_since, found.at),
            )
            for line in found.items
        ),
    )
    if found.paused:
        output.line()
        output.line(f"paused: {', '.join(found.paused)}")
    return exits.OK


async def list_active(queue: "Queue", args: Namespace, output: Output) -> int:
    found = await queue.overview.active(org_id=args.org, kind=args.kind, limit=args.limit, cursor=args.cursor)
    return _show_active(found, output, "nothing is running")


async def list_slow(queue: "Queue", args: Namespace, output: Output) -> int:
    over = parse_age(args.over)
    found = await queue.overview.slow(over, org_id=args.org, kind=args.kind, limit=args.limit, cursor=args.cursor)
    return _show_active(found, output, f"nothing has been running for more than {format_duration(over)}")


async def list_conflicts(queue: "Queue", args: Namespace, output: Output) -> int:
    found = await queue.overview.conflicts(
        args.project, noun=args.noun, item=args.item, org_id=args.org, limit=args.limit, cursor=args.cursor
    )
    _show_active(found, output, f"nothing updates {args.item or 'an edition'} of {args.project}")
    if not output.as_json and found.items:
        _show_conflicts(found, output)
    return exits.OK


async def show_error_rate(queue: "Queue", args: Namespace, output: Output) -> int:
    found = await queue.overview.error_rate(org_id=args.org)
    if output.as_json:
        output.data(found)
        return exits.OK
    output.line(
        f"{found.errors:,} of {found.ended:,} jobs that ended within {_span((found.at - found.since).total_seconds())} went "
        f"wrong: {found.rate:.1%} of those that were not cancelled"
    )
    rows = ((line.kind, f"{line.rate:.1%}", *_format_counts(line)) for line in found.items)
    _print_table(output, ("KIND", "ERRORS", *_ENDED), rows)
    return exits.OK


async def show_throughput(queue: "Queue", args: Namespace, output: Output) -> int:
    found = await queue.overview.throughput(org_id=args.org, limit=args.limit)
    if output.as_json:
        output.data(found)
        return exits.OK
    output.line(f"{found.orgs:,} organisations within {_span((found.at - found.since).total_seconds())}")
    rows = ((line.org_id or "(none)", f"{line.per_minute:,.1f}", *_format_counts(line)) for line in found.items)
    _print_table(output, ("ORG", "PER MINUTE", *_ENDED), rows)
    return exits.OK


async def pause_kind(queue: "Queue", args: Namespace, output: Output) -> int:
    return await _set_paused(queue, args, output, paused=True)


async def resume_kind(queue: "Queue", args: Namespace, output: Output) -> int:
    return await _set_paused(queue, args, output, paused=False)


async def _set_paused(queue: "Queue", args: Namespace, output: Output, *, paused: bool) -> int:
    for kind in args.kind:
        await (queue.pause(kind) if paused else queue.resume(kind))
        if output.as_json:
            output.data({"kind": kind, "paused": paused})
        else:
            output.line(f"{kind} is {'paused: no worker claims its jobs' if paused else 'resumed'}")
    return exits.OK


async def scale_kind(queue: "Queue", args: Namespace, output: Output) -> int:
    await queue.scale(args.kind, args.slots)
    if output.as_json:
        output.data({"kind": args.kind, "slots": args.slots})
    elif args.slots is None:
        output.line(f"{args.kind} has no limit")
    else:
        output.line(f"{args.kind} is limited to {args.slots:,} at once, in all processes together")
    return exits.OK


_ENDED = ("ENDED", "COMPLETED", "WITH ERRORS", "FAILED", "CANCELLED")


def _format_counts(line: "EndingCounts") -> list[str]:
    numbers = (line.ended, line.completed, line.completed_with_errors, line.failed, line.cancelled)
    return [f"{number:,}" for number in numbers]


def _show_active(found: "ActiveList", output: Output, nothing: str) -> int:
    if output.as_json:
        output.data(found)
        return exits.OK
    if not found.items:
        output.line(nothing)
        return exits.OK
    output.table(
        ("JOB", "KIND", "ORG", "WORKER", "FOR", "PHASE", "PROGRESS", "ABOUT"),
        (
            (
                job.id,
                job.kind,
                job.org_id,
                job.worker,
                _span(job.seconds),
                _describe_phase(job),
                _describe_progress(job),
                job.subject or job.key,
            )
            for job in found.items
        ),
    )
    if found.next_cursor:
        output.line(f"more: --cursor {found.next_cursor}")
    return exits.OK


def _show_conflicts(found: "Conflicts", output: Output) -> None:
    output.line()
    if not found.conflicts:
        output.line("no item is named by two of them")
        return
    nouns = {one.noun for one in found.conflicts}
    heading = nouns.pop().removesuffix("s").upper() if len(nouns) == 1 else "ITEM"
    output.table(
        (heading, "ORG", "NAMED BY"),
        ((one.item, one.org_id, ", ".join(f"{job.id} ({job.state})" for job in one.jobs)) for one in found.conflicts),
    )
    if found.capped:
        output.line("and more")


def _describe_phase(job: "Active") -> str:
    return f"{job.phase or ''} (cancelling)".strip() if job.cancel_requested else job.phase or ""


def _describe_progress(job: "Active") -> str:
    parts = []
    if job.items is not None:
        parts.append(f"{job.items.completed + job.items.failed}/{job.items.total}")
        if job.items.failed:
            parts.append(f"({job.items.failed} failed)")
    elif job.done is not None:
        parts.append(f"{job.done}/{job.total}" if job.total is not None else str(job.done))
    if job.message:
        parts.append(job.message)
    return " ".join(parts)


def _span(seconds: float) -> str:
    return format_duration(timedelta(seconds=seconds))


def _print_table(output: Output, header: tuple[str, ...], rows: Iterable[Iterable[Any]]) -> None:
    """After an empty line, and not at all if there is nothing to show."""
    lines = [tuple(row) for row in rows]
    if lines:
        output.line()
        output.table(header, lines)
