"""`pressroom wiki`: a folder of Markdown becomes articles and the other way round; articles are rendered again."""

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from pressroom.cli import exits
from pressroom.cli.output import Output, bar
from pressroom.cli.wires import Taken, Wiki, Wires
from pressroom.config import Settings

LOOK_EVERY = 0.2  # seconds
SHOWN = 20  # files or articles that went wrong


def add_wiki(commands: Any, common: ArgumentParser) -> None:
    actions = commands.add_parser("wiki", help="import, export, rerender: articles by the folder").add_subparsers(
        required=True, metavar="ACTION"
    )

    def action(name: str, act: Any, text: str) -> ArgumentParser:
        parser: ArgumentParser = actions.add_parser(name, parents=[common], help=text)
        parser.add_argument("--home", metavar="FOLDER", help="where the database lies")
        parser.add_argument("--org", help="whose articles (default: those without an organisation)")
        parser.set_defaults(act=act)
        return parser

    taking = action("import", take_in, "every Markdown file of a folder becomes an article, rendered in one batch")
    taking.set_defaults(makes_database=True)
    taking.add_argument("folder", type=Path)
    taking.add_argument("--author", default="import", help="who the revisions are by (default: import)")
    taking.add_argument("--comment", default="", help="what they say of themselves (default: the name of the file)")

    putting = action("export", put_out, "the newest source of every article, as files that `import` takes back")
    putting.add_argument("folder", type=Path)

    again = action("rerender", rerender, "articles go through the queue again, behind whoever waits for one")
    which = again.add_mutually_exclusive_group(required=True)
    which.add_argument("--all", dest="which", action="store_const", const="all", help="every article")
    which.add_argument("--stale", dest="which", action="store_const", const="stale", help="those that an engine has outdated")

    for parser in (taking, again):
        parser.add_argument("--wait", action="store_true", help="work on it here too, and end when all are rendered")


async def run(wires: Wires, settings: Settings, args: Namespace, output: Output) -> int:
    async with wires.wiki(settings, works=getattr(args, "wait", False)) as wiki:
        result: int = await args.act(wiki, args, output)
        return result


async def take_in(wiki: Wiki, args: Namespace, output: Output) -> int:
    progress = _Progress()
    taken = await wiki.take_in(args.folder, org_id=args.org, author=args.author, comment=args.comment, tell=progress.tell)
    progress.end()
    if not output.as_json:
        output.line(f"{taken.files:,} files: {taken.created:,} new, {taken.changed:,} changed, {taken.same:,} as they were")
        for name, reason in list(taken.problems.items())[:SHOWN]:
            output.note(f"{name}: {reason}")
        if len(taken.problems) > SHOWN:
            output.note(f"and {len(taken.problems) - SHOWN:,} other files that could not be taken")
    told = await _followed(wiki, taken.batch, args, output) if taken.created or taken.changed else {}
    if output.as_json:
        output.data(_told(taken) | told)
    return exits.PARTIAL if taken.problems or told.get("failed") else exits.OK


async def put_out(wiki: Wiki, args: Namespace, output: Output) -> int:
    progress = _Progress()
    count = await wiki.put_out(args.folder, org_id=args.org, tell=progress.tell)
    progress.end()
    if output.as_json:
        output.data({"articles": count, "folder": str(args.folder)})
    else:
        output.line(f"{count:,} articles are in {args.folder}")
    return exits.OK


async def rerender(wiki: Wiki, args: Namespace, output: Output) -> int:
    batch = await wiki.rerender(args.which, org_id=args.org)
    told = await _followed(wiki, batch, args, output)
    if output.as_json:
        output.data(told)
    return exits.PARTIAL if told.get("failed") else exits.OK


async def _followed(wiki: Wiki, batch: str, args: Namespace, output: Output) -> dict[str, Any]:
    """How the renders of a batch fare, until all have ended if that is wished."""
    told: dict[str, Any] = {"batch": f"job_{batch}"}
    if not args.wait:
        if not output.as_json:
            output.line(f"their renders are queued; `pressroom jobs list --parent job_{batch}` shows how far they are")
        return told
    progress = _Progress()
    while True:
        fares = await wiki.fares(batch)
        done = fares.rendered + fares.failed
        progress.tell("rendered", done, done + fares.waiting)
        if fares.over:
            break
        await asyncio.sleep(LOOK_EVERY)
    progress.end()
    wrong = await wiki.failures(batch, SHOWN) if fares.failed else []
    if not output.as_json:
        output.line(f"{fares.rendered:,} rendered, {fares.failed:,} failed")
        for line in wrong:
            output.note(line)
    return told | {"rendered": fares.rendered, "failed": fares.failed, "failures": wrong}


def _told(taken: Taken) -> dict[str, Any]:
    names = ("files", "created", "changed", "same", "problems")
    return {name: getattr(taken, name) for name in names}


class _Progress:
    """On standard error: a bar that moves in a terminal, and nothing elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def tell(self, what: str, done: int, total: int) -> None:
        if self._live:
            sys.stderr.write(f"\r\x1b[K{bar({'done': done, 'total': total, 'message': what})}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
