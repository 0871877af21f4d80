"""The command line. It parses, opens the queue through `Wires`, and hands over to one function a command."""

import asyncio
import logging
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from functools import partial
from io import TextIOWrapper
from typing import Any, NoReturn

from pressroom import config, process_output
from pressroom.api import logs
from pressroom.app import App
from pressroom.cli import (
    care,
    demo,
    engines,
    exits,
    jobs,
    promote,
    queues,
    render,
    serve,
    tokens,
    webhooks,
    work,
    workers,
)
from pressroom.cli.output import Output
from pressroom.cli.wires import Wires
from pressroom.config import Settings
from pressroom.errors import InvalidSettings, PressroomError
from pressroom.model import POOLS, VERSION, Status
from pressroom.notify.webhook import EVENTS

log = logging.getLogger("pressroom")

_DESCRIPTION = """\
Sources into documents, as durable jobs.

examples:
  pressroom serve                           the HTTP service on 127.0.0.1:8000
  pressroom render report.md -o report.pdf  make one document, here and now
  pressroom engines                         what can be rendered on this machine
  pressroom work --import myapp.kinds       work on jobs until stopped
  pressroom jobs list --status failed       what went wrong
  pressroom jobs watch job_01JD…            see one happen
  pressroom queue pause pdf                 let no worker claim jobs of a kind
  pressroom workers                         who works, and where
  pressroom wiki import docs                a folder of Markdown becomes a wiki
  pressroom token create --scope submitter  let somebody else use the service
  pressroom check                           is everything in order?
"""

_EPILOG = """\
exit codes: 0 well; 1 failed, or a problem was found; 2 wrong usage, a refused request, or a set-up that must be
mended before another start; 3 the source is invalid; 4 the store or queue is unavailable, try again; 5 waited
too long; 6 no such job; 7 the service wants another token; 8 the queue is full; 9 completed with errors;
130 interrupted
"""

# These make a database where there is none, and so do the actions that add something to it.
_MAKE_DATABASES = ("serve", "work", "demo", "migrate", "promote")

# The flags that are settings: a flag left out must stay distinct from its default.
_SETTINGS = ("database", "home", "listen", "metrics_listen", "workers", "grace", "imports")


