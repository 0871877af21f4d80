"""One service for all tests of the clients."""

from collections.abc import Iterator

import pytest

from pressroom.client import Client, Patience
from tests.client.stage import Served

QUICK = Patience(base=0.01, cap=0.1)


@pytest.fixture(scope="package")  # and no longer: later tests kill what this process has started
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("served")) as service:
        yield service


@pytest.fixture
def client(served: Served) -> Iterator[Client]:
    with Client(served.url, patience=QUICK) as opened:
        yield opened
