"""The way back that docs/deployment.md describes."""

import subprocess

import pytest

from pressroom.client import Client
from tests import postgres
from tests.client.stage import until
from tests.deploy.topology import Topology


@pytest.mark.deep
def test_a_dump_taken_while_jobs_run_is_restored_and_worked_off(topology: Topology) -> None:
    topology.run("migrate")
    api, worker = topology.api(), topology.worker()
    topology.ready()
    gate, dump = topology.folder / "gate", topology.folder / "dump"
    with Client(api.url) as client:
        picture = client.render("dot", "digraph { kept }", "svg")
        drawn = picture.result(timeout=60)
        caught = client.submit("gated", {"gate": str(gate)})
        until(lambda: client.get(caught).status == "in_progress", within=60)
        program("pg_dump", "--format=custom", f"--file={dump}", topology.database)
    worker.kill()
    api.kill()

    postgres.drop_database(topology.database)
    server, _, name = topology.database.rpartition("/")
    program("createdb", f"--maintenance-db={server}/postgres", name)
    program("pg_restore", "--exit-on-error", f"--dbname={topology.database}", str(dump))
    topology.run("fsck")
    topology.run("fsck", "--artifacts")

    gate.touch()
    again = topology.api()
    topology.worker()
    topology.ready()
    with Client(again.url) as client:
        assert client.wait(caught.id, timeout=60) == "through"
        assert client.result(picture.id, timeout=60) == drawn


def program(name: str, *arguments: str) -> None:
    done = subprocess.run([postgres.programs() / name, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
