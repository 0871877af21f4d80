"""`pressroom docs upload`: a built site becomes a build, here or at a service, and its editions are followed."""

import asyncio
import os
import tempfile
from argparse import Namespace
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.ci_systems import read_annotations
from pressroom.apps.docs.commands.job_progress import EndedJob
from pressroom.apps.docs.commands.origin import Origin, find_origin
from pressroom.apps.docs.commands.places import TOKEN, find_org, find_server, from_environment, parse_place
from pressroom.apps.docs.commands.site_archive import PackedSite, list_site, pack_site
from pressroom.apps.docs.commands.views import format_size
from pressroom.apps.docs.commands.waiting import show_events
from pressroom.apps.docs.requests import BuildDraft
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.errors import InvalidArgument, InvalidSettings, NotFound

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.apps.docs.commands.upload_plan import UploadPlan
    from pressroom.apps.docs.commands.upload_targets import Upload, UploadTarget

_IN_MEMORY = 8 * 1024 * 1024  # bytes of an archive; a larger one waits in a temporary file


def add_commands(add: AddCommand) -> None:
    parser = add(
        "upload",
        upload_here,
        "a built site becomes a build, and its editions show it",
        makes_database=True,
        on_server=on_server,
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the site: a folder of files")
    parser.add_argument("--project", metavar="[ORG/]NAME", help="whose build it is (default: PRESSROOM_PROJECT)")
    parser.add_argument(
        "--org", help="the organisation, if --project does not name it (default: PRESSROOM_ORG, or the only one)"
    )
    parser.add_argument(
        "--git-ref",
        metavar="REF",
        help="the branch or tag that it was built from (default: of the CI system, or of the repository)",
    )
    parser.add_argument("--alternate-name", metavar="NAME", help="it is another variant of the site, such as `dark` or `de`")
    parser.add_argument(
        "-a", "--annotation", action="append", default=[], metavar="NAME=VALUE", help="kept with the build; may be repeated"
    )
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="PATTERN", help="leave these files out; may be repeated"
    )
    parser.add_argument(
        "--create", action="store_true", help="make the project, and here also the organisation, if it is missing"
    )
    parser.add_argument("--dry-run", action="store_true", help="say which editions would move, and send nothing")
    parser.add_argument(
        "--no-wait", dest="works", action="store_false", help="end once it is uploaded; workers elsewhere process it"
    )
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="wait no longer for the editions")
    parser.add_argument(
        "--server",
        metavar="URL",
        help="upload to this service, with the token in PRESSROOM_TOKEN (default: PRESSROOM_URL, or here)",
    )


def on_server(args: Namespace, output: Output) -> Coroutine[Any, Any, int] | None:
    """None: no service is named, so that it is uploaded into the database of the settings."""
    args.works = args.works and not args.dry_run  # which starts no workers
    server = find_server(args)
    return None if server is None else upload_to_server(server, args, output)


async def upload_to_server(server: str, args: Namespace, output: Output) -> int:
    try:
        from pressroom.apps.docs.commands.api_client import DocsClient
        from pressroom.apps.docs.commands.remote_upload import RemoteUpload
    except ModuleNotFoundError as missing:
        if missing.name != "httpx":
            raise
        raise InvalidSettings(["--server: needs the package httpx; pip install 'pressroom[client]'"]) from None
    place = parse_place(args.project, args.org)
    if place.org is None:
        raise InvalidArgument(f"say whose project {place.project} is: --project ORG/{place.project}, or PRESSROOM_ORG")
    async with DocsClient(server, token=from_environment(TOKEN)) as client:
        return await _upload(RemoteUpload(client, place.org, place.project), f"{place.org}/{place.project}", args, output)


async def upload_here(app: "DocsApp", args: Namespace, output: Output) -> int:
    from pressroom.apps.docs.commands.local_upload import LocalUpload

    place = parse_place(args.project, args.org)
    org = place.org or await find_org(app, None)
    return await _upload(LocalUpload(app, org, place.project), f"{org}/{place.project}", args, output)


async def _upload(target: "UploadTarget", project: str, args: Namespace, output: Output) -> int:
    origin = await asyncio.to_thread(find_origin, args.folder, args.git_ref, read_annotations(args.annotation), os.environ)
    files = await asyncio.to_thread(list_site, args.folder, args.exclude)
    if all(file.name != "index.html" for file in files):
        output.note(f"{args.folder} has no index.html: the address of an edition will show no page")
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as archive:
        packed = await asyncio.to_thread(pack_site, files, archive)
        draft = BuildDraft(
            git_ref=origin.git_ref,
            content_hash=packed.content_hash,
            alternate_name=args.alternate_name,
            annotations=dict(origin.annotations),
        )
        _describe(project, origin, packed, args, output)
        if args.dry_run:
            return _show_plan(await target.plan(draft), draft, packed, output)
        if args.create:
            await target.create_project()
        return await _send(target, draft, archive, packed, args, output)


