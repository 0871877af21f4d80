"""`pressroom docs purgatory …, lifecycle, enqueue`: what schedules do, now and by hand."""

from argparse import Namespace
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import msgspec

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.field_values import read_fields
from pressroom.apps.docs.commands.numbers import add_limit_argument
from pressroom.apps.docs.commands.places import AUTHOR, add_org_argument, find_org
from pressroom.apps.docs.commands.views import format_size, purgatory_fields
from pressroom.apps.docs.commands.waiting import add_wait_argument, finish_jobs
from pressroom.cli import exits
from pressroom.cli.output import Output, format_age
from pressroom.errors import InvalidArgument
from pressroom.model import from_ms

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.apps.docs.model import Org
    from pressroom.model import Submitted

# The kinds that need no payload.
PERIODIC = ("lifecycle_eval", "git_ref_audit", "purgatory_cleanup", "credential_rewrap", "reconcile")


def add_commands(add: AddCommand) -> None:
    add.add_group("purgatory", "what was deleted, and can still be restored")
    listing = add("purgatory list", list_purgatory, "deleted projects, editions and builds, the last first")
    add_org_argument(listing)
    listing.add_argument("--project", metavar="NAME", help="only of this project")
    add_limit_argument(listing, 50)
    restoring = add("purgatory restore", restore, "bring back what was deleted")
    restoring.add_argument("entries", metavar="ID", nargs="+", help="as `purgatory list` names it")
    restoring.add_argument("--org", help="the organisation (default: PRESSROOM_ORG, or the only one)")

    evaluating = add("lifecycle", run_lifecycle, "delete what the lifecycle rules of all organisations say")
    evaluating.add_argument("org", metavar="ORG", nargs="?", help="with --dry-run: only this one (default: all)")
    evaluating.add_argument("--project", metavar="NAME", help="with --dry-run: only this project")
    evaluating.add_argument("--rules", metavar="FILE", help="with --dry-run: as if these were the rules, a JSON list")
    evaluating.add_argument("--dry-run", action="store_true", help="say what would go, and delete nothing")
    add_wait_argument(evaluating)

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
    return await finish_jobs(app, [await _submit(app, args.kind)], args, output)


async def _submit(app: "DocsApp", kind: str) -> "Submitted":
    """With the key of its schedule: one that is queued or runs is the answer."""
    return await app.core.queue.submit(f"docs.{kind}", {}, key=f"docs.{kind}")


async def run_lifecycle(app: "DocsApp", args: Namespace, output: Output) -> int:
    if not args.dry_run:
        if args.org or args.project or args.rules:
            raise InvalidArgument("an organisation, --project and --rules go with --dry-run; the job is of all organisations")
        return await finish_jobs(app, [await _submit(app, "lifecycle_eval")], args, output)
    args.works = False
    rules = None if args.rules is None else read_fields([f"rules=@{args.rules}"])["rules"]
    orgs = [args.org] if args.org or args.project else [org.slug async for org in _all_orgs(app)]
    found = [
        {"org": org, "project": one.project, **msgspec.to_builtins(one.deletion)}
        for org in [await find_org(app, org) for org in orgs]
        for one in await app.lifecycle_eval.dry_run(org, args.project, rules=rules)
    ]
    if output.as_json:
        output.data(found)
        return exits.OK
    rows = [(f"{one['org']}/{one['project']}", one["what"], one["name"], one["rule"], one["reason"]) for one in found]
    output.table(("PROJECT", "WHAT", "NAME", "RULE", "REASON"), rows)
    return exits.OK


async def _all_orgs(app: "DocsApp") -> AsyncIterator["Org"]:
    after = ""
    while page := await app.orgs.list(after=after):
        for org in page:
            yield org
        after = page[-1].slug