def main(wires: Wires, argv: Sequence[str] | None = None) -> int:
    for stream in map(process_output.unwrapped, (sys.stdout, sys.stderr)):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a terminal cannot show is no reason to fail
    argv = sys.argv[1:] if argv is None else argv
    logs_json = config.find_log_format(argv) == "json"
    try:
        args = _parser(wires.find_apps(), logs_json=logs_json).parse_args(argv)
    except InvalidSettings as invalid:  # an app that the settings name cannot be imported
        return _report_settings(invalid, logs_json=logs_json)
    output = Output(as_json=args.json, as_log=logs_json and args.command in process_output.LOGGED_COMMANDS)
    logging.basicConfig(level=_level(args.verbose), stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    if logs_json:
        logs.set_log_format("json")
    if process_output.is_started():  # then basicConfig has changed nothing
        logging.getLogger().setLevel(_level(args.verbose))
    try:
        return _run(wires, args, output)
    except InvalidSettings as invalid:
        return _report_settings(invalid, logs_json=logs_json)
    except PressroomError as error:
        _report(str(error) if logs_json else f"{error} [{error.code}]", error.code, logs_json=logs_json)
        return exits.code_for(error)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.OK


def _report_settings(invalid: InvalidSettings, *, logs_json: bool) -> int:
    for problem in invalid.problems:
        _report(problem, invalid.code, logs_json=logs_json)
    return exits.USAGE


def _report(message: str, code: str, *, logs_json: bool) -> None:
    """Why the command ends, on standard error."""
    text = logs.json_line("error", logs.redacted(message), code=code) if logs_json else f"pressroom: {message}"
    print(text, file=process_output.unwrapped(sys.stderr), flush=True)


def _run(wires: Wires, args: Namespace, output: Output) -> int:
    flags = {name: getattr(args, name, None) for name in _SETTINGS}
    if args.command == "demo" and not (args.database or args.home):
        flags["home"] = demo.HOME  # never by chance the database that somebody works with
    match args.command:
        case "check":
            return care.check(wires, args, output, flags)
        case "engines":
            return engines.install(args, output) if args.action == "install" else engines.show(output)
        case "render":
            return asyncio.run(render.render(args, output))
    settings = wires.load(flags, args.config)
    logs.set_log_format(settings.log_format)
    if args.command not in _MAKE_DATABASES and not getattr(args, "makes_database", False):
        wires.require_database(settings)
    if (name := getattr(args, "app", None)) is not None:
        return asyncio.run(_with_app(wires, settings, name, args, output))
    match args.command:
        case "fsck":
            return care.fsck(wires, settings, args, output)
        case "migrate":
            return care.migrate(wires, settings, args, output)
        case "demo":
            return asyncio.run(demo.demo(wires, settings, args, output))
        case "promote":
            return promote.promote(wires, settings, args, output)
        case "serve":
            return asyncio.run(serve.serve(wires, settings, args, output))
        case "token":
            return asyncio.run(_with_tokens(wires, settings, args, output))
        case "webhooks":
            return asyncio.run(_with_webhooks(wires, settings, args, output))
        case "work":
            return asyncio.run(work.work(wires, settings, args, output))
        case _:
            return asyncio.run(_with_queue(wires, settings, args, output))


async def _with_queue(wires: Wires, settings: Settings, args: Namespace, output: Output) -> int:
    async with wires.open(settings) as queue:
        result: int = await args.act(queue, args, output)
        return result


async def _with_app(wires: Wires, settings: Settings, name: str, args: Namespace, output: Output) -> int:
    async with wires.app(settings, name, works=getattr(args, "works", False)) as app:
        result: int = await args.act(app, args, output)
        return result


async def _with_tokens(wires: Wires, settings: Settings, args: Namespace, output: Output) -> int:
    async with wires.tokens(settings) as known:
        result: int = await args.act(known, args, output)
        return result


async def _with_webhooks(wires: Wires, settings: Settings, args: Namespace, output: Output) -> int:
    async with wires.webhooks(settings) as known:
        result: int = await args.act(known, args, output)
        return result


def _level(verbose: int) -> int:
    return (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]


class _JsonParser(ArgumentParser):
    """Tells wrong usage as a line of a JSON log."""

    def error(self, message: str) -> NoReturn:
        _report(f"{self.prog}: {message}", "usage", logs_json=True)
        self.exit(exits.USAGE)


def _parser(apps: Sequence[App] = (), *, logs_json: bool = False) -> ArgumentParser:
    common = ArgumentParser(add_help=False)
    common.add_argument("--database", metavar="URL", help="sqlite:///FILE or postgresql://… (default: the setting `database`)")
    common.add_argument("--config", metavar="FILE", help="read settings from this file instead of ./pressroom.toml")
    common.add_argument("--import", dest="imports", metavar="MODULE,…", help="modules that define kinds and schedules")
    common.add_argument("--json", action="store_true", help="print JSON: one value, or one per line for streams")
    common.add_argument("-v", "--verbose", action="count", default=0, help="say more on standard error; twice for most")

    make_parser = _JsonParser if logs_json else ArgumentParser
    parser = make_parser("pressroom", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"pressroom {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_serve(commands, common)
    _add_work(commands, common)
    _add_jobs(commands, common)
    _add_queue(commands, common)
    workers.add_workers(commands, common)
    _add_render(commands, common)
    _add_token(commands, common)
    _add_webhooks(commands, common)
    _add_apps(commands, common, apps)
    check = commands.add_parser("check", parents=[common], help="look at settings, database and engines; say what to mend")
    check.add_argument("--quick", action="store_true", help="do not render a sample with every engine")
    fsck = commands.add_parser(
        "fsck", parents=[common], help="test every invariant of the rows; exit 1 with those that break one"
    )
    fsck.add_argument("--artifacts", action="store_true", help="walk every artifact to its bytes and their hash instead")
    fsck.add_argument(
        "--adopt-store", action="store_true", help="first record the artifact store of these settings as this database's"
    )
    migrate = commands.add_parser("migrate", parents=[common], help="bring the database up to date")
    migrate.add_argument("--dry-run", action="store_true", help="only say what would be applied")
    _add_promote(commands, common)
    _add_demo(commands, common)
    return parser


def _add_apps(commands: Any, common: ArgumentParser, apps: Sequence[App]) -> None:
    for app in apps:
        if app.commands is not None:
            actions = commands.add_parser(app.name, help=app.about).add_subparsers(required=True, metavar="ACTION")
            app.commands(partial(_add_app_command, actions, common, app.name))


def _add_app_command(
    actions: Any, common: ArgumentParser, app: str, name: str, act: Any, text: str, *, makes_database: bool = False
) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(name, parents=[common], help=text)
    parser.add_argument("--home", metavar="FOLDER", help="where the database lies")
    parser.set_defaults(app=app, act=act, makes_database=makes_database)
    return parser


def _add_demo(commands: Any, common: ArgumentParser) -> None:
    parser = commands.add_parser("demo", parents=[common], help="fill a database with a day of work, to be looked at")
    parser.add_argument("--home", metavar="FOLDER", help=f"where the database and the artifacts lie (default: {demo.HOME})")
    parser.add_argument("--jobs", type=int, default=1000, metavar="N", help="how much is asked for in the day, about")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another number makes another day")
    parser.add_argument("--add", action="store_true", help="into a database that has jobs already")
    parser.add_argument("--serve", action="store_true", help="then serve it, with workers that go on with what waits")
    parser.add_argument("--listen", metavar="HOST:PORT", help="where to listen (default 127.0.0.1:8000)")


def _add_promote(commands: Any, common: ArgumentParser) -> None:
    parser = commands.add_parser("promote", parents=[common], help="move a database from its file to a PostgreSQL server")
    parser.add_argument("--to", required=True, metavar="URL", help="postgresql://…, a database that holds no jobs yet")
    parser.add_argument("--artifacts-to", choices=["s3"], help="also copy the artifacts to the bucket of the s3 settings")
    parser.add_argument("--wait", type=float, default=0.0, metavar="SECONDS", help="wait so long for others to leave the file")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be copied, and what stands in the way")
    parser.add_argument("--home", metavar="FOLDER", help="where the database lies")


def _add_serve(commands: Any, common: ArgumentParser) -> None:
    parser = commands.add_parser("serve", parents=[common], help="the HTTP service, with workers inside")
    parser.add_argument("--listen", metavar="HOST:PORT", help="where to listen (default 127.0.0.1:8000)")
    parser.add_argument("--home", metavar="FOLDER", help="where the database and the artifacts lie")
    parser.add_argument("--no-workers", action="store_true", help="only the service; other processes work")
    parser.add_argument(
        "--slots", dest="workers", metavar="N", help="jobs in progress at once; 0 is eight for each press, at least 16"
    )
    parser.add_argument("--grace", metavar="SECONDS", help="how long running jobs may take to finish when stopped")


def _add_work(commands: Any, common: ArgumentParser) -> None:
    parser = commands.add_parser("work", parents=[common], help="work on jobs until stopped")
    parser.add_argument(
        "--slots", dest="workers", metavar="N", help="jobs in progress at once; 0 is eight for each press, at least 16"
    )
    parser.add_argument(
        "--metrics",
        dest="metrics_listen",
        metavar="HOST:PORT",
        help="answer /metrics, /livez and /readyz there (default: nowhere)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--kinds", metavar="NAME,…", type=_names, help="only these of all kinds")
    which.add_argument(
        "--pool",
        dest="pools",
        metavar="POOL,…",
        type=_pools,
        help=f"only kinds of these pools: {', '.join(POOLS)} (see `pool` of a kind)",
    )
    parser.add_argument("--except", dest="all_but", metavar="NAME,…", type=_names, default=[], help="none of these kinds")
    parser.add_argument("--grace", metavar="SECONDS", help="how long running jobs may take to finish when stopped")


def _add_render(commands: Any, common: ArgumentParser) -> None:
    parser = commands.add_parser("render", parents=[common], help="render one file, here and now, or through a server")
    parser.add_argument("file", help="the source; - is standard input")
    parser.add_argument(
        "-o", "--out", metavar="FILE", help="where to write it; its ending says what to make (default: standard output)"
    )
    parser.add_argument("--from", dest="language", metavar="LANGUAGE", help="what the source is, if its name does not tell")
    parser.add_argument("--to", dest="output", metavar="OUTPUT", help="html, svg, png or pdf, if OUT does not tell")
    parser.add_argument("--engine", help="another engine than the usual one; see `pressroom engines`")
    parser.add_argument(
        "--server",
        metavar="URL",
        default=os.environ.get("PRESSROOM_URL"),
        help="have this service render it, with the token in PRESSROOM_TOKEN (default: PRESSROOM_URL, or here)",
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the engine; may be repeated"
    )

    engines_parser = commands.add_parser("engines", parents=[common], help="what can be rendered here, and what is missing")
    engines_parser.add_argument("action", nargs="?", choices=["list", "install"], default="list")
    engines_parser.add_argument("what", nargs="?", choices=["node"], help="for install: the packages that run in Node.js")


def _add_jobs(commands: Any, common: ArgumentParser) -> None:
    actions = commands.add_parser("jobs", help="list, show, cancel, retry, watch").add_subparsers(
        required=True, metavar="ACTION"
    )

    listing = actions.add_parser("list", parents=[common], help="jobs that match, newest first")
    listing.add_argument("--status", action="append", choices=[status.value for status in Status], help="may be repeated")
    listing.add_argument("--kind")
    listing.add_argument("--tier", choices=["interactive", "background"])
    listing.add_argument("--org")
    listing.add_argument("--subject")
    listing.add_argument("--key")
    listing.add_argument("--parent", metavar="JOB")
    listing.add_argument("--since", metavar="AGE", help="submitted within this time: 30s, 15m, 2h, 7d")
    listing.add_argument("--limit", type=int, default=50)
    listing.add_argument("--cursor", help="as the last page gave it")
    listing.set_defaults(act=jobs.list_jobs)

    show = actions.add_parser("show", parents=[common], help="one job with its history and errors")
    show.add_argument("job")
    show.set_defaults(act=jobs.show)

    cancel = actions.add_parser("cancel", parents=[common], help="cancel jobs, queued or running")
    cancel.add_argument("job", nargs="+")
    cancel.add_argument("--reason", default="cancelled")
    cancel.set_defaults(act=jobs.cancel)

    retry = actions.add_parser("retry", parents=[common], help="run ended jobs again, as new jobs")
    retry.add_argument("job", nargs="+")
    retry.set_defaults(act=jobs.retry)

    watch = actions.add_parser("watch", parents=[common], help="a job's events until it ends; the exit code tells how")
    watch.add_argument("job")
    watch.add_argument("--after", type=int, default=0, metavar="EVENT", help="resume after this event")
    watch.set_defaults(act=jobs.watch)


def _add_queue(commands: Any, common: ArgumentParser) -> None:
    actions = commands.add_parser("queue", help="what waits, runs, fails, conflicts; pause, resume").add_subparsers(
        required=True, metavar="ACTION"
    )
    actions.add_parser("stats", parents=[common], help="backlog, running, and the last hour").set_defaults(act=queues.stats)
    queues.add_questions(actions, common)
    for name, act, text in (
        ("pause", queues.pause, "let no worker claim jobs of these kinds"),
        ("resume", queues.resume, "let them be claimed again"),
    ):
        parser = actions.add_parser(name, parents=[common], help=text)
        parser.add_argument("kind", nargs="+")
        parser.set_defaults(act=act)
    workers.add_scale(actions, common)


def _add_token(commands: Any, common: ArgumentParser) -> None:
    actions = commands.add_parser("token", help="create, list, revoke: who may use the service").add_subparsers(
        required=True, metavar="ACTION"
    )

    create = actions.add_parser("create", parents=[common], help="make a token; its secret is shown once")
    create.add_argument("--scope", required=True, choices=tokens.SCOPES, help="each may do all that the one before may")
    whose = create.add_mutually_exclusive_group()
    whose.add_argument("--org", help="whose rows it sees (default: those without an organisation)")
    whose.add_argument("--all-orgs", action="store_true", help="it sees everybody's")
    create.add_argument("--name", default="", help="what it is for")
    create.add_argument("--ttl", metavar="AGE", help="how long it is good for: 12h, 90d (default: until it is revoked)")
    create.add_argument("--home", metavar="FOLDER", help="where the database lies")
    create.set_defaults(act=tokens.create, makes_database=True)

    listing = actions.add_parser("list", parents=[common], help="every token, without its secret")
    listing.add_argument("--home", metavar="FOLDER", help="where the database lies")
    listing.set_defaults(act=tokens.list_tokens)

    revoke = actions.add_parser("revoke", parents=[common], help="let nobody in with these any more")
    revoke.add_argument("token", nargs="+", help="its id or its beginning, as `list` shows them")
    revoke.add_argument("--home", metavar="FOLDER", help="where the database lies")
    revoke.set_defaults(act=tokens.revoke)


def _add_webhooks(commands: Any, common: ArgumentParser) -> None:
    actions = commands.add_parser("webhooks", help="list, add, remove, deliveries, replay: whom to tell").add_subparsers(
        required=True, metavar="ACTION"
    )

    def action(name: str, act: Any, text: str) -> ArgumentParser:
        parser: ArgumentParser = actions.add_parser(name, parents=[common], help=text)
        parser.add_argument("--home", metavar="FOLDER", help="where the database lies")
        parser.set_defaults(act=act)
        return parser

    listing = action("list", webhooks.list_webhooks, "every webhook, without its secret")
    listing.add_argument("--org", help="only of this organisation")

    add = action("add", webhooks.add, "tell an address of jobs that end; its secret is shown once")
    add.set_defaults(makes_database=True)
    add.add_argument("url", help="https and public, unless the setting `webhook_allow` names its host")
    add.add_argument("--event", action="append", choices=EVENTS, help="may be repeated (default: all)")
    add.add_argument("--kind", action="append", help="only jobs of this kind; may be repeated")
    add.add_argument("--org", help="whose jobs (default: those without an organisation)")

    remove = action("remove", webhooks.remove, "tell these nothing more")
    remove.add_argument("webhook", nargs="+")

    deliveries = action("deliveries", webhooks.deliveries, "what one was told, newest first, and how it answered")
    deliveries.add_argument("webhook")
    deliveries.add_argument("--state", choices=webhooks.STATES)
    deliveries.add_argument("--limit", type=int, default=50)

    replay = action("replay", webhooks.replay, "deliver these again, now, whatever became of them")
    replay.add_argument("delivery", nargs="+")


def _pools(text: str) -> list[str]:
    pools = _names(text)
    if not pools or {*pools} - {*POOLS}:
        raise ArgumentTypeError(f"{text!r} names no pool; the pools are {', '.join(POOLS)}")
    return pools


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
