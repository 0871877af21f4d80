"""Crashes are tried on a file; what a server's crash does is tried in tests of its own."""

import pytest


@pytest.fixture
def database(file: str) -> str:
    return file
