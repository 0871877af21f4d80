"""`pressroom render-service`: PDF files over HTTP, without a database and a queue."""

import sys
from argparse import Namespace

from pressroom.cli import exits
from pressroom.cli.commands import Commands, requires_packages
from pressroom.cli.output import Output
from pressroom.cli.work import SWITCH_INTERVAL, add_grace_option
from pressroom.config import Settings

LISTEN = "127.0.0.1:8010"


def add_commands(commands: Commands) -> None:
    text = "an HTTP service that makes PDF files, for workers and others; needs no database"
    parser = commands.add("render-service", render_service, text, makes_database=True)
    # Not the setting `listen`: that is where `pressroom serve` listens, which may have the same environment.
    parser.add_argument("--listen", metavar="HOST:PORT", default=LISTEN, help=f"where to listen (default {LISTEN})")
    add_grace_option(parser)


async def render_service(settings: Settings, args: Namespace, output: Output) -> int:  # noqa: ARG001
    with requires_packages("service"):
        from pressroom.render_service import serving

    sys.setswitchinterval(SWITCH_INTERVAL)

    def listening(address: str) -> None:
        if output.as_json:
            output.data({"listening": address, "needs_token": bool(settings.render_token)}, event="listening")
            return
        output.line(f"The render service is at {address}")
        output.line("try it:")
        token = ' -H "Authorization: Bearer $RENDER_TOKEN"' if settings.render_token else ""
        output.line(f"""  curl{token} --json '{{"html": "<h1>Hello</h1>"}}' {address}/render -o hello.pdf""")

    await serving.serve(settings, listening=listening)
    return exits.OK
