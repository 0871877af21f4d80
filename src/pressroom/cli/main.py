"""The command line: parses, loads the settings, runs the command, and says why it failed."""

import inspect
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from io import TextIOWrapper

from pressroom import config
from pressroom.api import logs
from pressroom.app import BUILT_IN, find_apps
from pressroom.cli import exits, process_output
from pressroom.cli.commands import load_settings
from pressroom.cli.output import Output
from pressroom.cli.parser import make_parser, report_error
from pressroom.errors import InvalidSettings, PressroomError


def main(argv: Sequence[str] | None = None) -> int:
    for stream in map(process_output.unwrapped, (sys.stdout, sys.stderr)):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a terminal cannot show is no reason to fail
    argv = sys.argv[1:] if argv is None else argv
    logs_json = config.find_log_format(argv) == "json"
    try:
        apps = find_apps(config.find_apps_setting(argv) or BUILT_IN)
        args = make_parser(apps, argv, logs_json=logs_json).parse_args(argv)
    except InvalidSettings as invalid:  # an app that the settings name cannot be imported
        return _report_settings(invalid, logs_json=logs_json)
    output = Output(as_json=args.json, as_log=logs_json and args.command in process_output.LOGGED_COMMANDS)
    logging.basicConfig(
        level=_log_level(args.verbose), stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    if logs_json:
        logs.set_log_format("json")
    if process_output.is_json_output_started():  # then basicConfig has changed nothing
        logging.getLogger().setLevel(_log_level(args.verbose))
    try:
        return _run(args, output)
    except InvalidSettings as invalid:
        return _report_settings(invalid, logs_json=logs_json)
    except PressroomError as error:
        report_error(str(error) if logs_json else f"{error} [{error.code}]", error.code, logs_json=logs_json)
        return exits.exit_code_for(error)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:  # the program that read our output has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.OK


def _run(args: Namespace, output: Output) -> int:
    import asyncio  # here, so that `--help` does not wait for it

    perform_on_server = getattr(args, "on_server", None)
    if perform_on_server is not None and (on_server := perform_on_server(args, output)) is not None:
        result = on_server
    elif not args.reads_settings:
        result = args.run(args, output)
    else:
        settings = load_settings(args)
        logs.set_log_format(settings.log_format)
        if not args.makes_database:
            from pressroom import backends

            backends.require_database(settings)
        result = args.run(settings, args, output)
    code: int = asyncio.run(result) if inspect.iscoroutine(result) else result
    return code


def _report_settings(invalid: InvalidSettings, *, logs_json: bool) -> int:
    for problem in invalid.problems:
        report_error(problem, invalid.code, logs_json=logs_json)
    return exits.USAGE


def _log_level(verbose: int) -> int:
    return (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
