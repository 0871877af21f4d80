"""The servers of a deployment."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from psycopg import sql

from pressroom.artifacts.s3 import S3, Bucket
from pressroom.clock import SystemClock
from pressroom.errors import StoreUnavailable
from tests import postgres
from tests.deploy.topology import Topology
from tests.servers import S3Server, seaweedfs, valkey


@pytest.fixture(scope="package")
def s3_server() -> Iterator[S3Server]:
    with TemporaryDirectory(prefix="seaweedfs-") as folder, seaweedfs(Path(folder), _can_be_put_to) as server:
        yield server


def _can_be_put_to(server: S3Server) -> bool:
    try:
        asyncio.run(S3(Bucket(*server, prefix="ready"), SystemClock(), timeout=10.0).put(b"ready"))
    except StoreUnavailable:
        return False
    return True


@pytest.fixture
def empty_database(postgres_server: str) -> Iterator[str]:
    """Without our tables: `pressroom migrate` is to make them."""
    address = postgres.address_of(postgres_server, f"deployed_{os.getpid()}")
    postgres.drop_database(address)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(address.rpartition("/")[2])))
    yield address
    postgres.drop_database(address)


@pytest.fixture(scope="package")
def valkey_server() -> Iterator[str]:
    with TemporaryDirectory(prefix="valkey-") as folder, valkey(Path(folder)) as address:
        yield address


@pytest.fixture(params=["redis"])
def topology(
    request: pytest.FixtureRequest, tmp_path: Path, empty_database: str, s3_server: S3Server, valkey_server: str
) -> Iterator[Topology]:
    """With the delivery of the example, unless a test names others."""
    with Topology(tmp_path, empty_database, s3_server) as topology:
        topology.settings |= {
            "PRESSROOM_DELIVERY": request.param,
            "REDIS_URL": valkey_server,
            "RENDER_QUEUE": f"{tmp_path.name}:{{kind}}",
        }
        yield topology
