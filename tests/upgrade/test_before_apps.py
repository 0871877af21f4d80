"""A database from when the core and the apps shared one sequence of migrations is opened without loss."""

from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from pressroom import Kind, Pressroom, Status, backends
from pressroom.app import BUILT_IN, BUILT_IN_SCHEMA
from pressroom.config import Settings
from pressroom.errors import MigrationEdited
from pressroom.store.engine import migrations
from pressroom.store.engine.migrations import Migration
from pressroom.store.engine.schema import CORE_ONLY
from tests import looking
from tests.promote.house import KINDS

FOLDER = Path(__file__).parent


@pytest.fixture(params=["sqlite", "postgres"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def old(dialect: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The address of the old database."""
    text = (FOLDER / f"before_apps.{dialect}.sql").read_text()
    if dialect == "sqlite":
        path = tmp_path / "press.db"
        connection = apsw.Connection(str(path))
        connection.execute(text)
        connection.close()
        return f"sqlite:///{path}"
    address = str(request.getfixturevalue("on_server"))
    looking.empty(address)
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(text)
    return address


def rows_of(address: str) -> dict[str, list[tuple[Any, ...]]]:
    tables = sorted({*looking.tables(address)} - {"pressroom_migration"})
    return {table: sorted(looking.rows(address, f"SELECT * FROM {table}"), key=repr) for table in tables}


def ledger(address: str) -> list[tuple[str, int, str]]:
    return looking.rows(address, "SELECT app, number, sha256 FROM pressroom_migration ORDER BY app, number")


async def test_an_old_database_keeps_its_rows_and_gets_the_new_ledger(old: str, dialect: str) -> None:
    before = rows_of(old)

    await backends.migrate(Settings(database=old), BUILT_IN_SCHEMA)

    after = rows_of(old)
    for table, rows in before.items():
        columns = len(rows[0]) if rows else None  # new ones come last
        assert sorted((row[:columns] for row in after[table]), key=repr) == rows
    assert after["alert"] == []
    known = sorted((one.app, one.number, one.sha256) for one in migrations.migrations(dialect, BUILT_IN_SCHEMA))
    assert ledger(old) == known
    assert backends.find_violations(Settings(database=old), BUILT_IN_SCHEMA) == []
    assert backends.pending_migrations(Settings(database=old), BUILT_IN_SCHEMA) == []


async def test_its_articles_diagrams_and_jobs_are_there_and_its_queue_goes_on(old: str) -> None:
    async with Pressroom(old, kinds=KINDS, apps=BUILT_IN, workers=2, lease=1.0) as press:
        reading = await press.app("wiki").articles.read(None, "Home")
        waiting = (await press.list(subject="queued")).jobs
        for job in waiting:
            await press.wait(job, timeout=60)
        done = (await press.list(subject="queued")).jobs

    assert reading.shown is not None
    assert "<h1>Home</h1>" in (reading.shown.html or "")
    assert [job.status for job in done] == [Status.COMPLETED]
    assert looking.rows(old, "SELECT name FROM diagram") == [("arch",)]


async def test_opening_it_twice_changes_nothing_the_second_time(old: str) -> None:
    await backends.migrate(Settings(database=old), BUILT_IN_SCHEMA)
    before = looking.rows(old, "SELECT * FROM pressroom_migration ORDER BY app, number")

    await backends.migrate(Settings(database=old), BUILT_IN_SCHEMA)

    assert looking.rows(old, "SELECT * FROM pressroom_migration ORDER BY app, number") == before


async def test_migrations_of_apps_that_are_not_in_use_stay_recorded(old: str) -> None:
    await backends.migrate(Settings(database=old), CORE_ONLY)
    assert {(app, number) for app, number, sha256 in ledger(old) if not sha256} == {
        ("diagrams", 1), ("diagrams", 2), ("wiki", 1), ("wiki", 2), ("wiki", 3),
    }  # fmt: skip

    await backends.migrate(Settings(database=old), BUILT_IN_SCHEMA)  # nothing is applied again
    assert backends.pending_migrations(Settings(database=old), BUILT_IN_SCHEMA) == []


async def test_a_migration_that_was_edited_after_it_was_applied_is_refused(
    old: str, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await backends.migrate(Settings(database=old), BUILT_IN_SCHEMA)
    read = migrations.migrations

    def edited(dialect: str, schema: Any) -> list[Migration]:
        return [
            one._replace(sql=one.sql + "\nCREATE TABLE more (id INTEGER);") if one.key == ("wiki", 2) else one
            for one in read(dialect, schema)
        ]

    monkeypatch.setattr(migrations, "migrations", edited)
    with pytest.raises(MigrationEdited, match="wiki 0002 render_status was edited"):
        await backends.migrate(Settings(database=old), BUILT_IN_SCHEMA)


def test_a_comment_or_white_space_is_no_edit() -> None:
    one = Migration("wiki", 1, "wiki", "CREATE TABLE a (\n    id INTEGER\n);\n")

    assert one._replace(sql="-- What it is for.\nCREATE TABLE a ( id INTEGER );").sha256 == one.sha256
    assert one._replace(sql="CREATE TABLE b (id INTEGER);").sha256 != one.sha256


def test_every_app_counts_from_one_without_gaps() -> None:
    for dialect in ("sqlite", "postgres"):
        for package in BUILT_IN_SCHEMA[1:]:
            numbers = [one.number for one in migrations.migrations(dialect, (package,))]
            assert numbers == list(range(1, len(numbers) + 1)), package


async def echo(job: Any, payload: Any) -> Any:
    return payload


async def test_a_crash_while_the_ledger_is_replaced_leaves_the_old_one(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from pressroom import failpoints

    def fail(name: str) -> None:
        if name == "migrate.before_commit":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "hit", fail)
        with pytest.raises(KeyboardInterrupt):
            await backends.migrate(Settings(database=old), BUILT_IN_SCHEMA)
    with pytest.raises((apsw.SQLError, psycopg.Error)):
        ledger(old)

    async with Pressroom(old, kinds=[Kind("echo", echo)], apps=BUILT_IN, workers=None) as press:
        assert (await press.list(subject="ended")).jobs
    assert ledger(old)
