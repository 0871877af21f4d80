"""What compose.yaml starts, as plain processes: one migration, two services that only serve, two workers, PostgreSQL and S3."""

import asyncio
import itertools
import threading
from contextlib import ExitStack

import httpx
import pytest

from pressroom.client import Client, RetryPolicy, Unreachable
from pressroom.errors import PressroomError
from pressroom.model import Status
from tests.client.stage import until
from tests.deploy import files
from tests.deploy.topology import PASSWORD, Process, Topology

PATIENT = RetryPolicy(base=0.05, cap=0.3)
PACE = 0.02  # seconds between submits: there is work at every moment, and no flood
HASTY = RetryPolicy(retries=0, max_retry_after=0)
both_deliveries = pytest.mark.parametrize(
    "topology", ["redis", pytest.param("embedded", marks=pytest.mark.deep)], indirect=True
)
CONNECTIONS = 5  # of each process: two write, two read, one listens. docs/deployment.md says so


def asked(url: str) -> Client:
    return Client(url, retry_policy=PATIENT)


def holder(topology: Topology) -> Process | None:
    """The worker that has the one job in progress; a worker's name tells its pid."""
    rows = topology.rows("SELECT worker FROM pressroom.job WHERE status = 'in_progress'")
    pids = [int(name.split(".")[-2]) for (name,) in rows]
    return next((process for process in topology.processes if process.pid in pids), None)


@pytest.mark.deep
@both_deliveries
def test_what_is_sent_to_one_service_is_watched_and_fetched_at_the_other(topology: Topology) -> None:
    """R1: the commands of compose.yaml, each process with nothing but the environment file."""
    assert "applied 0001" in topology.run(*files.command_of("migrate"))
    one, other = topology.api(), topology.api()
    for service in ("worker", "courier"):
        topology.start(files.command_of(service))
    topology.ready()

    with asked(one.url) as here, asked(other.url) as there:
        job = here.render("dot", "digraph { here -> there }", "svg")
        polled = httpx.get(f"{other.url}/jobs/{job.id}?wait=60", trust_env=False, timeout=90).json()
        seen = [event.type for event in there.events(job.id)]
        picture = there.result(job.id, timeout=60)

    assert polled["status"] == "completed"
    assert (seen[0], seen[-1]) == ("queued", "completed")
    assert b"there" in picture
    assert not [*topology.folder.rglob("*.artifacts")]  # it came from the bucket
    ((connections,),) = topology.rows(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    assert connections == CONNECTIONS * len(topology.processes)
    assert [process.said for process in topology.processes if PASSWORD in process.said + process.log] == []
    topology.run("fsck")
    topology.run("fsck", "--artifacts")


@pytest.mark.deep
def test_a_worker_takes_only_its_kinds_and_leaves_the_rest_to_others(topology: Topology) -> None:
    topology.run("migrate")
    api, _ = topology.api(), topology.worker("render", "diagram")
    topology.ready()
    with asked(api.url) as client:
        shouted = client.submit("shout", {"text": "anybody"})
        client.render("dot", "digraph { taken }", "svg").wait(timeout=60)
        assert shouted.get().status is Status.QUEUED

        topology.worker("shout")
        assert shouted.wait(timeout=60) == "ANYBODY"


@pytest.mark.deep
@both_deliveries
def test_a_worker_that_is_killed_leaves_its_job_to_another(topology: Topology) -> None:
    topology.run("migrate")
    one, other = topology.api(), topology.api()
    topology.worker("gated", "render")
    topology.worker()
    topology.ready()
    gate = topology.folder / "gate"
    with asked(one.url) as here, asked(other.url) as there:
        job = here.submit("gated", {"gate": str(gate)})
        first = until(lambda: holder(topology), within=60)

        first.kill()
        until(lambda: holder(topology) not in (None, first), within=60)
        gate.touch()

        assert there.wait(job.id, timeout=60) == "through"
        assert there.get(job.id).attempts == 1  # a crash is not a failed attempt


@pytest.mark.deep
async def test_a_service_that_is_stopped_ends_its_streams_and_the_other_goes_on(topology: Topology) -> None:
    topology.run("migrate")
    one, other = topology.api(), topology.api()
    topology.worker()
    topology.ready()
    gate = topology.folder / "gate"
    with asked(one.url) as here:
        job = here.submit("gated", {"gate": str(gate)})

    async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
        async with http.stream("GET", f"{one.url}/jobs/{job.id}/events") as stream:
            pieces = stream.aiter_bytes()
            seen = await anext(pieces)
            code = asyncio.create_task(asyncio.to_thread(one.stop))
            async for piece in pieces:
                seen += piece

        assert await code == 0
        assert b"event: completed" not in seen
        assert "Traceback" not in one.log
        gate.touch()
        answer = await http.get(f"{other.url}/jobs/{job.id}?wait=60")
        assert answer.json()["status"] == "completed"


@pytest.mark.deep
def test_a_rolling_restart_of_everything_loses_nothing(topology: Topology) -> None:
    """Each leaves with code 0 while work goes on; what was accepted is done, once, and nothing of it failed."""
    topology.run("migrate")
    apis = [topology.api(), topology.api()]
    workers = [topology.worker("counting"), topology.worker()]
    topology.ready()
    sender = Sender([api.url for api in apis])
    sender.start()

    codes = []
    for process in (*apis, *workers):
        before = len(sender.accepted)
        codes.append(process.restart())
        until(lambda before=before: len(sender.accepted) > before + 5, within=60)
    sender.stop()

    until(lambda: not topology.rows("SELECT 1 FROM pressroom.job WHERE status IN ('queued', 'in_progress')"), within=60)
    assert codes == [0, 0, 0, 0]
    assert topology.rows("SELECT status, sum(failures + crashes), count(*) FROM pressroom.job GROUP BY status") == [
        ("completed", 0, len({*sender.accepted}))
    ]
    topology.run("fsck")


class Sender(threading.Thread):
    """Submits to whichever service answers, with a key that makes one job of a request that is sent twice."""

    def __init__(self, urls: list[str]) -> None:
        super().__init__(daemon=True)
        self.accepted: list[str] = []
        self._urls = urls
        self._stopping = threading.Event()

    def run(self) -> None:
        with ExitStack() as open_together:
            clients = [open_together.enter_context(Client(url, retry_policy=HASTY)) for url in self._urls]
            for number in itertools.count():
                if self._stopping.wait(PACE):
                    return
                self._submit(clients, number)

    def _submit(self, clients: list[Client], number: int) -> None:
        for client in itertools.cycle([*clients[number % 2 :], *clients[: number % 2]]):
            try:
                job = client.submit("counting", {"to": 3}, idempotency_key=f"number-{number}")
            except (Unreachable, PressroomError):
                continue
            self.accepted.append(job.id)
            return

    def stop(self) -> None:
        self._stopping.set()
        self.join()
