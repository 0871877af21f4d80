"""Processes and servers that end without a word."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pressroom import Kind, Pressroom, Request
from pressroom.delivery.oban import internals, reconciler
from tests import postgres
from tests.delivery.oban.conftest import Eventually, Open
from tests.delivery.oban.stage import Tables, reconciler_of, serving
from tests.servers import free_ports

HOLDS = """
import asyncio, sys
from pressroom import Kind, Pressroom

async def hold(job, payload):
    print("holding", flush=True)
    await asyncio.sleep(3600)

async def main():
    settings = {"delivery": "oban", "oban_schema": sys.argv[3], "home": sys.argv[2], "lease": 60}
    async with Pressroom(sys.argv[1], kinds=[Kind("echo", hold)], workers=2, **settings):
        print("open", flush=True)
        await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """For a server that a test may kill."""
    made = postgres.make_folder()
    yield made
    shutil.rmtree(made, ignore_errors=True)


async def echo(job: Any, payload: Any) -> Any:
    return payload


async def test_a_job_of_a_node_that_was_killed_is_done_by_another(
    open_press: Open, tables: Tables, on_server: str, tmp_path: Path, eventually: Eventually
) -> None:
    """D17: by its pid or by its lease. Oban alone would wait for minutes (gotcha 4), and its row is closed as well."""
    async with open_press(Kind("echo", echo), workers=None) as front:
        job = await front.submit("echo", "done after all")
        command = [sys.executable, "-c", HOLDS, on_server, str(tmp_path), tables.schema]
        doomed = await asyncio.to_thread(subprocess.Popen, command, stdout=subprocess.PIPE, text=True)
        with doomed:
            assert doomed.stdout is not None
            while (await asyncio.to_thread(doomed.stdout.readline)).strip() != "holding":
                pass
            doomed.kill()
        left_behind = tables.of(job.uid)["id"]
        async with open_press(Kind("echo", echo)) as press:
            assert await press.wait(job, timeout=60) == "done after all"
            assert (await press.get(job)).crashes == 1
            # Half a minute later, as oban's table has it.
            tables.do(
                "UPDATE public.oban_jobs SET attempted_at = attempted_at - interval '1 minute' WHERE id = %s", left_behind
            )
            await (await reconciler_of(press)).reconcile()
            await eventually(lambda: set(tables.states()) == {"completed"})


async def test_a_server_that_was_killed_comes_back_and_so_do_the_producers(
    folder: Path, tmp_path: Path, eventually: Eventually
) -> None:
    """Gotcha 12: who leads and who produces is in unlogged tables, which are empty after a crash."""
    (port,) = free_ports(1)
    settings: dict[str, Any] = {"delivery": "oban", "home": str(tmp_path), "lease": 60.0, "workers": 2}
    with postgres.server(folder, port=port, fsync=True) as server:
        url = postgres.new_database(server)
        press = _press_on(url, settings)
        await press.start()
        try:
            assert await press.wait(await press.submit("echo", 1), timeout=60) == 1
            await eventually(lambda: Tables(url).states() == ["completed"])  # what oban was not told of is closed later
            instance = await serving(press)
            await instance._refresher.stop()  # the test refreshes by hand
            waiting = await press.submit("echo", 2, delay=2)
        except BaseException:
            await press.stop()
            raise
    with postgres.server(folder, port=port, fsync=True):
        tables = Tables(url)
        assert tables.do("SELECT 1 FROM public.oban_producers") == []
        assert await press.wait(waiting, timeout=60) == 2
        assert await press.wait(await press.submit("echo", 3), timeout=60) == 3
        await instance._refresher._refresh()
        assert len(tables.do("SELECT 1 FROM public.oban_producers")) == len(instance._producers)
        # Who listens hears again: a job is brought without waiting for the next look.
        await eventually(lambda: instance._notifier._conn is not None, within=60)
        await press.stop()
        assert "executing" not in tables.states()


async def test_a_server_that_is_gone_keeps_nobody_from_stopping(
    folder: Path, tmp_path: Path, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(internals, "STOP_WITHIN", 8.0)
    settings: dict[str, Any] = {"delivery": "oban", "home": str(tmp_path), "lease": 60.0, "workers": 2, "grace": 0.1}
    with postgres.server(folder, fsync=True) as server:
        press = _press_on(postgres.new_database(server), settings)
        await press.start()
        await serving(press)
    async with asyncio.timeout(300):
        await asyncio.gather(press.stop(), return_exceptions=True)
    await eventually(lambda: not [task for task in asyncio.all_tasks() if task.get_name().startswith("oban-stager")])


async def test_connections_that_are_cut_are_made_again(
    open_press: Open, tables: Tables, eventually: Eventually, monkeypatch: Any
) -> None:
    monkeypatch.setattr("pressroom.worker.maintenance.ANNOUNCE_INTERVAL", 0.1)
    monkeypatch.setattr(reconciler, "TIDY_EVERY", 0.1)
    async with open_press(Kind("echo", echo)) as press:
        await serving(press)
        for _ in range(3):
            answers = await press.submit_many([Request("echo", n) for n in range(20)])
            with psycopg.connect(tables.url, autocommit=True) as operator:
                operator.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'pressroom-oban'"
                )
            for n, one in enumerate(answers):
                assert await press.wait(one, timeout=60) == n
        await eventually(lambda: set(tables.states()) == {"completed"}, within=60)


def _press_on(url: str, settings: dict[str, Any]) -> Pressroom:
    return Pressroom(url, kinds=[Kind("echo", echo)], **settings)
