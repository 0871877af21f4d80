"""Behind PgBouncer: in transaction mode each transaction may get another session, with what others have prepared there."""

import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from pressroom import Pressroom
from pressroom.errors import NotFound
from pressroom.store.engine import postgres_connection
from pressroom.store.engine.postgres_connection import PostgresConnection
from tests import looking, postgres
from tests.contract.test_postgres_prepared import ERRORS, shout, submit_and_claim
from tests.servers import free_ports, running, wait_until

PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
SESSIONS = 3  # fewer than the connections of one process, so that they are shared
pytestmark = pytest.mark.skipif(PGBOUNCER is None, reason="pgbouncer is not installed here")

# Without round robin a client that is alone would get the same session each time.
CONFIGURATION = """
[databases]
* = host={server.hostname} port={server.port} user={server.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
server_round_robin = 1
"""


@pytest.fixture(params=["transaction", "session"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def pooled(mode: str, on_server: str, tmp_path: Path) -> Iterator[str]:
    """The address of a new database behind a pooler."""
    server, (port,) = urlsplit(on_server), free_ports(1)
    folder = postgres.make_folder()
    configuration = folder / "pgbouncer.ini"
    size = SESSIONS if mode == "transaction" else 50
    configuration.write_text(CONFIGURATION.format(server=server, port=port, mode=mode, size=size))
    address = f"postgresql://{server.username}@127.0.0.1:{port}{server.path}"
    command = [*postgres.without_root(), str(PGBOUNCER), str(configuration)]
    with running(command, tmp_path / "pgbouncer.log", environ=dict(os.environ)) as process:
        wait_until(lambda: _answers(address), process, tmp_path / "pgbouncer.log")
        yield address
    shutil.rmtree(folder, ignore_errors=True)


def _answers(address: str) -> bool:
    with suppress(psycopg.OperationalError), psycopg.connect(address, connect_timeout=5):
        return True
    return False


@pytest.mark.parametrize("fail", ERRORS)
async def test_after_an_error_the_next_submit_and_claim_are_carried_out(
    pooled: str, fail: Callable[[Pressroom], Awaitable[None]]
) -> None:
    async with Pressroom(pooled, kinds=[shout], workers=None) as press:
        for _ in range(4):
            await submit_and_claim(press)
            await fail(press)


async def test_what_one_process_accepts_another_carries_out_once(pooled: str, on_server: str) -> None:
    async with Pressroom(pooled, kinds=[shout], workers=None) as service, Pressroom(pooled, kinds=[shout], workers=4):
        accepted: list[Any] = []
        for number in range(30):
            accepted.append(await service.submit("shout", f"plain {number}"))
            accepted.append(await service.submit("shout", f"keyed {number}", key=f"key {number}"))
            with pytest.raises(NotFound):
                await service.pause("unknown")
        results = [await service.wait(job, timeout=60) for job in accepted]

    assert results[:2] == ["PLAIN 0", "KEYED 0"]
    assert looking.rows(on_server, "SELECT count(*) FROM job WHERE status = 'completed'") == [(60,)]
    assert looking.rows(on_server, "SELECT count(*) FROM job_event WHERE type = 'completed'") == [(60,)]


@pytest.mark.parametrize("mode", ["transaction"], indirect=True)
async def test_nothing_is_left_behind_in_sessions_that_others_use(pooled: str) -> None:
    async with Pressroom(pooled, kinds=[shout], workers=1) as press:
        for number in range(10):
            await press.wait(await press.submit("shout", f"n{number}"), timeout=60)
            with pytest.raises(NotFound):
                await press.pause("unknown")

    assert_sessions_are_as_new(pooled)


def open_all_sessions(pooled: str) -> None:
    """A pooler opens another session only while all others are in a transaction."""
    with ExitStack() as stack:
        for _ in range(SESSIONS):
            stack.enter_context(psycopg.connect(pooled, prepare_threshold=None)).execute("SELECT 1")


def use_sessions(pooled: str, count: int) -> None:
    """Each transaction gets the next session."""
    with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as another:
        for _ in range(count):
            another.execute("SELECT 1")


def assert_sessions_are_as_new(pooled: str) -> None:
    with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as another:
        for _ in range(2 * SESSIONS):
            assert another.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (0,)
            assert another.execute("SELECT count(*) FROM pg_listening_channels()").fetchone() == (0,)
            assert another.execute("SHOW search_path").fetchone() == ('"$user", public',)
            assert another.execute("SHOW lock_timeout").fetchone() == ("0",)


async def test_a_database_is_made_through_the_pooler(pooled: str, on_server: str, mode: str) -> None:
    looking.empty(on_server)

    async with Pressroom(pooled, kinds=[shout], workers=1) as press:
        assert await press.wait(await press.submit("shout", "hi"), timeout=60) == "HI"

    if mode == "transaction":
        assert_sessions_are_as_new(pooled)


@pytest.mark.parametrize("mode", ["transaction"], indirect=True)
async def test_a_pooler_that_is_not_recognised_makes_no_submit_fail_or_happen_twice(
    pooled: str, on_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statements that were prepared in one session are unknown in the next (26000), or there already (42P05)."""
    looking.change(on_server, f"ALTER DATABASE {on_server.rpartition('/')[2]} SET search_path = pressroom, public")
    monkeypatch.setattr(postgres_connection, "is_pooled", lambda raw: False)
    refused: list[str | None] = []
    send = PostgresConnection._execute_and_commit

    def note(self: PostgresConnection, *args: Any) -> Any:
        try:
            return send(self, *args)
        except psycopg.Error as error:
            refused.append(error.sqlstate)
            raise

    monkeypatch.setattr(PostgresConnection, "_execute_and_commit", note)
    open_all_sessions(pooled)
    async with Pressroom(pooled, kinds=[shout], workers=None) as press:
        for number in range(10):
            await submit_and_claim(press)
            use_sessions(pooled, number)  # or a round that is a multiple of them would meet the same session each time

    assert set(refused) == {"26000", "42P05"}
    assert looking.rows(on_server, "SELECT count(*), count(DISTINCT uid), sum(claim) FROM job") == [(20, 20, 20)]
