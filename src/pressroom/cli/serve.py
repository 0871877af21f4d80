"""`pressroom serve`: the HTTP service, with workers inside unless it is told otherwise."""

import logging
import os
import shlex
import sys
from argparse import Namespace

from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.cli.wires import Wires
from pressroom.cli.work import SWITCH_INTERVAL
from pressroom.config import Settings

log = logging.getLogger("pressroom")


async def serve(wires: Wires, settings: Settings, args: Namespace, output: Output) -> int:
    sys.setswitchinterval(SWITCH_INTERVAL)

    def listening(address: str, closed: bool) -> None:
        if output.as_json:
            output.data(
                {
                    "listening": address,
                    "database": settings.place,
                    "artifacts": settings.artifact_location,
                    "workers": not args.no_workers,
                    "needs_token": closed,
                }
            )
            return
        output.line(f"Pressroom is at {address}")
        output.line(f"  pages      {address}/desk and {address}/playground")
        output.line(f"  database   {settings.place}")
        output.line(f"  artifacts  {settings.artifact_location.removeprefix('artifacts in ')}")
        if closed:
            output.line(f"it listens on {settings.listen} and there is no token yet: every request is answered with 401")
            output.line("make one:")
            # A server's address holds a password; whoever may use it has it in the settings.
            where = "" if settings.on_postgres else f" --database {_quoted(settings)}"
            output.line(f"  pressroom token create --scope submitter{where}")
            return
        output.line("try it:")
        output.line(
            f"  curl -d 'digraph {{ source -> press -> document }}' '{address}/render?format=dot&outputType=svg&mode=sync'"
        )
        output.line(f"and open {address} followed by the `url` that it answers")

    await wires.serve(settings, works=not args.no_workers, listening=listening)
    return exits.OK


def _quoted(settings: Settings) -> str:
    return shlex.quote(f"sqlite:///{os.path.abspath(settings.path)}")