async def _send(
    target: "UploadTarget", draft: BuildDraft, archive: IO[bytes], packed: PackedSite, args: Namespace, output: Output
) -> int:
    try:
        upload = await target.announce(draft)
    except NotFound:
        if not args.create:
            output.note("with --create the upload makes what is missing; `pressroom docs project ORG/NAME` does, too")
        raise
    if upload.upload_url is None:
        return await _show_result(target, upload, None, output)
    await target.send(upload, archive, packed.archive_size)
    job = await target.start(upload)
    if not args.works:
        if output.as_json:
            output.data({"build": dict(upload.build), "job": job, "uploaded": True})
        else:
            output.line(f"build {upload.id} is uploaded, and waits to be processed by {_name_of(job)}")
        return exits.OK
    return await _show_result(target, upload, await _follow(target, job, upload, args, output), output)


async def _follow(target: "UploadTarget", job: str, upload: "Upload", args: Namespace, output: Output) -> EndedJob:
    """To its end. An interrupt ends the waiting, and not the job of a service."""
    try:
        await show_events(target.events(job), job, args.timeout, output)
        return await target.read_end(job)
    except BaseException:
        goes_on = "goes on" if "/" in job else "waits for a worker"
        output.note(f"build {upload.id} {goes_on} as {_name_of(job)}")
        raise


async def _show_result(target: "UploadTarget", upload: "Upload", ended: EndedJob | None, output: Output) -> int:
    """`ended` None: nothing was sent, because a build with the same content is there."""
    build = await target.read_build(upload)
    code = exits.OK if ended is None else ended.exit_code
    if output.as_json:
        shown = {name: value for name, value in build.items() if name not in ("editions", "upload_url")}
        job = None if ended is None else {"id": ended.id, "status": ended.status, "error": ended.error}
        output.data({"build": shown, "editions": build["editions"], "uploaded": ended is not None, "job": job})
        return code
    if ended is None:
        output.line(f"unchanged: build {upload.id} of {build['git_ref']} has the same files; nothing was sent")
    else:
        _report_end(build, ended, output)
    if build["editions"]:
        output.table(("EDITION", "ADDRESS"), [(one["slug"], one["published_url"]) for one in build["editions"]])
    elif code == exits.OK:
        output.line("no edition shows it")
    return code


def _report_end(build: Mapping[str, Any], ended: EndedJob, output: Output) -> None:
    size = f", {build['object_count']:,} files, {format_size(build['total_size_bytes'])}" if build["object_count"] else ""
    output.line(f"build {build['id']} of {build['git_ref']}: {ended.status.value.replace('_', ' ')}{size}")
    if build.get("broken_links"):
        output.note(f"{build['broken_links']:,} broken links; `pressroom docs build {build['id']} --problems` lists them")
    if error := ended.describe_error():
        output.note(error)


def _describe(project: str, origin: Origin, packed: PackedSite, args: Namespace, output: Output) -> None:
    if output.as_json:
        return
    sizes = f"{format_size(packed.size)}, {format_size(packed.archive_size)} packed"
    size = f"{packed.files:,} file{'s' * (packed.files != 1)}, {sizes}"
    variant = f" ({args.alternate_name})" if args.alternate_name else ""
    source = "" if origin.source == "--git-ref" else f", as {origin.source} says"
    output.note(f"{args.folder}: {size}; {project} at {origin.git_ref}{variant}{source}")


def _show_plan(plan: "UploadPlan", draft: BuildDraft, packed: PackedSite, output: Output) -> int:
    if output.as_json:
        output.data(
            {
                "git_ref": draft.git_ref,
                "content_hash": draft.content_hash,
                "files": packed.files,
                "annotations": draft.annotations,
            }
            | {"editions": plan.editions, "note": plan.note or None}
        )
        return exits.OK
    output.table(("EDITION", "WOULD", "REASON"), [(one.slug, one.action, one.reason) for one in plan.editions])
    if plan.note:
        output.note(plan.note)
    return exits.OK


def _name_of(job: str) -> str:
    return job if "/" in job else f"job_{job}"
