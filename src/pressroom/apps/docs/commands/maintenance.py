"""`pressroom docs purgatory …, lifecycle, enqueue`: what schedules do, now and by hand."""

from argparse import Namespace
from typing import TYPE_CHECKING

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.places import AUTHOR, add_org_argument, find_org
from pressroom.apps.docs.commands.views import format_size, purgatory_fields
from pressroom.apps.docs.commands.waiting import add_wait_argument, finish_jobs
from pressroom.cli import exits
from pressroom.cli.output import Output, format_age
from pressroom.model import from_ms

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

# The kinds that need no payload.
PERIODIC = ("lifecycle_eval", "git_ref_audit", "purgatory_cleanup", "credential_rewrap", "reconcile")


def add_commands(add: AddCommand) -> None:
    add.add_group("purgatory", "what was deleted, and can still be restored")
    listing = add("purgatory list", list_purgatory, "deleted projects, editions and builds, the last first")
    add_org_argument(listing)
    listing.add_argument("--project", metavar="NAME", help="only of this project")
    listing.add_argument("--limit", type=int, default=50)
    restoring = add("purgatory restore", restore, "bring back what was deleted")
    restoring.add_argument("entries", metavar="ID", nargs="+", help="as `purgatory list` names it")
    restoring.add_argument("--org", help="the organisation (default: PRESSROOM_ORG, or the only one)")

    enqueuing = add("enqueue", enqueue, "run a periodic job now, outside of its schedule")
    enqueuing.add_argument("kind", choices=PERIODIC, metavar="KIND", help=", ".join(PERIODIC))
    add_wait_argument(enqueuing)


async def list_purgatory(app: "DocsApp", args: Namespace, output: Output) -> int:
    org = await find_org(app, args.org)
    entries = await app.purgatory.list(org, project=args.project, limit=args.limit)
    if output.as_json:
        output.data([purgatory_fields(entry) for entry in entries])
        return exits.OK
    rows = [
        (
            entry.id,
            entry.what,
            entry.name,
            format_size(entry.bytes),
            f"{format_age(from_ms(entry.date_entered))} ago",
            from_ms(entry.purge_after).date().isoformat(),
            entry.reason,
        )
        for entry in entries
    ]
    output.table(("ID", "WHAT", "NAME", "SIZE", "DELETED", "PURGED ON", "REASON"), rows)
    return exits.OK


async def restore(app: "DocsApp", args: Namespace, output: Output) -> int:
    org = await find_org(app, args.org)
    restored = [await app.purgatory.restore(org, entry, actor=AUTHOR) for entry in args.entries]
    if output.as_json:
        output.data([purgatory_fields(entry) for entry in restored])
        return exits.OK
    for entry in restored:
        output.line(f"the {entry.what} {entry.name} was restored")
    return exits.OK


async def enqueue(app: "DocsApp", args: Namespace, output: Output) -> int:
    job = await app.core.queue.submit(f"docs.{args.kind}", subject=f"by hand: {args.kind}")
    return await finish_jobs(app, [job], args, output)
