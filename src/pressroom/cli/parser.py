"""The parser of the command line. Each module of a command adds its own."""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any, NoReturn

from pressroom.api import logs
from pressroom.app import App
from pressroom.cli import (
    alerts,
    checks,
    demo,
    engines,
    exits,
    jobs,
    process_output,
    promote,
    queues,
    render,
    render_service,
    serve,
    tokens,
    webhooks,
    work,
    workers,
)
from pressroom.cli.commands import Commands, add_home_option, command_in_memory, command_on_app
from pressroom.model import VERSION

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
  pressroom token create --scope submitter  create a token that may submit jobs
  pressroom check                           is everything in order?
"""

_EPILOG = """\
exit codes: 0 well; 1 failed, or a problem was found; 2 wrong usage, a refused request, or a set-up that must be
mended before another start; 3 the source is invalid; 4 the store or queue is unavailable, try again; 5 waited
too long; 6 no such job; 7 the service wants another token; 8 the queue is full; 9 completed with errors;
130 interrupted
"""


def make_parser(apps: Sequence[App] = (), argv: Sequence[str] = (), *, logs_json: bool = False) -> ArgumentParser:
    """Of the apps, only the commands of the one that `argv` names are added: to add them imports the app."""
    common = ArgumentParser(add_help=False)
    common.add_argument("--database", metavar="URL", help="sqlite:///FILE or postgresql://… (default: the setting `database`)")
    common.add_argument("--config", metavar="FILE", help="read settings from this file instead of ./pressroom.toml")
    common.add_argument("--import", dest="imports", metavar="MODULE,…", help="modules that define kinds and schedules")
    common.add_argument("--json", action="store_true", help="print JSON: one value, or one per line for streams")
    common.add_argument("-v", "--verbose", action="count", default=0, help="say more on standard error; twice for most")

    make = _JsonParser if logs_json else ArgumentParser
    parser = make("pressroom", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"pressroom {VERSION}")
    commands = Commands(parser.add_subparsers(dest="command", required=True, metavar="COMMAND"), common)
    for module in (serve, work, render_service, jobs, queues, workers, render, engines, tokens, webhooks, alerts):
        module.add_commands(commands)
    named = next((word for word in argv if not word.startswith("-")), None)
    for app in apps:
        if app.commands is not None:
            actions = commands.add_group(app.name, app.about)
            if app.name == named:
                app.commands(_AppCommands(actions, app))
    for last in (checks, promote, demo):
        last.add_commands(commands)
    return parser


class _AppCommands:
    """Adds the actions of an app. An action may have two words, `edition pin`: the first is a group that was added before."""

    def __init__(self, actions: Commands, app: App) -> None:
        self._actions = actions
        self._app = app
        self._groups: dict[str, Commands] = {}

    def add_group(self, name: str, text: str) -> None:
        self._groups[name] = self._actions.add_group(name, text)

    def __call__(
        self,
        name: str,
        act: Any,
        text: str,
        *,
        makes_database: bool = False,
        in_memory: bool = False,
        on_server: Any = None,
    ) -> ArgumentParser:
        """An action `in_memory` needs no database and no settings: its app runs in memory.

        `on_server(args, output)` is called before the settings are read. It returns a coroutine that performs the action on a
        server, or None: then the app of the settings does.
        """
        group, _, action = name.rpartition(" ")
        actions = self._groups[group] if group else self._actions
        if in_memory:
            return actions.add(action, command_in_memory(self._app, act), text, reads_settings=False)
        parser = actions.add(action, command_on_app(self._app.name, act), text, makes_database=makes_database)
        parser.set_defaults(on_server=on_server)
        add_home_option(parser)
        return parser


class _JsonParser(ArgumentParser):
    """Reports wrong usage as a line of a JSON log."""

    def error(self, message: str) -> NoReturn:
        report_error(f"{self.prog}: {message}", "usage", logs_json=True)
        self.exit(exits.USAGE)


def report_error(message: str, code: str, *, logs_json: bool) -> None:
    """Why the command ends, on standard error."""
    text = logs.json_line("error", logs.redacted(message), code=code) if logs_json else f"pressroom: {message}"
    print(text, file=process_output.unwrapped(sys.stderr), flush=True)
