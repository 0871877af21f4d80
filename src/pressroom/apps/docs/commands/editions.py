"""`pressroom docs editions, edition …, history, rollback`."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.field_values import convert
from pressroom.apps.docs.commands.numbers import add_limit_argument
from pressroom.apps.docs.commands.places import AUTHOR, add_project_argument, find_project
from pressroom.apps.docs.commands.views import edition_fields, history_fields
from pressroom.apps.docs.commands.waiting import add_wait_argument, finish_jobs
from pressroom.apps.docs.model import EditionKind, TrackingMode, TrackingParams
from pressroom.apps.docs.requests import EditionChanges, EditionDraft, Rollback
from pressroom.cli import exits
from pressroom.cli.output import Output, format_age
from pressroom.errors import InvalidArgument
from pressroom.model import from_ms

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.apps.docs.model import Edition

# Of `tracking_params`, by flag.
PARAMS = ("git_ref", "alternate_name", "major_version", "minor_version")


def add_commands(add: AddCommand) -> None:
    listing = add("editions", list_editions, "the editions of a project, and what they show")
    add_project_argument(listing)

    add.add_group("edition", "make, change, move, pin and delete one edition")
    making = add("edition create", create_edition, "an edition")
    _add_edition_arguments(making)
    _add_field_arguments(making)
    changing = add("edition change", change_edition, "what it is called, what it follows, or the build that it shows")
    _add_edition_arguments(changing)
    _add_field_arguments(changing)
    changing.add_argument("--build", metavar="ID", help="show this build of the project now, whatever it follows")
    changing.add_argument("--pin", dest="pinned", action="store_true", default=None, help="builds do not move it any more")
    changing.add_argument("--unpin", dest="pinned", action="store_false", help="builds move it again")
    add_wait_argument(changing)
    pinning = add("edition pin", pin_edition, "builds do not move it any more; with --build it shows that one")
    _add_edition_arguments(pinning)
    pinning.add_argument("--build", metavar="ID", help="show this build, and stay there")
    add_wait_argument(pinning)
    unpinning = add("edition unpin", unpin_edition, "builds move it again")
    _add_edition_arguments(unpinning)
    deleting = add("edition delete", delete_edition, "an edition; it can be restored from purgatory for a while")
    _add_edition_arguments(deleting)
    deleting.add_argument("--reason", default="deleted by hand")

    history = add("history", show_history, "which builds an edition has shown, newest first")
    _add_edition_arguments(history)
    history.add_argument("--all", dest="include_deleted", action="store_true", help="also builds that were deleted")
    add_limit_argument(history, 50)

    rolling = add("rollback", roll_back, "an edition shows a build of its history again, and stays there")
    _add_edition_arguments(rolling)
    rolling.add_argument("build", metavar="BUILD", nargs="?", help="its id (default: the one before)")
    rolling.add_argument("--no-pin", dest="pin", action="store_false", help="the next build moves it again")
    add_wait_argument(rolling)


def _add_edition_arguments(parser: ArgumentParser) -> None:
    add_project_argument(parser)
    parser.add_argument("slug", metavar="EDITION", help="its slug, such as __main or 2.1")


def _add_field_arguments(parser: ArgumentParser) -> None:
    modes = [mode.value for mode in TrackingMode]
    parser.add_argument("--title", help="what readers call it")
    parser.add_argument("--kind", choices=[kind.value for kind in EditionKind if kind is not EditionKind.MAIN])
    parser.add_argument("--tracking-mode", choices=modes, metavar="MODE", help=f"which builds move it: {', '.join(modes)}")
    parser.add_argument("--git-ref", metavar="REF", help="the branch or tag, for git_ref and alternate_git_ref")
    parser.add_argument("--alternate-name", metavar="NAME", help="the variant, for alternate_git_ref")
    parser.add_argument("--major", dest="major_version", type=int, metavar="N", help="for semver_major and semver_minor")
    parser.add_argument("--minor", dest="minor_version", type=int, metavar="N", help="for semver_minor")
    parser.add_argument("--exempt", dest="lifecycle_exempt", action="store_true", default=None, help="rules do not delete it")
    parser.add_argument("--not-exempt", dest="lifecycle_exempt", action="store_false", help="rules may delete it")


async def list_editions(app: "DocsApp", args: Namespace, output: Output) -> int:
    from pressroom.apps.docs.urls import PublishedUrls

    slug, name = await find_project(app, args)
    org, project = await app.projects.get_with_org(slug, name)
    editions, urls = await app.editions.list(slug, name), PublishedUrls(app.settings)
    fields = [edition_fields(edition, urls.edition(org, project.slug, edition.slug)) for edition in editions]
    if output.as_json:
        output.data(fields)
        return exits.OK
    rows = [
        (one["slug"], one["kind"], _describe_tracking(edition), one["build"], _describe_status(edition), one["published_url"])
        for one, edition in zip(fields, editions, strict=True)
    ]
    output.table(("EDITION", "KIND", "FOLLOWS", "BUILD", "STATUS", "ADDRESS"), rows)
    return exits.OK


def _describe_tracking(edition: "Edition") -> str:
    given = edition.tracking_params
    parts = [
        str(value)
        for value in (given.git_ref, given.alternate_name, given.major_version, given.minor_version)
        if value is not None
    ]
    return f"{edition.tracking_mode} {' '.join(parts)}".strip()


def _describe_status(edition: "Edition") -> str:
    words = [edition.publish_status or "empty"]
    words += ["pinned"] if edition.pinned else []
    words += ["ref is gone"] if edition.ref_missing_since is not None else []
    return ", ".join(words)


async def create_edition(app: "DocsApp", args: Namespace, output: Output) -> int:
    org, project = await find_project(app, args)
    fields = _read_fields(args)
    draft = convert({"slug": args.slug, "title": args.slug} | fields, EditionDraft)
    edition = await app.editions.create(org, project, draft)
    return _report(edition, "was made", output)


async def change_edition(app: "DocsApp", args: Namespace, output: Output) -> int:
    fields = _read_fields(args) | {name: getattr(args, name) for name in ("build", "pinned") if getattr(args, name) is not None}
    if not fields:
        raise InvalidArgument("say what to change; see --help")
    return await _change(app, args, convert(fields, EditionChanges), "was changed", output)


async def pin_edition(app: "DocsApp", args: Namespace, output: Output) -> int:
    build = {} if args.build is None else {"build": args.build}
    return await _change(app, args, convert({"pinned": True} | build, EditionChanges), "is pinned", output)


async def unpin_edition(app: "DocsApp", args: Namespace, output: Output) -> int:
    return await _change(app, args, EditionChanges(pinned=False), "follows builds again", output)


async def _change(app: "DocsApp", args: Namespace, changes: EditionChanges, done: str, output: Output) -> int:
    org, project = await find_project(app, args)
    edition, job = await app.editions.change(org, project, args.slug, changes, actor=AUTHOR)
    if job is None:
        return _report(edition, done, output)
    if not output.as_json:
        output.line(f"the edition {edition.slug} {done}")
    return await finish_jobs(app, [job], args, output)


def _read_fields(args: Namespace) -> dict[str, Any]:
    """The flags that were given, as fields of a request."""
    names = ("title", "kind", "tracking_mode", "lifecycle_exempt")
    fields: dict[str, Any] = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    params = {name: getattr(args, name) for name in PARAMS if getattr(args, name) is not None}
    if params:
        fields["tracking_params"] = convert(params, TrackingParams)
    return fields


async def delete_edition(app: "DocsApp", args: Namespace, output: Output) -> int:
    org, project = await find_project(app, args)
    await app.editions.delete(org, project, args.slug, actor=AUTHOR, reason=args.reason)
    if output.as_json:
        output.data({"deleted": args.slug})
    else:
        output.line(f"the edition {args.slug} of {org}/{project} was deleted")
    return exits.OK


async def show_history(app: "DocsApp", args: Namespace, output: Output) -> int:
    org, project = await find_project(app, args)
    lines = await app.editions.list_history(org, project, args.slug, include_deleted=args.include_deleted, limit=args.limit)
    if output.as_json:
        output.data([history_fields(line, position) for position, line in enumerate(lines, 1)])
        return exits.OK
    rows = [
        (
            position,
            line.entry.build,
            f"{line.git_ref} ({line.alternate_name})" if line.alternate_name else line.git_ref,
            line.entry.trigger,
            line.entry.actor,
            line.entry.publish_status,
            "deleted" if line.build_deleted else "",
            f"{format_age(from_ms(line.entry.date_created))} ago",
        )
        for position, line in enumerate(lines, 1)
    ]
    output.table(("", "BUILD", "REF", "BY", "ACTOR", "STATUS", "", "SINCE"), rows)
    return exits.OK


async def roll_back(app: "DocsApp", args: Namespace, output: Output) -> int:
    org, project = await find_project(app, args)
    build = args.build or await _find_build_before(app, org, project, args.slug)
    job = await app.editions.roll_back(org, project, args.slug, Rollback(build=build, pinned=args.pin), actor=AUTHOR)
    if not output.as_json:
        output.line(f"the edition {args.slug} goes back to {build}{', and stays there' if args.pin else ''}")
    return await finish_jobs(app, [job], args, output)


async def _find_build_before(app: "DocsApp", org: str, project: str, slug: str) -> str:
    """The newest build of its history that the edition does not show now."""
    edition = await app.editions.get(org, project, slug)
    for line in await app.editions.list_history(org, project, slug):
        if line.entry.build != edition.build:
            return line.entry.build
    raise InvalidArgument(f"the edition {slug} has shown no other build")


def _report(edition: "Edition", done: str, output: Output) -> int:
    if output.as_json:
        output.data({"slug": edition.slug, "pinned": edition.pinned, "tracking_mode": edition.tracking_mode, "done": done})
    else:
        output.line(f"the edition {edition.slug} {done}")
    return exits.OK
