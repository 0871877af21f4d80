"""Oban's tables and our triggers come with the first process that needs them."""

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from oban._scheduler import Expression

from pressroom import Kind
from pressroom.delivery.oban import Oban, uninstall
from tests.delivery.oban.conftest import Open
from tests.delivery.oban.stage import Tables, serving

STARTS = """
import asyncio, sys
from pressroom import Kind, Pressroom

async def echo(job, payload):
    return payload

async def main():
    async with Pressroom(sys.argv[1], kinds=[Kind("echo", echo)], workers=1, delivery="oban", home=sys.argv[2]) as press:
        print(await press.wait(await press.submit("echo", 1), timeout=60))

asyncio.run(main())
"""


@pytest.fixture
def schema() -> str:
    """Other schemas have tests of their own: test_schema.py."""
    return "public"


async def echo(job: Any, payload: Any) -> Any:
    return payload


async def nothing(*_: Any) -> Any:
    return ()


def delivery(url: str, *crons: str) -> Oban:
    return Oban(url, crons, fire_schedules=nothing, cancel=nothing, list_paused_kinds=nothing)


async def test_four_processes_may_start_at_once(on_server: str, tmp_path: Path, tables: Tables) -> None:
    command = [sys.executable, "-c", STARTS, on_server, str(tmp_path)]
    run = partial(subprocess.run, command, capture_output=True, text=True)
    ended = await asyncio.gather(*(asyncio.to_thread(run) for _ in range(4)))
    assert [one.stdout.strip() for one in ended] == ["1"] * 4, ended
    assert tables.states() == ["completed"] * 4


async def test_installing_again_changes_nothing_and_an_older_text_is_replaced(on_server: str, tables: Tables) -> None:
    body = "SELECT prosrc FROM pg_proc WHERE proname = 'oban_enlist_again'"
    await delivery(on_server).open()
    (first,) = tables.do(body)
    (row,) = tables.do("SELECT xmin::text AS at FROM pg_proc WHERE proname = 'oban_enlist_again'")
    await delivery(on_server).open()
    assert tables.do("SELECT xmin::text AS at FROM pg_proc WHERE proname = 'oban_enlist_again'") == [row]

    tables.do(
        "CREATE OR REPLACE FUNCTION pressroom.oban_enlist_again() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"
    )
    tables.do("COMMENT ON FUNCTION pressroom.oban_enlist_added() IS 'older'")
    await delivery(on_server).open()
    assert tables.do(body) == [first]


async def test_uninstalling_takes_our_triggers_and_leaves_obans_tables(on_server: str, tables: Tables) -> None:
    await delivery(on_server).open()
    command = [sys.executable, "-m", "pressroom.delivery.oban", "uninstall", on_server]
    await asyncio.to_thread(subprocess.run, command, check=True)
    await uninstall(on_server)
    assert tables.do("SELECT 1 FROM pg_proc WHERE proname LIKE 'oban_enlist%%' OR proname = 'oban_number'") == []
    assert tables.do("SELECT 1 FROM pg_trigger WHERE tgname LIKE 'oban_%%'") == []
    assert tables.jobs() == []
    await delivery(on_server).open()
    assert len(tables.do("SELECT 1 FROM pg_trigger WHERE tgname LIKE 'oban_%%'")) == 3


async def test_whoever_has_no_right_to_make_tables_may_use_them(on_server: str, tables: Tables) -> None:
    """An operator installs once with more rights than the service has."""
    await delivery(on_server).open()
    tables.do("DROP ROLE IF EXISTS press_service")
    tables.do("CREATE ROLE press_service LOGIN")
    tables.do("GRANT USAGE ON SCHEMA pressroom TO press_service")
    try:
        await delivery(on_server.replace("postgres@", "press_service@")).open()
    finally:
        tables.do("DROP OWNED BY press_service; DROP ROLE press_service")


async def test_the_search_path_does_not_matter(open_press: Open, on_server: str, tables: Tables) -> None:
    """Oban's installer looks for its types in whatever schema comes first."""
    name = on_server.rpartition("/")[2]
    tables.do("CREATE SCHEMA elsewhere")
    tables.do(f'ALTER DATABASE "{name}" SET search_path TO elsewhere, public')
    async with open_press(Kind("echo", echo)) as press:
        assert await press.wait(await press.submit("echo", 1), timeout=60) == 1
    assert tables.do("SELECT 1 FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'elsewhere'") == []


async def test_tables_of_which_some_are_missing_are_completed(open_press: Open, on_server: str, tables: Tables) -> None:
    await delivery(on_server).open()
    tables.do("DROP TABLE public.oban_leaders")
    async with open_press(Kind("echo", echo)) as press:
        assert await press.wait(await press.submit("echo", 1), timeout=60) == 1


@pytest.mark.parametrize(
    ("cron", "fires_schedules"),
    [("*/5 * * * *", True), ("@hourly", True), ("0 9-17 * * MON-FRI", True), ("0 4 L * *", False), ("0 4 * * sun", False)],
)
def test_oban_keeps_time_if_it_reads_every_cron(cron: str, fires_schedules: bool) -> None:
    assert delivery("", "0 4 * * *", cron).fires_schedules is fires_schedules
    assert delivery("").fires_schedules
    assert Expression.parse("0 4 * * *").minutes == {0}


async def test_a_transaction_that_waits_does_not_keep_oban_from_being_there(open_press: Open, on_server: str) -> None:
    """Nothing is installed anew while nothing has changed, so that no lock on the jobs is asked for."""
    await delivery(on_server).open()
    with psycopg.connect(on_server) as somebody:
        somebody.execute("LOCK TABLE pressroom.job IN ROW EXCLUSIVE MODE")
        async with open_press(Kind("echo", echo)) as press:
            await serving(press)
