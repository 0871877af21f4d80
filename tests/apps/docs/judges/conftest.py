"""A program that cannot be installed, and a package that cannot be fetched, are a skipped test that says so."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.registries import OutOfReach
from tests.contract.conftest import s3_server

__all__ = ["s3_server"]


@pytest.fixture
def reached() -> Callable[..., Any]:
    def reach[**P, R](judge: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return judge(*args, **kwargs)
        except OutOfReach as reason:
            pytest.skip(f"out of reach: {reason}")

    return reach
