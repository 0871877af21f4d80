"""`pressroom alerts`: list, ack."""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

import msgspec

from pressroom.cli import exits
from pressroom.cli.commands import Commands, add_home_option, command_on_queue
from pressroom.cli.output import Output, format_age

if TYPE_CHECKING:
    from pressroom.queue import Queue
    from pressroom.store.alerts.alerts import Alert
    from pressroom.store.operators.audit import AuditEntry

WHO = "command line"


def add_commands(commands: Commands) -> None:
    actions = commands.add_group("alerts", "list, ack: jobs that failed for good, of kinds that raise alerts")

    listing = actions.add("list", command_on_queue(list_alerts), "open alerts, newest first")
    add_home_option(listing)
    listing.add_argument("--acked", action="store_true", help="acknowledged ones instead")
    listing.add_argument("--kind", help="only of this kind")
    listing.add_argument("--org", help="only of this organisation")
    listing.add_argument("--limit", type=int, default=50)
    listing.add_argument("--before", type=int, metavar="ID", help="only those with a smaller id: the next page")

    acking = actions.add("ack", command_on_queue(ack), "acknowledge alerts; the next failure opens another")
    add_home_option(acking)
    acking.add_argument("alert", nargs="*", type=int, metavar="ID")
    acking.add_argument("--all", action="store_true", help="every open one, of --kind and --org if they are given")
    acking.add_argument("--kind", help="with --all: only of this kind")
    acking.add_argument("--org", help="with --all: only of this organisation")


async def list_alerts(queue: "Queue", args: Namespace, output: Output) -> int:
    from pressroom.store.alerts.alerts import NEWEST

    before = NEWEST if args.before is None else args.before
    found = await queue.alerts.list(org_id=args.org, is_open=not args.acked, kind=args.kind, before=before, limit=args.limit)
    if output.as_json:
        output.data([_alert_view(alert) for alert in found])
        return exits.OK
    output.table(
        ("ID", "OF", "KIND", "SUBJECT", "CODE", "COUNT", "LAST", "JOB", "MESSAGE"),
        (
            (
                alert.id,
                alert.org_id or "the default organisation",
                alert.kind,
                alert.subject,
                alert.code,
                f"{alert.count:,}",
                format_age(alert.last_at),
                f"job_{alert.job}",
                alert.message,
            )
            for alert in found
        ),
    )
    return exits.OK


async def ack(queue: "Queue", args: Namespace, output: Output) -> int:
    if bool(args.alert) == args.all:
        output.note("name alerts by their ids, or give --all")
        return exits.USAGE
    return await (_ack_all if args.all else _ack_each)(queue, args, output)


async def _ack_each(queue: "Queue", args: Namespace, output: Output) -> int:
    for id in args.alert:
        alert = await queue.alerts.ack(id, _audit_entry("alert.ack", f"alert {id}"))
        if output.as_json:
            output.data(_alert_view(alert))
        else:
            output.line(f"alert {alert.id} was acknowledged by {alert.acked_by}")
    return exits.OK


async def _ack_all(queue: "Queue", args: Namespace, output: Output) -> int:
    entry = _audit_entry("alert.ack_all", args.kind or "every kind")
    count = await queue.alerts.ack_all(entry, org_id=args.org, kind=args.kind)
    if output.as_json:
        output.data({"acknowledged": count})
    else:
        output.line(f"{count:,} acknowledged")
    return exits.OK


def _audit_entry(action: str, target: str) -> "AuditEntry":
    from pressroom.store.operators.audit import EVERYWHERE, AuditEntry

    return AuditEntry(who=WHO, org_id=EVERYWHERE, action=action, target=target)


def _alert_view(alert: "Alert") -> dict[str, Any]:
    """As the service shows it."""
    fields = msgspec.structs.asdict(alert)
    del fields["job"], fields["print"]
    return fields | {"job_id": f"job_{alert.job}"}
