"""`pressroom wiki`: a folder of Markdown becomes articles and the other way round; articles are rendered again."""

import asyncio
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pressroom.app import AddCommand
from pressroom.apps.wiki.batch_progress import describe_failures, read_progress
from pressroom.apps.wiki.folders import Folders, ImportReport
from pressroom.apps.wiki.rerender_requests import RerenderRequest
from pressroom.cli import exits
from pressroom.cli.output import Output, format_progress_bar

if TYPE_CHECKING:
    from pressroom.apps.wiki.app import Wiki

LOOK_EVERY = 0.2  # seconds
SHOWN = 20  # files or articles that went wrong


def add_commands(add: AddCommand) -> None:
    importing = add(
        "import",
        import_folder,
        "every Markdown file of a folder becomes an article, rendered in one batch",
        makes_database=True,
    )
    importing.add_argument("folder", type=Path)
    importing.add_argument("--author", default="import", help="who the revisions are by (default: import)")
    importing.add_argument("--comment", default="", help="what they say of themselves (default: the name of the file)")

    exporting = add("export", export_folder, "the newest source of every article, as files that `import` reads")
    exporting.add_argument("folder", type=Path)

    rerendering = add("rerender", rerender_articles, "articles go through the queue again, behind interactive jobs")
    which = rerendering.add_mutually_exclusive_group(required=True)
    which.add_argument("--all", dest="which", action="store_const", const="all", help="every article")
    which.add_argument("--stale", dest="which", action="store_const", const="stale", help="those that an engine has outdated")

    for parser in (importing, exporting, rerendering):
        parser.add_argument("--org", help="whose articles (default: those without an organisation)")
    for parser in (importing, rerendering):
        parser.add_argument(
            "--wait", dest="works", action="store_true", help="work on it here too, and end when all are rendered"
        )


async def import_folder(wiki: "Wiki", args: Namespace, output: Output) -> int:
    progress = _ProgressBar()
    report = await Folders(wiki.articles).import_folder(
        args.folder, org_id=args.org, author=args.author, comment=args.comment, on_progress=progress.show
    )
    progress.end()
    if not output.as_json:
        output.line(f"{report.files:,} files: {report.created:,} new, {report.changed:,} changed, {report.same:,} as they were")
        for name, reason in list(report.problems.items())[:SHOWN]:
            output.note(f"{name}: {reason}")
        if len(report.problems) > SHOWN:
            output.note(f"and {len(report.problems) - SHOWN:,} other files that could not be report")
    summary = await _follow_batch(wiki, report.batch, args, output) if report.created or report.changed else {}
    if output.as_json:
        output.data(_import_summary(report) | summary)
    return exits.PARTIAL if report.problems or summary.get("failed") else exits.OK


async def export_folder(wiki: "Wiki", args: Namespace, output: Output) -> int:
    progress = _ProgressBar()
    count = await Folders(wiki.articles).export_folder(args.folder, org_id=args.org, on_progress=progress.show)
    progress.end()
    if output.as_json:
        output.data({"articles": count, "folder": str(args.folder)})
    else:
        output.line(f"{count:,} articles are in {args.folder}")
    return exits.OK


async def rerender_articles(wiki: "Wiki", args: Namespace, output: Output) -> int:
    batch = (await wiki.articles.rerender_all(args.org, RerenderRequest(args.which))).uid
    summary = await _follow_batch(wiki, batch, args, output)
    if output.as_json:
        output.data(summary)
    return exits.PARTIAL if summary.get("failed") else exits.OK


async def _follow_batch(wiki: "Wiki", batch: str, args: Namespace, output: Output) -> dict[str, Any]:
    """How many of a batch were rendered and failed, when all have ended, if that is to be waited for."""
    summary: dict[str, Any] = {"batch": f"job_{batch}"}
    if not args.works:
        if not output.as_json:
            output.line(f"their renders are queued; `pressroom jobs list --parent job_{batch}` shows how far they are")
        return summary
    progress_bar = _ProgressBar()
    while True:
        progress = await read_progress(wiki.articles, batch)
        done = progress.rendered + progress.failed
        progress_bar.show("rendered", done, done + progress.waiting)
        if progress.over:
            break
        await asyncio.sleep(LOOK_EVERY)
    progress_bar.end()
    wrong = await describe_failures(wiki.queue, batch, SHOWN) if progress.failed else []
    if not output.as_json:
        output.line(f"{progress.rendered:,} rendered, {progress.failed:,} failed")
        for line in wrong:
            output.note(line)
    return summary | {"rendered": progress.rendered, "failed": progress.failed, "failures": wrong}


def _import_summary(report: ImportReport) -> dict[str, Any]:
    names = ("files", "created", "changed", "same", "problems")
    return {name: getattr(report, name) for name in names}


class _ProgressBar:
    """On standard error: a bar that moves in a terminal, and nothing elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def show(self, what: str, done: int, total: int) -> None:
        if self._live:
            sys.stderr.write(f"\r\x1b[K{format_progress_bar({'done': done, 'total': total, 'message': what})}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
