"""`pressroom docs import`, `search`: a folder of versions that other tools have left, and words of an edition's pages."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.local_upload import ensure_project
from pressroom.apps.docs.commands.numbers import add_limit_argument
from pressroom.apps.docs.commands.places import AUTHOR, add_project_argument, find_project, parse_place
from pressroom.apps.docs.model import MAIN
from pressroom.cli import exits
from pressroom.cli.output import Output

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.apps.docs.operations.importing import ImportedVersion

MOST_HITS = 100


def add_commands(add: AddCommand) -> None:
    importing = add(
        "import", import_folder, "a folder with a site for each version: builds, editions and aliases", makes_database=True
    )
    importing.add_argument("folder", type=Path, metavar="FOLDER", help="as mike and similar tools leave it: 1.0/ 2.0/ latest …")
    importing.add_argument("--project", metavar="[ORG/]NAME", help="where to (default: PRESSROOM_PROJECT)")
    importing.add_argument("--create", action="store_true", help="make the project and its organisation if they are missing")
    importing.add_argument("--timeout", type=float, metavar="SECONDS", help="wait no longer for one version")
    importing.set_defaults(works=True)

    searching = add("search", search_pages, "the pages of an edition that have all these words")
    add_project_argument(searching)
    searching.add_argument("words", metavar="WORD", nargs="+", help="the last one may be only begun")
    searching.add_argument("--edition", default=MAIN, help="its slug (default: __main)")
    add_limit_argument(searching, 20, MOST_HITS)


async def import_folder(app: "DocsApp", args: Namespace, output: Output) -> int:
    place = parse_place(args.project)
    if args.create and place.org is not None:
        await ensure_project(app, place.org, place.project)
    args.project = args.project or (place.project if place.org is None else f"{place.org}/{place.project}")
    org, project = await find_project(app, args)

    def show(version: "ImportedVersion") -> None:
        if not output.as_json:
            output.line(_describe(version))

    done = await app.importing.run(org, project, args.folder, actor=AUTHOR, on_version=show, timeout=args.timeout)
    if output.as_json:
        output.data(done)
    return exits.PARTIAL if any(version.status == "failed" for version in done) else exits.OK


def _describe(version: "ImportedVersion") -> str:
    match version.status:
        case "imported" | "unchanged":
            return f"{version.name}: {version.status}, {version.files:,} files, build {version.build}"
        case "alias":
            return f"{version.name}: an alias"
        case _:
            return f"{version.name}: {version.status}, {version.problem}"


async def search_pages(app: "DocsApp", args: Namespace, output: Output) -> int:
    from pressroom.apps.docs.urls import PublishedUrls

    slug, name = await find_project(app, args)
    org, project = await app.projects.get_with_org(slug, name)
    hits = await app.search.find(slug, name, args.edition, " ".join(args.words), args.limit)
    address = PublishedUrls(app.settings).edition(org, project.slug, args.edition)
    if output.as_json:
        fields = [
            {"title": hit.title, "path": hit.path, "snippet": hit.snippet_text, "url": address + hit.path} for hit in hits
        ]
        output.data(fields)
        return exits.OK
    for hit in hits:
        output.line(f"{hit.title}  {address}{hit.path}")
        output.line(f"    {' '.join(hit.snippet_text.split())}")
    if not hits:
        output.note("no page has all these words")
    return exits.OK
