"""`pressroom docs edge`: serve sites to readers, without workers and without the HTTP interface. And links for readers."""

import asyncio
import logging
import signal
from argparse import Namespace
from typing import TYPE_CHECKING

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.places import add_project_argument, find_project
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.config.addresses import is_host_and_port, split_host_and_port
from pressroom.errors import InvalidArgument, PackageMissing

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

log = logging.getLogger("pressroom")
DAY = 24 * 3600
LONGEST_DAYS = 366  # of a link


def add_commands(add: AddCommand) -> None:
    serving = add("edge", serve_edge, "serve sites to readers, without workers and without the HTTP interface")
    # Not the setting `listen`, which is where `pressroom serve` listens.
    serving.add_argument("--listen", dest="edge_listen", metavar="HOST:PORT", help="where (default: the setting [docs] listen)")
    linking = add("reader-link", make_reader_link, "a link by which its holder reads the sites of a private organisation")
    add_project_argument(linking)
    linking.add_argument("--days", type=float, default=30, help="how long it works (default: 30)")


async def serve_edge(app: "DocsApp", args: Namespace, output: Output) -> int:
    try:
        from pressroom.api import serve as server
        from pressroom.apps.docs.edge.making import make_edge
    except ModuleNotFoundError as missing:
        raise PackageMissing(missing.name or "", "service") from None
    address = args.edge_listen or app.settings.listen
    if not is_host_and_port(address):
        raise InvalidArgument(f"{address!r} is not HOST:PORT; name one with --listen")
    settings = app.core.settings
    listener = server.listen(*split_host_and_port(address), setting="--listen")
    with listener:
        stopping = asyncio.Event()
        _stop_on_signals(stopping, settings.grace)
        _say_where(server.url_of(listener), output)
        await server.run_server(
            make_edge(app.core, app.dashboards),
            settings,
            listener,
            stopping,
            grace=settings.grace,
            max_connections=settings.max_connections,
        )
    return exits.OK


def _say_where(url: str, output: Output) -> None:
    if output.as_json:
        output.data({"sites": url}, event="listening")
    else:
        output.line(f"sites are at {url}/ORG/PROJECT/")


def _stop_on_signals(stopping: asyncio.Event, grace: float) -> None:
    """The second signal ends the process there and then."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        log.info("stopping; answers have %g s to finish", grace)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


async def make_reader_link(app: "DocsApp", args: Namespace, output: Output) -> int:
    from pressroom.apps.docs.edge.readers import ReaderLinks
    from pressroom.apps.docs.urls import PublishedUrls

    if not 0 < args.days <= LONGEST_DAYS:  # which NaN is not either
        raise InvalidArgument(f"--days is a number up to {LONGEST_DAYS}")
    org_slug, project_slug = await find_project(app, args)
    org, project = await app.projects.get_with_org(org_slug, project_slug)
    token = ReaderLinks(app.core.keyring, app.core.clock).sign(org.slug, int(args.days * DAY))
    url = f"{PublishedUrls(app.settings).project(org, project.slug)}?token={token}"
    if output.as_json:
        output.data({"url": url, "expires_in": int(args.days * DAY)})
    else:
        output.line(url)
    return exits.OK
