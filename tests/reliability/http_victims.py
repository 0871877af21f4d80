"""`pressroom serve` and `pressroom work` as processes to torment, forked from a lab that has imported everything."""

import importlib
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pressroom import failpoints
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.cli.main import main
from pressroom.renderers import documents
from pressroom.renderers.documents import RenderRequest
from pressroom.store.engine import statements
from tests.reliability.victims import Victim, fork
from tests.reliability.workload import LEASE, POLL

# Below the ports that Linux hands out: a client that calls where nobody listens could else be connected to itself.
PORTS = range(21_000, 32_000)

A_DAY = 24 * 3600  # whatever was acknowledged in the longest run is to be there when it is over

# What a server imports only once it serves, and a lab that starts five of them in a second had better import before.
LATE = (
    "pressroom.api.app",
    "pressroom.api.basic",
    "pressroom.api.serve",
    "pressroom.api.tokens",
    "pressroom.api.webhooks",
    "pressroom.apps.diagrams.kroki.routes",
    "pressroom.apps.diagrams.routes",
    "pressroom.serving",
    "pydantic.v1",
    "tests.reliability.http_kinds",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)


def warm_up() -> None:
    for name in LATE:
        importlib.import_module(name)
    for language, output in (("markdown", "html"), ("dot", "svg")):
        documents.prepare(RenderRequest(language, output, b"", {}, None))
    statements.load("sqlite", BUILT_IN_SCHEMA)


def environment(home: Path) -> dict[str, str]:
    return {
        "PRESSROOM_HOME": str(home),
        "PRESSROOM_LEASE": str(LEASE),
        "PRESSROOM_POLL_INTERVAL": str(POLL),
        "PRESSROOM_CLEANUP_INTERVAL": "5",
        "PRESSROOM_GRACE": "1",
        "PRESSROOM_PRESSES": "1",
        "PRESSROOM_WORKERS": "4",
        "PRESSROOM_DIAGRAMS_CACHE_TTL": str(A_DAY),
        "PRESSROOM_DIAGRAMS_JOB_RETENTION": str(A_DAY),
        "PRESSROOM_IMPORTS": "tests.reliability.http_kinds",
        "PRESSROOM_RATE_LIMIT": "0",
        "PRESSROOM_RATE_LIMIT_ADDRESS": "0",
    }


def start(argv: Sequence[str], log: Path, environ: Mapping[str, str], *, spec: str = "") -> Victim:
    """Run a command line in a process of its own, with failpoints armed."""

    def act() -> int:
        _write_to(log)
        os.environ.update(environ)
        failpoints.arm(spec)  # PRESSROOM_FAILPOINTS is read at import, which was before the fork
        return main(argv)

    return fork(act)


def _write_to(log: Path) -> None:
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(file, sys.stdout.fileno())
    os.dup2(file, sys.stderr.fileno())


def free_port(number: int) -> int:
    """One that nobody has now. Every lab begins to look at another place."""
    first = os.getpid() * 7 + number * 1009
    for step in range(len(PORTS)):
        port = PORTS[(first + step) % len(PORTS)]
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")
