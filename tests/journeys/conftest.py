"""Fixtures of the journeys."""

from contextlib import closing

import pytest

from tests.journeys.stage import Gate, Steps
from tests.patience import be_patient


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    be_patient(monkeypatch)


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.open()


@pytest.fixture(params=["file", "on_server", "memory"])
def anywhere(request):
    """The journey is made on a file, on a server and in memory."""
    return "sqlite:///:memory:" if request.param == "memory" else request.getfixturevalue(request.param)


@pytest.fixture
def steps():
    """`steps(kind, ...)` gives a store to move by hand."""
    opened = []

    def open_store(*kinds):
        opened.append(Steps(*kinds))
        return opened[-1]

    yield open_store
    for store in opened:
        with closing(store):
            pass
