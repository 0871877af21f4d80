"""One service on each database for all tests of the clients."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from pressroom.client import Client, RetryPolicy
from tests import postgres
from tests.client.stage import Served
from tests.patience import be_patient

QUICK = RetryPolicy(base=0.01, cap=0.1)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture(scope="package", params=["file", "on_server"])  # and no longer: later tests kill what this process has started
def served(
    request: pytest.FixtureRequest, _postgres: postgres.Standing, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    with ExitStack() as opened:
        on_server = request.param == "on_server"
        database = opened.enter_context(postgres.database_on(_postgres.address())) if on_server else None
        yield opened.enter_context(Served(tmp_path_factory.mktemp("served"), database=database))


@pytest.fixture
def client(served: Served) -> Iterator[Client]:
    with Client(served.url, retry_policy=QUICK, timeout=120) as opened:
        yield opened
