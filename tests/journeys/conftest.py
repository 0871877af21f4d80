"""Fixtures of the journeys."""

from contextlib import closing

import pytest

from tests.journeys.stage import Gate, Steps


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.open()


@pytest.fixture(params=["file", "memory"])
def anywhere(request, database):
    """The journey is made twice: on a file and in memory."""
    return database if request.param == "file" else "sqlite:///:memory:"


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
