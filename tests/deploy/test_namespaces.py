"""The same with a network of their own for the service and for each worker, as on machines that share nothing."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pressroom.client import Client
from tests.client.stage import until
from tests.deploy.namespaces import API, HERE, SERVERS_FOR_API, SERVERS_FOR_WORKER, Namespaces, Relay, can_be_had, inside, place
from tests.deploy.topology import Process, Topology
from tests.servers import S3Server

POSTGRES, S3, HTTP = 5432, 8333, 8000


class Apart(Topology):
    """Every process knows the servers by the address that it reaches them at."""

    def __init__(self, folder: Path, database: str, s3: S3Server, namespaces: Namespaces) -> None:
        super().__init__(folder, database, s3)
        self.namespaces = namespaces
        self.settings |= {"PRESSROOM_LEASE": "2", "PRESSROOM_DELIVERY": "embedded"}

    def as_seen_from(self, servers: str) -> dict[str, str]:
        database = urlsplit(self.database)
        return {
            "PRESSROOM_DATABASE": database._replace(netloc=f"postgres@{servers}:{POSTGRES}").geturl(),
            "S3_ENDPOINT": f"http://{servers}:{S3}",
        }

    def serve(self) -> Process:
        return self.start(
            ["serve", "--no-workers"],
            within=inside(self.namespaces.api),
            PRESSROOM_LISTEN=f"{API}:{HTTP}",
            **self.as_seen_from(SERVERS_FOR_API),
        )

    def work(self) -> Process:
        return self.start(["work"], within=inside(self.namespaces.worker), **self.as_seen_from(SERVERS_FOR_WORKER))


@pytest.fixture(scope="module", autouse=True)
def _needs_namespaces() -> None:
    if why := can_be_had():
        pytest.skip(why)


@pytest.fixture
def apart(tmp_path: Path, empty_database: str, s3_server: S3Server) -> Iterator[Apart]:
    namespaces = Namespaces()
    with ExitStack() as standing:
        standing.enter_context(namespaces.standing())
        for address in (SERVERS_FOR_API, SERVERS_FOR_WORKER):
            for port, to in ((POSTGRES, urlsplit(empty_database)), (S3, urlsplit(s3_server.endpoint))):
                assert to.hostname is not None
                assert to.port is not None
                relay = Relay(place(namespaces.servers), address, port, (HERE, to.hostname, to.port))
                standing.enter_context(closing(relay))
        yield standing.enter_context(Apart(tmp_path, empty_database, s3_server, namespaces))


def reaches(namespace: str, host: str, port: int) -> bool:
    look = f"import socket; socket.create_connection(({host!r}, {port}), timeout=5)"
    return subprocess.run([*inside(namespace), sys.executable, "-c", look], capture_output=True).returncode == 0


@pytest.mark.deep
def test_a_worker_that_reaches_only_the_servers_does_what_the_service_accepts(apart: Apart) -> None:
    """R1: the worker's death is known by its lease alone, because nobody sees its process."""
    apart.run("migrate")
    secret = apart.run("token", "create", "--scope", "submitter").split()
    apart.serve()
    first = apart.work()
    apart.ready()
    names = apart.namespaces
    gate = apart.folder / "gate"
    with (
        closing(Relay(HERE, "127.0.0.1", 0, (place(names.api), API, HTTP))) as door,
        Client(f"http://127.0.0.1:{door.port}", token=next(word for word in secret if word.startswith("pr_"))) as client,
    ):
        picture = client.render("dot", "digraph { apart }", "svg").result(timeout=60)
        job = client.submit("gated", {"gate": str(gate)})
        until(lambda: client.get(job).status == "in_progress")
        reached = [
            reaches(names.worker, host, port)
            for host, port in (
                (SERVERS_FOR_WORKER, POSTGRES),
                (SERVERS_FOR_WORKER, S3),
                (API, HTTP),
                (SERVERS_FOR_API, HTTP),
                ("127.0.0.1", HTTP),
            )
        ]

        first.kill()
        apart.work()
        gate.touch()

        assert client.wait(job, timeout=60) == "through"
    assert b"apart" in picture
    assert reached == [True, True, False, False, False]
    assert apart.rows("SELECT crashes FROM pressroom.job WHERE kind = 'gated'") == [(1,)]
