"""`pressroom docs project, projects, rebuild-dashboards, delete`."""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.field_values import add_set_argument, convert, read_fields
from pressroom.apps.docs.commands.numbers import add_limit_argument
from pressroom.apps.docs.commands.places import (
    AUTHOR,
    add_org_argument,
    add_project_argument,
    find_org,
    find_project,
    parse_place,
)
from pressroom.apps.docs.commands.views import project_fields
from pressroom.apps.docs.commands.waiting import add_wait_argument, finish_jobs
from pressroom.apps.docs.model import TrackingMode
from pressroom.apps.docs.requests import EditionChanges, ProjectChanges, ProjectDraft
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.errors import InvalidArgument, NotFound

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.apps.docs.model import Project

PAGE = 100
FLAGS = ("title", "source_url", "git_url")
MODES = [mode.value for mode in TrackingMode]


def add_commands(add: AddCommand) -> None:
    making = add("project", make_project, "a project: made, or changed if there is one", makes_database=True)
    add_project_argument(making)
    making.add_argument("--title", help="what people call it")
    making.add_argument(
        "--git", dest="git_url", metavar="URL", help="its repository, whose deleted branches and tags are noticed"
    )
    making.add_argument("--source", dest="source_url", metavar="URL", help="where readers find the source")
    making.add_argument(
        "--main-mode", choices=MODES, metavar="MODE", help="what its address follows: git_ref (default), semver_release, …"
    )
    making.add_argument("--main-ref", metavar="REF", help="the branch that its address follows (default: main)")
    add_set_argument(making, ProjectChanges, FLAGS)

    listing = add("projects", list_projects, "the projects of an organisation")
    add_org_argument(listing)
    listing.add_argument("-q", "--search", default="", metavar="TEXT", help="only those whose slug or title contains it")
    listing.add_argument("--order", choices=("slug", "date_created"), default="slug", help="newest first with date_created")
    add_limit_argument(listing, PAGE)
    listing.add_argument("--cursor", default="", help="continue after this one, as the page before named it")

    rebuilding = add(
        "rebuild-dashboards", rebuild_dashboards, "render the dashboard of a project, or of all of an organisation"
    )
    rebuilding.add_argument("place", metavar="ORG[/PROJECT]")
    add_wait_argument(rebuilding)

    add.add_group("delete", "organisations, projects and builds; what was deleted can be restored from purgatory for a while")
    for name, act, about in (
        ("org", delete_org, "an organisation without projects; it cannot be restored"),
        ("project", delete_project, "a project with all that it has"),
    ):
        parser = add(f"delete {name}", act, about)
        parser.add_argument(name, metavar="ORG" if name == "org" else "[ORG/]NAME")
        if name != "org":
            parser.add_argument("--reason", default="deleted by hand")


async def make_project(app: "DocsApp", args: Namespace, output: Output) -> int:
    org, slug = await find_project(app, args)
    fields = {name: getattr(args, name) for name in FLAGS if getattr(args, name) is not None} | read_fields(args.fields)
    main = _read_main(args)
    try:
        project, done = await app.projects.get(org, slug), "is there already"
    except NotFound:
        await app.orgs.get(org)
        config = {} if main is None else {"default_edition_config": main}
        project, done = await app.projects.create(org, convert({"slug": slug} | fields | config, ProjectDraft)), "was made"
    else:
        if fields:
            project = await app.projects.change(org, slug, convert(fields, ProjectChanges))
        if main is not None:
            await app.editions.change(org, slug, "__main", convert(main, EditionChanges), actor=AUTHOR)
        done = "was changed" if fields or main is not None else done
    _show_project(org, project, done, output)
    return exits.OK


def _read_main(args: Namespace) -> dict[str, Any] | None:
    """What `__main` follows, as the field of a request."""
    if args.main_mode is None and args.main_ref is None:
        return None
    mode = args.main_mode or "git_ref"
    if args.main_ref is not None and mode != "git_ref":
        raise InvalidArgument("--main-ref goes with --main-mode git_ref")
    return {"tracking_mode": mode, "tracking_params": {"git_ref": args.main_ref or "main"} if mode == "git_ref" else {}}


def _show_project(org: str, project: "Project", done: str, output: Output) -> None:
    if output.as_json:
        output.data({**project_fields(project), "done": done})
        return
    output.line(f"the project {org}/{project.slug} {done}")


async def list_projects(app: "DocsApp", args: Namespace, output: Output) -> int:
    org = await find_org(app, args.org)
    listed, total = await app.projects.list(org, text=args.search, order=args.order, after=args.cursor, limit=args.limit + 1)
    found, cursor = listed[: args.limit], None
    if len(listed) > len(found):
        cursor = found[-1].slug if args.order == "slug" else found[-1].id
    if output.as_json:
        output.data({"projects": [project_fields(project) for project in found], "total": total, "next_cursor": cursor})
        return exits.OK
    output.table(
        ("PROJECT", "TITLE", "REPOSITORY", "BUILDS"),
        [(f"{project.org}/{project.slug}", project.title, project.git_url, project.last_number) for project in found],
    )
    if cursor is not None:
        output.note(f"{total:,} in all; --cursor {cursor} shows more")
    return exits.OK


async def rebuild_dashboards(app: "DocsApp", args: Namespace, output: Output) -> int:
    org, project = args.place, None
    if "/" in args.place:
        place = parse_place(args.place)
        org, project = place.org or "", place.project
    return await finish_jobs(app, await app.projects.rebuild_dashboard(org, project, actor=AUTHOR), args, output)


async def delete_org(app: "DocsApp", args: Namespace, output: Output) -> int:
    await app.orgs.delete(args.org)
    return _report_deleted(f"the organisation {args.org}", output)


async def delete_project(app: "DocsApp", args: Namespace, output: Output) -> int:
    org, project = await find_project(app, args)
    await app.projects.delete(org, project, actor=AUTHOR, reason=args.reason)
    return _report_deleted(f"the project {org}/{project}", output)


def _report_deleted(what: str, output: Output) -> int:
    if output.as_json:
        output.data({"deleted": what})
    else:
        output.line(f"{what} was deleted")
    return exits.OK
