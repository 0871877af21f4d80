"""`pressroom docs builds, build, compare, delete build`."""

from argparse import Namespace
from functools import partial
from typing import TYPE_CHECKING

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.job_progress import ended_job
from pressroom.apps.docs.commands.numbers import add_limit_argument
from pressroom.apps.docs.commands.places import AUTHOR, add_project_argument, find_project
from pressroom.apps.docs.commands.views import build_fields, format_size
from pressroom.apps.docs.commands.waiting import add_wait_argument, show_events
from pressroom.apps.docs.errors import BuildNotFound
from pressroom.apps.docs.model import Build, BuildStatus, Project
from pressroom.apps.docs.store.builds import get_build_by_uid
from pressroom.apps.docs.store.projects import get_project_by_id
from pressroom.cli import exits
from pressroom.cli.output import Output, format_age
from pressroom.errors import NotFound
from pressroom.ids import parse_uid
from pressroom.model import Work, from_ms

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

SHOWN = 50  # files, links or differences of a kind


def add_commands(add: AddCommand) -> None:
    listing = add("builds", list_builds, "the builds of a project, newest first")
    add_project_argument(listing)
    listing.add_argument("--status", choices=[status.value for status in BuildStatus], default="")
    add_limit_argument(listing, 50)
    listing.add_argument("--cursor", default="", help="continue after this build")

    showing = add("build", show_build, "one build: its status, its files, its broken links")
    showing.add_argument("build", metavar="ID")
    showing.add_argument("--files", action="store_true", help="list its files")
    showing.add_argument("--problems", action="store_true", help="list its broken links")
    add_wait_argument(showing)

    comparing = add("compare", compare, "which files differ between two builds or editions")
    add_project_argument(comparing)
    comparing.add_argument("before", metavar="A", help="the id of a build, or the slug of an edition")
    comparing.add_argument("after", metavar="B")

    deleting = add("delete build", delete_build, "a build that no edition shows")
    deleting.add_argument("build", metavar="ID")
    deleting.add_argument("--reason", default="deleted by hand")


async def list_builds(app: "DocsApp", args: Namespace, output: Output) -> int:
    org, project = await find_project(app, args)
    listed, total = await app.builds.list(org, project, status=args.status, before=args.cursor, limit=args.limit + 1)
    found = listed[: args.limit]
    cursor = found[-1].uid if len(listed) > len(found) else None
    if output.as_json:
        output.data({"builds": [build_fields(build) for build in found], "total": total, "next_cursor": cursor})
        return exits.OK
    rows = [
        (
            build.uid,
            build.number,
            f"{build.git_ref} ({build.alternate_name})" if build.alternate_name else build.git_ref,
            build.status,
            build.object_count,
            format_size(build.total_size),
            f"{format_age(from_ms(build.date_created))} ago",
        )
        for build in found
    ]
    output.table(("BUILD", "NUMBER", "REF", "STATUS", "FILES", "SIZE", "CREATED"), rows)
    if cursor is not None:
        output.note(f"{total:,} in all; --cursor {cursor} shows more")
    return exits.OK


async def show_build(app: "DocsApp", args: Namespace, output: Output) -> int:
    build, project = await _find(app, args.build)
    code = exits.OK
    if args.works and build.job_uid is not None:
        await show_events(app.core.queue.watch(build.job_uid), build.job_uid, None, output)
        code = ended_job(await app.core.queue.wait_until_ended(build.job_uid)).exit_code
        build, project = await _find(app, args.build)
    editions = await app.builds.list_editions_showing(build)
    files = await app.builds.list_files(build) if args.files else None
    problems = await app.builds.list_problems(build) if args.problems else None
    if output.as_json:
        fields = {**build_fields(build), "project": f"{project.org}/{project.slug}", "editions": editions}
        if files is not None:
            fields["files"] = [{"path": file.path, "sha256": file.sha256, "size": file.size} for file in files]
        output.data(fields | ({} if problems is None else {"problems": problems}))
        return code
    _print_build(build, project, list(editions), output)
    if files is not None:
        output.table(("SIZE", "FILE"), [(format_size(file.size), file.path) for file in files])
    for problem in problems or ():
        output.line("  ".join(str(value) for value in problem.values()))
    return code


def _print_build(build: Build, project: Project, editions: list[str], output: Output) -> None:
    lines = {
        "build": f"{build.uid}{'' if build.number is None else f', number {build.number}'}",
        "project": f"{project.org}/{project.slug}",
        "ref": f"{build.git_ref} ({build.alternate_name})" if build.alternate_name else build.git_ref,
        "status": build.status,
        "editions": ", ".join(editions),
        "files": "" if build.object_count is None else f"{build.object_count:,}, {format_size(build.total_size)}",
        "broken links": build.broken_links or "",
        "error": "" if build.error is None else f"{build.error.get('message')} [{build.error.get('code')}]",
        "job": "" if build.job_uid is None else f"job_{build.job_uid}",
        "uploaded by": build.uploader,
        "created": from_ms(build.date_created).isoformat(timespec="seconds"),
    }
    for name, value in {**lines, **build.annotations}.items():
        if value != "":
            output.line(f"{name}: {value}")


async def compare(app: "DocsApp", args: Namespace, output: Output) -> int:
    org, project = await find_project(app, args)
    found = await app.builds.compare(org, project, args.before, args.after)
    if output.as_json:
        output.data(found)
        return exits.OK
    lines = [f"+ {path}" for path in found.added]
    lines += [f"- {path}" for path in found.removed]
    lines += [f"~ {file.path}  {format_size(file.size_before)} → {format_size(file.size_after)}" for file in found.changed]
    for line in lines:
        output.line(line)
    output.note(
        f"{len(found.added):,} added, {len(found.removed):,} removed, {len(found.changed):,} changed, {found.same:,} equal"
    )
    return exits.OK


async def delete_build(app: "DocsApp", args: Namespace, output: Output) -> int:
    build, project = await _find(app, args.build)
    await app.builds.delete(project.org, project.slug, build.uid, actor=AUTHOR, reason=args.reason)
    if output.as_json:
        output.data({"deleted": build.uid})
    else:
        output.line(f"the build {build.uid} of {project.org}/{project.slug} was deleted")
    return exits.OK


async def _find(app: "DocsApp", id: str) -> tuple[Build, Project]:
    """A build by its id alone, in any spelling. Raises BuildNotFound."""
    try:
        uid = parse_uid(id)
    except NotFound:
        raise BuildNotFound from None
    return await app.core.database.read(partial(_find_with_project, uid))


def _find_with_project(uid: str) -> Work[tuple[Build, Project]]:
    build = yield from get_build_by_uid(uid)
    project = yield from get_project_by_id(build.project)
    if build.date_deleted is not None or project.date_deleted is not None:
        raise BuildNotFound
    return build, project
