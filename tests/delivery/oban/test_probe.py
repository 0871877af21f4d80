"""What keeps oban from delivering, told apart by a probe."""

import pytest

from pressroom.base.dependencies import MENDS, DependencyFailed
from pressroom.delivery.oban.probe import TABLES, expected_columns, probe
from tests.delivery.oban.stage import Tables
from tests.delivery.oban.test_installing import delivery
from tests.servers import free_ports


@pytest.fixture
def schema() -> str:
    """Other schemas have tests of their own: test_schema.py."""
    return "public"


async def problem_of(url: str) -> tuple[str, str]:
    with pytest.raises(DependencyFailed) as failed:
        await probe(url)
    assert failed.value.problem in MENDS
    return failed.value.problem, str(failed.value)


async def test_tables_columns_and_triggers_are_looked_for(on_server: str, tables: Tables) -> None:
    assert await problem_of(on_server) == (
        "oban_tables_missing",
        "there is no table public.oban_jobs, public.oban_leaders, public.oban_producers",
    )

    await delivery(on_server).open()
    assert "tables in the schema public" in await probe(on_server)

    tables.do("ALTER TABLE pressroom.job DISABLE TRIGGER oban_number")
    assert await problem_of(on_server) == ("oban_triggers_missing", "pressroom.job lacks the triggers oban_number")
    tables.do("ALTER TABLE pressroom.job ENABLE TRIGGER oban_number")

    tables.do("ALTER TABLE oban_jobs DROP COLUMN meta")
    problem, message = await problem_of(on_server)
    assert problem == "oban_schema_outdated"
    assert "public.oban_jobs.meta" in message

    tables.do("DROP TABLE oban_leaders")
    assert await problem_of(on_server) == ("oban_tables_missing", "there is no table public.oban_leaders")


async def test_a_database_that_is_not_there() -> None:
    problem, message = await problem_of(f"postgresql://me:s3cret@127.0.0.1:{free_ports(1)[0]}/press")
    assert problem == "store_unavailable"
    assert "s3cret" not in message


def test_the_columns_of_the_installed_oban_are_found_in_its_own_text() -> None:
    assert {table for table, _ in expected_columns()} == set(TABLES)
    assert {("oban_jobs", "scheduled_at"), ("oban_producers", "uuid"), ("oban_leaders", "name")} <= expected_columns()
    assert not any(column.isupper() for _, column in expected_columns())
