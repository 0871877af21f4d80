"""A database that one test has used is given to another only if it is as new. What the tests rest on is tested here."""

from collections.abc import Iterator

import psycopg
import pytest

from tests import looking, postgres

SHARED = "INSERT INTO worker (uid, process, kinds, slots, date_started, seen_at) VALUES ('w', 'p', '[]', 1, 1, 1)"


def everything(address: str) -> dict[str, object]:
    """Every row, and where each sequence stands."""
    rows: dict[str, object] = {name: looking.rows(address, f'SELECT * FROM "{name}"') for name in looking.tables(address)}
    rows.pop("pressroom_migration")  # the same of all: they come from one template
    return rows | {"sequences": looking.rows(address, "SELECT sequencename, last_value FROM pg_sequences ORDER BY 1")}


@pytest.fixture
def server(postgres_server: str) -> Iterator[str]:
    """With nothing kept of earlier tests, and nothing left for later ones that these have spoilt."""
    kept = postgres._emptied.pop(postgres_server, [])
    yield postgres_server
    postgres._emptied[postgres_server] = kept


def test_what_was_written_is_gone_and_numbers_begin_again(server: str) -> None:
    with postgres.database_on(server) as address:
        new = everything(address)
        looking.change(address, SHARED)
        looking.change(address, "INSERT INTO audit (at, who, org_id, action, target) VALUES (1, 'me', '', 'do', 'it')")
        looking.change(address, "UPDATE blob_epoch SET value = 7")
        looking.change(address, "SELECT nextval('job_number'), nextval('job_number')")
        assert everything(address) != new
    with postgres.database_on(server) as again:
        assert again == address
        assert everything(again) == new


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE mine (id BIGINT)",
        "ALTER TABLE worker ADD COLUMN mine TEXT",
        "DROP INDEX job_open",
        "ALTER TABLE job DISABLE TRIGGER job_moves",
        "ANALYZE worker",
        "DELETE FROM pressroom_migration WHERE app = 'core' AND number = 1",
    ],
)
def test_one_that_was_changed_in_more_than_its_rows_is_not_used_again(server: str, change: str) -> None:
    with postgres.database_on(server) as address:
        looking.change(address, SHARED)
        looking.change(address, change)
    with postgres.database_on(server) as again:
        assert again != address


def test_one_that_somebody_is_still_connected_to_is_not_used_again(server: str) -> None:
    with postgres.database_on(server) as address:
        left = psycopg.connect(address)
    with left, postgres.database_on(server) as again:
        assert again != address
