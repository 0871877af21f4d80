"""`pressroom serve`: the HTTP service, with workers inside unless it is told otherwise."""

import logging
import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping

from pressroom.cli import exits
from pressroom.cli.commands import Commands, add_home_option, requires_packages
from pressroom.cli.output import Output
from pressroom.cli.work import SWITCH_INTERVAL, add_grace_option, add_slots_option
from pressroom.config import Settings

log = logging.getLogger("pressroom")

_CLOSED = "there is no token yet: every request is answered with 401"


def add_commands(commands: Commands) -> None:
    parser = commands.add("serve", serve, "the HTTP service, with workers inside", makes_database=True)
    parser.add_argument("--listen", metavar="HOST:PORT", help="where to listen (default 127.0.0.1:8000)")
    add_home_option(parser, "where the database and the artifacts lie")
    parser.add_argument("--no-workers", action="store_true", help="only the service; other processes work")
    add_slots_option(parser)
    add_grace_option(parser)


async def serve(settings: Settings, args: Namespace, output: Output) -> int:
    with requires_packages("service"):
        from pressroom import serving

    sys.setswitchinterval(SWITCH_INTERVAL)

    def listening(address: str, closed: bool, others: Mapping[str, str]) -> None:
        if output.as_json:
            output.data(
                {
                    "listening": address,
                    "database": settings.database_label,
                    "artifacts": settings.artifact_location,
                    "workers": not args.no_workers,
                    "needs_token": closed,
                    **others,
                },
                event="listening",
            )
            if closed:
                output.warn(f"{_CLOSED}; make one with: {_token_command(settings)}")
            return
        output.line(f"Pressroom is at {address}")
        output.line(f"  pages      {address}/desk and {address}/playground")
        for about, other in others.items():
            output.line(f"  {about:<9}  {other}")
        output.line(f"  database   {settings.database_label}")
        output.line(f"  artifacts  {settings.artifact_location.removeprefix('artifacts in ')}")
        if closed:
            output.line(f"it listens on {settings.listen} and {_CLOSED}")
            output.line("make one:")
            output.line(f"  {_token_command(settings)}")
            return
        output.line("try it:")
        output.line(
            f"  curl -d 'digraph {{ source -> press -> document }}' '{address}/render?format=dot&outputType=svg&mode=sync'"
        )
        output.line(f"and open {address} followed by the `url` that it answers")

    await serving.serve(settings, works=not args.no_workers, listening=listening)
    return exits.OK


def _token_command(settings: Settings) -> str:
    # The address of a PostgreSQL server holds a password, and is in the settings of those who may know it.
    database = "" if settings.on_postgres else f" --database {shlex.quote(f'sqlite:///{os.path.abspath(settings.path)}')}"
    return f"pressroom token create --scope submitter{database}"
