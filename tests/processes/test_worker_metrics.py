"""`pressroom work --metrics HOST:PORT`: what a worker process has counted, whether it lives, and whether it claims."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from pressroom.api.middleware import HEADER_BYTES_LIMIT
from pressroom.api.worker_endpoint import MAX_CONNECTIONS
from pressroom.testing import ManualClock
from tests.processes.metrics_text import Figures, scrape
from tests.processes.stage import Process, Start, here, starting
from tests.servers import free_ports

ANYWHERE = "127.0.0.1:0"
HOUR = 3600


@pytest.fixture
def begin(file: str, tmp_path: Path) -> Iterator[Start]:
    """Processes on an SQLite file."""
    with starting(file, tmp_path) as start:
        yield start


def work(start: Start, *arguments: str, **environ: str) -> Process:
    return start("work", "--slots", "2", "--metrics", ANYWHERE, *arguments, **environ)


async def get(worker: Process, path: str, method: str = "GET") -> httpx.Response:
    async with httpx.AsyncClient(timeout=120, trust_env=False) as client:
        return await client.request(method, worker.told["metrics"].removesuffix("/metrics") + path)


def when(worker: Process, condition: Callable[[Figures], bool]) -> Callable[[], Any]:
    """For `eventually`: the figures, once they are as they should be."""

    async def figures() -> Figures | None:
        seen = await scrape(worker.told["metrics"])
        return seen if condition(seen) else None

    return figures


async def finish_a_lone_job(start: Start, database: str, log: Path, eventually: Any) -> Figures:
    worker = work(start)
    async with here(database) as press:
        job = await press.submit("stamp", {"log": str(log)})
        await press.wait_until_ended(job, timeout=60)

    return await eventually(when(worker, lambda seen: seen.total("worker_settled_total") > 0))


def assert_a_lone_job_was_counted(seen: Figures) -> None:
    assert seen.total("worker_claims_total") == seen.total("worker_claims_total", kind="stamp") == 1
    assert seen.total("worker_claim_statements_total") >= 1
    assert seen.total("worker_settled_total") == seen.total("worker_settled_total", kind="stamp", outcome="completed") == 1
    assert seen.total("worker_attempt_duration_seconds_count", kind="stamp") == 1
    assert seen.total("worker_attempt_duration_seconds_bucket", kind="stamp", le="+Inf") == 1
    assert seen.total("worker_attempt_duration_seconds_sum", kind="stamp") > 0
    assert seen.total("worker_postponed_total") == seen.total("worker_lost_leases_total") == 0
    assert (seen.total("worker_slots", worker="jobs"), seen.total("worker_slots_busy")) == (2, 0)


async def test_a_lone_job_counts_one_claim_one_attempt_and_one_outcome(
    begin: Start, file: str, log: Path, eventually: Any
) -> None:
    seen = await finish_a_lone_job(begin, file, log, eventually)

    assert_a_lone_job_was_counted(seen)
    assert seen.total("build_info") == 1


async def test_a_lone_job_on_postgresql_counts_the_same(on_server: str, tmp_path: Path, log: Path, eventually: Any) -> None:
    with starting(on_server, tmp_path) as start:
        seen = await finish_a_lone_job(start, on_server, log, eventually)

    assert_a_lone_job_was_counted(seen)


async def test_a_job_in_progress_holds_a_slot_and_names_no_id(
    begin: Start, file: str, log: Path, gate: Any, eventually: Any
) -> None:
    worker = work(begin)
    async with here(file) as press:
        job = await press.submit("press", {"log": str(log), "until": str(gate)}, org_id="ours", subject="a page")

        held = await eventually(when(worker, lambda seen: seen.total("worker_slots_busy", worker="jobs") == 1))
        gate.touch()
        await press.wait_until_ended(job, timeout=60)
        freed = await eventually(when(worker, lambda seen: seen.total("worker_slots_busy", worker="jobs") == 0))

    assert held.total("worker_claims_total", kind="press") == freed.total("worker_claims_total", kind="press") == 1
    for seen in (held, freed):
        assert not {job.uid, str(job.id), f"job_{job.uid}", "ours", "a page"} & seen.label_values()
        assert seen.label_names() <= {
            *("kind", "outcome", "reason", "dependency", "code", "worker", "le", "version"),
            *("renderer", "state", "route", "method", "status"),
        }


async def test_renders_postponed_while_the_artifact_store_is_down_are_counted(
    begin: Start, file: str, tmp_path: Path, eventually: Any
) -> None:
    in_the_way = tmp_path / "disk"
    in_the_way.write_text("a file where the folder of the artifacts should be")
    settings = {"artifacts": str(in_the_way / "artifacts")}
    worker = work(begin, PRESSROOM_ARTIFACTS=settings["artifacts"])
    async with here(file, **settings) as press:
        job = await press.render("markdown", "# Waiting", "html")

        down = await eventually(when(worker, lambda seen: seen.total("worker_postponed_total") >= 1))
        in_the_way.unlink()
        await press.wait_until_ended(job, timeout=60)
        up = await eventually(when(worker, lambda seen: seen.total("worker_settled_total", outcome="completed") == 1))

    why = {"kind": "render", "reason": "store_unavailable", "dependency": "artifacts"}
    assert down.total("worker_postponed_total", **why) == down.total("worker_postponed_total")
    assert down.total("worker_dependency_errors_total", dependency="artifacts", code="store_unavailable") >= 1
    postponed = up.total("worker_postponed_total")
    assert up.total("worker_settled_total", kind="render", outcome="postponed") == postponed
    assert up.total("worker_claims_total", kind="render") == postponed + 1
    assert up.total("worker_settled_total", outcome="failed") == up.total("worker_settled_total", outcome="retried") == 0


async def test_a_lease_that_another_process_took_over_is_counted_once(
    begin: Start, file: str, log: Path, gate: Any, eventually: Any
) -> None:
    """The clock of the other process is an hour ahead, so it takes the worker for silent."""
    worker = work(begin, PRESSROOM_LEASE="10")
    clock = ManualClock()
    async with here(file) as press, here(file, clock=clock) as neighbour:
        job = await press.submit("press", {"log": str(log), "until": str(gate)})
        await eventually(lambda: "+" in log.read_text())
        ended = int((await press.get(job)).lease_until.timestamp() * 1000) + HOUR * 1000
        clock.advance(seconds=(ended - clock.now_ms()) / 1000)
        assert await neighbour.maintenance.rescue() == 1

        lost = await eventually(when(worker, lambda seen: seen.total("worker_lost_leases_total") > 0))
        gate.touch()
        clock.advance(seconds=-HOUR)

    assert lost.total("worker_lost_leases_total", kind="press") == lost.total("worker_lost_leases_total") == 1
    assert lost.total("worker_settled_total", kind="press") == 0


async def test_a_redis_that_is_away_is_an_error_of_that_dependency(begin: Start, file: str, log: Path, eventually: Any) -> None:
    (port,) = free_ports(1)
    worker = work(begin, PRESSROOM_DELIVERY="redis", REDIS_URL=f"redis://127.0.0.1:{port}/0")
    async with here(file) as press:
        job = await press.submit("stamp", {"log": str(log)})
        await press.wait_until_ended(job, timeout=60)

        wanted = {"dependency": "redis", "code": "redis_unreachable"}
        seen = await eventually(when(worker, lambda seen: seen.total("worker_dependency_errors_total", **wanted) > 0))

    assert seen.total("worker_dependency_errors_total", dependency="database") == 0


@contextmanager
def refusing_connections(database: str) -> Iterator[None]:
    """The database is there, and lets nobody in: as its server does while it starts or is full."""
    server, _, name = database.rpartition("/")
    name = name.partition("?")[0]
    with closing(psycopg.connect(f"{server}/postgres", autocommit=True)) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        try:
            yield
        finally:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())


async def test_a_worker_on_postgresql_is_not_ready_while_its_database_is_away(
    on_server: str, tmp_path: Path, eventually: Any
) -> None:
    with starting(on_server, tmp_path) as start:
        worker = work(start)

        async def ready() -> bool:
            return (await get(worker, "/readyz")).status_code == 200

        async def unready() -> httpx.Response | None:
            answer = await get(worker, "/readyz")
            return answer if answer.status_code == 503 else None

        await eventually(ready)
        with refusing_connections(on_server):
            refused = await eventually(unready)
            lives = await get(worker, "/livez")
            away = await eventually(
                when(worker, lambda seen: seen.total("worker_dependency_errors_total", dependency="database") > 0)
            )
        await eventually(ready)

    assert refused.json() == {"status": "fail", "code": "store_unavailable"}
    assert (lives.status_code, lives.json()) == (200, {"status": "pass"})
    assert away.total("worker_dependency_errors_total", code="unexpected") == 0


async def test_a_worker_that_finishes_its_jobs_before_it_stops_is_not_ready_and_still_has_figures(
    begin: Start, file: str, log: Path, gate: Any, eventually: Any
) -> None:
    worker = work(begin)
    async with here(file) as press:
        await press.submit("press", {"log": str(log), "until": str(gate)})
        await eventually(lambda: "+" in log.read_text())
        before = await get(worker, "/readyz")
        worker.ask_to_stop()

        async def stopping() -> httpx.Response | None:
            answer = await get(worker, "/readyz")
            return answer if answer.status_code == 503 else None

        refused = await eventually(stopping)
        seen = await scrape(worker.told["metrics"])
        gate.touch()

    assert before.json() == {"status": "pass"}
    assert refused.json() == {"status": "fail", "code": "worker_stopping"}
    assert seen.total("worker_slots_busy") == 1
    assert worker.wait() == 0


async def test_the_endpoint_has_three_paths_and_one_method(begin: Start) -> None:
    worker = work(begin)

    for path in ("/", "/metrics/", "/jobs", "/health", "/desk", "/openapi.json", "/livez/%2e%2e/metrics", "/%2e%2e/press.db"):
        answer = await get(worker, path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), path
    for method in ("POST", "HEAD", "PUT", "DELETE", "OPTIONS"):
        for path in ("/metrics", "/livez", "/readyz"):
            answer = await get(worker, path, method)
            assert (answer.status_code, answer.headers["allow"]) == (405, "GET"), (method, path)


def send(worker: Process, data: bytes) -> bytes:
    """Everything that comes back until the worker closes the connection."""
    address = urlsplit(worker.told["metrics"])
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
            connection.sendall(data)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        return received


@pytest.mark.parametrize(
    "head",
    [
        b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: "
        + b"a" * 2 * HEADER_BYTES_LIMIT
        + b"\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Endless: " + b"a" * 20 * HEADER_BYTES_LIMIT,
        b"GET /" + b"a" * 20 * HEADER_BYTES_LIMIT,
    ],
    ids=["one long header", "a header without an end", "a target without an end"],
)
async def test_an_oversize_head_is_refused_and_the_worker_goes_on(begin: Start, file: str, log: Path, head: bytes) -> None:
    worker = work(begin)

    answer = send(worker, head)

    assert answer.split(b" ")[1] in (b"431", b"400"), answer[:200]
    async with here(file) as press:
        await press.wait_until_ended(await press.submit("stamp", {"log": str(log)}), timeout=60)
    assert (await get(worker, "/livez")).status_code == 200


async def test_a_head_that_never_ends_is_given_up_after_the_time_limit(begin: Start) -> None:
    worker = work(begin, PRESSROOM_HEAD_TIMEOUT="1")

    answer = send(worker, b"GET /metrics HTTP/1.1\r\nHost: loc")

    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_a_caller_past_the_most_connections_is_refused_and_others_are_answered_again(
    begin: Start, eventually: Any
) -> None:
    worker = work(begin)
    address = urlsplit(worker.told["metrics"])
    held = [socket.create_connection((address.hostname, address.port), timeout=60) for _ in range(MAX_CONNECTIONS + 1)]

    async def refused() -> bool:
        return (await get(worker, "/livez")).status_code == 503

    async def answered() -> bool:
        return (await get(worker, "/livez")).status_code == 200

    await eventually(refused)
    for connection in held:
        connection.close()
    await eventually(answered)


def test_a_port_that_is_taken_is_one_line_and_exit_code_2(file: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        command = [sys.executable, "-m", "pressroom", "work", "--metrics", address, "--database", file]

        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"pressroom: metrics_listen: cannot listen on {address}: ")
    assert not Path(file.removeprefix("sqlite:///")).exists(), "it is refused before anything is made"


async def test_a_service_shows_the_figures_of_its_workers_if_it_has_any(
    begin: Start, file: str, log: Path, eventually: Any
) -> None:
    working = begin("serve", "--listen", ANYWHERE)
    idle = begin("serve", "--no-workers", "--listen", ANYWHERE)
    async with here(file) as press:
        await press.wait_until_ended(await press.submit("stamp", {"log": str(log)}), timeout=60)

    async def counted() -> Figures | None:
        seen = await scrape(f"{working.told['listening']}/metrics")
        return seen if seen.total("worker_settled_total", kind="stamp", outcome="completed") else None

    seen = await eventually(counted)
    without = await scrape(f"{idle.told['listening']}/metrics")

    assert seen.total("worker_claims_total", kind="stamp") == 1
    assert seen.total("worker_slots", worker="jobs") > 0
    assert seen.total("worker_dependency_errors_total") == 0
    assert "pressroom_worker_" not in without.text


async def test_the_variable_in_the_environment_does_the_same_and_without_it_nothing_listens(begin: Start) -> None:
    listening = begin("work", PRESSROOM_METRICS_LISTEN=ANYWHERE)
    silent = begin("work")

    assert (await get(listening, "/livez")).status_code == 200
    assert "metrics" not in silent.told
